//! The services of `App`, and methods for the process as a whole.

use std::sync::Arc;

use engine::UserId;
use futures::Stream;
use tokio::task::JoinHandle;
use tracing::instrument;

use crate::{
    App, Error,
    config::AuthMode,
    connections::Connections,
    export,
    import::Given,
    library::Library,
    models::Models,
    services::{
        accounts::Accounts, consents::Consents, conversations::Conversations, folders::Folders, imports::Imports,
        playlists::Playlists, tasks::Tasks, trash::Trash, undo::Undo,
    },
    usage_today::DailyUsage,
};

impl App {
    pub fn tasks(&self) -> &Tasks {
        &self.services.tasks
    }

    pub fn library(&self) -> &Library {
        &self.services.library
    }

    pub fn playlists(&self) -> &Playlists {
        &self.services.playlists
    }

    pub fn trash(&self) -> &Trash {
        &self.services.trash
    }

    pub fn undo(&self) -> &Undo {
        &self.services.undo
    }

    pub fn conversations(&self) -> &Conversations {
        &self.services.conversations
    }

    pub fn imports(&self) -> &Imports {
        &self.services.imports
    }

    /// Folders that are synchronised with libraries.
    pub fn folders(&self) -> &Folders {
        &self.services.folders
    }

    /// Compares the sounds of uploaded audio in the background. Waits while too much of it waits for that.
    #[instrument(name = "folders.compare_uploads", skip_all, fields(user.id = %owner))]
    pub async fn compare_uploads(&self, owner: &UserId, audio: Vec<Given>) {
        if let Some(work) = self.folders().compare_uploads(owner, audio, self.background.clone()).await {
            self.spawn(work);
        }
    }

    pub fn accounts(&self) -> &Accounts {
        &self.services.accounts
    }

    /// Everything a user owns, as JSON in pieces, because it may be larger than memory.
    pub fn export(&self, owner: &UserId) -> impl Stream<Item = Result<String, Error>> + Send + use<> {
        export::pieces(self.store.clone(), owner.clone(), self.exports.clone())
    }

    pub fn models(&self) -> &Models {
        &self.models
    }

    pub fn connections(&self) -> Connections<'_> {
        Connections { config: &self.config, store: &self.store, models: &self.models, in_use: &self.in_use }
    }

    pub fn consents(self: &Arc<Self>) -> Consents<'_> {
        Consents(self)
    }

    pub fn usage(&self) -> DailyUsage<'_> {
        DailyUsage { store: &self.store, models: &self.models, tokens_per_day: self.meter.limits.per_day }
    }

    /// Whether the Tidal catalogue can be searched.
    pub fn has_catalogue(&self) -> bool {
        self.services.library.tidal.is_configured()
    }

    /// Optional features that are on.
    pub fn features(&self) -> Vec<&'static str> {
        let mut features = vec!["import", "ingest"];
        if self.has_catalogue() {
            features.push("catalogue");
        }
        if self.config.auth == AuthMode::Accounts {
            features.push("accounts");
        }
        features
    }

    #[instrument(name = "database.ping", skip_all)]
    pub async fn ping_database(&self) -> Result<(), Error> {
        Ok(self.store.ping().await?)
    }

    /// "sqlite" or "postgres".
    pub fn database_kind(&self) -> &'static str {
        self.store.kind()
    }

    /// Spawns a task. The shutdown waits for it.
    pub fn spawn<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
        self.spawned.spawn(work)
    }
}
