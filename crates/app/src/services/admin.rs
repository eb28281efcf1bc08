//! Operations of terminal commands that need only the database and no running application: accounts, exports, checks.

use engine::UserId;
use futures::Stream;
use tracing::instrument;

use super::accounts::Accounts;
use crate::{
    Error,
    config::Config,
    connections, export, index_sync,
    models::{self, Chosen, ChosenBy},
};
use store::Store;

pub struct Admin {
    store: Store,
}

impl Admin {
    /// Opens the database and brings its schema up to date.
    #[instrument(name = "admin.open", skip_all)]
    pub async fn open(config: &Config) -> Result<Self, Error> {
        Ok(Self { store: Store::open(&config.database_url, 1).await? })
    }

    pub fn accounts(&self) -> Accounts {
        Accounts::new(self.store.clone())
    }

    /// Everything a user owns, as JSON in pieces.
    pub fn export(&self, owner: &UserId) -> impl Stream<Item = Result<String, Error>> + Send + use<> {
        export::pieces(self.store.clone(), owner.clone(), export::exports_at_once())
    }

    #[instrument(name = "admin.ping", skip_all)]
    pub async fn ping(&self) -> Result<(), Error> {
        Ok(self.store.ping().await?)
    }

    /// "sqlite" or "postgres".
    pub fn database_kind(&self) -> &'static str {
        self.store.kind()
    }

    /// The state of the index of these settings.
    #[instrument(name = "admin.index_status", skip_all)]
    pub async fn index_status(&self, config: &Config) -> anyhow::Result<index_sync::IndexOf> {
        index_sync::index_of(config, &self.store).await
    }

    /// The model that answers with these settings, and who chose it.
    #[instrument(name = "admin.model_in_use", skip_all)]
    pub async fn model_in_use(&self, config: &Config) -> anyhow::Result<(Chosen, ChosenBy)> {
        let connected = connections::with_model(config, &self.store).await?;
        models::in_use(config, connected.as_ref()).await
    }

    #[instrument(name = "admin.close", skip_all)]
    pub async fn close(&self) {
        self.store.close().await;
    }
}
