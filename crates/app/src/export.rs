//! Export: all data of a user in one document.

use chrono::{DateTime, Utc};
use engine::{ConversationId, MessageId, UserId};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::library::{SavedAlbum, results::AlbumResult};
use music::TrackId;
use store::{
    Conversation, FolderSource, ImportLine, LibrarySort, LibraryTrack, Listing, MergeLine, Opinion, Playlist,
    PlaylistContent, Store, StoreError, StoredMessage, Task, TaskFilter,
};

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Export {
    pub user: UserId,
    pub exported_at: DateTime<Utc>,
    pub conversations: Vec<ExportedConversation>,
    pub tasks: Vec<Task>,
    pub library: Vec<LibraryTrack>,
    pub albums: Vec<AlbumResult>,
    pub playlists: Vec<ExportedPlaylist>,
    /// The data of your own files and exports about your tracks.
    pub own_facts: Vec<Value>,
    /// Entries of imports that no catalogue has confirmed.
    pub open_entries: Vec<Value>,
    pub imports: Vec<ImportLine>,
    /// Folders that are synchronised with the library.
    pub sources: Vec<FolderSource>,
    /// Tracks that were merged, by you or because their files have the same sound.
    pub merges: Vec<MergeLine>,
    pub feedback: Vec<Opinion>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExportedPlaylist {
    pub title: String,
    pub description: String,
    pub created_at: DateTime<Utc>,
    pub tracks: Vec<ExportedChoice>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExportedChoice {
    pub track_id: TrackId,
    /// Empty if the track has none.
    pub isrc: String,
    pub title: String,
    pub artist: String,
    pub reasoning: String,
}

#[derive(Serialize, JsonSchema)]
pub struct ExportedConversation {
    #[serde(flatten)]
    pub conversation: Conversation,
    /// The messages of the branch that is shown, oldest first.
    pub branch: Vec<MessageId>,
    /// All branches, in the order they were written; `parentId` is the id of the parent message.
    pub messages: Vec<StoredMessage>,
}

impl ExportedConversation {
    pub(crate) async fn of(store: &Store, owner: &UserId, conversation: Conversation) -> Result<Self, StoreError> {
        let id = ConversationId(conversation.id);
        let branch = store.branch_ids(owner, id).await?;
        let messages = store.all_messages(owner, id, None, u32::MAX).await?;
        Ok(Self { conversation, branch, messages })
    }
}

const PAGE: u32 = 100;
const EVERYTHING: Listing<'static> = Listing {
    words: None,
    artist: None,
    album: None,
    genre: None,
    year: None,
    decade: None,
    sort: LibrarySort::Added,
    offset: 0,
    limit: u32::MAX,
};

impl Export {
    pub(crate) async fn of(store: &Store, owner: &UserId) -> Result<Self, StoreError> {
        Ok(Self {
            user: owner.clone(),
            exported_at: Utc::now(),
            conversations: conversations(store, owner).await?,
            tasks: store.tasks(owner, TaskFilter::All).await?,
            library: store.library_tracks(owner, EVERYTHING).await?.0,
            albums: store.albums::<SavedAlbum>(owner, None).await?.into_iter().map(|saved| saved.album.album).collect(),
            playlists: store.playlists(owner).await?.into_iter().map(ExportedPlaylist::from).collect(),
            own_facts: store.own_facts(owner).await?,
            open_entries: store
                .open_entries::<Value, Value>(owner, (0, u32::MAX))
                .await?
                .into_iter()
                .map(|open| open.entry)
                .collect(),
            imports: store.imports(owner, i32::MAX.unsigned_abs(), None).await?,
            sources: store.folders(owner).await?,
            merges: store.merges(owner, i32::MAX.unsigned_abs(), None, None).await?,
            feedback: store.feedback(owner).await?,
        })
    }
}

async fn conversations(store: &Store, owner: &UserId) -> Result<Vec<ExportedConversation>, StoreError> {
    let mut all = Vec::new();
    let mut before = None;
    loop {
        let page = store.conversations(owner, None, before, PAGE).await?;
        for conversation in page.conversations {
            all.push(ExportedConversation::of(store, owner, conversation).await?);
        }
        match page.next {
            Some(next) => before = Some(ConversationId(next)),
            None => return Ok(all),
        }
    }
}

impl From<Playlist> for ExportedPlaylist {
    fn from(playlist: Playlist) -> Self {
        let PlaylistContent { title, description, tracks } = playlist.content;
        let tracks = tracks.into_iter().map(|choice| ExportedChoice {
            track_id: choice.track.id,
            isrc: choice.track.isrc_text().to_owned(),
            title: choice.track.title,
            artist: choice.track.artist,
            reasoning: choice.reasoning,
        });
        Self { title, description, created_at: playlist.created_at, tracks: tracks.collect() }
    }
}
