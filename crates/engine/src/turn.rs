//! The turn loop: ask, call tools, ask again.

use std::{collections::HashMap, sync::Arc, time::Duration};

use futures::{StreamExt, stream::FuturesUnordered};
use serde_json::Value;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use crate::{
    Block, Call, CallId, Delta, Failure, FailureCode, Journal, JournalError, Kind, MessageId, Model, ModelError,
    Notice, Outcome, Prompt, Reviewer, StopReason, ToolContext, Toolbox, Usage, UserId, budget,
    reply::Reply,
    review::{Reviews, Verdict, remark, stop_reason},
    untrusted,
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

impl Limits {
    /// The same with the time limits of this model: a local server may read a prompt for minutes.
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

/// A turn that is over, with everything the answer holds.
#[derive(Debug)]
pub struct Finished {
    pub content: Vec<Block>,
    pub usage: Usage,
    /// What the user should know about the answer.
    pub notices: Vec<Notice>,
    pub end: End,
}

#[derive(Debug, PartialEq)]
pub enum End {
    Answered(StopReason),
    Failed { code: FailureCode, message: String, retryable: bool },
}

/// One call that is over, with the name of its tool.
type Ended<'g> = (CallId, &'g str, Result<Outcome, JournalError>);

/// The third time a model makes the very same call, it is told so instead.
const SAME_CALL_LIMIT: u32 = 2;

/// Runs a turn to its end, telling `emit` what happens as it happens. The closing event is the caller's:
/// the answer is stored before anyone sees that it is complete.
pub async fn run(turn: Turn<'_>, emit: &mut (dyn FnMut(Kind) + Send)) -> Finished {
    run_reviewed(turn, None, emit).await
}

/// The same with a reviewer of the answer.
pub async fn run_reviewed(
    turn: Turn<'_>,
    reviewer: Option<&dyn Reviewer>,
    emit: &mut (dyn FnMut(Kind) + Send),
) -> Finished {
    let mut run = Run {
        deadline: Instant::now() + turn.limits.whole_turn,
        content: Vec::new(),
        usage: Usage::default(),
        n_texts: 0,
        n_sent_chars: 0,
        seen: HashMap::new(),
        notes: HashMap::new(),
        reviewer,
        reviews: Reviews::default(),
        turn,
        emit,
    };
    let end = run.all_steps().await;
    Finished { content: run.content, usage: run.usage, notices: run.reviews.notices, end }
}

struct Run<'a, 'e> {
    turn: Turn<'a>,
    emit: &'e mut (dyn FnMut(Kind) + Send),
    deadline: Instant,
    content: Vec<Block>,
    usage: Usage,
    n_texts: u32,
    /// How often each call was made with the same input.
    seen: HashMap<(String, String), u32>,
    /// How long the prompt of the running reply is.
    n_sent_chars: usize,
    /// What the model should be told about how its calls were read.
    notes: HashMap<CallId, Vec<String>>,
    reviewer: Option<&'a dyn Reviewer>,
    reviews: Reviews,
}

impl Run<'_, '_> {
    async fn all_steps(&mut self) -> End {
        self.turn.prompt.messages.push(crate::Message::assistant(Vec::new()));
        for step in 0..=self.turn.limits.max_steps {
            self.turn.prompt.may_call_tools = step < self.turn.limits.max_steps;
            (self.emit)(Kind::StepStarted { step, model: self.turn.model.id().to_owned() });
            let (mut reply, halt) = self.ask().await;
            self.prepare(&mut reply.blocks);
            let step_usage = self.usage_of(&reply, halt.as_ref());
            self.usage += step_usage;
            self.n_texts = reply.next_text_block();
            let calls = if halt.is_none() && self.turn.prompt.may_call_tools { reply.calls() } else { Vec::new() };
            // A call that will not be made is no part of the answer.
            let is_kept = |block: &Block| !matches!(block, Block::ToolUse { .. }) || !calls.is_empty();
            self.keep(reply.blocks.into_iter().filter(is_kept));
            let answered = match halt {
                Some(halt) => Err(halt),
                None => self.answer(&calls).await,
            };
            let is_over = match &answered {
                Err(Halt::TimedOut | Halt::Model(ModelError::TimedOut)) => self.tell_results(),
                Err(_) => true,
                Ok(()) => calls.is_empty() && !self.is_asked_about(),
            };
            // Also after a halt: a protocol that opens a step must be able to close it.
            (self.emit)(Kind::StepDone { step, usage: step_usage });
            if let Err(halt) = answered {
                return halt.into_end();
            }
            if is_over {
                return End::Answered(stop_reason(step, self.turn.prompt.may_call_tools));
            }
        }
        End::Answered(StopReason::MaxSteps)
    }

    /// Reviews the answer. True: the model is asked about it, once.
    fn is_asked_about(&mut self) -> bool {
        let may_ask = self.turn.prompt.may_call_tools;
        match self.reviews.of(self.reviewer, &self.content, may_ask) {
            Verdict::Fine => false,
            Verdict::Ask(question) => {
                self.turn.prompt.messages.extend([question, crate::Message::assistant(Vec::new())]);
                true
            }
            Verdict::Mark(notice) => {
                self.say(&notice.message);
                false
            }
        }
    }

    /// A turn that ran out of time after its tools had answered shows what they said. It is over in any case.
    fn tell_results(&mut self) -> bool {
        let summaries: Vec<_> = self.content.iter().filter_map(summary_of).collect();
        if !summaries.is_empty() {
            self.say(&format!(
                "The model took too long to answer. The tools have reported:\n\n{}",
                summaries.join("\n")
            ));
        }
        true
    }

    /// Words of ours at the end of the answer.
    fn say(&mut self, text: &str) {
        let (kinds, block) = remark(self.n_texts, text);
        self.n_texts += 1;
        kinds.into_iter().for_each(|kind| (self.emit)(kind));
        self.content.push(block);
    }

    /// One reply to as much of the prompt as the model can read. A prompt that its server still finds too long is
    /// trimmed and sent once more.
    async fn ask(&mut self) -> (Reply, Option<Halt>) {
        let window = self.turn.model.window();
        let trimmed = budget::for_window(&self.turn.prompt, window);
        let (reply, halt) = self.ask_with(trimmed.as_ref()).await;
        let Some(Halt::Model(ModelError::ContextOverflow { limit, .. })) = &halt else { return (reply, halt) };
        if reply.n_chars > 0 {
            return (reply, halt);
        }
        let sent = trimmed.as_ref().unwrap_or(&self.turn.prompt);
        match budget::after_overflow(sent, window, *limit) {
            Some(shorter) => self.ask_with(Some(&shorter)).await,
            None => (reply, halt),
        }
    }

    /// One reply, to the whole prompt or a trimmed one, as far as it came. A halt leaves the text so far in it.
    async fn ask_with(&mut self, trimmed: Option<&Prompt>) -> (Reply, Option<Halt>) {
        let mut reply = Reply::new(self.n_texts);
        let prompt = trimmed.unwrap_or(&self.turn.prompt);
        if self.turn.model.window().is_some() {
            self.n_sent_chars = budget::prompt_chars(prompt);
        }
        let mut deltas = self.turn.model.reply(prompt);
        let mut patience = self.turn.limits.first_delta;
        let halt = loop {
            let patience_left = patience.min(self.deadline.saturating_duration_since(Instant::now()));
            let next = tokio::select! {
                biased;
                () = self.turn.cancel.cancelled() => break Some(Halt::Stopped),
                next = timeout(patience_left, deltas.next()) => next,
            };
            patience = self.turn.limits.silence;
            match next {
                Err(_) => break Some(Halt::TimedOut),
                Ok(Some(Ok(delta))) => {
                    let is_end = matches!(delta, Delta::End { .. });
                    reply.push(delta, self.emit);
                    if is_end {
                        break None;
                    }
                }
                Ok(Some(Err(error))) => break Some(Halt::Model(error)),
                Ok(None) => break Some(Halt::Model(ModelError::Unavailable("its stream was cut".into()))),
            }
        };
        reply.close_text(self.emit);
        (reply, halt)
    }

    /// Calls under their tools' names and in their schemas' spelling, so that what is shown, stored and run is the same.
    fn prepare(&mut self, blocks: &mut [Block]) {
        for block in blocks {
            if let Block::ToolUse { id, name, input } = block {
                let prepared = self.turn.toolbox.prepare(name, std::mem::take(input));
                (*name, *input) = (prepared.name, prepared.input);
                self.notes.insert(*id, prepared.notes);
            }
        }
    }

    /// What a reply has cost. One that was stopped, cut or timed out has cost something too: what its server said so
    /// far, or an estimate. A server that refused or was not there has read nothing.
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

    /// Runs the calls of one reply: reads together, writes one after the other. After a halt the rest are
    /// closed as interrupted, so that no call is left without its result.
    async fn answer(&mut self, calls: &[(CallId, String, Value)]) -> Result<(), Halt> {
        let toolbox = self.turn.toolbox;
        let mut halt = None;
        for group in calls.chunk_by(|a, b| toolbox.only_reads(&a.1) && toolbox.only_reads(&b.1)) {
            halt = halt.or_else(|| self.halted());
            for (id, name, input) in group {
                let title = toolbox.spec(name).map_or(name.as_str(), |spec| spec.title).to_owned();
                (self.emit)(Kind::ToolStarted { call: *id, name: name.clone(), title, input: Arc::new(input.clone()) });
            }
            let results = match halt {
                None => self.call_together(group).await,
                Some(_) => self.interrupt(group),
            };
            for (id, name, result) in results {
                let outcome = result.unwrap_or_else(|error| {
                    halt.get_or_insert(Halt::Journal(error));
                    interrupted()
                });
                self.keep_result(id, name, outcome);
            }
        }
        halt.or_else(|| self.halted()).map_or(Ok(()), Err)
    }

    fn interrupt<'g>(&mut self, group: &'g [(CallId, String, Value)]) -> Vec<Ended<'g>> {
        for (id, name, _) in group {
            (self.emit)(closing_event(*id, name, &interrupted()));
        }
        group.iter().map(|(id, name, _)| (*id, name.as_str(), Ok(interrupted()))).collect()
    }

    /// The results in the order the calls ended, which is the order they are streamed and stored in.
    async fn call_together<'g>(&mut self, group: &'g [(CallId, String, Value)]) -> Vec<Ended<'g>> {
        let repeated: Vec<bool> = group.iter().map(|(_, name, input)| self.is_repeated(name, input)).collect();
        let (turn, deadline) = (&self.turn, self.deadline);
        let mut running: FuturesUnordered<_> = group
            .iter()
            .zip(repeated)
            .map(async |((id, name, input), repeated)| {
                let outcome =
                    if repeated { Ok(said_before(name)) } else { call_one(turn, deadline, *id, name, input).await };
                (*id, name.as_str(), outcome)
            })
            .collect();
        let mut ended = Vec::with_capacity(group.len());
        while let Some((id, name, outcome)) = running.next().await {
            let shown = outcome.as_ref().map_or_else(|_| interrupted(), Outcome::clone);
            (self.emit)(closing_event(id, name, &shown));
            ended.push((id, name, outcome));
        }
        ended
    }

    fn is_repeated(&mut self, name: &str, input: &Value) -> bool {
        let n_before = self.seen.entry((name.to_owned(), input.to_string())).or_default();
        *n_before += 1;
        *n_before > SAME_CALL_LIMIT
    }

    fn keep_result(&mut self, id: CallId, name: &str, outcome: Outcome) {
        let for_model = match &outcome {
            Outcome::Done(done) => self.turn.toolbox.for_model(name, &done.output),
            Outcome::Failed(failure) => Value::String(untrusted::clean(&failure.error)),
        };
        let for_model = with_notes(for_model, self.notes.remove(&id).unwrap_or_default());
        let is_error = matches!(outcome, Outcome::Failed(_));
        self.for_model(Block::ToolResult { tool_use_id: id, content: for_model, is_error });
        self.content.push(Block::ToolResult { tool_use_id: id, content: stored(outcome), is_error });
    }

    fn keep(&mut self, blocks: impl Iterator<Item = Block>) {
        for block in blocks {
            self.for_model(block.clone());
            self.content.push(block);
        }
    }

    fn for_model(&mut self, block: Block) {
        let answer = self.turn.prompt.messages.last_mut().expect("the answer was pushed when the turn began");
        answer.content.push(block);
    }

    fn halted(&self) -> Option<Halt> {
        if self.turn.cancel.is_cancelled() {
            return Some(Halt::Stopped);
        }
        (Instant::now() >= self.deadline).then_some(Halt::TimedOut)
    }
}

async fn call_one(
    turn: &Turn<'_>,
    deadline: Instant,
    id: CallId,
    name: &str,
    input: &Value,
) -> Result<Outcome, JournalError> {
    let cancel = turn.cancel.child_token();
    let mut cx = ToolContext::new(turn.owner.clone(), id, cancel.clone()).by_model();
    cx.answer = Some(turn.message);
    let call = Call {
        id,
        owner: turn.owner.clone(),
        message: Some(turn.message),
        name: name.to_owned(),
        input: Arc::new(input.clone()),
    };
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

/// The line that a tool's stored output has about itself.
fn summary_of(block: &Block) -> Option<String> {
    let Block::ToolResult { content, is_error: false, .. } = block else { return None };
    Some(format!("- {}", content.get("summary")?.as_str()?))
}

/// After the result, so that the mark of data stays where it is.
fn with_notes(result: Value, notes: Vec<String>) -> Value {
    match result {
        Value::String(text) if !notes.is_empty() => {
            Value::String(format!("{text}\n{}", untrusted::clean(&notes.join("\n"))))
        }
        result => result,
    }
}

fn closing_event(call: CallId, name: &str, outcome: &Outcome) -> Kind {
    match outcome {
        Outcome::Done(done) => Kind::ToolDone { call, name: name.to_owned(), done: done.clone() },
        Outcome::Failed(failure) => Kind::ToolFailed { call, name: name.to_owned(), failure: failure.clone() },
    }
}

fn stored(outcome: Outcome) -> Value {
    match outcome {
        Outcome::Done(done) => Arc::try_unwrap(done).map_or_else(|done| done.output.clone(), |done| done.output),
        Outcome::Failed(failure) => serde_json::to_value(failure).expect("a failure is plain data"),
    }
}

fn interrupted() -> Outcome {
    Outcome::Failed(Failure { error: "Interrupted".into(), retryable: true, was_retried: false, duration_ms: 0 })
}

fn said_before(name: &str) -> Outcome {
    let error = format!(
        "{name} was already called with exactly this input in this turn. Use the earlier result, or change the input."
    );
    Outcome::Failed(Failure { error, retryable: false, was_retried: false, duration_ms: 0 })
}

/// Why a turn ends before its answer is complete.
enum Halt {
    Stopped,
    TimedOut,
    Model(ModelError),
    Journal(JournalError),
}

impl Halt {
    fn into_end(self) -> End {
        let (code, message, retryable) = match self {
            Halt::Stopped => return End::Answered(StopReason::Stopped),
            Halt::TimedOut => (FailureCode::Timeout, ModelError::TimedOut.for_user(), true),
            Halt::Model(error) => {
                tracing::error!("The turn failed: {error}");
                let code = match &error {
                    ModelError::TimedOut => FailureCode::Timeout,
                    ModelError::RateLimited(_) => FailureCode::RateLimited,
                    ModelError::ContextOverflow { .. } => FailureCode::ValidationError,
                    _ => FailureCode::AiServiceUnavailable,
                };
                (code, error.for_user(), error.is_retryable())
            }
            Halt::Journal(error) => {
                tracing::error!("The turn failed: {error}");
                (FailureCode::DatabaseError, "Something went wrong while saving. Please try again.".into(), true)
            }
        };
        End::Failed { code, message, retryable }
    }
}
