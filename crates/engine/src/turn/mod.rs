//! The turn loop: ask the model, call tools, ask again. A turn that another node started continues where its log ends.

mod ask;
mod call;
mod limits;
mod review;

use std::{collections::HashMap, time::Duration};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub use self::limits::Limits;
use crate::{
    Block, CallId, FailureCode, Journal, Kind, Message, MessageId, Model, Notice, Progress, Prompt, Reviewer,
    StopReason, Toolbox, Usage, UserId, halt::Halt, progress::Next, review::Reviews,
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

    fn halted(&self) -> Result<(), Halt> {
        if self.turn.cancel.is_cancelled() {
            return Err(Halt::Stopped);
        }
        if Instant::now() >= self.deadline { Err(Halt::TimedOut) } else { Ok(()) }
    }
}

/// The summary in a stored output.
fn summary_of(block: &Block) -> Option<String> {
    let Block::ToolResult { content, is_error: false, .. } = block else { return None };
    Some(format!("- {}", content.get("summary")?.as_str()?))
}
