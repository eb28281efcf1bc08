//! Claims: checks an answer against the calls of its tools. Small models write "Done." without a call, and invent
//! songs.
//!
//! The detector prefers missed claims to false alarms: a sentence that it does not recognise as a claim is ignored. Its
//! corpus (`corpus.txt`) measures how often it is wrong.

mod changes;
#[cfg(test)]
mod corpus;
mod names;

use std::{borrow::Cow, sync::Arc};

use engine::{Block, Doubt, Effect, Notice, Prompt, Reviewer, Role};

use crate::agents::Agent;

const CODE: &str = "UNCONFIRMED_CLAIM";

/// What is known before the answer begins.
pub(crate) struct Claims {
    does_music: bool,
    /// The tool results and user messages of this conversation. They are read only if an answer names a track.
    known: Vec<Known>,
    /// Whether the user asks about an earlier change: "did you add it?"
    is_about_earlier: bool,
    writers: Vec<Cow<'static, str>>,
}

enum Known {
    Said(String),
    Result(Arc<serde_json::Value>),
}

impl Claims {
    pub(crate) fn of(agent: &Agent, prompt: &Prompt) -> Self {
        let writers = prompt.tools.iter().filter(|spec| spec.effect != Effect::Reads).map(|spec| spec.name.clone());
        let writers: Vec<_> = writers.collect();
        let mut known = Vec::new();
        let mut has_written = false;
        for message in &prompt.messages {
            let is_user = message.role == Role::User;
            for block in &message.content {
                match block {
                    Block::Text { text } if is_user => known.push(Known::Said(text.clone())),
                    Block::ToolResult { content, .. } => known.push(Known::Result(content.clone())),
                    Block::ToolUse { name, .. } => has_written |= writers.iter().any(|writer| writer == name),
                    Block::Text { .. } | Block::Reasoning { .. } => {}
                }
            }
        }
        let question = prompt.messages.last().map(engine::Message::text).unwrap_or_default();
        Self {
            does_music: agent.tools.contains(&"semanticSearch"),
            known,
            is_about_earlier: has_written && question.trim_end().ends_with('?'),
            writers,
        }
    }

    fn change(&self, answer: &[Block], text: &str) -> Option<Doubt> {
        let done = done_calls(answer);
        if self.is_about_earlier || done.iter().any(|name| self.writers.iter().any(|writer| writer == name)) {
            return None;
        }
        let claimed = changes::claimed(text, self.does_music, !done.is_empty())?;
        Some(Doubt {
            question: format!(
                "[A check by Segue, not by the user] Your answer says \"{claimed}\", but no tool has changed anything. If it \
                 is to be done, call the tool now. Otherwise tell the user plainly that it was not done."
            ),
            notice: Notice {
                code: CODE.into(),
                message:
                    "Note from Segue: the answer says that something was changed, but no tool has changed anything."
                        .into(),
            },
        })
    }

    fn unknown_tracks(&self, answer: &[Block], text: &str) -> Option<Doubt> {
        if !self.does_music {
            return None;
        }
        let named = names::named(text);
        if named.is_empty() {
            return None;
        }
        let unknown = names::unknown(named, &self.folded(answer));
        if unknown.is_empty() {
            return None;
        }
        let list = unknown.iter().take(5).map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        Some(Doubt {
            question: format!(
                "[A check by Segue, not by the user] No tool has returned these tracks: {list}. Search for them with a tool, \
                 or correct your answer: name only tracks that a tool returned."
            ),
            notice: Notice {
                code: CODE.into(),
                message: format!("Note from Segue: no tool has found these tracks, so they may not exist: {list}."),
            },
        })
    }
}

impl Claims {
    /// Everything that tools have returned and the user has said, as folded text.
    fn folded(&self, answer: &[Block]) -> String {
        let mut folded = String::new();
        for known in &self.known {
            match known {
                Known::Said(text) => names::fold_into(&mut folded, text),
                Known::Result(content) => names::fold_into(&mut folded, &as_text(content)),
            }
        }
        for block in answer {
            if let Block::ToolResult { content, .. } = block {
                names::fold_into(&mut folded, &as_text(content));
            }
        }
        folded
    }
}

impl Reviewer for Claims {
    fn doubt(&self, answer: &[Block], from: usize) -> Option<Doubt> {
        let words = answer.get(from..).into_iter().flatten().filter_map(|block| match block {
            Block::Text { text } => Some(text.as_str()),
            Block::Reasoning { .. } | Block::ToolUse { .. } | Block::ToolResult { .. } => None,
        });
        let text = words.collect::<Vec<_>>().join("\n");
        self.change(answer, &text).or_else(|| self.unknown_tracks(answer, &text))
    }
}

/// The names of the calls that succeeded.
fn done_calls(answer: &[Block]) -> Vec<&str> {
    let is_done = |id| {
        answer
            .iter()
            .any(|block| matches!(block, Block::ToolResult { tool_use_id, is_error: false, .. } if *tool_use_id == id))
    };
    let calls = answer.iter().filter_map(|block| match block {
        Block::ToolUse { id, name, .. } if is_done(*id) => Some(name.as_str()),
        _ => None,
    });
    calls.collect()
}

fn as_text(content: &serde_json::Value) -> String {
    content.as_str().map_or_else(|| content.to_string(), str::to_owned)
}
