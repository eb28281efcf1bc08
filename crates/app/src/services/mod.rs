//! Services: one method per action, for every route, tool and command. Only services contain validation, ownership
//! checks, limits and the notification of readers.

pub mod accounts;
pub mod admin;
pub mod artwork;
pub mod consents;
pub mod conversations;
pub mod folders;
mod import_files;
pub mod imports;
pub mod playlists;
pub mod tasks;
pub mod trash;
pub mod turns;
pub mod undo;

use std::{num::NonZeroUsize, sync::Arc};

use engine::{CallId, ToolContext, UserId};
use serde::{Deserialize, Deserializer};

use self::{
    accounts::Accounts, conversations::Conversations, folders::Folders, imports::Imports, playlists::Playlists,
    tasks::Tasks, trash::Trash, undo::Undo,
};
use crate::{
    config::Config,
    enrich::Pipeline,
    library::{KnownSteps, Library},
    models::Models,
    node::Node,
    per_user::PerUser,
};
use search::TrackIndex;
use sources::tidal::Tidal;
use store::Store;
use tokio_util::task::TaskTracker;

/// Searches of one user at once. Each computes on a core, and half of the cores stay for other users.
fn searches_at_once() -> Option<NonZeroUsize> {
    let n_cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    NonZeroUsize::new((n_cores / 2).max(1))
}

/// Every service of a process. Routes and tools share these instances.
pub(crate) struct Services {
    pub(crate) tasks: Tasks,
    pub(crate) library: Library,
    pub(crate) playlists: Playlists,
    pub(crate) conversations: Conversations,
    pub(crate) imports: Imports,
    pub(crate) folders: Folders,
    pub(crate) accounts: Accounts,
    pub(crate) undo: Undo,
    pub(crate) trash: Trash,
}

impl Services {
    pub(crate) fn new(
        store: &Store,
        index: Arc<dyn TrackIndex>,
        tidal: Tidal,
        pipeline: &Arc<Pipeline>,
        models: &Models,
        (config, node): (&Config, &Node),
        spawned: &TaskTracker,
    ) -> Self {
        let library = Library {
            store: store.clone(),
            index,
            tidal,
            pipeline: pipeline.clone(),
            known_steps: Arc::new(KnownSteps::new(spawned.clone())),
            searches: Arc::new(PerUser::new(config.open_requests.and(searches_at_once()))),
        };
        let imports = Imports {
            store: store.clone(),
            pipeline: pipeline.clone(),
            library: library.clone(),
            scratch: config.data_dir.clone(),
        };
        Self {
            tasks: Tasks::new(store.clone()),
            playlists: Playlists::new(store.clone(), library.clone()),
            conversations: Conversations::new(store.clone(), models.clone()),
            folders: Folders {
                store: store.clone(),
                imports: imports.clone(),
                pipeline: pipeline.clone(),
                node: node.name.as_str().into(),
                compares_sounds: config.fingerprints,
                scanning: Arc::default(),
                added: Arc::default(),
                scanned: Arc::default(),
                uploads: Arc::default(),
            },
            imports,
            accounts: Accounts::new(store.clone()),
            undo: Undo { store: store.clone(), pipeline: pipeline.clone() },
            trash: Trash { store: store.clone() },
            library,
        }
    }
}

/// The user who makes a change, and the tool call that makes it, if any: the effect and the journal row of the call
/// commit together, and a call that is already settled returns its earlier output.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    pub owner: &'a UserId,
    pub call: Option<CallId>,
}

impl<'a> Origin<'a> {
    /// Also names the user in the span of the service method.
    fn recorded(origin: impl Into<Self>) -> Self {
        let origin = origin.into();
        tracing::Span::current().record("user.id", tracing::field::display(origin.owner));
        origin
    }
}

impl<'a> From<&'a UserId> for Origin<'a> {
    fn from(owner: &'a UserId) -> Self {
        Self { owner, call: None }
    }
}

impl<'a> From<&'a ToolContext> for Origin<'a> {
    fn from(cx: &'a ToolContext) -> Self {
        Self { owner: &cx.owner, call: Some(cx.call) }
    }
}

/// Distinguishes a field that is `null` from an absent one: serde calls this only for a field that is present.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
