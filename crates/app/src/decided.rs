//! A model whose first reply is the call that the user has allowed; every later reply comes from the real model.

use std::sync::{Mutex, PoisonError};

use engine::{Delta, Model, ModelError, Prompt, Usage};
use futures::{StreamExt, stream, stream::BoxStream};
use serde_json::Value;

/// The name of a tool and its input.
pub(crate) type Call = (String, Value);

pub(crate) struct Decided<M> {
    pub(crate) model: M,
    /// Used by the first reply.
    pub(crate) call: Mutex<Option<Call>>,
}

impl<M: Model> Model for Decided<M> {
    fn id(&self) -> &str {
        self.model.id()
    }

    fn inner(&self) -> Option<&dyn Model> {
        Some(&self.model)
    }

    fn reply(&self, prompt: &Prompt) -> BoxStream<'static, Result<Delta, ModelError>> {
        match self.call.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some((name, input)) => {
                let call = Delta::ToolCall { name, input: input.to_string() };
                stream::iter([Ok(call), Ok(Delta::End { usage: Usage::default() })]).boxed()
            }
            None => self.model.reply(prompt),
        }
    }
}
