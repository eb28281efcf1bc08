//! The tool calls of one reply.

use futures::{StreamExt, stream::FuturesUnordered};
use tokio::time::Instant;

use super::{Run, Turn};
use crate::{
    Call, CallId, Failure, JournalError, OpenCall, Outcome, Recorded, ToolContext,
    halt::Halt,
    mutants::{Mutant, planted},
    progress::closing_event,
    toolbox,
};

/// A third identical call is not run; the model gets an error.
const SAME_CALL_LIMIT: u32 = 2;

impl Run<'_, '_> {
    /// Runs the calls of one reply: reads concurrently, writes one after the other.
    pub(super) async fn call_all(&mut self) -> Result<(), Halt> {
        let toolbox = self.turn.toolbox;
        let calls = self.progress.open_calls().to_vec();
        for group in calls.chunk_by(|a, b| toolbox.only_reads(&a.name) && toolbox.only_reads(&b.name)) {
            self.halted()?;
            for call in group.iter().filter(|call| !call.is_shown) {
                self.record(call.started(toolbox.title(&call.name)));
            }
            self.call_together(group).await.map_err(Halt::Journal)?;
        }
        self.halted()
    }

    /// Results are streamed and stored in the order in which the calls ended.
    async fn call_together(&mut self, group: &[OpenCall]) -> Result<(), JournalError> {
        let (turn, deadline) = (&self.turn, self.deadline);
        let (progress, emit) = (&mut self.progress, &mut self.emit);
        let mut running: FuturesUnordered<_> =
            group.iter().map(async |call| (call, call_one(turn, deadline, call).await)).collect();
        let mut unwritten = None;
        while let Some((call, result)) = running.next().await {
            match result {
                Ok(outcome) => {
                    let kind = closing_event(call.id, &call.name, &outcome);
                    progress.apply(&kind);
                    emit(kind);
                }
                Err(error) => unwritten = Some(error),
            }
        }
        unwritten.map_or(Ok(()), Err)
    }
}

/// Runs a call, or returns the outcome that an earlier node recorded.
async fn call_one(turn: &Turn<'_>, deadline: Instant, open: &OpenCall) -> Result<Outcome, JournalError> {
    let is_repeated = planted(Mutant::TakeoverRepeatsCall) && open.recorded.is_some();
    let call = Call {
        id: if is_repeated { CallId::new() } else { open.id },
        owner: turn.owner.clone(),
        message: Some(turn.message),
        name: open.name.clone(),
        input: open.input.clone(),
    };
    match &open.recorded {
        _ if is_repeated => {}
        Some(Recorded::Begun) if planted(Mutant::ReadsNotRunAgain) && turn.toolbox.only_reads(&open.name) => {
            return toolbox::close(turn.journal, &call, Outcome::Failed(Failure::interrupted())).await;
        }
        Some(Recorded::Closed(outcome)) => return Ok(outcome.clone()),
        Some(Recorded::Begun | Recorded::Effect(_)) if turn.toolbox.is_foreign(&open.name) => {
            return toolbox::close(turn.journal, &call, Outcome::Failed(Failure::outcome_unknown())).await;
        }
        // A read runs again. A write whose effect is committed finds the effect by the id of the call.
        Some(Recorded::Begun | Recorded::Effect(_)) | None => {}
    }
    if open.n_same > SAME_CALL_LIMIT {
        let (title, failure) = (turn.toolbox.title(&open.name), repeated_call(&open.name));
        toolbox::with_retries(turn.journal, &turn.cancel, || turn.journal.refuse(&call, &title, &failure)).await?;
        return Ok(Outcome::Failed(failure));
    }
    let cancel = turn.cancel.child_token();
    let mut cx = ToolContext::new(turn.owner.clone(), call.id, cancel.clone()).by_model();
    cx.answer = Some(turn.message);
    let work = turn.toolbox.call(turn.journal, &cx, &call);
    tokio::pin!(work);
    tokio::select! {
        biased;
        outcome = &mut work => outcome,
        () = tokio::time::sleep_until(deadline) => {
            cancel.cancel();
            work.await
        }
    }
}

fn repeated_call(name: &str) -> Failure {
    let error = format!(
        "{name} was already called with exactly this input in this turn. Use the earlier result, or change the input."
    );
    Failure::new(error, false)
}
