//! Export: all data of a user in one JSON document, written in pieces. One conversation or one page of a list is in memory
//! at a time.

use std::{num::NonZeroUsize, sync::Arc};

use async_stream::try_stream;
use chrono::{DateTime, Utc};
use engine::{ConversationId, MessageId, UserId};
use futures::{Stream, StreamExt};
use serde::Serialize;
use uuid::Uuid;

use crate::{Error, library::SavedAlbum, per_user::PerUser};
use music::TrackId;
use store::{Conversation, LibraryTrack, Playlist, PlaylistContent, Store, StoreError, StoredMessage, TaskFilter};

const CONVERSATIONS: u32 = 50;
/// Rows of a list in one piece: a few milliseconds of work, so that other requests wait for no more than that.
const ROWS: u32 = 100;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExportedPlaylist {
    title: String,
    description: String,
    created_at: DateTime<Utc>,
    tracks: Vec<ExportedChoice>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExportedChoice {
    track_id: TrackId,
    /// Empty if the track has none.
    isrc: String,
    title: String,
    artist: String,
    reasoning: String,
}

#[derive(Serialize)]
pub(crate) struct ExportedConversation {
    #[serde(flatten)]
    pub conversation: Conversation,
    /// The messages of the branch that is shown, oldest first.
    pub branch: Vec<MessageId>,
    /// All branches, in the order they were written; `parentId` is the id of the parent message.
    pub messages: Vec<StoredMessage>,
}

impl ExportedConversation {
    async fn of(store: &Store, owner: &UserId, conversation: Conversation) -> Result<Self, StoreError> {
        let id = ConversationId(conversation.id);
        let branch = store.branch_ids(owner, id).await?;
        let messages = store.all_messages(owner, id, None, u32::MAX).await?;
        Ok(Self { conversation, branch, messages })
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

/// How many exports of one user run at once. Further ones wait: each reads all rows of the user, and a client that does not
/// read its answer would otherwise begin as many as it likes.
pub(crate) fn exports_at_once() -> Arc<PerUser> {
    Arc::new(PerUser::new(NonZeroUsize::new(1)))
}

/// The pieces of the document.
pub(crate) fn pieces(
    store: Store,
    owner: UserId,
    at_once: Arc<PerUser>,
) -> impl Stream<Item = Result<String, Error>> + Send + 'static {
    try_stream! {
        let _place = at_once.enter(&owner).await;
        yield format!("{{\"user\":{},\"exportedAt\":{},\"conversations\":", json(&owner), json(&Utc::now()));
        for await piece in list(conversations(&store, &owner)) {
            yield piece?;
        }
        let tasks = store.tasks(&owner, TaskFilter::All).await?;
        yield format!(",\"tasks\":{},\"library\":", json(&tasks));
        let tracks = pages(String::new(), |row: &LibraryTrack| row.track_id.clone(), |after| {
            let (store, owner) = (&store, &owner);
            async move { store.library_after(owner, &after, ROWS).await }
        });
        for await piece in list(tracks) {
            yield piece?;
        }
        let albums = store.albums::<SavedAlbum>(&owner, None).await?;
        let albums: Vec<_> = albums.into_iter().map(|saved| saved.album.album).collect();
        yield format!(",\"albums\":{}", json(&albums));
        let playlists: Vec<_> = store.playlists(&owner).await?.into_iter().map(ExportedPlaylist::from).collect();
        yield format!(",\"playlists\":{},\"ownFacts\":", json(&playlists));
        let facts = pages(String::new(), |(id, _): &(String, _)| id.clone(), |after| {
            let (store, owner) = (&store, &owner);
            async move { store.own_facts_after(owner, &after, ROWS).await }
        });
        for await piece in list(values(facts)) {
            yield piece?;
        }
        yield ",\"openEntries\":".to_owned();
        let open = pages(Uuid::nil(), |(id, _): &(Uuid, _)| *id, |after| {
            let (store, owner) = (&store, &owner);
            async move { store.open_entries_after(owner, after, ROWS).await }
        });
        for await piece in list(values(open)) {
            yield piece?;
        }
        let imports = store.imports(&owner, i32::MAX.unsigned_abs(), None).await?;
        yield format!(",\"imports\":{}", json(&imports));
        let sources = store.folders(&owner).await?;
        yield format!(",\"sources\":{}", json(&sources));
        let merges = store.merges(&owner, i32::MAX.unsigned_abs(), None, None).await?;
        yield format!(",\"merges\":{}", json(&merges));
        let feedback = store.feedback(&owner).await?;
        yield format!(",\"feedback\":{}}}", json(&feedback));
    }
}

fn conversations<'a>(
    store: &'a Store,
    owner: &'a UserId,
) -> impl Stream<Item = Result<Vec<ExportedConversation>, StoreError>> + Send + 'a {
    try_stream! {
        let mut before = None;
        loop {
            let page = store.conversations(owner, None, before, CONVERSATIONS).await?;
            for conversation in page.conversations {
                let exported = ExportedConversation::of(store, owner, conversation).await?;
                yield vec![exported];
            }
            match page.next {
                Some(next) => before = Some(ConversationId(next)),
                None => break,
            }
        }
    }
}

/// The pages of a list: `read` reads the rows after a key, and `key_of` is the key of a row.
fn pages<K: Send, T, F>(
    first: K,
    key_of: impl Fn(&T) -> K + Send,
    read: impl Fn(K) -> F + Send,
) -> impl Stream<Item = Result<Vec<T>, StoreError>> + Send
where
    T: Send,
    F: Future<Output = Result<Vec<T>, StoreError>> + Send,
{
    try_stream! {
        let mut after = Some(first);
        while let Some(key) = after {
            let rows = read(key).await?;
            after = rows.last().filter(|_| rows.len() == ROWS as usize).map(&key_of);
            yield rows;
        }
    }
}

fn values<K, T>(
    pages: impl Stream<Item = Result<Vec<(K, T)>, StoreError>> + Send,
) -> impl Stream<Item = Result<Vec<T>, StoreError>> + Send {
    pages.map(|page| Ok(page?.into_iter().map(|(_, value)| value).collect()))
}

/// A JSON list, one piece for each page.
fn list<T: Serialize + Send>(
    pages: impl Stream<Item = Result<Vec<T>, StoreError>> + Send,
) -> impl Stream<Item = Result<String, StoreError>> + Send {
    try_stream! {
        let mut separator = "[";
        for await page in pages {
            let mut piece = String::new();
            for row in page? {
                piece += separator;
                piece += &json(&row);
                separator = ",";
            }
            yield piece;
        }
        yield if separator == "[" { "[]" } else { "]" }.to_owned();
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("what is stored is plain data")
}
