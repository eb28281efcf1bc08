//! Converts stored messages into a sequence that every provider accepts: alternating roles, and each call with its
//! result.
//!
//! A stored answer holds a whole turn: text, calls, results, more text. Providers expect separate replies. They
//! refuse a call without a result and two consecutive messages of one role. A conversation that was cut, stopped or
//! edited by hand must be accepted too, so this module repairs it for all providers.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use engine::{Block, CallId, Message, Role};
use serde_json::{Value, json};

/// One entry of the converted conversation.
///
/// Invariants: the list begins with the user; the user follows a reply without calls; two user entries never follow
/// each other; the list ends with the user or with calls, whose results the model reads last.
#[derive(Debug, PartialEq)]
pub(crate) enum Entry<'a> {
    User(Vec<&'a str>),
    Reply { texts: Vec<&'a str>, calls: Vec<CallWithResult<'a>> },
}

#[derive(Debug, PartialEq)]
pub(crate) struct CallWithResult<'a> {
    pub(crate) id: CallId,
    pub(crate) name: Cow<'a, str>,
    /// Always a JSON object.
    pub(crate) input: Cow<'a, Value>,
    /// Never blank.
    pub(crate) result: Cow<'a, str>,
    pub(crate) is_error: bool,
}

/// Inserted where a provider requires a user message and there is none.
const GO_ON: &str = "Continue.";
const INTERRUPTED: &str = "Interrupted";
const NO_OUTPUT: &str = "(no output)";
/// The length that both vendors accept for a tool name; OpenAI's limit is the lower one.
const MAX_NAME_CHARS: usize = 64;

pub(crate) fn unfold(messages: &[Message]) -> Vec<Entry<'_>> {
    let mut list = List { results: results(messages), ..List::default() };
    for message in messages {
        match message.role {
            Role::User => list.push_user(message),
            Role::Assistant => list.push_answer(message),
        }
    }
    list.finish()
}

type Results<'a> = HashMap<CallId, (&'a Value, bool)>;

fn results(messages: &[Message]) -> Results<'_> {
    let mut results = Results::new();
    for block in messages.iter().flat_map(|message| &message.content) {
        if let Block::ToolResult { tool_use_id, content, is_error } = block {
            results.entry(*tool_use_id).or_insert((content, *is_error));
        }
    }
    results
}

#[derive(Default)]
struct List<'a> {
    entries: Vec<Entry<'a>>,
    results: Results<'a>,
    /// Ids must be unique in a conversation.
    seen: HashSet<CallId>,
}

impl<'a> List<'a> {
    fn push_user(&mut self, message: &'a Message) {
        for block in &message.content {
            match block {
                Block::Text { text } if text.trim().is_empty() => {}
                Block::Text { text } => match self.entries.last_mut() {
                    Some(Entry::User(texts)) => texts.push(text),
                    _ => self.entries.push(Entry::User(vec![text])),
                },
                // Results are looked up with their calls; user messages contain no calls.
                Block::Reasoning { .. } | Block::ToolUse { .. } | Block::ToolResult { .. } => {}
            }
        }
    }

    fn push_answer(&mut self, message: &'a Message) {
        // A result ends a reply: the model wrote the following text after it had read the result.
        for reply in message.content.split(|block| matches!(block, Block::ToolResult { .. })) {
            self.push_reply(reply);
        }
    }

    fn push_reply(&mut self, blocks: &'a [Block]) {
        let (mut new_texts, mut new_calls) = (Vec::new(), Vec::new());
        for block in blocks {
            match block {
                Block::Text { text } if text.trim().is_empty() => {}
                Block::Text { text } => new_texts.push(text.as_str()),
                Block::ToolUse { id, name, input } if self.seen.insert(*id) => {
                    new_calls.push(call_with_result(*id, name, input, self.results.get(id)));
                }
                Block::Reasoning { .. } | Block::ToolUse { .. } | Block::ToolResult { .. } => {}
            }
        }
        if new_texts.is_empty() && new_calls.is_empty() {
            return;
        }
        if self.entries.is_empty() {
            self.entries.push(Entry::User(vec![GO_ON]));
        }
        match self.entries.last_mut() {
            Some(Entry::Reply { texts, calls }) if calls.is_empty() => {
                texts.append(&mut new_texts);
                calls.append(&mut new_calls);
            }
            _ => self.entries.push(Entry::Reply { texts: new_texts, calls: new_calls }),
        }
    }

    fn finish(mut self) -> Vec<Entry<'a>> {
        // If the last message is the assistant's, the model would continue its sentence, which newer models refuse.
        let awaits_the_model = match self.entries.last() {
            Some(Entry::User(_)) => true,
            Some(Entry::Reply { calls, .. }) => !calls.is_empty(),
            None => false,
        };
        if !awaits_the_model {
            self.entries.push(Entry::User(vec![GO_ON]));
        }
        self.entries
    }
}

fn call_with_result<'a>(
    id: CallId,
    name: &'a str,
    input: &'a Value,
    result: Option<&(&'a Value, bool)>,
) -> CallWithResult<'a> {
    let (result, is_error) = match result {
        Some((content, is_error)) => (result_text(content), *is_error),
        None => (Cow::Borrowed(INTERRUPTED), true),
    };
    CallWithResult { id, name: legal_name(name), input: as_object(input), result, is_error }
}

fn result_text(content: &Value) -> Cow<'_, str> {
    match content {
        Value::String(text) if text.trim().is_empty() => Cow::Borrowed(NO_OUTPUT),
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

/// A model may have invented a name that the provider does not accept in a later request.
fn legal_name(name: &str) -> Cow<'_, str> {
    let is_legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.len() <= MAX_NAME_CHARS && name.chars().all(is_legal) {
        return Cow::Borrowed(name);
    }
    let legal = name.chars().take(MAX_NAME_CHARS).map(|c| if is_legal(c) { c } else { '_' });
    let legal: String = legal.collect();
    if legal.is_empty() { Cow::Borrowed("unnamed") } else { Cow::Owned(legal) }
}

/// A non-object input is kept, so that the model sees its own mistake.
fn as_object(input: &Value) -> Cow<'_, Value> {
    if input.is_object() { Cow::Borrowed(input) } else { Cow::Owned(json!({"malformed": input})) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Block {
        Block::Text { text: text.into() }
    }

    fn call(id: CallId) -> Block {
        Block::ToolUse { id, name: "list_tasks".into(), input: json!({}) }
    }

    fn result(id: CallId, content: Value) -> Block {
        Block::ToolResult { tool_use_id: id, content: content.into(), is_error: false }
    }

    /// One line per entry; `!` marks an error.
    fn transcript(messages: &[Message]) -> Vec<String> {
        let entries = unfold(messages).into_iter().map(|entry| match entry {
            Entry::User(texts) => format!("user {}", texts.join(" + ")),
            Entry::Reply { texts, calls } => {
                let mark = |is_error: bool| if is_error { "!" } else { "" };
                let calls = calls
                    .iter()
                    .map(|call| format!(" [{}({}) → {}{}]", call.name, call.input, mark(call.is_error), call.result));
                format!("reply {}{}", texts.join(" + "), calls.collect::<String>())
            }
        });
        entries.collect()
    }

    #[test]
    fn a_stored_answer_becomes_separate_replies() {
        let (a, b, c) = (CallId::new(), CallId::new(), CallId::new());
        let answer = vec![
            text("Let me see."),
            call(a),
            call(b),
            result(a, json!("two")),
            result(b, json!({"n": 1})),
            text("And"),
            call(c),
            result(c, json!("")),
            text("Done."),
        ];
        let messages = [Message::user("Hi"), Message::assistant(answer), Message::user("Thanks")];
        assert_eq!(
            transcript(&messages),
            [
                "user Hi",
                "reply Let me see. [list_tasks({}) → two] [list_tasks({}) → {\"n\":1}]",
                "reply And [list_tasks({}) → (no output)]",
                "reply Done.",
                "user Thanks",
            ]
        );
    }

    #[test]
    fn sequences_that_providers_refuse_are_repaired() {
        let (a, b) = (CallId::new(), CallId::new());
        let odd = Block::ToolUse { id: b, name: "böse tool".into(), input: json!("not json {") };
        let cases: Vec<(&str, Vec<Message>, &[&str])> = vec![
            ("nothing at all", vec![], &["user Continue."]),
            ("blank texts", vec![Message::user("Hi"), Message::assistant(vec![text(" \n")])], &["user Hi"]),
            (
                "users in a row",
                vec![Message::user("Hi"), Message::assistant(vec![]), Message::user("?")],
                &["user Hi + ?"],
            ),
            (
                "answers in a row, first and last",
                vec![Message::assistant(vec![text("a")]), Message::assistant(vec![text("b")])],
                &["user Continue.", "reply a + b", "user Continue."],
            ),
            (
                "a call without its result",
                vec![Message::user("Hi"), Message::assistant(vec![call(a)])],
                &["user Hi", "reply  [list_tasks({}) → !Interrupted]"],
            ),
            (
                "a result without its call",
                vec![Message::user("Hi"), Message::assistant(vec![result(a, json!(1)), text("x")]), Message::user("y")],
                &["user Hi", "reply x", "user y"],
            ),
            (
                "a call twice",
                vec![Message::user("Hi"), Message::assistant(vec![call(a), result(a, json!(1)), call(a)])],
                &["user Hi", "reply  [list_tasks({}) → 1]"],
            ),
            (
                "an invented name, an input that is no object",
                vec![Message::user("Hi"), Message::assistant(vec![odd])],
                &["user Hi", "reply  [b_se_tool({\"malformed\":\"not json {\"}) → !Interrupted]"],
            ),
        ];
        for (name, messages, expected) in cases {
            assert_eq!(transcript(&messages), expected, "{name}");
        }
    }
}
