//! Budget: which part of a conversation does a model read when its context cannot hold all of it?
//!
//! Pure. It shortens in this order: long results of older exchanges; then it drops the oldest exchanges (one line
//! reports them); then it shortens results of the running turn; then the middle of the user's message. The system
//! prompt and the tools are never shortened.

use std::{borrow::Cow, sync::Arc};

use serde_json::Value;

use crate::{Block, Message, Prompt, Role, Usage, Window};

/// The results of this many exchanges before the running one are shortened last.
const N_WHOLE_EXCHANGES: usize = 1;
/// Maximum length of a shortened result of an older exchange.
const OLD_RESULT_CHARS: usize = 240;
/// Minimum length of a shortened result of the running turn, and of a shortened user message.
const MIN_CHARS: usize = 240;
/// Estimated characters of a message or a block besides its text: roles, ids, quotes.
const OVERHEAD_CHARS: usize = 16;
/// Maximum length of the line that replaces dropped exchanges.
const MAX_SUMMARY_CHARS: usize = 300;
/// The share of the prompt that is sent again after an overflow error without a limit.
const SECOND_TRY: f64 = 0.6;

/// The number of characters of a whole prompt. Token counts are estimated and measured with it.
pub fn prompt_chars(prompt: &Prompt) -> usize {
    let tools = prompt
        .tools
        .iter()
        .map(|tool| tool.name.len() + tool.description.chars().count() + tool.input_schema.to_string().chars().count());
    prompt.system.chars().count() + tools.sum::<usize>() + messages_chars(&prompt.messages)
}

/// How many tokens of a context the answer may take; the rest is for the prompt.
fn answer_tokens(context: u32) -> u32 {
    (context / 4).clamp(256, 4_096).min(context / 2)
}

/// A shorter prompt for this model. `None` if the prompt fits, or if the size of the context is unknown.
pub(crate) fn for_window(prompt: &Prompt, window: Option<Window>) -> Option<Prompt> {
    let Window { context_tokens: Some(context), chars_per_token } = window? else { return None };
    let max_chars = as_chars(context - answer_tokens(context), chars_per_token);
    fit(prompt, max_chars).map(|trimmed| trimmed.prompt)
}

/// A shorter prompt after the server reported that this one is too long. `None` if it cannot be shortened further.
pub(crate) fn after_overflow(sent: &Prompt, window: Option<Window>, limit: Option<u32>) -> Option<Prompt> {
    let n_sent = prompt_chars(sent);
    let chars_per_token = window.map_or(3.0, |window| window.chars_per_token);
    let by_limit = limit.map(|limit| as_chars(limit - answer_tokens(limit), chars_per_token));
    // The estimate was too high, because the server refused the prompt: send only a part of it.
    let max_chars = by_limit.unwrap_or(usize::MAX).min(scaled(n_sent, SECOND_TRY));
    let shorter = fit(sent, max_chars)?.prompt;
    (prompt_chars(&shorter) < n_sent).then_some(shorter)
}

/// An estimate of the token usage of a reply, for a server that does not report it.
pub fn estimated_usage(n_prompt_chars: usize, n_answer_chars: usize, chars_per_token: f64) -> Usage {
    let tokens = |n_chars: usize| as_u64((n_chars as f64 / chars_per_token.max(0.5)).ceil());
    Usage { input_tokens: tokens(n_prompt_chars), output_tokens: tokens(n_answer_chars), ..Usage::default() }
}

/// A shortened prompt.
#[derive(Clone, Debug)]
pub struct Trimmed {
    pub prompt: Prompt,
    /// False if even the shortest form is longer than requested.
    pub fits: bool,
}

/// Shortens the prompt to `max_chars`, as far as possible. `None` if it already fits.
pub fn fit(prompt: &Prompt, max_chars: usize) -> Option<Trimmed> {
    let n_chars = prompt_chars(prompt);
    if n_chars <= max_chars {
        return None;
    }
    let n_fixed = n_chars - messages_chars(&prompt.messages);
    let mut messages = Messages::of(&prompt.messages, max_chars.saturating_sub(n_fixed));
    messages.shorten_old_results();
    messages.drop_old_exchanges();
    messages.shorten_running_results();
    messages.shorten_question();
    let fits = messages.fit();
    let messages = messages.into_list();
    Some(Trimmed { prompt: Prompt { messages, system: Arc::clone(&prompt.system), ..prompt.clone() }, fits })
}

struct Messages {
    /// Complete exchanges before the running one, oldest first. An exchange is a user message and its answer.
    older: Vec<Vec<Message>>,
    /// The newest user message, and the calls and results of this turn so far.
    running: Vec<Message>,
    summary: Option<Message>,
    max_chars: usize,
}

impl Messages {
    fn of(messages: &[Message], max_chars: usize) -> Self {
        let mut exchanges: Vec<Vec<Message>> = Vec::new();
        for message in messages {
            match exchanges.last_mut() {
                Some(exchange) if message.role == Role::Assistant => exchange.push(message.clone()),
                _ => exchanges.push(vec![message.clone()]),
            }
        }
        let running = exchanges.pop().unwrap_or_default();
        Self { older: exchanges, running, summary: None, max_chars }
    }

    fn n_chars(&self) -> usize {
        let older: usize = self.older.iter().map(|exchange| messages_chars(exchange)).sum();
        let summary = self.summary.as_ref().map_or(0, message_chars);
        older + summary + messages_chars(&self.running)
    }

    fn fit(&self) -> bool {
        self.n_chars() <= self.max_chars
    }

    fn shorten_old_results(&mut self) {
        if self.fit() {
            return;
        }
        let n_old = self.older.len().saturating_sub(N_WHOLE_EXCHANGES);
        for exchange in &mut self.older[..n_old] {
            shorten_results(exchange, OLD_RESULT_CHARS);
        }
    }

    /// Drops exchanges in steps of a quarter of the space. The start of the prompt then stays the same for several
    /// turns, and the provider's prefix cache stays valid.
    fn drop_old_exchanges(&mut self) {
        if self.fit() || self.older.is_empty() {
            return;
        }
        let step = (self.max_chars / 4).max(1);
        let too_many = self.n_chars() + MAX_SUMMARY_CHARS - self.max_chars;
        let to_drop = too_many.div_ceil(step) * step;
        let (mut n_dropped_chars, mut n_dropped) = (0, 0);
        while n_dropped < self.older.len() && n_dropped_chars < to_drop {
            n_dropped_chars += messages_chars(&self.older[n_dropped]);
            n_dropped += 1;
        }
        let dropped: Vec<_> = self.older.drain(..n_dropped).collect();
        self.summary = Some(summary(&dropped));
        if self.older.is_empty() && !self.fit() && messages_chars(&self.running) <= self.max_chars {
            self.summary = None;
        }
    }

    /// Shortens the largest results to one common length.
    fn shorten_running_results(&mut self) {
        if self.fit() {
            return;
        }
        self.summary = None;
        let lengths = result_lengths(&self.running);
        let n_others = messages_chars(&self.running) - lengths.iter().sum::<usize>();
        let space = self.max_chars.saturating_sub(n_others);
        shorten_results(&mut self.running, common_length(&lengths, space).max(MIN_CHARS));
    }

    fn shorten_question(&mut self) {
        if self.fit() {
            return;
        }
        let too_many = self.n_chars() - self.max_chars;
        let Some(question) = self.running.iter_mut().find(|message| message.role == Role::User) else { return };
        for block in &mut question.content {
            if let Block::Text { text } = block {
                let keep = text.chars().count().saturating_sub(too_many).max(MIN_CHARS);
                *text = without_middle(text, keep);
            }
        }
    }

    fn into_list(self) -> Vec<Message> {
        self.summary.into_iter().chain(self.older.into_iter().flatten()).chain(self.running).collect()
    }
}

/// One line about the dropped exchanges, with the start of each question.
fn summary(dropped: &[Vec<Message>]) -> Message {
    let mut line = format!("[{} earlier exchanges are left out; the user asked:", dropped.len());
    for question in dropped.iter().rev().filter_map(|exchange| exchange.first()) {
        let words = question.text().split_whitespace().collect::<Vec<_>>().join(" ");
        let words = text::cut(&words, 60);
        if line.chars().count() + words.chars().count() + 8 > MAX_SUMMARY_CHARS - OVERHEAD_CHARS * 2 {
            break;
        }
        line.push_str(&format!(" \"{words}\""));
    }
    line.push(']');
    Message::user(line)
}

fn shorten_results(messages: &mut [Message], max_chars: usize) {
    for block in messages.iter_mut().flat_map(|message| &mut message.content) {
        if let Block::ToolResult { content, .. } = block
            && value_chars(content) > max_chars
        {
            *content = Value::String(beginning(&as_text(content), max_chars)).into();
        }
    }
}

fn result_lengths(messages: &[Message]) -> Vec<usize> {
    let blocks = messages.iter().flat_map(|message| &message.content);
    let lengths = blocks.filter_map(|block| match block {
        Block::ToolResult { content, .. } => Some(value_chars(content)),
        Block::Text { .. } | Block::Reasoning { .. } | Block::ToolUse { .. } => None,
    });
    lengths.collect()
}

/// The largest common length at which all texts together need at most `space`.
fn common_length(lengths: &[usize], space: usize) -> usize {
    let mut sorted = lengths.to_vec();
    sorted.sort_unstable();
    let mut left = space;
    for (at, length) in sorted.iter().enumerate() {
        let share = left / (sorted.len() - at);
        if *length > share {
            return share;
        }
        left -= length;
    }
    space
}

fn beginning(text: &str, max_chars: usize) -> String {
    let n_chars = text.chars().count();
    let note = format!(" … [shortened: {max_chars} of {n_chars} characters]");
    text::cut(text, max_chars.saturating_sub(note.chars().count())).to_owned() + &note
}

fn without_middle(text: &str, max_chars: usize) -> String {
    let n_chars = text.chars().count();
    if n_chars <= max_chars {
        return text.to_owned();
    }
    let note = " … [shortened: the middle is left out] … ";
    let half = max_chars.saturating_sub(note.chars().count()) / 2;
    let end = &text[text::cut(text, n_chars - half).len()..];
    [text::cut(text, half), note, end].concat()
}

fn as_text(content: &Value) -> Cow<'_, str> {
    match content {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

fn value_chars(content: &Value) -> usize {
    as_text(content).chars().count()
}

fn messages_chars(messages: &[Message]) -> usize {
    messages.iter().map(message_chars).sum()
}

fn message_chars(message: &Message) -> usize {
    let blocks = message.content.iter().map(|block| match block {
        Block::Text { text } => OVERHEAD_CHARS + text.chars().count(),
        Block::ToolUse { name, input, .. } => OVERHEAD_CHARS + name.chars().count() + value_chars(input),
        Block::ToolResult { content, .. } => OVERHEAD_CHARS + value_chars(content),
        Block::Reasoning { .. } => 0,
    });
    OVERHEAD_CHARS + blocks.sum::<usize>()
}

fn as_chars(tokens: u32, chars_per_token: f64) -> usize {
    usize::try_from(as_u64((f64::from(tokens) * chars_per_token).floor())).unwrap_or(usize::MAX)
}

fn scaled(n: usize, by: f64) -> usize {
    usize::try_from(as_u64(n as f64 * by)).unwrap_or(usize::MAX)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count: saturation is correct")]
fn as_u64(n: f64) -> u64 {
    n as u64
}
