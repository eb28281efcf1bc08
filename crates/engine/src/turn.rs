//! The turn loop: ask, call tools, ask again. A turn that another node began goes on where its log ends.

use std::time::Duration;

use futures::{StreamExt, stream::FuturesUnordered};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use crate::{
    Block, Call, Delta, Failure, FailureCode, Journal, JournalError, Kind, Message, MessageId, Model, ModelError,
    OpenCall, Outcome, Progress, Prompt, Recorded, StopReason, ToolContext, Toolbox, Usage, UserId,
    halt::Halt,
    progress::{Next, closing_event},
    prompt,
    reply::Reply,
    toolbox,
};

/// What one turn needs. The prompt ends with the user's message.
pub struct Turn<'a> {
    pub model: &'a dyn Model,
    pub toolbox: &'a Toolbox,
    pub journal: &'a dyn Journal,
    pub owner: UserId,
    pub message: MessageId,
    pub prompt: Prompt,
    pub limits: Limits,
    /// What an earlier node has done of this turn; nothing for a new one.
    pub progress: Progress,
    /// How long the turn has run on earlier nodes.
    pub elapsed: Duration,
    /// Cancelled when someone stops the turn.
    pub cancel: CancellationToken,
}

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Tool-calling rounds; after them the model must answer with what it has.
    pub max_steps: u32,
    pub first_delta: Duration,
    pub silence: Duration,
    pub whole_turn: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_steps: 5,
            first_delta: Duration::from_secs(30),
            silence: Duration::from_secs(60),
            whole_turn: Duration::from_secs(300),
        }
    }
}

/// A turn that is over, with everything the answer holds.
#[derive(Debug)]
pub struct Finished {
    /// Calls are open in it only when the journal could not be written: what became of them is for the caller to find out.
    pub progress: Progress,
    pub end: End,
}

impl Finished {
    pub fn content(&self) -> Vec<Block> {
        self.progress.content()
    }

    pub fn usage(&self) -> Usage {
        self.progress.usage()
    }
}

#[derive(Debug, PartialEq)]
pub enum End {
    Answered(StopReason),
    Failed { code: FailureCode, message: String, retryable: bool },
}

/// The third time a model makes the very same call, it is told so instead.
const SAME_CALL_LIMIT: u32 = 2;

/// Runs a turn to its end, telling `emit` what happens as it happens. The closing event is the caller's:
/// the answer is stored before anyone sees that it is complete.
pub async fn run(turn: Turn<'_>, emit: &mut (dyn FnMut(Kind) + Send)) -> Finished {
    let mut run = Run {
        deadline: Instant::now() + turn.limits.whole_turn.saturating_sub(turn.elapsed),
        progress: turn.progress.clone(),
        n_before: turn.prompt.messages.len(),
        turn,
        emit,
    };
    let end = run.all_steps().await;
    Finished { progress: run.progress, end }
}

struct Run<'a, 'e> {
    turn: Turn<'a>,
    emit: &'e mut (dyn FnMut(Kind) + Send),
    deadline: Instant,
    progress: Progress,
    /// How many messages of the prompt come before the answer.
    n_before: usize,
}

impl Run<'_, '_> {
    async fn all_steps(&mut self) -> End {
        let max_steps = self.turn.limits.max_steps;
        loop {
            let result = match self.progress.next() {
                Next::End { step } if step == 0 || step < max_steps => return End::Answered(StopReason::Complete),
                Next::End { .. } => return End::Answered(StopReason::MaxSteps),
                Next::Ask { step, .. } if step > max_steps => return End::Answered(StopReason::MaxSteps),
                Next::Ask { step, is_open } => self.ask(step, is_open).await,
                Next::Call => self.call_all().await,
                Next::CloseStep { step, usage } => {
                    self.tell(Kind::StepDone { step, usage });
                    Ok(())
                }
            };
            if let Err(halt) = result {
                if !matches!(halt, Halt::Journal(_)) {
                    // No call is left without its result, and a protocol that opens a step must be able to close it.
                    let toolbox = self.turn.toolbox;
                    self.progress.closing(|name| toolbox.title(name)).into_iter().for_each(|kind| self.tell(kind));
                }
                return halt.into_end();
            }
        }
    }

    fn tell(&mut self, kind: Kind) {
        self.progress.apply(&kind);
        (self.emit)(kind);
    }

    /// One reply, as far as it came. A halt leaves the text so far open.
    async fn ask(&mut self, step: u32, is_open: bool) -> Result<(), Halt> {
        self.halted()?;
        self.turn.prompt.may_call_tools = step < self.turn.limits.max_steps;
        if !is_open {
            self.tell(Kind::StepStarted { step, model: self.turn.model.id().to_owned() });
        }
        self.write_answer_so_far();
        let mut reply = Reply::new(self.progress.open_text(), self.progress.n_texts());
        let mut deltas = self.turn.model.reply(&self.turn.prompt);
        let mut patience = self.turn.limits.first_delta;
        while reply.usage.is_none() {
            let patience_left = patience.min(self.deadline.saturating_duration_since(Instant::now()));
            let next = tokio::select! {
                biased;
                () = self.turn.cancel.cancelled() => return Err(Halt::Stopped),
                next = timeout(patience_left, deltas.next()) => next,
            };
            patience = self.turn.limits.silence;
            let delta = match next {
                Err(_) => return Err(Halt::TimedOut),
                Ok(Some(delta)) => delta.map_err(Halt::Model)?,
                Ok(None) => return Err(Halt::Model(ModelError::Unavailable("its stream was cut".into()))),
            };
            self.take(&mut reply, delta);
        }
        // A call that will not be made is no part of the answer.
        let calls = if self.turn.prompt.may_call_tools { reply.calls } else { Vec::new() };
        self.tell(Kind::Replied { step, usage: reply.usage.unwrap_or_default(), calls });
        Ok(())
    }

    fn take(&mut self, reply: &mut Reply, delta: Delta) {
        let (progress, emit) = (&mut self.progress, &mut self.emit);
        reply.push(delta, &mut |kind| {
            progress.apply(&kind);
            emit(kind);
        });
    }

    /// The model reads what the answer holds. Where that ends in words, an earlier reply was cut off and is to go on.
    fn write_answer_so_far(&mut self) {
        let messages = &mut self.turn.prompt.messages;
        messages.truncate(self.n_before);
        let content = self.turn.toolbox.answer_for_model(&self.progress.content());
        let cut_text = match content.last() {
            Some(Block::Text { text }) => Some(text.clone()),
            _ => None,
        };
        messages.push(Message::assistant(content));
        messages.extend(cut_text.map(|text| prompt::go_on_after(&text)));
    }

    /// Runs the calls of one reply: reads together, writes one after the other.
    async fn call_all(&mut self) -> Result<(), Halt> {
        let toolbox = self.turn.toolbox;
        let calls = self.progress.open_calls().to_vec();
        for group in calls.chunk_by(|a, b| toolbox.only_reads(&a.name) && toolbox.only_reads(&b.name)) {
            self.halted()?;
            for call in group.iter().filter(|call| !call.is_shown) {
                self.tell(call.started(toolbox.title(&call.name)));
            }
            self.call_together(group).await.map_err(Halt::Journal)?;
        }
        self.halted()
    }

    /// Results are streamed and stored in the order the calls ended.
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

    fn halted(&self) -> Result<(), Halt> {
        if self.turn.cancel.is_cancelled() {
            return Err(Halt::Stopped);
        }
        if Instant::now() >= self.deadline { Err(Halt::TimedOut) } else { Ok(()) }
    }
}

/// Calls a tool, or finds out what an earlier node did about it.
async fn call_one(turn: &Turn<'_>, deadline: Instant, open: &OpenCall) -> Result<Outcome, JournalError> {
    let call = Call {
        id: open.id,
        owner: turn.owner.clone(),
        message: Some(turn.message),
        name: open.name.clone(),
        input: open.input.clone(),
    };
    match &open.recorded {
        Some(Recorded::Closed(outcome)) => return Ok(outcome.clone()),
        Some(Recorded::Begun | Recorded::Effect(_)) if turn.toolbox.is_foreign(&open.name) => {
            return toolbox::close(turn.journal, &call, Outcome::Failed(Failure::outcome_unknown())).await;
        }
        // Reads run again. A write whose effect is committed finds it under the id of the call.
        Some(Recorded::Begun | Recorded::Effect(_)) | None => {}
    }
    if open.n_same > SAME_CALL_LIMIT {
        return Ok(said_before(&open.name));
    }
    let cancel = turn.cancel.child_token();
    let mut cx = ToolContext::new(turn.owner.clone(), open.id, cancel.clone());
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

fn said_before(name: &str) -> Outcome {
    let error = format!(
        "{name} was already called with exactly this input in this turn. Use the earlier result, or change the input."
    );
    Outcome::Failed(Failure { error, retryable: false, was_retried: false, duration_ms: 0 })
}
