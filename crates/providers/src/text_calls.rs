//! Calls as text: decides whether text of a model is a tool call.
//!
//! It is, only if the reply, or the end of the reply, consists of nothing but calls of offered tools. Pure and
//! incremental: text is passed on at once; an opening that looks like a call is held back, and is passed on unchanged
//! if it turns out to be prose.

mod forms;
mod named;
mod python;

use std::sync::Arc;

use engine::ToolSpec;

use self::forms::{Reading, begins_opening, could_open, opening};

/// Calls are shorter than this. Longer text is a document.
const MAX_HELD_BYTES: usize = 64 * 1024;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TextCall {
    /// Name of an offered tool.
    pub(crate) name: String,
    /// As the model wrote it, not validated.
    pub(crate) input: String,
}

pub(crate) struct TextCalls {
    tools: Arc<[ToolSpec]>,
    /// Text since an opening.
    held: String,
    /// How many bytes of `held` were examined.
    n_read: usize,
    is_holding: bool,
    at_line_start: bool,
    last: Option<char>,
    n_backticks: u32,
    in_fence: bool,
}

impl TextCalls {
    /// Without tools, no text is held back.
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

    /// Takes text and returns the part that is certainly prose.
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

    /// The reply has ended: returns the calls, or the rest of the prose.
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

    /// The connection broke: the text that was held back is prose, even if it looks like a call.
    pub(crate) fn release(&mut self) -> String {
        self.is_holding = false;
        std::mem::take(&mut self.held)
    }

    /// Passes on text up to the first opening and holds back the rest.
    fn scan(&mut self, out: &mut String) {
        let held = std::mem::take(&mut self.held);
        for (at, sign) in held.char_indices() {
            let rest = &held[at..];
            let is_quoted = self.in_fence || matches!(self.last, Some('`' | '"' | '\''));
            if !is_quoted
                && begins_opening(sign)
                && (opening(rest, self.at_line_start) || could_open(rest, self.at_line_start))
            {
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
        // Only a closing character can complete a value, so it is parsed again only after one.
        let is_news = |sign: char| matches!(sign, '}' | ']' | ')' | '>' | '`' | '\n');
        if self.n_read > 256 && !self.held[self.n_read..].contains(is_news) {
            return false;
        }
        self.n_read = self.held.len();
        forms::read(&self.held, &self.tools, false) == Reading::Prose
    }

    /// The line is not an opening. The next line may be one.
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
