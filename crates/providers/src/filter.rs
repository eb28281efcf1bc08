//! Filter: separates what a server sent into answer, thinking and calls.

use std::{collections::VecDeque, sync::Arc};

use engine::{Delta, ToolSpec};

use super::{
    answer::Stop,
    quirks::{Facts, Learned},
    reasoning::{Piece, Reasoning},
    text_calls::TextCalls,
};

pub(crate) struct Filter {
    reasoning: Reasoning,
    text_calls: TextCalls,
    learned: Arc<Learned>,
    n_prompt_chars: usize,
    has_text: bool,
    has_calls: bool,
}

impl Filter {
    /// `tools`: the tools that the model may call now. Without tools, no text is read as a call.
    pub(crate) fn new(tools: Arc<[ToolSpec]>, learned: Arc<Learned>, n_prompt_chars: usize) -> Self {
        let Facts { thinks_unseen, .. } = learned.facts();
        let reasoning = if thinks_unseen { Reasoning::begun_in_the_prompt() } else { Reasoning::default() };
        let text_calls = TextCalls::new(tools);
        Self { reasoning, text_calls, learned, n_prompt_chars, has_text: false, has_calls: false }
    }

    /// Takes one delta of the reader. `stop` is the reason why the reply ended; it is used with the last delta.
    pub(crate) fn push(&mut self, delta: Delta, stop: Stop, out: &mut VecDeque<Delta>) {
        match delta {
            Delta::Text(text) => {
                let mut pieces = Vec::new();
                self.reasoning.push(&text, &mut pieces);
                self.give(pieces, out);
            }
            Delta::Reasoning(text) => self.think(text, out),
            Delta::ToolCall { name, input } => {
                // A server that sends the same call natively and as text means one call.
                let (text, _) = self.text_calls.finish();
                self.say(text, out);
                self.has_calls = true;
                self.learned.update(|facts| facts.called_natively = true);
                out.push_back(Delta::ToolCall { name, input });
            }
            Delta::Reading { .. } | Delta::Progress { .. } => out.push_back(delta),
            Delta::End { usage } => {
                self.finish(out);
                if !self.has_calls {
                    out.extend(stop.remark(self.has_text));
                }
                self.learned.measured(self.n_prompt_chars, usage.input_tokens);
                self.has_text |= stop != Stop::Complete;
                out.push_back(Delta::End { usage });
            }
        }
    }

    /// Whether a finished reply contained nothing at all.
    pub(crate) fn is_empty(&self) -> bool {
        !self.has_text && !self.has_calls
    }

    /// The reply has ended: releases the text that was held back.
    pub(crate) fn finish(&mut self, out: &mut VecDeque<Delta>) {
        let mut pieces = Vec::new();
        self.reasoning.finish(&mut pieces);
        self.give(pieces, out);
        let is_unseen = self.reasoning.began_unseen();
        self.learned.update(|facts| facts.thinks_unseen = is_unseen);
        let (text, calls) = self.text_calls.finish();
        self.say(text, out);
        if !self.has_calls && !calls.is_empty() {
            self.has_calls = true;
            self.learned.update(|facts| facts.wrote_calls_as_text = true);
            out.extend(calls.into_iter().map(|call| Delta::ToolCall { name: call.name, input: call.input }));
        }
    }

    /// The connection broke. A call that was held back may be incomplete, so it is released as text.
    pub(crate) fn break_off(&mut self, out: &mut VecDeque<Delta>) {
        let mut pieces = Vec::new();
        self.reasoning.finish(&mut pieces);
        self.give(pieces, out);
        let text = self.text_calls.release();
        self.say(text, out);
    }

    fn give(&mut self, pieces: Vec<Piece>, out: &mut VecDeque<Delta>) {
        for piece in pieces {
            match piece {
                Piece::Answer(text) => {
                    let text = self.text_calls.push(&text);
                    self.say(text, out);
                }
                Piece::Thought(text) => self.think(text, out),
            }
        }
    }

    fn say(&mut self, text: String, out: &mut VecDeque<Delta>) {
        if !text.is_empty() {
            self.has_text |= !text.trim().is_empty();
            out.push_back(Delta::Text(text));
        }
    }

    fn think(&mut self, text: String, out: &mut VecDeque<Delta>) {
        self.learned.update(|facts| facts.reasons = true);
        out.push_back(Delta::Reasoning(text));
    }
}
