//! The prompts of a turn, recorded when they are sent: the log of a turn does not contain instructions, history and
//! tools.

use std::sync::{Mutex, PoisonError};

use engine::{Block, Delta, Message, Model, ModelError, Prompt, Role};
use futures::stream::BoxStream;
use serde_json::{Value, json};

use super::cut::Cut;

/// The prompts of one turn, each with its step.
#[derive(Default)]
pub(crate) struct Sent {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    step: u32,
    prompts: Vec<SentPrompt>,
}

#[derive(Clone, Debug)]
pub(crate) struct SentPrompt {
    pub(super) step: u32,
    pub(super) input: Cut,
}

impl Sent {
    /// Later prompts belong to this step.
    pub(crate) fn begin_step(&self, step: u32) {
        self.lock().step = step;
    }

    /// If a step is sent twice because its prompt was too long, the second prompt replaces the first.
    fn record(&self, prompt: &Prompt) {
        let input = Cut::of(input(prompt).to_string());
        let mut inner = self.lock();
        let step = inner.step;
        inner.prompts.retain(|sent| sent.step != step);
        inner.prompts.push(SentPrompt { step, input });
    }

    pub(crate) fn take(&self) -> Vec<SentPrompt> {
        std::mem::take(&mut self.lock().prompts)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A model whose prompts are recorded.
pub(crate) struct Watched<'a, M> {
    pub(crate) model: M,
    /// `None`: traces are off, or contain no content.
    pub(crate) sent: Option<&'a Sent>,
}

impl<M: Model> Model for Watched<'_, M> {
    fn id(&self) -> &str {
        self.model.id()
    }

    fn inner(&self) -> Option<&dyn Model> {
        Some(&self.model)
    }

    fn reply(&self, prompt: &Prompt) -> BoxStream<'static, Result<Delta, ModelError>> {
        if let Some(sent) = self.sent {
            sent.record(prompt);
        }
        self.model.reply(prompt)
    }
}

/// In the format that Langfuse shows as a chat with its tools.
pub(super) fn input(prompt: &Prompt) -> Value {
    let mut messages = vec![json!({"role": "system", "content": &*prompt.system})];
    messages.extend(prompt.messages.iter().flat_map(chat_messages));
    let tools = prompt.tools.iter().filter(|_| prompt.may_call_tools).map(|tool| {
        let (name, description, parameters) = (&tool.name, &tool.description, &tool.input_schema);
        json!({"type": "function", "function": {"name": name, "description": description, "parameters": parameters}})
    });
    let tools: Vec<_> = tools.collect();
    if tools.is_empty() { json!({ "messages": messages }) } else { json!({"messages": messages, "tools": tools}) }
}

/// In that format, calls and results are separate messages. Text between two calls keeps its position.
fn chat_messages(message: &Message) -> Vec<Value> {
    let role = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let mut out: Vec<Value> = Vec::new();
    for block in &message.content {
        match block {
            Block::Text { text } => out.push(json!({"role": role, "content": text})),
            Block::Reasoning { .. } => {}
            Block::ToolUse { id, name, input } => {
                let function = json!({"name": name, "arguments": input.to_string()});
                let call = json!({"id": id.to_string(), "type": "function", "function": function});
                match out.last_mut() {
                    Some(last) if last["role"] == "assistant" => match &mut last["tool_calls"] {
                        Value::Array(calls) => calls.push(call),
                        calls => *calls = json!([call]),
                    },
                    _ => out.push(json!({"role": "assistant", "content": "", "tool_calls": [call]})),
                }
            }
            Block::ToolResult { tool_use_id, content, .. } => {
                let text = content.as_str().map_or_else(|| content.to_string(), str::to_owned);
                out.push(json!({"role": "tool", "tool_call_id": tool_use_id.to_string(), "content": text}));
            }
        }
    }
    out
}
