//! Connections: the operator connects the model, the catalogue and the embedder on the settings page. They are stored
//! encrypted and their secrets are never returned. A setting of the server takes precedence.

mod check;
mod content;
mod provider_name;
mod seal;
mod service;

use std::{collections::BTreeMap, sync::Mutex, sync::PoisonError};

use anyhow::Context;
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Serialize;
use store::Store;
use tracing::{info, warn};

pub use self::{
    check::Checked,
    content::{ConnectedService, NewConnection},
    provider_name::{ProviderLine, ProviderName, providers},
    service::{Connections, NO_KEY},
};
use self::{
    content::Connection,
    seal::{Sealer, read_key},
};
use crate::config::Config;

/// The connection of a service, without its secret.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionLine {
    pub service: ConnectedService,
    pub state: ConnectionState,
    /// The settings of the server that are used instead, if `state` is `settings`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<ProviderName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// Whether a key or a secret is stored. It is never returned.
    pub has_secret: bool,
    /// Whether the stored or removed connection takes effect at the next start.
    pub at_next_start: bool,
    /// Why it is not used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ConnectionState {
    /// A setting of the server is used instead.
    Settings,
    Stored,
    /// It was encrypted with another key and must be entered again.
    Unreadable,
    Off,
}

/// The stored connections that this process uses.
#[derive(Default)]
pub(crate) struct InUse(Mutex<BTreeMap<ConnectedService, Used>>);

#[derive(Clone)]
struct Used {
    since: DateTime<Utc>,
    /// Why it is not used.
    problem: Option<String>,
}

/// A stored connection.
struct Stored {
    /// `None`: it cannot be decrypted.
    connection: Option<Connection>,
    updated_at: DateTime<Utc>,
}

impl InUse {
    fn get(&self, service: ConnectedService) -> Option<Used> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&service).cloned()
    }

    fn set(&self, service: ConnectedService, used: Option<Used>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match used {
            Some(used) => _ = all.insert(service, used),
            None => _ = all.remove(&service),
        }
    }
}

/// Applies the stored connections at the start: returns the settings with the catalogue and the embedder, and the model
/// separately.
pub(crate) async fn apply(mut config: Config, store: &Store) -> anyhow::Result<(Config, Option<Box<Config>>, InUse)> {
    let (in_use, mut with_model) = (InUse::default(), None);
    for (service, stored) in stored(&config, store).await? {
        if !names_set(&config, service).is_empty() {
            continue;
        }
        let Some(connection) = stored.connection else {
            warn!("The stored connection '{}' cannot be read: it was stored with another key", service.name());
            continue;
        };
        let over = connection.over(config.clone());
        let problem = match service {
            ConnectedService::Model => {
                with_model = Some(Box::new(over));
                None
            }
            ConnectedService::Catalogue => {
                config = over;
                None
            }
            // An embedder that does not answer must not prevent the start, because the operator corrects the connection
            // on the page.
            ConnectedService::Embedder => match check::embedder(&over).await {
                Ok(_) => {
                    config = over;
                    None
                }
                Err(why) => {
                    warn!("The embedder of the settings page is not used: {why}");
                    Some(format!("It did not answer at the last start, so the built-in embedder is used: {why}"))
                }
            },
        };
        info!("The connection '{}' of the settings page is read", service.name());
        in_use.set(service, Some(Used { since: stored.updated_at, problem }));
    }
    Ok((config, with_model, in_use))
}

/// The settings with the connected model, if no setting takes precedence.
pub(crate) async fn with_model(config: &Config, store: &Store) -> anyhow::Result<Option<Config>> {
    let Some(stored) = stored(config, store).await?.remove(&ConnectedService::Model) else { return Ok(None) };
    if !names_set(config, ConnectedService::Model).is_empty() {
        return Ok(None);
    }
    let connection = stored.connection.context(
        "the model of the settings page cannot be read, because it was stored with another key; connect it again",
    )?;
    Ok(Some(connection.over(config.clone())))
}

async fn stored(config: &Config, store: &Store) -> anyhow::Result<BTreeMap<ConnectedService, Stored>> {
    let rows = store.connections().await?;
    if rows.is_empty() {
        return Ok(BTreeMap::new());
    }
    let sealer = match &config.secret_key {
        Some(key) => Some(Sealer::new(key)?),
        None => read_key(&config.data_dir)?.map(|key| Sealer::new(&key)).transpose()?,
    };
    let read = |row: &store::SealedConnection| {
        let plain = sealer.as_ref()?.open(&row.service, &row.sealed).ok()?;
        serde_json::from_slice(&plain).ok()
    };
    let known = rows.iter().filter_map(|row| {
        let service = ConnectedService::ALL.into_iter().find(|service| service.name() == row.service)?;
        Some((service, Stored { connection: read(row), updated_at: row.updated_at }))
    });
    Ok(known.collect())
}

fn names_set(config: &Config, service: ConnectedService) -> Vec<&'static str> {
    service.settings().into_iter().filter(|name| config.set.contains(name)).collect()
}
