//! Connections: the operator connects the model, the catalogue and the embedder on the settings page. They are stored
//! encrypted and their secrets are never returned. A setting of the server takes precedence.

mod check;
mod content;
mod provider_name;
mod seal;

use std::{collections::BTreeMap, sync::Mutex, sync::PoisonError};

use anyhow::Context;
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Serialize;
use store::Store;
use tracing::{info, instrument, warn};

pub use self::{
    check::Checked,
    content::{ConnectedService, NewConnection},
    provider_name::{ProviderLine, ProviderName, providers},
};
use self::{
    content::Connection,
    seal::{Sealer, make_key, read_key},
};
use crate::{App, Error, Operator, config::Config, models};

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

fn cannot_read(error: anyhow::Error) -> Error {
    warn!("Stored connections cannot be read: {error:#}");
    Error::Conflict("the stored connections cannot be read; the server's log contains the reason")
}

const SET: &str = "a setting of the server takes precedence; remove it from the environment or the settings file first";

/// What to do if several nodes share one database without a key.
pub const NO_KEY: &str = "Set SEGUE_SECRET_KEY to at least 32 random characters, the same on every node, and start Segue again: \
     secrets in a shared database are stored encrypted with it. `openssl rand -base64 32` makes one.";

impl App {
    /// Why no connection can be stored, if so.
    pub fn no_secret_key(&self) -> Option<&'static str> {
        (self.config.secret_key.is_none() && self.store.kind() != "sqlite").then_some(NO_KEY)
    }

    #[instrument(name = "connections.list", skip_all)]
    pub async fn connections(&self, _: &Operator) -> Result<Vec<ConnectionLine>, Error> {
        let stored = stored(&self.config, &self.store).await.map_err(cannot_read)?;
        Ok(ConnectedService::ALL.into_iter().map(|service| self.line(service, stored.get(&service))).collect())
    }

    fn line(&self, service: ConnectedService, stored: Option<&Stored>) -> ConnectionLine {
        let settings = names_set(&self.config, service);
        let used = self.in_use.get(service);
        let state = match stored {
            _ if !settings.is_empty() => ConnectionState::Settings,
            None => ConnectionState::Off,
            Some(Stored { connection: None, .. }) => ConnectionState::Unreadable,
            Some(_) => ConnectionState::Stored,
        };
        let is_old = used.as_ref().map(|used| used.since) != stored.map(|stored| stored.updated_at);
        let mut line = ConnectionLine {
            service,
            at_next_start: is_old && state != ConnectionState::Settings && state != ConnectionState::Unreadable,
            state,
            settings,
            provider: None,
            url: None,
            model: None,
            client_id: None,
            has_secret: false,
            problem: used.and_then(|used| used.problem).filter(|_| !is_old),
        };
        if let Some(connection) = stored.and_then(|stored| stored.connection.as_ref()) {
            line.show(connection);
        }
        line
    }

    /// Stores a connection and replaces an earlier one. A model is used at once; the others are used from the next
    /// start on.
    #[instrument(name = "connections.connect", skip_all, fields(service = service.name()))]
    pub async fn connect(
        &self,
        _: &Operator,
        service: ConnectedService,
        new: &NewConnection,
    ) -> Result<ConnectionLine, Error> {
        let (connection, sealer) = self.prepared(service, new).await?;
        let plain = serde_json::to_vec(&connection).map_err(|error| cannot_read(error.into()))?;
        let sealed = sealer.seal(service.name(), &plain).map_err(|error| cannot_read(error.into()))?;
        let model = match service {
            ConnectedService::Model => Some(self.built(&connection).await?),
            ConnectedService::Catalogue | ConnectedService::Embedder => None,
        };
        let since = self.store.put_connection(service.name(), &sealed).await?;
        if let (Some(model), Connection::Model { url, .. }) = (model, &connection) {
            self.models.connect(Some((model, url.clone())))?;
            self.in_use.set(service, Some(Used { since, problem: None }));
        }
        Ok(self.line(service, Some(&Stored { connection: Some(connection), updated_at: since })))
    }

    /// Removes a connection. The built-in model is used at once.
    #[instrument(name = "connections.disconnect", skip_all, fields(service = service.name()))]
    pub async fn disconnect(&self, _: &Operator, service: ConnectedService) -> Result<(), Error> {
        self.store.remove_connection(service.name()).await?;
        if service == ConnectedService::Model && names_set(&self.config, service).is_empty() {
            self.models.connect(None)?;
            self.in_use.set(service, None);
        }
        Ok(())
    }

    /// Tests the entered connection, or the stored one. Stores nothing.
    #[instrument(name = "connections.check", skip_all, fields(service = service.name()))]
    pub async fn check_connection(
        &self,
        _: &Operator,
        service: ConnectedService,
        new: Option<&NewConnection>,
    ) -> Result<Checked, Error> {
        let old = stored(&self.config, &self.store).await.map_err(cannot_read)?.remove(&service);
        let old = old.and_then(|stored| stored.connection);
        let connection = match (new, old) {
            (Some(new), old) => Connection::new(service, new, old.as_ref())?,
            (None, Some(old)) => old,
            (None, None) => return Err(Error::NotFound),
        };
        Ok(check::check(service, &connection, &self.config).await)
    }

    async fn prepared(&self, service: ConnectedService, new: &NewConnection) -> Result<(Connection, Sealer), Error> {
        if !names_set(&self.config, service).is_empty() {
            return Err(Error::Conflict(SET));
        }
        if self.no_secret_key().is_some() {
            return Err(Error::Conflict(NO_KEY));
        }
        let old = stored(&self.config, &self.store).await.map_err(cannot_read)?.remove(&service);
        let connection = Connection::new(service, new, old.and_then(|stored| stored.connection).as_ref())?;
        let key = match &self.config.secret_key {
            Some(key) => key.clone(),
            None => make_key(&self.config.data_dir).map_err(|error| cannot_read(error.into()))?,
        };
        Ok((connection, Sealer::new(&key).map_err(|error| cannot_read(error.into()))?))
    }

    async fn built(&self, connection: &Connection) -> Result<std::sync::Arc<dyn engine::Model>, Error> {
        let config = connection.over(self.config.clone());
        models::choose(&config).await.map_err(|error| Error::Invalid { field: "url", problem: format!("{error:#}") })
    }
}

impl ConnectionLine {
    fn show(&mut self, connection: &Connection) {
        self.has_secret = connection.secret().is_some();
        match connection {
            Connection::Model { provider, url, model, .. } => {
                self.provider = Some(*provider);
                self.url = Some(url.clone());
                self.model = model.clone();
            }
            Connection::Catalogue { client_id, .. } => self.client_id = Some(client_id.clone()),
            Connection::Embedder { url, model, .. } => {
                self.url = Some(url.clone());
                self.model = model.clone();
            }
        }
    }
}
