//! Which model answers: the one the settings ask for.

use std::sync::Arc;

use anyhow::Context;
use engine::Model;
use offline::OfflineModel;
use providers::{AnthropicModel, Http, OpenAiModel};

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
