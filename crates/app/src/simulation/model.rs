//! A model that determines its next reply from the prompt alone and is sometimes slow, and the tools that it calls.

use std::sync::{Arc, Weak};

use engine::{Block, Delta, Effect, Model, ModelError, Prompt, Report, Role, Tool, ToolContext, ToolError, Usage};
use futures::stream::BoxStream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::StoreError;
use tokio::time::sleep;

use super::{store::SimStore, world::World};

pub(super) const USAGE: Usage =
    Usage { input_tokens: 7, output_tokens: 5, cache_read_tokens: 0, cache_write_tokens: 0 };

/// The texts and calls of each step of a turn, by the kind of its question.
pub(super) fn script(kind: u64, mark: &str) -> Vec<(String, Vec<&'static str>)> {
    let says = |n: u64| format!("{mark} says {n} of what was asked for. ");
    match kind {
        0 => vec![(says(0), vec![])],
        1 => vec![(says(0), vec![Note::NAME]), (says(1), vec![])],
        2 => vec![(says(0), vec![Look::NAME, Look::NAME]), (says(1), vec![Note::NAME]), (says(2), vec![])],
        _ => vec![(String::new(), vec![Note::NAME, Look::NAME]), (says(1), vec![])],
    }
}

pub(super) fn question(kind: u64, mark: &str) -> String {
    format!("{kind} {mark}")
}

pub(super) struct SimModel(pub(super) Weak<World>);

impl Model for SimModel {
    fn id(&self) -> &str {
        "simulated"
    }

    fn reply(&self, prompt: &Prompt) -> BoxStream<'static, Result<Delta, ModelError>> {
        let world = self.0.upgrade().expect("the world is dropped after its models");
        let asked = prompt.messages.iter().find(|message| message.role == Role::User).map(engine::Message::text);
        let asked = asked.unwrap_or_default();
        let (kind, mark) = asked.split_once(' ').unwrap_or_default();
        let said = prompt.cut_text().unwrap_or_default().to_owned();
        let script = script(kind.parse().unwrap_or_default(), mark);
        let blocks = prompt.messages.iter().flat_map(|message| &message.content);
        let n_results = blocks.filter(|block| matches!(block, Block::ToolResult { .. })).count();
        let mut n_calls = 0;
        let mut is_done = |calls: &[&str]| {
            n_calls += calls.len();
            !calls.is_empty() && n_calls <= n_results
        };
        let step = script.iter().take_while(|(_, calls)| is_done(calls)).count();
        let (text, calls) = script[step].clone();
        let mark = mark.to_owned();
        Box::pin(async_stream::stream! {
            let Some(rest) = text.strip_prefix(said.as_str()) else {
                world.broken(format!("the model of {mark} reads '{said}' in step {step}"));
                return;
            };
            for word in rest.split_inclusive(' ') {
                sleep(world.ms(1, if world.one_in(60) { 9_000 } else { 40 })).await;
                yield Ok(Delta::Text(word.to_owned()));
            }
            for name in calls {
                yield Ok(Delta::ToolCall { name: name.to_owned(), input: serde_json::json!({"mark": mark}).to_string() });
            }
            yield Ok(Delta::End { usage: USAGE });
        })
    }
}

/// The tool with an effect.
pub(super) struct Note(pub(super) Arc<SimStore>);
/// The tool that only reads.
pub(super) struct Look(pub(super) Arc<SimStore>);

#[derive(Deserialize, JsonSchema)]
pub(super) struct Input {
    mark: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    mark: String,
}

impl Report for Output {
    fn summary(&self) -> String {
        "Done".into()
    }
    fn count(&self) -> usize {
        1
    }
}

impl Tool for Note {
    const NAME: &'static str = "note";
    const TITLE: &'static str = "Note";
    const EFFECT: Effect = Effect::Writes;
    type Input = Input;
    type Output = Output;

    async fn call(&self, cx: &ToolContext, input: Input) -> Result<Output, ToolError> {
        match self.0.act(cx.call, &input.mark).await {
            Ok(_) => Ok(Output { mark: input.mark }),
            Err(StoreError::Database(error)) => {
                Err(ToolError::Unavailable { message: error.to_string(), retryable: true })
            }
            Err(error) => Err(ToolError::Refused(error.to_string())),
        }
    }
}

impl Tool for Look {
    const NAME: &'static str = "look";
    const TITLE: &'static str = "Look";
    const EFFECT: Effect = Effect::Reads;
    type Input = Input;
    type Output = Output;

    async fn call(&self, _: &ToolContext, input: Input) -> Result<Output, ToolError> {
        self.0.look().await;
        Ok(Output { mark: input.mark })
    }
}
