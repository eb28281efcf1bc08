//! A model that follows a script: for tests and demonstrations.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use futures::{StreamExt, stream::BoxStream};
use serde_json::Value;

use crate::{Delta, Model, ModelError, Prompt, Usage};

/// Plays one reply of the script per call, and remembers what it was asked.
#[derive(Clone, Default)]
pub struct ScriptedModel {
    replies: Arc<Mutex<VecDeque<Reply>>>,
    asked: Arc<Mutex<Vec<Prompt>>>,
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
    Fails(&'static str),
}

/// A reply of plain text, a word per delta.
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

    /// The stream ends without its terminal event.
    pub fn then_is_cut(mut self) -> Self {
        self.end = Ending::Cut;
        self
    }

    /// Nothing more ever comes.
    pub fn then_hangs(mut self) -> Self {
        self.end = Ending::Hangs;
        self
    }

    pub fn then_fails(mut self, why: &'static str) -> Self {
        self.end = Ending::Fails(why);
        self
    }
}

impl ScriptedModel {
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self { replies: Arc::new(Mutex::new(replies.into_iter().collect())), asked: Arc::default() }
    }

    /// Begins a new script.
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
            Ending::Fails(why) => {
                deltas.chain(futures::stream::iter([Err(ModelError::Unavailable(why.into()))])).boxed()
            }
        }
    }
}
