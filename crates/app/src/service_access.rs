//! The services of `App`, and methods for the process as a whole.

use engine::UserId;
use futures::Stream;
use tokio::task::JoinHandle;
use tracing::instrument;

use crate::{
    App, Error, Operator, export,
    import::Given,
    library::Library,
    models,
    services::{
        accounts::Accounts, conversations::Conversations, folders::Folders, imports::Imports, playlists::Playlists,
        tasks::Tasks, trash::Trash, undo::Undo,
    },
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

    /// Selects a model server of this machine, or the built-in model. The selected one is probed in the background.
    #[instrument(name = "models.select_and_probe", skip_all)]
    pub async fn select_model(&self, _: &Operator, choice: Option<models::Selected>) -> Result<(), Error> {
        self.models.select(choice).await?;
        let models = self.models.clone();
        self.spawn(async move { models.probe_selected().await });
        Ok(())
    }

    /// Whether the Tidal catalogue can be searched.
    pub fn has_catalogue(&self) -> bool {
        self.services.library.tidal.is_configured()
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
