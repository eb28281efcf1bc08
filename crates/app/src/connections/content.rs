//! The content of a connection: how it is parsed from a request, and how it changes the settings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::provider_name::ProviderName;
use crate::{
    Error,
    config::{Config, Embeddings, Endpoint, ModelChoice, Secret, model_settings, one_of},
};
use providers::PROVIDERS;
use sources::tidal::TidalCredentials;

/// The services that can be connected on the settings page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Service")]
pub enum ConnectedService {
    Model,
    Catalogue,
    Embedder,
}

impl ConnectedService {
    pub const ALL: [Self; 3] = [Self::Model, Self::Catalogue, Self::Embedder];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Catalogue => "catalogue",
            Self::Embedder => "embedder",
        }
    }

    /// The settings that take precedence over a connection.
    pub(super) fn settings(self) -> Vec<&'static str> {
        match self {
            Self::Model => model_settings(),
            Self::Catalogue => vec!["TIDAL_CLIENT_ID", "TIDAL_CLIENT_SECRET"],
            Self::Embedder => vec!["SEGUE_EMBEDDINGS_URL"],
        }
    }
}

/// The input of an operator. An omitted secret is kept while the server or the id is the same; an empty one is removed.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewConnection {
    /// For a model.
    #[serde(default)]
    pub provider: Option<ProviderName>,
    /// Base URL of the server of a model or an embedder; default: the provider's own.
    #[serde(default)]
    pub url: Option<String>,
    /// Name of the model; default: the provider's current one.
    #[serde(default)]
    pub model: Option<String>,
    #[serde(default)]
    pub key: Option<String>,
    /// For the catalogue.
    #[serde(default)]
    pub client_id: Option<String>,
    #[serde(default)]
    pub client_secret: Option<String>,
}

/// The encrypted content. It does not implement `Debug`, so that no secret is logged.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "service", rename_all = "lowercase")]
pub(super) enum Connection {
    Model { provider: ProviderName, url: String, model: Option<String>, key: Option<String> },
    Catalogue { client_id: String, client_secret: String },
    Embedder { url: String, model: Option<String>, key: Option<String> },
}

const MOST_CHARACTERS: usize = 2000;

fn invalid(field: &'static str, problem: impl Into<String>) -> Error {
    Error::Invalid { field, problem: problem.into() }
}

/// An entered value without surrounding spaces; `None` if it is empty.
fn entered(field: &'static str, value: Option<&String>) -> Result<Option<String>, Error> {
    let Some(text) = value.map(|value| value.trim()).filter(|text| !text.is_empty()) else { return Ok(None) };
    if text.chars().count() > MOST_CHARACTERS || text.chars().any(char::is_control) {
        return Err(invalid(field, format!("must be one line of at most {MOST_CHARACTERS} characters")));
    }
    Ok(Some(text.to_owned()))
}

fn server(field: &'static str, text: String) -> Result<String, Error> {
    let url = reqwest::Url::parse(&text).map_err(|error| invalid(field, format!("is not a URL: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(invalid(field, "must begin with https:// or http://"));
    }
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
        return Err(invalid(field, "must have no password and no query; enter the key in its own field"));
    }
    Ok(text.trim_end_matches('/').to_owned())
}

/// An omitted secret is the earlier one, if it belongs to the same server.
fn secret(field: &'static str, new: Option<&String>, earlier: Option<String>) -> Result<Option<String>, Error> {
    if new.is_none() { Ok(earlier) } else { entered(field, new) }
}

impl Connection {
    pub(super) fn new(service: ConnectedService, new: &NewConnection, old: Option<&Self>) -> Result<Self, Error> {
        match service {
            ConnectedService::Model => Self::model(new, old),
            ConnectedService::Catalogue => Self::catalogue(new, old),
            ConnectedService::Embedder => {
                let url = entered("url", new.url.as_ref())?.ok_or_else(|| invalid("url", "is missing"))?;
                let url = server("url", url)?;
                let earlier = old.and_then(|old| match old {
                    Self::Embedder { url: same, key, .. } if *same == url => key.clone(),
                    _ => None,
                });
                let key = secret("key", new.key.as_ref(), earlier)?;
                Ok(Self::Embedder { url, model: entered("model", new.model.as_ref())?, key })
            }
        }
    }

    fn model(new: &NewConnection, old: Option<&Self>) -> Result<Self, Error> {
        let missing =
            || invalid("provider", format!("is missing: {}", one_of(PROVIDERS.iter().map(|known| known.name))));
        let provider = new.provider.ok_or_else(missing)?;
        let url = entered("url", new.url.as_ref())?.unwrap_or_else(|| provider.0.base_url.default.to_owned());
        let url = server("url", url)?;
        let earlier = old.and_then(|old| match old {
            Self::Model { provider: p, url: same, key, .. } if *p == provider && *same == url => key.clone(),
            _ => None,
        });
        let key = secret("key", new.key.as_ref(), earlier)?;
        if key.is_none() && provider.0.needs_key(&url) {
            return Err(invalid("key", "is missing: this server requires a key"));
        }
        Ok(Self::Model { provider, url, model: entered("model", new.model.as_ref())?, key })
    }

    fn catalogue(new: &NewConnection, old: Option<&Self>) -> Result<Self, Error> {
        let missing = |field| move || invalid(field, "is missing");
        let client_id = entered("clientId", new.client_id.as_ref())?.ok_or_else(missing("clientId"))?;
        let earlier = old.and_then(|old| match old {
            Self::Catalogue { client_id: same, client_secret } if *same == client_id => Some(client_secret.clone()),
            _ => None,
        });
        let client_secret = secret("clientSecret", new.client_secret.as_ref(), earlier)?;
        Ok(Self::Catalogue { client_id, client_secret: client_secret.ok_or_else(missing("clientSecret"))? })
    }

    /// The settings with this connection applied.
    pub(super) fn over(&self, mut config: Config) -> Config {
        let secret = |key: &Option<String>| key.as_ref().map(Secret::new);
        match self {
            Self::Model { provider, url, model, key } => {
                let endpoint = Endpoint { url: url.clone(), key: secret(key) };
                config.model = ModelChoice::Of { provider: provider.0, model: model.clone() };
                config.providers.set(provider.0, endpoint);
            }
            Self::Catalogue { client_id, client_secret } => {
                let (client_id, client_secret) = (client_id.clone(), client_secret.clone());
                config.tidal.credentials = Some(TidalCredentials { client_id, client_secret });
            }
            Self::Embedder { url, model, key } => {
                let model = model.clone().unwrap_or_default();
                config.embeddings = Some(Embeddings { url: url.clone(), model, key: secret(key) });
            }
        }
        config
    }

    pub(super) fn secret(&self) -> Option<&str> {
        match self {
            Self::Model { key, .. } | Self::Embedder { key, .. } => key.as_deref(),
            Self::Catalogue { client_secret, .. } => Some(client_secret),
        }
    }
}
