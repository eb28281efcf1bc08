//! Models: the providers, and the one that needs none.

mod anthropic;
pub mod offline;
mod openai;
#[doc(hidden)]
pub mod replay;
mod unfold;

mod answer;
mod failure;
mod http;
mod sse;

use std::sync::Arc;

use anyhow::Context;
use engine::Model;

pub use anthropic::AnthropicModel;
pub use http::{Http, SetupError};
pub use offline::OfflineModel;
pub use openai::OpenAiModel;

use crate::config::{Config, ModelChoice};

/// The model the settings ask for.
pub fn choose(config: &Config) -> anyhow::Result<Arc<dyn Model>> {
    Ok(match &config.model {
        ModelChoice::Offline => Arc::new(OfflineModel::new()),
        ModelChoice::Anthropic(model) => {
            let key = config.anthropic.key.as_ref().context("ANTHROPIC_API_KEY is not set")?.expose();
            let model = model.as_deref().unwrap_or(AnthropicModel::DEFAULT_MODEL);
            Arc::new(AnthropicModel::new(Http::new()?, &config.anthropic.url, key, model)?)
        }
        ModelChoice::OpenAi(model) => {
            let key = config.openai.key.as_ref().map(|key| key.expose());
            let model = model.as_deref().unwrap_or(OpenAiModel::DEFAULT_MODEL);
            Arc::new(OpenAiModel::new(Http::new()?, &config.openai.url, key, model)?)
        }
    })
}
