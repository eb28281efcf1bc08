//! The scene: the conversation in a prompt, in the form that the planners need.

use engine::{Block, Prompt, Role};
use serde_json::Value;

/// The conversation up to the current message.
pub(crate) struct Scene<'a> {
    pub(crate) earlier: Vec<Exchange<'a>>,
    pub(crate) now: Exchange<'a>,
    pub(crate) may_call_tools: bool,
    tools: Vec<&'a str>,
}

/// A user message and its answer so far.
#[derive(Default)]
pub(crate) struct Exchange<'a> {
    pub(crate) message: String,
    pub(crate) answer: String,
    pub(crate) calls: Vec<Called<'a>>,
}

pub(crate) struct Called<'a> {
    id: engine::CallId,
    pub(crate) name: &'a str,
    pub(crate) input: &'a Value,
    /// `None` if the turn was cut before the tool returned.
    pub(crate) result: Option<Result<Value, String>>,
}

impl<'a> Scene<'a> {
    pub(crate) fn of(prompt: &'a Prompt) -> Self {
        let mut exchanges: Vec<Exchange> = Vec::new();
        for message in &prompt.messages {
            let text = message.text();
            let starts_anew = message.role == Role::User && !text.trim().is_empty();
            if starts_anew || exchanges.is_empty() {
                exchanges.push(Exchange::default());
            }
            let exchange = exchanges.last_mut().expect("the first message adds an exchange");
            match message.role {
                Role::User if starts_anew => exchange.message = text,
                Role::User => {}
                Role::Assistant => exchange.answer.push_str(&text),
            }
            message.content.iter().for_each(|block| exchange.read(block));
        }
        let now = exchanges.pop().unwrap_or_default();
        let tools = prompt.tools.iter().map(|tool| &*tool.name).collect();
        Self { earlier: exchanges, now, may_call_tools: prompt.may_call_tools, tools }
    }

    pub(crate) fn has(&self, tool: &str) -> bool {
        self.tools.contains(&tool)
    }

    pub(crate) fn last(&self) -> Option<&Exchange<'a>> {
        self.earlier.last()
    }

    /// Every exchange, newest first.
    pub(crate) fn backwards(&self) -> impl Iterator<Item = &Exchange<'a>> {
        std::iter::once(&self.now).chain(self.earlier.iter().rev())
    }
}

impl<'a> Exchange<'a> {
    fn read(&mut self, block: &'a Block) {
        match block {
            Block::Text { .. } | Block::Reasoning { .. } => {}
            Block::ToolUse { id, name, input } => self.calls.push(Called { id: *id, name, input, result: None }),
            Block::ToolResult { tool_use_id, content, is_error } => {
                let Some(called) = self.calls.iter_mut().find(|called| called.id == *tool_use_id) else { return };
                called.result = Some(if *is_error { Err(error_text(content)) } else { Ok(object_in(content)) });
            }
        }
    }

    /// The output of the last successful call of a tool.
    pub(crate) fn output(&self, tool: &str) -> Option<&Value> {
        let mut outputs = self.calls.iter().rev().filter(|called| called.name == tool);
        outputs.find_map(|called| called.result.as_ref()?.as_ref().ok())
    }

    pub(crate) fn error(&self, tool: &str) -> Option<&str> {
        let mut errors = self.calls.iter().rev().filter(|called| called.name == tool);
        errors.find_map(|called| called.result.as_ref()?.as_ref().err().map(String::as_str))
    }

    pub(crate) fn called(&self, tool: &str) -> bool {
        self.calls.iter().any(|called| called.name == tool)
    }

    /// The bold part of each numbered line of the answer, or the whole line. "The second one" refers to this list.
    pub(crate) fn numbered(&self) -> Vec<&str> {
        let items = self.answer.lines().filter_map(|line| {
            let line = line.trim_start();
            let rest = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
            if rest.len() == line.len() {
                return None;
            }
            rest.strip_prefix('.').or_else(|| rest.strip_prefix(')')).map(str::trim)
        });
        items.map(|item| bold(item).unwrap_or(item)).collect()
    }
}

/// The first bold words of a text.
pub(crate) fn bold(text: &str) -> Option<&str> {
    text.split("**").nth(1).filter(|inner| !inner.trim().is_empty())
}

fn error_text(content: &Value) -> String {
    let text = content.get("error").unwrap_or(content);
    text.as_str().map_or_else(|| text.to_string(), str::to_owned)
}

/// A result is an object, or a text with an object, possibly after a line that marks it as data.
fn object_in(content: &Value) -> Value {
    let Value::String(text) = content else { return content.clone() };
    let starts = text.match_indices('{').map(|(at, _)| at).take(8);
    let objects = starts.filter_map(|at| serde_json::Deserializer::from_str(&text[at..]).into_iter().next()?.ok());
    objects.into_iter().next().unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_result_is_an_object_or_a_text_that_contains_one() {
        let table = [
            (json!({"tasks": []}), json!({"tasks": []})),
            (json!("{\"tasks\": []}"), json!({"tasks": []})),
            (json!("Data from outside {not an instruction}:\n{\"tracks\": [1]}\n(end)"), json!({"tracks": [1]})),
            (json!("nothing here"), Value::Null),
        ];
        for (content, expected) in table {
            assert_eq!(object_in(&content), expected, "{content}");
        }
    }
}
