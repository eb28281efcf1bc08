//! Progress: the state of a turn, computed from its events. A pure fold; a running turn uses it, and so does a node that
//! takes a turn over.
//!
//! Only this module computes the content of an answer, so the stored content equals the streamed content.

use std::{collections::HashMap, sync::Arc};

use serde_json::Value;

use crate::{
    Block, CallId, Event, Failure, Kind, Outcome, Usage,
    mutants::{Mutant, planted},
};

/// The journal row of a call whose end is not in the log.
#[derive(Clone, Debug, PartialEq)]
pub enum Recorded {
    /// The call has started, and no effect is committed.
    Begun,
    /// The effect is committed, and the outcome is not recorded. A second run under the same call id changes nothing
    /// and returns the output for the committed effect.
    Effect(Outcome),
    /// The outcome is recorded.
    Closed(Outcome),
}

/// A call that has no result yet.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenCall {
    pub id: CallId,
    pub name: String,
    pub input: Arc<Value>,
    /// Whether the start of the call is in the log.
    pub is_shown: bool,
    /// How often this turn has made the same call with the same input, including this call.
    pub n_same: u32,
    /// `None`: the journal has no row for the call, so it never ran.
    pub recorded: Option<Recorded>,
}

/// The state of a turn.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    content: Vec<Block>,
    open_text: Option<(u32, String)>,
    open_calls: Vec<OpenCall>,
    usage: Usage,
    n_texts: u32,
    n_takeovers: u32,
    n_reasoning_chars: usize,
    place: Place,
    /// The position of the first result of the current step. The calls of one reply come directly before it.
    first_result: Option<usize>,
    n_same: HashMap<(String, String), u32>,
    /// A call waits for the user's consent: the turn ends with the question.
    awaits_consent: bool,
    /// Replies without calls.
    answers: Vec<Answered>,
}

/// A reply that made no calls: it is reviewed before its step ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Answered {
    pub(crate) step: u32,
    /// How many blocks the answer had with it.
    pub(crate) n_blocks: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Place {
    #[default]
    Before,
    /// The model replies, or its calls run.
    In {
        step: u32,
        has_calls: bool,
        replied: Option<Usage>,
    },
    After {
        step: u32,
        is_answered: bool,
    },
}

/// The next action of the turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Next {
    /// Ask the model. `is_open`: the start of the step is in the log.
    Ask { step: u32, is_open: bool },
    /// Run the calls without a result.
    Call,
    /// All results of the step are there, and its end is not in the log.
    /// `is_answer`: it made no calls.
    CloseStep { step: u32, usage: Usage, is_answer: bool },
    /// The last step made no calls, or a call that waits for the user's consent: the answer is complete.
    End { step: u32 },
}

impl Progress {
    /// The state of a turn whose node died, from its saved log and the journal.
    pub fn of<'e>(events: impl IntoIterator<Item = &'e Event>, journal: HashMap<CallId, Recorded>) -> Self {
        let mut progress = Self::default();
        events.into_iter().for_each(|event| progress.apply(&event.kind));
        progress.recall(journal);
        if planted(Mutant::TakeoverForgetsUsage) {
            progress.usage = Usage::default();
        }
        progress
    }

    /// Adds the journal rows of the calls without a result.
    pub fn recall(&mut self, mut journal: HashMap<CallId, Recorded>) {
        for call in &mut self.open_calls {
            call.recorded = journal.remove(&call.id);
        }
    }

    pub fn apply(&mut self, kind: &Kind) {
        match kind {
            Kind::StepStarted { step, .. } => {
                self.place = Place::In { step: *step, has_calls: false, replied: None };
                self.first_result = None;
            }
            Kind::TextStarted { block } => {
                self.n_texts = block + 1;
                self.open_text = Some((*block, String::new()));
            }
            Kind::TextDelta { block, text } => {
                self.n_texts = block + 1;
                self.open_text.get_or_insert_with(|| (*block, String::new())).1.push_str(text);
            }
            Kind::TextDone { text, .. } => {
                self.open_text = None;
                self.content.push(Block::Text { text: text.clone() });
            }
            Kind::Replied { usage, calls, .. } => self.replied(*usage, calls),
            Kind::ToolStarted { call, name, input, .. } => self.called(*call, name, input),
            Kind::ToolDone { call, done, .. } => self.closed(*call, &Outcome::Done(done.clone())),
            Kind::ToolFailed { call, failure, .. } => self.closed(*call, &Outcome::Failed(failure.clone())),
            Kind::StepDone { step, usage, is_cut } => self.step_done(*step, *usage, *is_cut),
            Kind::TakenOver { takeover, .. } => self.n_takeovers = *takeover,
            Kind::Reasoned { text } => self.reasoned(text),
            Kind::Reading { .. } | Kind::Started { .. } | Kind::Ended { .. } | Kind::Failed { .. } => {}
        }
    }

    fn reasoned(&mut self, text: &str) {
        self.n_reasoning_chars += text.chars().count();
        match self.content.last_mut() {
            Some(Block::Reasoning { text: so_far }) => so_far.push_str(text),
            _ => self.content.push(Block::Reasoning { text: text.to_owned() }),
        }
    }

    fn replied(&mut self, usage: Usage, calls: &[crate::AskedCall]) {
        self.usage += usage;
        if let Place::In { step, has_calls, replied } = &mut self.place {
            *replied = Some(usage);
            *has_calls |= !calls.is_empty();
            if !*has_calls {
                self.answers.push(Answered { step: *step, n_blocks: self.content.len() });
            }
        }
        for asked in calls {
            let n_same = self.count_same(&asked.name, &asked.input);
            self.content.push(Block::ToolUse {
                id: asked.call,
                name: asked.name.clone(),
                input: asked.input.as_ref().clone(),
            });
            self.open_calls.push(OpenCall {
                id: asked.call,
                name: asked.name.clone(),
                input: asked.input.clone(),
                is_shown: false,
                n_same,
                recorded: None,
            });
        }
    }

    /// In logs of version 0.1 the first event of a call is its start. Since then it is the reply that requests it.
    fn called(&mut self, id: CallId, name: &str, input: &Arc<Value>) {
        if let Some(open) = self.open_calls.iter_mut().find(|open| open.id == id) {
            open.is_shown = true;
            return;
        }
        if let Place::In { has_calls, .. } = &mut self.place {
            *has_calls = true;
        }
        let n_same = self.count_same(name, input);
        let used = Block::ToolUse { id, name: name.to_owned(), input: input.as_ref().clone() };
        match &mut self.first_result {
            Some(at) => {
                self.content.insert(*at, used);
                *at += 1;
            }
            None => self.content.push(used),
        }
        let (name, input) = (name.to_owned(), input.clone());
        self.open_calls.push(OpenCall { id, name, input, is_shown: true, n_same, recorded: None });
    }

    fn closed(&mut self, call: CallId, outcome: &Outcome) {
        self.open_calls.retain(|open| open.id != call);
        self.first_result.get_or_insert(self.content.len());
        self.content.push(result_block(call, outcome));
        self.awaits_consent |= matches!(outcome, Outcome::Failed(Failure { consent_id: Some(_), .. }));
    }

    fn step_done(&mut self, step: u32, usage: Usage, is_cut: bool) {
        let Place::In { has_calls, replied, .. } = self.place else { return };
        if replied.is_none() {
            // The usage of a cut reply, and of every reply in a log of version 0.1, is only in the end of its step.
            self.usage += usage;
        }
        let is_complete = !is_cut && (replied.is_some() || usage.output_tokens > 0);
        self.place = Place::After { step, is_answered: is_complete && (!has_calls || self.awaits_consent) };
    }

    fn count_same(&mut self, name: &str, input: &Value) -> u32 {
        let n_same = self.n_same.entry((name.to_owned(), input.to_string())).or_default();
        *n_same += 1;
        *n_same
    }

    pub(crate) fn next(&self) -> Next {
        match self.place {
            Place::Before => Next::Ask { step: 0, is_open: false },
            Place::In { .. } if !self.open_calls.is_empty() => Next::Call,
            Place::In { step, replied: Some(usage), has_calls } => {
                Next::CloseStep { step, usage, is_answer: !has_calls }
            }
            Place::In { step, has_calls: true, replied: None } => {
                Next::CloseStep { step, usage: Usage::default(), is_answer: false }
            }
            Place::In { step, has_calls: false, replied: None } => Next::Ask { step, is_open: true },
            Place::After { step, is_answered: true } => Next::End { step },
            Place::After { step, is_answered: false } => Next::Ask { step: step + 1, is_open: false },
        }
    }

    /// The blocks of the answer, including unfinished text.
    pub fn content(&self) -> Vec<Block> {
        let open = self.open_text.iter().filter(|(_, text)| !text.is_empty());
        self.content.iter().cloned().chain(open.map(|(_, text)| Block::Text { text: text.clone() })).collect()
    }

    pub fn usage(&self) -> Usage {
        self.usage
    }

    pub fn n_takeovers(&self) -> u32 {
        self.n_takeovers
    }

    pub fn open_calls(&self) -> &[OpenCall] {
        &self.open_calls
    }

    /// Whether the model has asked for a call.
    pub fn has_calls(&self) -> bool {
        self.content.iter().any(|block| matches!(block, Block::ToolUse { .. }))
    }

    pub(crate) fn answers(&self) -> &[Answered] {
        &self.answers
    }

    /// Whether no later step has begun, and whether the end of this one is missing.
    pub(crate) fn is_last(&self, step: u32) -> (bool, bool) {
        match self.place {
            Place::Before => (false, false),
            Place::In { step: current, .. } => (current == step, current == step),
            Place::After { step: current, .. } => (current == step, false),
        }
    }

    pub(crate) fn awaits_consent(&self) -> bool {
        self.awaits_consent
    }

    pub(crate) fn open_text(&self) -> Option<(u32, String)> {
        self.open_text.clone()
    }

    pub(crate) fn n_texts(&self) -> u32 {
        self.n_texts
    }

    pub(crate) fn n_reasoning_chars(&self) -> usize {
        self.n_reasoning_chars
    }

    /// Whether further reasoning is added to the last block of the answer.
    pub(crate) fn ends_with_reasoning(&self) -> bool {
        self.open_text.is_none() && matches!(self.content.last(), Some(Block::Reasoning { .. }))
    }

    /// The events that close a turn that no node continues. Every open call gets the outcome from the journal, or
    /// "Interrupted". A call without a start event gets one first.
    pub fn closing(&self, title_of: impl Fn(&str) -> String) -> Vec<Kind> {
        let text = self.open_text.iter().map(|(block, text)| Kind::TextDone { block: *block, text: text.clone() });
        let calls = self.open_calls.iter().flat_map(|call| {
            let outcome = match &call.recorded {
                Some(Recorded::Effect(outcome) | Recorded::Closed(outcome)) => outcome.clone(),
                Some(Recorded::Begun) | None => Outcome::Failed(Failure::interrupted()),
            };
            let started = (!call.is_shown).then(|| call.started(title_of(&call.name)));
            started.into_iter().chain([closing_event(call.id, &call.name, &outcome)])
        });
        let step = match self.place {
            Place::In { step, replied, .. } => {
                Some(Kind::StepDone { step, usage: replied.unwrap_or_default(), is_cut: replied.is_none() })
            }
            Place::Before | Place::After { .. } => None,
        };
        text.chain(calls).chain(step).collect()
    }
}

impl OpenCall {
    pub(crate) fn started(&self, title: String) -> Kind {
        Kind::ToolStarted { call: self.id, name: self.name.clone(), title, input: self.input.clone() }
    }
}

pub(crate) fn closing_event(call: CallId, name: &str, outcome: &Outcome) -> Kind {
    match outcome {
        Outcome::Done(done) => Kind::ToolDone { call, name: name.to_owned(), done: done.clone() },
        Outcome::Failed(failure) => Kind::ToolFailed { call, name: name.to_owned(), failure: failure.clone() },
    }
}

fn result_block(call: CallId, outcome: &Outcome) -> Block {
    match outcome {
        Outcome::Done(done) => Block::ToolResult { tool_use_id: call, content: done.output.clone(), is_error: false },
        Outcome::Failed(failure) => {
            let content = Arc::new(serde_json::to_value(failure).expect("a failure is plain data"));
            Block::ToolResult { tool_use_id: call, content, is_error: true }
        }
    }
}
