//! Calls as text: when is what a model wrote a call of a tool?
//!
//! Only when a reply, or its end, is nothing but calls of offered tools. Pure and incremental: text goes on at once,
//! an opening that looks like a call waits, and goes on unchanged when it turns out to be prose.

mod forms;
mod named;
mod python;

use std::sync::Arc;

use engine::ToolSpec;

use self::forms::{Reading, could_open, opening};

/// A call that no prose follows is short; what is longer is a document.
const MAX_HELD_BYTES: usize = 64 * 1024;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TextCall {
    /// Of an offered tool.
    pub(crate) name: String,
    /// As the model wrote it, not checked.
    pub(crate) input: String,
}

pub(crate) struct TextCalls {
    tools: Arc<[ToolSpec]>,
    /// From an opening on.
    held: String,
    /// How much of `held` was looked at.
    n_read: usize,
    is_holding: bool,
    at_line_start: bool,
    last: Option<char>,
    n_backticks: u32,
    in_fence: bool,
}

impl TextCalls {
    /// Without tools nothing is ever held back.
    pub(crate) fn new(tools: Arc<[ToolSpec]>) -> Self {
        Self {
            tools,
            held: String::new(),
            n_read: 0,
            is_holding: false,
            at_line_start: true,
            last: None,
            n_backticks: 0,
            in_fence: false,
        }
    }

    /// Takes text and gives out what is surely prose.
    pub(crate) fn push(&mut self, text: &str) -> String {
        if self.tools.is_empty() {
            return text.to_owned();
        }
        self.held.push_str(text);
        let mut out = String::new();
        while !self.held.is_empty() {
            if !self.is_holding {
                self.scan(&mut out);
            }
            if !self.is_holding || !self.is_prose() {
                break;
            }
            self.release_line(&mut out);
        }
        out
    }

    /// The reply is over: calls, or the rest of the prose.
    pub(crate) fn finish(&mut self) -> (String, Vec<TextCall>) {
        let mut out = String::new();
        while !self.held.is_empty() {
            if !self.is_holding {
                self.scan(&mut out);
                if self.held.is_empty() {
                    break;
                }
            }
            match forms::read(&self.held, &self.tools, true) {
                Reading::Calls(calls) => {
                    self.held.clear();
                    self.is_holding = false;
                    return (out, calls);
                }
                Reading::Unfinished | Reading::Prose => self.release_line(&mut out),
            }
        }
        (out, Vec::new())
    }

    /// The reply breaks off: what was held back is text, whatever it began to be.
    pub(crate) fn release(&mut self) -> String {
        self.is_holding = false;
        std::mem::take(&mut self.held)
    }

    /// Gives out text up to the first opening and holds from there.
    fn scan(&mut self, out: &mut String) {
        let held = std::mem::take(&mut self.held);
        for (at, sign) in held.char_indices() {
            let rest = &held[at..];
            let is_quoted = self.in_fence || matches!(self.last, Some('`' | '"' | '\''));
            if !is_quoted && (opening(rest, self.at_line_start) || could_open(rest, self.at_line_start)) {
                self.held = rest.to_owned();
                self.n_read = 0;
                self.is_holding = true;
                return;
            }
            self.give(sign, out);
        }
    }

    fn give(&mut self, sign: char, out: &mut String) {
        out.push(sign);
        self.at_line_start = sign == '\n' || (self.at_line_start && sign.is_whitespace());
        self.n_backticks = if sign == '`' { self.n_backticks + 1 } else { 0 };
        self.in_fence ^= self.n_backticks == 3;
        self.last = Some(sign);
    }

    fn is_prose(&mut self) -> bool {
        if self.held.len() > MAX_HELD_BYTES {
            return true;
        }
        // Between closing signs a value only grows; reading it again would say the same.
        let is_news = |sign: char| matches!(sign, '}' | ']' | ')' | '>' | '`' | '\n');
        if self.n_read > 256 && !self.held[self.n_read..].contains(is_news) {
            return false;
        }
        self.n_read = self.held.len();
        forms::read(&self.held, &self.tools, false) == Reading::Prose
    }

    /// What looked like an opening was none; the next line may be one.
    fn release_line(&mut self, out: &mut String) {
        let held = std::mem::take(&mut self.held);
        let first = held.chars().next().map_or(0, char::len_utf8);
        let n_bytes = held[first..].find('\n').map_or(held.len(), |at| first + at + 1);
        for sign in held[..n_bytes].chars() {
            self.give(sign, out);
        }
        self.held = held[n_bytes..].to_owned();
        self.is_holding = false;
    }
}
