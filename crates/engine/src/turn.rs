//! The turn loop: ask the model, call tools, ask again. A turn that another node started continues where its log ends.

use std::{collections::HashMap, sync::Arc, time::Duration};

use futures::{StreamExt, stream::FuturesUnordered};
use serde_json::Value;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use crate::{
    AskedCall, Block, Call, CallId, Delta, Failure, FailureCode, Journal, JournalError, Kind, Message, MessageId,
    Model, ModelError, Notice, OpenCall, Outcome, Progress, Prompt, Recorded, Reviewer, StopReason, ToolContext,
    Toolbox, Usage, UserId, budget,
    halt::Halt,
    mutants::{Mutant, planted},
    progress::{Answered, Next, closing_event},
    prompt,
    reply::Reply,
    review::{Reviews, Verdict, remark},
    toolbox, untrusted,
};

/// The input of one turn. The prompt ends with the user's message.
pub struct Turn<'a> {
    pub model: &'a dyn Model,
    pub toolbox: &'a Toolbox,
    pub journal: &'a dyn Journal,
    pub owner: UserId,
    pub message: MessageId,
    pub prompt: Prompt,
    pub limits: Limits,
    /// The state that earlier nodes reached; empty for a new turn.
    pub progress: Progress,
    /// The time that the turn has spent on earlier nodes.
    pub elapsed: Duration,
    /// Cancelled when the user stops the turn.
    pub cancel: CancellationToken,
}

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum number of tool rounds. After them the model must answer with the results that it has.
    pub max_steps: u32,
    pub first_delta: Duration,
    pub silence: Duration,
    pub whole_turn: Duration,
}

impl Limits {
    /// The limits for this model. A local server may need minutes to read a prompt.
    pub fn for_model(self, model: &dyn Model) -> Self {
        if !model.is_local() {
            return self;
        }
        let (first_delta, whole_turn) = (Duration::from_secs(180), Duration::from_secs(900));
        Self { first_delta: self.first_delta.max(first_delta), whole_turn: self.whole_turn.max(whole_turn), ..self }
    }
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

/// A finished turn with its complete answer.
#[derive(Debug)]
pub struct Finished {
    pub content: Vec<Block>,
    pub usage: Usage,
    /// Notices for the user about the answer.
    pub notices: Vec<Notice>,
    pub end: End,
    /// It has open calls only if the journal could not be written. The caller must then determine their outcomes.
    pub progress: Progress,
}

impl Finished {
    pub fn new(progress: Progress, end: End) -> Self {
        Self { content: progress.content(), usage: progress.usage(), notices: Vec::new(), end, progress }
    }
}

#[derive(Debug, PartialEq)]
pub enum End {
    Answered(StopReason),
    Failed { code: FailureCode, message: String, retryable: bool },
}

/// A third identical call is not run; the model gets an error.
const SAME_CALL_LIMIT: u32 = 2;

/// Runs a turn to its end and passes each event to `emit`. The caller emits the last event, after it has stored the
/// answer.
pub async fn run(turn: Turn<'_>, emit: &mut (dyn FnMut(Kind) + Send)) -> Finished {
    run_reviewed(turn, None, emit).await
}

/// The same with a reviewer of the answer. A node that takes a turn over reviews what the log holds as the node before it
/// did, so that no question is asked twice and no notice is lost.
pub async fn run_reviewed(
    turn: Turn<'_>,
    reviewer: Option<&dyn Reviewer>,
    emit: &mut (dyn FnMut(Kind) + Send),
) -> Finished {
    let mut run = Run {
        deadline: Instant::now() + turn.limits.whole_turn.saturating_sub(turn.elapsed),
        progress: turn.progress.clone(),
        n_before: turn.prompt.messages.len(),
        n_sent_chars: 0,
        notes: HashMap::new(),
        cut_usage: None,
        reviewer,
        reviews: Reviews::default(),
        reviewed: None,
        question: None,
        asks_again: false,
        turn,
        emit,
    };
    run.review_again();
    let end = run.all_steps().await;
    Finished { notices: run.reviews.notices, ..Finished::new(run.progress, end) }
}

struct Run<'a, 'e> {
    turn: Turn<'a>,
    emit: &'e mut (dyn FnMut(Kind) + Send),
    deadline: Instant,
    progress: Progress,
    /// Number of messages in the prompt before the answer.
    n_before: usize,
    /// Length of the prompt of the running reply.
    n_sent_chars: usize,
    /// Notes for the model about repaired calls.
    notes: HashMap<CallId, Vec<String>>,
    /// Usage of a reply that was cut.
    cut_usage: Option<Usage>,
    reviewer: Option<&'a dyn Reviewer>,
    reviews: Reviews,
    /// The last step whose answer this node has reviewed.
    reviewed: Option<u32>,
    /// What the model is asked about its answer, and how many blocks of the answer come before it.
    question: Option<(usize, Message)>,
    /// The model must answer the question before the turn ends.
    asks_again: bool,
}

impl Run<'_, '_> {
    async fn all_steps(&mut self) -> End {
        let max_steps = self.turn.limits.max_steps;
        loop {
            let result = match self.progress.next() {
                Next::End { step } if self.is_doubted(step) => self.ask(step + 1, false).await,
                Next::End { step } if step == 0 || step < max_steps => return End::Answered(StopReason::Complete),
                Next::End { .. } => return End::Answered(StopReason::MaxSteps),
                Next::Ask { step, .. } if step > max_steps => return End::Answered(StopReason::MaxSteps),
                Next::Ask { step, is_open } => self.ask(step, is_open).await,
                Next::Call => self.call_all().await,
                Next::CloseStep { step, usage, is_answer } => {
                    if is_answer && self.reviewed != Some(step) {
                        self.review(step);
                    }
                    self.record(Kind::StepDone { step, usage, is_cut: false });
                    Ok(())
                }
            };
            if let Err(halt) = result {
                if !matches!(halt, Halt::Journal(_)) {
                    // Every call gets a result, and every open step is closed, because protocols frame steps.
                    self.close(halt.is_timeout());
                }
                return halt.into_end();
            }
        }
    }

    fn record(&mut self, kind: Kind) {
        self.progress.apply(&kind);
        (self.emit)(kind);
    }

    fn close(&mut self, is_timeout: bool) {
        let toolbox = self.turn.toolbox;
        let closing = self.progress.closing(|name| toolbox.title(name));
        let (steps, blocks): (Vec<_>, Vec<_>) =
            closing.into_iter().partition(|kind| matches!(kind, Kind::StepDone { .. }));
        blocks.into_iter().for_each(|kind| self.record(kind));
        if is_timeout {
            self.add_results();
        }
        for mut kind in steps {
            if let Kind::StepDone { usage, .. } = &mut kind {
                *usage = self.cut_usage.take().unwrap_or(*usage);
            }
            self.record(kind);
        }
    }

    /// What an earlier node has reviewed, reviewed again: the verdicts are the same. What followed from the last one may
    /// not be in the log.
    fn review_again(&mut self) {
        let content = self.progress.content();
        for Answered { step, n_blocks } in self.progress.answers().to_vec() {
            self.reviewed = Some(step);
            let (is_last, is_open) = self.progress.is_last(step);
            let may_ask = step < self.turn.limits.max_steps;
            match self.reviews.of(self.reviewer, &content[..n_blocks], may_ask) {
                Verdict::Ask(question) => {
                    self.question = Some((n_blocks, question));
                    self.asks_again = is_last;
                }
                Verdict::Mark(notice) if is_open => self.finish_saying(&notice.message, content.get(n_blocks)),
                Verdict::Mark(_) | Verdict::Fine => {}
            }
        }
    }

    /// Words of ours that an earlier node may have begun to say.
    fn finish_saying(&mut self, text: &str, said: Option<&Block>) {
        match self.progress.open_text() {
            Some((block, begun)) => {
                if let Some(rest) = text.strip_prefix(begun.as_str()).filter(|rest| !rest.is_empty()) {
                    self.record(Kind::TextDelta { block, text: rest.to_owned() });
                }
                self.close_text();
            }
            None if said.is_none() => self.say(text),
            None => {}
        }
    }

    /// Whether the model is asked about its answer before the turn ends. Logs of version 0.1 do not tell of replies.
    fn is_doubted(&mut self, step: u32) -> bool {
        if self.reviewed.is_none() && !self.progress.awaits_consent() {
            self.review(step);
        }
        std::mem::take(&mut self.asks_again)
    }

    fn review(&mut self, step: u32) {
        self.reviewed = Some(step);
        let content = self.progress.content();
        match self.reviews.of(self.reviewer, &content, step < self.turn.limits.max_steps) {
            Verdict::Fine => {}
            Verdict::Ask(question) => {
                self.question = Some((content.len(), question));
                self.asks_again = true;
            }
            Verdict::Mark(notice) => self.say(&notice.message),
        }
    }

    /// Adds the summaries of the tool results to the answer of a turn that timed out after its tools had run.
    fn add_results(&mut self) {
        let summaries: Vec<_> = self.progress.content().iter().filter_map(summary_of).collect();
        if !summaries.is_empty() {
            self.say(&format!(
                "The model took too long to answer. The tools have reported:\n\n{}",
                summaries.join("\n")
            ));
        }
    }

    /// Adds text to the end of the answer.
    fn say(&mut self, text: &str) {
        remark(self.progress.n_texts(), text).into_iter().for_each(|kind| self.record(kind));
    }

    /// The reply of one step, to the part of the prompt that fits the model's context. If the server still refuses the
    /// prompt as too long, it is trimmed and sent once more. A halt leaves the text block open.
    async fn ask(&mut self, step: u32, is_open: bool) -> Result<(), Halt> {
        self.halted()?;
        self.turn.prompt.may_call_tools = step < self.turn.limits.max_steps;
        if !is_open {
            self.record(Kind::StepStarted { step, model: self.turn.model.id().to_owned() });
        }
        self.write_answer_so_far();
        let window = self.turn.model.window();
        let mut trimmed = budget::for_window(&self.turn.prompt, window);
        let (mut reply, mut halt) = self.ask_with(trimmed.as_ref()).await;
        if let (Some(Halt::Model(ModelError::ContextOverflow { limit, .. })), 0) = (&halt, reply.n_chars) {
            let sent = trimmed.as_ref().unwrap_or(&self.turn.prompt);
            trimmed = budget::after_overflow(sent, window, *limit);
            if trimmed.is_some() {
                (reply, halt) = self.ask_with(trimmed.as_ref()).await;
            }
        }
        if let (Some(Halt::Model(ModelError::EmptyReply)), true) = (&halt, self.turn.prompt.cut_text().is_some()) {
            // The reply was already complete.
            halt = None;
        }
        let usage = self.usage_of(&reply, halt.as_ref());
        if let Some(halt) = halt {
            self.cut_usage = Some(usage);
            return Err(halt);
        }
        // A call that will not run is not part of the answer.
        let calls = if self.turn.prompt.may_call_tools { reply.calls } else { Vec::new() };
        let calls = calls.into_iter().map(|call| self.prepare(call)).collect();
        self.close_text();
        self.record(Kind::Replied { step, usage, calls });
        Ok(())
    }

    /// Closes a text block that an earlier node streamed, if this node added nothing to it.
    fn close_text(&mut self) {
        if let Some((block, text)) = self.progress.open_text() {
            self.record(Kind::TextDone { block, text });
        }
    }

    /// One reply, possibly incomplete, to the whole prompt or a trimmed one.
    async fn ask_with(&mut self, trimmed: Option<&Prompt>) -> (Reply, Option<Halt>) {
        let mut reply = Reply::new(self.progress.open_text(), self.progress.n_texts());
        let prompt = trimmed.unwrap_or(&self.turn.prompt);
        if self.turn.model.window().is_some() {
            self.n_sent_chars = budget::prompt_chars(prompt);
        }
        let mut deltas = self.turn.model.reply(prompt);
        let mut silence = self.turn.limits.first_delta;
        while reply.usage.is_none() {
            let left = silence.min(self.deadline.saturating_duration_since(Instant::now()));
            let next = tokio::select! {
                biased;
                () = self.turn.cancel.cancelled() => return (reply, Some(Halt::Stopped)),
                next = timeout(left, deltas.next()) => next,
            };
            // A server that reports how far it is may need as long for its next batch as for the first.
            if !matches!(next, Ok(Some(Ok(Delta::Reading { .. })))) {
                silence = self.turn.limits.silence;
            }
            match next {
                Err(_) => return (reply, Some(Halt::TimedOut)),
                Ok(Some(Ok(delta))) => self.take(&mut reply, delta),
                Ok(Some(Err(error))) => return (reply, Some(Halt::Model(error))),
                Ok(None) => return (reply, Some(Halt::Model(ModelError::Unavailable("its stream was cut".into())))),
            }
        }
        (reply, None)
    }

    /// Repairs the tool name and the input of a call, so that the same call is shown, stored and run.
    fn prepare(&mut self, asked: AskedCall) -> AskedCall {
        let input = Arc::unwrap_or_clone(asked.input);
        let prepared = self.turn.toolbox.prepare(&asked.name, input);
        self.notes.insert(asked.call, prepared.notes);
        AskedCall { call: asked.call, name: prepared.name, input: Arc::new(prepared.input) }
    }

    /// The usage of a reply. For a reply that was stopped, cut or timed out, it is the usage reported so far, or an
    /// estimate. A server that refused the request or was not reachable has used nothing.
    fn usage_of(&self, reply: &Reply, halt: Option<&Halt>) -> Usage {
        let said = reply.usage.unwrap_or(reply.usage_so_far);
        let Some(window) = self.turn.model.window() else { return said };
        let was_read = match halt {
            None | Some(Halt::Stopped | Halt::TimedOut | Halt::Journal(_) | Halt::Model(ModelError::TimedOut)) => true,
            Some(Halt::Model(_)) => reply.n_chars > 0,
        };
        if !was_read {
            return said;
        }
        let estimated = budget::estimated_usage(self.n_sent_chars, reply.n_chars, window.chars_per_token);
        let is_whole = reply.usage.is_some() && said != Usage::default();
        Usage {
            input_tokens: if said.input_tokens > 0 { said.input_tokens } else { estimated.input_tokens },
            output_tokens: if is_whole { said.output_tokens } else { said.output_tokens.max(estimated.output_tokens) },
            ..said
        }
    }

    fn take(&mut self, reply: &mut Reply, delta: Delta) {
        let (progress, emit) = (&mut self.progress, &mut self.emit);
        reply.push(delta, &mut |kind| {
            progress.apply(&kind);
            emit(kind);
        });
    }

    /// Appends the answer so far to the prompt. If the answer ends with text, a reply was cut off, and the model is
    /// asked to continue it.
    fn write_answer_so_far(&mut self) {
        let messages = &mut self.turn.prompt.messages;
        messages.truncate(self.n_before);
        let mut content = self.turn.toolbox.answer_for_model(&self.progress.content());
        for block in &mut content {
            if let Block::ToolResult { tool_use_id, content, .. } = block {
                let notes = self.notes.get(tool_use_id).map(Vec::as_slice).unwrap_or_default();
                *content = with_notes(std::mem::take(content), notes);
            }
        }
        if let Some((n_blocks, question)) = &self.question {
            let rest = content.split_off(*n_blocks);
            messages.extend([Message::assistant(content), question.clone()]);
            content = rest;
        }
        let cut_text = match content.last() {
            Some(Block::Text { text }) => Some(text.clone()),
            _ => None,
        };
        messages.push(Message::assistant(content));
        messages.extend(cut_text.map(|text| prompt::go_on_after(&text)));
    }

    /// Runs the calls of one reply: reads concurrently, writes one after the other.
    async fn call_all(&mut self) -> Result<(), Halt> {
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

    fn halted(&self) -> Result<(), Halt> {
        if self.turn.cancel.is_cancelled() {
            return Err(Halt::Stopped);
        }
        if Instant::now() >= self.deadline { Err(Halt::TimedOut) } else { Ok(()) }
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
        let failure = repeated_call(&open.name);
        toolbox::with_retries(turn.journal, &turn.cancel, || turn.journal.refuse(&call, &failure)).await?;
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

/// The summary in a stored output.
fn summary_of(block: &Block) -> Option<String> {
    let Block::ToolResult { content, is_error: false, .. } = block else { return None };
    Some(format!("- {}", content.get("summary")?.as_str()?))
}

/// Appends the notes after the result, so that the data mark stays at the start.
fn with_notes(result: Value, notes: &[String]) -> Value {
    match result {
        Value::String(text) if !notes.is_empty() => {
            Value::String(format!("{text}\n{}", untrusted::clean(&notes.join("\n"))))
        }
        result => result,
    }
}
