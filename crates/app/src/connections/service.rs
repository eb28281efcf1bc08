//! The service of connections: list, connect, disconnect and test.

use std::sync::Arc;

use engine::Model;
use store::Store;
use tracing::{instrument, warn};

use super::{
    Checked, ConnectedService, ConnectionLine, ConnectionState, InUse, NewConnection, Stored, Used, check,
    content::Connection,
    names_set,
    seal::{Sealer, make_key},
    stored,
};
use crate::{
    Error, Operator,
    config::Config,
    models::{self, Models},
};

fn cannot_read(error: anyhow::Error) -> Error {
    warn!("Stored connections cannot be read: {error:#}");
    Error::Conflict("the stored connections cannot be read; the server's log contains the reason")
}

const SET: &str = "a setting of the server takes precedence; remove it from the environment or the settings file first";

/// What to do if several nodes share one database without a key.
pub const NO_KEY: &str = "Set SEGUE_SECRET_KEY to at least 32 random characters, the same on every node, and start Segue again: \
     secrets in a shared database are stored encrypted with it. `openssl rand -base64 32` makes one.";

/// The connections of an installation.
pub struct Connections<'a> {
    pub(crate) config: &'a Config,
    pub(crate) store: &'a Store,
    pub(crate) models: &'a Models,
    pub(crate) in_use: &'a InUse,
}

impl Connections<'_> {
    /// Why no connection can be stored, if so.
    pub fn missing_key(&self) -> Option<&'static str> {
        (self.config.secret_key.is_none() && self.store.kind() != "sqlite").then_some(NO_KEY)
    }

    #[instrument(name = "connections.list", skip_all)]
    pub async fn list(&self, _: &Operator) -> Result<Vec<ConnectionLine>, Error> {
        let stored = stored(self.config, self.store).await.map_err(cannot_read)?;
        Ok(ConnectedService::ALL.into_iter().map(|service| self.line(service, stored.get(&service))).collect())
    }

    fn line(&self, service: ConnectedService, stored: Option<&Stored>) -> ConnectionLine {
        let settings = names_set(self.config, service);
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
        if service == ConnectedService::Model && names_set(self.config, service).is_empty() {
            self.models.connect(None)?;
            self.in_use.set(service, None);
        }
        Ok(())
    }

    /// Tests the entered connection, or the stored one. Stores nothing.
    #[instrument(name = "connections.check", skip_all, fields(service = service.name()))]
    pub async fn check(
        &self,
        _: &Operator,
        service: ConnectedService,
        new: Option<&NewConnection>,
    ) -> Result<Checked, Error> {
        let old = stored(self.config, self.store).await.map_err(cannot_read)?.remove(&service);
        let old = old.and_then(|stored| stored.connection);
        let connection = match (new, old) {
            (Some(new), old) => Connection::new(service, new, old.as_ref())?,
            (None, Some(old)) => old,
            (None, None) => return Err(Error::NotFound),
        };
        Ok(check::check(service, &connection, self.config).await)
    }

    async fn prepared(&self, service: ConnectedService, new: &NewConnection) -> Result<(Connection, Sealer), Error> {
        if !names_set(self.config, service).is_empty() {
            return Err(Error::Conflict(SET));
        }
        if self.missing_key().is_some() {
            return Err(Error::Conflict(NO_KEY));
        }
        let old = stored(self.config, self.store).await.map_err(cannot_read)?.remove(&service);
        let connection = Connection::new(service, new, old.and_then(|stored| stored.connection).as_ref())?;
        let key = match &self.config.secret_key {
            Some(key) => key.clone(),
            None => make_key(&self.config.data_dir).map_err(|error| cannot_read(error.into()))?,
        };
        Ok((connection, Sealer::new(&key).map_err(|error| cannot_read(error.into()))?))
    }

    async fn built(&self, connection: &Connection) -> Result<Arc<dyn Model>, Error> {
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
