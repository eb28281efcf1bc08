//! Export: everything a user owns, in one document.

use chrono::{DateTime, Utc};
use engine::{ConversationId, UserId};
use schemars::JsonSchema;
use serde::Serialize;

use crate::library::{SavedAlbum, results::AlbumResult};
use store::{
    Conversation, LibrarySort, LibraryTrack, Listing, Opinion, Playlist, Store, StoreError, StoredMessage, Task,
    TaskFilter,
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
    pub feedback: Vec<Opinion>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExportedPlaylist {
    pub title: String,
    pub created_at: DateTime<Utc>,
    pub tracks: Vec<ExportedChoice>,
}

#[derive(Serialize, JsonSchema)]
pub struct ExportedChoice {
    pub isrc: String,
    pub title: String,
    pub artist: String,
    pub reasoning: String,
}

#[derive(Serialize, JsonSchema)]
pub struct ExportedConversation {
    #[serde(flatten)]
    pub conversation: Conversation,
    pub messages: Vec<StoredMessage>,
}

const PAGE: u32 = 100;
const EVERYTHING: Listing<'static> = Listing { words: None, sort: LibrarySort::Added, offset: 0, limit: u32::MAX };

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
            let messages = store.messages(owner, ConversationId(conversation.id), u32::MAX).await?;
            all.push(ExportedConversation { conversation, messages });
        }
        match page.next {
            Some(next) => before = Some(ConversationId(next)),
            None => return Ok(all),
        }
    }
}

impl From<Playlist> for ExportedPlaylist {
    fn from(playlist: Playlist) -> Self {
        let tracks = playlist.tracks.into_iter().map(|choice| ExportedChoice {
            isrc: choice.track.isrc.to_string(),
            title: choice.track.title,
            artist: choice.track.artist,
            reasoning: choice.reasoning,
        });
        Self { title: playlist.title, created_at: playlist.created_at, tracks: tracks.collect() }
    }
}
