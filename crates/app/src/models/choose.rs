//! The model of the settings, with the capabilities that an earlier probe found.

use std::sync::Arc;

use anyhow::bail;
use engine::{Model, ModelError};
use offline::OfflineModel;
use providers::{Capabilities, Http, LOCAL, Probed, Provider, list_models, probe, remember};

use super::{ChosenBy, Selected, kept::Kept, late::LateModel};
use crate::config::{Config, Endpoint, ModelChoice, ProviderEndpoints};

/// A model that can be probed.
pub enum Chosen {
    Offline(OfflineModel),
    Remote {
        model: Arc<dyn Probed>,
        server: String,
    },
    /// The server has not listed its models yet.
    Late(LateModel),
}

impl Chosen {
    pub(crate) fn into_model(self) -> Arc<dyn Model> {
        match self {
            Self::Offline(model) => Arc::new(model),
            Self::Remote { model, .. } => model,
            Self::Late(model) => Arc::new(model),
        }
    }

    /// Sends one small request with one tool. `None` for the offline model, whose capabilities are known.
    pub async fn probe(&self) -> Option<Result<Capabilities, ModelError>> {
        match self {
            Self::Offline(_) => None,
            Self::Remote { model, .. } => Some(probe(model.as_ref()).await),
            Self::Late(late) => match late.find().await {
                Some(model) => Some(probe(model.as_ref()).await),
                None => Some(Err(ModelError::Unavailable(late.unnamed()))),
            },
        }
    }

    /// The URL under which its capabilities are stored.
    pub fn server(&self) -> Option<&str> {
        match self {
            Self::Remote { server, .. } => Some(server),
            Self::Late(late) => Some(late.server()),
            Self::Offline(_) => None,
        }
    }
}

/// The model of the settings.
pub async fn choose(config: &Config) -> anyhow::Result<Arc<dyn Model>> {
    Ok(choose_probed(config).await?.into_model())
}

/// The same, in the form that can be probed.
pub async fn choose_probed(config: &Config) -> anyhow::Result<Chosen> {
    let kept = Kept::open(&config.data_dir);
    let ModelChoice::Of { provider, model: None } = &config.model else {
        return build(&config.model, &config.providers, &kept);
    };
    let server = config.providers.of(provider);
    if !provider.has_other_servers || is_the_vendor(provider, &server.url) {
        return build(&config.model, &config.providers, &kept);
    }
    let late = LateModel::new(provider, Http::new()?, server, kept)?;
    Ok(match late.find().await {
        Some(model) => Chosen::Remote { model, server: server.url.clone() },
        None => Chosen::Late(late),
    })
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
        let model = connect(LOCAL, Http::new()?, &endpoint, &model, &kept)?;
        return Ok((Chosen::Remote { model, server }, ChosenBy::Operator));
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
    named.chain(small).map(|(name, choice)| (name, build(choice, &config.providers, &kept))).collect()
}

/// A model of a configured provider. Without a name: the provider's current one.
pub(super) fn build(choice: &ModelChoice, providers: &ProviderEndpoints, kept: &Kept) -> anyhow::Result<Chosen> {
    let ModelChoice::Of { provider, model } = choice else { return Ok(Chosen::Offline(OfflineModel)) };
    let server = providers.of(provider);
    let name = model.as_deref().unwrap_or(provider.default_model);
    let model = connect(provider, Http::new()?, server, name, kept)?;
    Ok(Chosen::Remote { model, server: server.url.clone() })
}

/// A model of a server, with its known capabilities.
pub(super) fn connect(
    provider: &Provider,
    http: Http,
    server: &Endpoint,
    name: &str,
    kept: &Kept,
) -> anyhow::Result<Arc<dyn Probed>> {
    let key = server.key.as_ref().map(|key| key.expose());
    if key.is_none() && !provider.has_other_servers {
        bail!("{} is not set", provider.key.name);
    }
    let model = (provider.connect)(http, &server.url, key, name)?;
    if let Some(known) = kept.capabilities(&server.url, name) {
        remember(model.as_ref(), &known);
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

fn is_the_vendor(provider: &Provider, url: &str) -> bool {
    let host = |url: &str| reqwest::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
    host(url) == host(provider.base_url.default)
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
