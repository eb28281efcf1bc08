//! A model that plays a script, for tests and demonstrations.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use futures::{StreamExt, stream::BoxStream};
use serde_json::Value;

use crate::{Delta, Model, ModelError, Prompt, Usage, Window};

/// Plays one reply of the script per call, and records the prompts.
#[derive(Clone, Default)]
pub struct ScriptedModel {
    replies: Arc<Mutex<VecDeque<Reply>>>,
    asked: Arc<Mutex<Vec<Prompt>>>,
    window: Option<Window>,
    is_local: bool,
}

/// One scripted reply.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    deltas: Vec<Delta>,
    end: Ending,
}

#[derive(Clone, Debug, Default)]
enum Ending {
    #[default]
    Complete,
    Cut,
    Hangs,
    Fails(ModelError),
}

/// A reply of plain text, one word per delta.
pub fn says(text: &str) -> Reply {
    Reply::default().says(text)
}

/// A reply that calls one tool.
pub fn calls(name: &str, input: Value) -> Reply {
    Reply::default().calls(name, input)
}

impl Reply {
    pub fn says(mut self, text: &str) -> Self {
        self.deltas.extend(text.split_inclusive(' ').map(|word| Delta::Text(word.to_owned())));
        self
    }

    pub fn calls(mut self, name: &str, input: Value) -> Self {
        self.deltas.push(Delta::ToolCall { name: name.to_owned(), input: input.to_string() });
        self
    }

    /// The stream ends without its last delta.
    pub fn then_is_cut(mut self) -> Self {
        self.end = Ending::Cut;
        self
    }

    /// The stream sends nothing more and does not end.
    pub fn then_hangs(mut self) -> Self {
        self.end = Ending::Hangs;
        self
    }

    pub fn then_fails(self, why: &'static str) -> Self {
        self.then_errs(ModelError::Unavailable(why.into()))
    }

    pub fn then_errs(mut self, error: ModelError) -> Self {
        self.end = Ending::Fails(error);
        self
    }

    pub fn thinks(mut self, thought: &str) -> Self {
        self.deltas.push(Delta::Reasoning(thought.to_owned()));
        self
    }

    pub fn reads(mut self, n_read: u32, n_total: u32) -> Self {
        self.deltas.push(Delta::Reading { n_read, n_total });
        self
    }

    /// The usage that the provider reports so far.
    pub fn has_cost(mut self, usage: Usage) -> Self {
        self.deltas.push(Delta::Progress { usage });
        self
    }

    /// A call with exactly this input text.
    pub fn calls_with(mut self, name: &str, input: &str) -> Self {
        self.deltas.push(Delta::ToolCall { name: name.to_owned(), input: input.to_owned() });
        self
    }
}

impl ScriptedModel {
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self { replies: Arc::new(Mutex::new(replies.into_iter().collect())), ..Self::default() }
    }

    /// The same model with a context of this size.
    pub fn with_window(self, window: Window) -> Self {
        Self { window: Some(window), ..self }
    }

    /// The same model as a local model.
    pub fn on_this_machine(self) -> Self {
        Self { is_local: true, ..self }
    }

    /// Starts a new script.
    pub fn play(&self, replies: impl IntoIterator<Item = Reply>) {
        let mut script = self.replies.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        script.clear();
        script.extend(replies);
    }

    pub fn asked(&self) -> Vec<Prompt> {
        self.asked.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }
}

impl Model for ScriptedModel {
    fn id(&self) -> &str {
        "script"
    }

    fn window(&self) -> Option<Window> {
        self.window
    }

    fn is_local(&self) -> bool {
        self.is_local
    }

    fn reply(&self, prompt: &Prompt) -> BoxStream<'static, Result<Delta, ModelError>> {
        self.asked.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(prompt.clone());
        let next = self.replies.lock().unwrap_or_else(std::sync::PoisonError::into_inner).pop_front();
        let reply = next.unwrap_or_else(|| says("The script is over."));
        let n_deltas = reply.deltas.len() as u64;
        let deltas = futures::stream::iter(reply.deltas.into_iter().map(Ok));
        match reply.end {
            Ending::Complete => {
                let usage = Usage { input_tokens: 10, output_tokens: n_deltas, ..Usage::default() };
                deltas.chain(futures::stream::iter([Ok(Delta::End { usage })])).boxed()
            }
            Ending::Cut => deltas.boxed(),
            Ending::Hangs => deltas.chain(futures::stream::pending()).boxed(),
            Ending::Fails(error) => deltas.chain(futures::stream::iter([Err(error)])).boxed(),
        }
    }
}
