//! The model of the settings, with the capabilities that an earlier probe found.

use std::sync::Arc;

use anyhow::Context;
use engine::{Model, ModelError};
use offline::OfflineModel;
use providers::{AnthropicModel, Capabilities, Http, OpenAiModel, list_models, probe};

use super::{ChosenBy, Selected, kept::Kept, late::LateModel};
use crate::config::{Config, Endpoint, ModelChoice};

/// A model with its concrete type, so that it can be probed.
pub enum Chosen {
    Offline(OfflineModel),
    Anthropic(AnthropicModel),
    OpenAi {
        model: OpenAiModel,
        server: String,
    },
    /// The server has not listed its models yet.
    Late(LateModel),
}

impl Chosen {
    pub fn into_model(self) -> Arc<dyn Model> {
        match self {
            Self::Offline(model) => Arc::new(model),
            Self::Anthropic(model) => Arc::new(model),
            Self::OpenAi { model, .. } => Arc::new(model),
            Self::Late(model) => Arc::new(model),
        }
    }

    /// Sends one small request with one tool. `None` for the offline model, whose capabilities are known.
    pub async fn probe(&self) -> Option<Result<Capabilities, ModelError>> {
        match self {
            Self::Offline(_) => None,
            Self::Anthropic(model) => Some(probe(model).await),
            Self::OpenAi { model, .. } => Some(probe(model).await),
            Self::Late(late) => match late.find().await {
                Some(model) => Some(probe(&model).await),
                None => Some(Err(ModelError::Unavailable(late.unnamed()))),
            },
        }
    }

    /// The URL under which its capabilities are stored.
    pub fn server(&self) -> Option<&str> {
        match self {
            Self::OpenAi { server, .. } => Some(server),
            Self::Late(late) => Some(late.server()),
            Self::Offline(_) | Self::Anthropic(_) => None,
        }
    }
}

/// The model of the settings.
pub async fn choose(config: &Config) -> anyhow::Result<Arc<dyn Model>> {
    Ok(choose_probed(config).await?.into_model())
}

/// The same, with its concrete type.
pub async fn choose_probed(config: &Config) -> anyhow::Result<Chosen> {
    let kept = Kept::open(&config.data_dir);
    match &config.model {
        ModelChoice::OpenAi(None) if !is_the_vendor(&config.openai.url) => {
            let late = LateModel::new(Http::new()?, &config.openai, kept)?;
            Ok(match late.find().await {
                Some(model) => Chosen::OpenAi { model, server: config.openai.url.clone() },
                None => Chosen::Late(late),
            })
        }
        choice => build(choice, &config.anthropic, &config.openai, &kept),
    }
}

/// The model that answers with these settings, as the server chooses it, and who chose it. `connected`: the settings with
/// the model of the settings page, if one is connected.
pub(crate) async fn in_use(config: &Config, connected: Option<&Config>) -> anyhow::Result<(Chosen, ChosenBy)> {
    if config.is_model_set {
        return Ok((choose_probed(config).await?, ChosenBy::Settings));
    }
    let kept = Kept::open(&config.data_dir);
    if let Some(Selected { server, model }) = kept.selected() {
        let endpoint = Endpoint { url: server.clone(), key: None };
        let model = open_ai(Http::new()?, &endpoint, &model, &kept)?;
        return Ok((Chosen::OpenAi { model, server }, ChosenBy::Operator));
    }
    match connected {
        Some(connected) => Ok((choose_probed(connected).await?, ChosenBy::Connection)),
        None => Ok((choose_probed(config).await?, ChosenBy::Default)),
    }
}

/// The other models of the settings, each with the name of its entry or its setting.
pub fn others(config: &Config) -> Vec<(String, anyhow::Result<Chosen>)> {
    let kept = Kept::open(&config.data_dir);
    let named = config.models.iter().map(|named| (named.name.clone(), &named.choice));
    let small = config.small_model.iter().map(|choice| ("SEGUE_SMALL_MODEL".to_owned(), choice));
    named.chain(small).map(|(name, choice)| (name, build(choice, &config.anthropic, &config.openai, &kept))).collect()
}

/// A model of a configured provider. Without a name: the provider's current one.
pub(super) fn build(
    choice: &ModelChoice,
    anthropic: &Endpoint,
    openai: &Endpoint,
    kept: &Kept,
) -> anyhow::Result<Chosen> {
    Ok(match choice {
        ModelChoice::Offline => Chosen::Offline(OfflineModel::new()),
        ModelChoice::Anthropic(model) => {
            let key = anthropic.key.as_ref().context("ANTHROPIC_API_KEY is not set")?.expose();
            let model = model.as_deref().unwrap_or(AnthropicModel::DEFAULT_MODEL);
            Chosen::Anthropic(AnthropicModel::new(Http::new()?, &anthropic.url, key, model)?)
        }
        ModelChoice::OpenAi(model) => {
            let model = model.as_deref().unwrap_or(OpenAiModel::DEFAULT_MODEL);
            Chosen::OpenAi { model: open_ai(Http::new()?, openai, model, kept)?, server: openai.url.clone() }
        }
    })
}

/// A model of an OpenAI-compatible server, with its known capabilities.
pub(super) fn open_ai(http: Http, server: &Endpoint, name: &str, kept: &Kept) -> anyhow::Result<OpenAiModel> {
    let model = OpenAiModel::new(http, &server.url, server.key.as_ref().map(|key| key.expose()), name)?;
    if let Some(known) = kept.capabilities(&server.url, name) {
        model.remember(&known);
    }
    Ok(model)
}

/// The first chat model of the server: lists also contain embedding models.
pub(super) async fn first_model(http: &Http, server: &Endpoint) -> Option<String> {
    let key = server.key.as_ref().map(|key| key.expose());
    let names = list_models(http, &server.url, key).await.unwrap_or_default();
    pick(names)
}

fn pick(names: Vec<String>) -> Option<String> {
    let embeds =
        |name: &str| ["embed", "bge-", "minilm", "rerank"].iter().any(|part| name.to_lowercase().contains(part));
    names.into_iter().find(|name| !embeds(name))
}

fn is_the_vendor(url: &str) -> bool {
    reqwest::Url::parse(url).is_ok_and(|url| url.host_str() == Some("api.openai.com"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_embedding_model_is_never_selected() {
        let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(pick(names(&["nomic-embed-text:latest", "qwen2.5:7b"])).as_deref(), Some("qwen2.5:7b"));
        assert_eq!(pick(names(&["bge-m3"])), None);
        assert_eq!(pick(Vec::new()), None);
    }
}
