//! Export: all data of a user in one JSON document, written in pieces. One page of messages, one playlist or one page of another
//! list is in memory at a time.

use std::{num::NonZeroUsize, sync::Arc};

use async_stream::try_stream;
use chrono::{DateTime, Utc};
use engine::{ConversationId, UserId};
use futures::{Stream, StreamExt, stream::BoxStream};
use serde::Serialize;
use uuid::Uuid;

use crate::{Error, export_conversation::json_pieces, library::SavedAlbum, per_user::PerUser};
use music::TrackId;
use store::{
    AlbumKey, ImportLine, LibraryTrack, MergeLine, Opinion, Playlist, PlaylistContent, Store, StoreError, Task,
    TaskFilter,
};

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
        for await piece in conversations(&store, &owner) {
            yield piece?;
        }
        let own = Rows { store: &store, owner: &owner };
        for (name, mut list) in own.lists() {
            yield format!(",\"{name}\":");
            while let Some(piece) = list.next().await {
                yield piece?;
            }
        }
        let sources = store.folders(&owner).await?;
        yield format!(",\"sources\":{}}}", json(&sources));
    }
}

type Pieces<'a> = BoxStream<'a, Result<String, StoreError>>;

/// The lists of a user, each read page by page.
struct Rows<'a> {
    store: &'a Store,
    owner: &'a UserId,
}

impl<'a> Rows<'a> {
    fn lists(&self) -> [(&'static str, Pieces<'a>); 9] {
        let (store, owner) = (self.store, self.owner);
        let tasks = starts(|task: &Task| task.id, move |from| store.task_page(owner, TaskFilter::All, ROWS + 1, from));
        let tracks = pages(
            String::new(),
            |row: &LibraryTrack| row.track_id.clone(),
            move |after| async move { store.library_after(owner, &after, ROWS).await },
        );
        let albums = pages(
            None,
            |(key, _): &(AlbumKey, SavedAlbum)| Some(key.clone()),
            move |after| async move { store.albums_after(owner, after.as_ref(), ROWS).await },
        );
        let albums = values(albums).map(|page| Ok(page?.into_iter().map(|saved| saved.album).collect::<Vec<_>>()));
        let facts = pages(
            String::new(),
            |(id, _): &(String, _)| id.clone(),
            move |after| async move { store.own_facts_after(owner, &after, ROWS).await },
        );
        let open = pages(
            Uuid::nil(),
            |(id, _): &(Uuid, _)| *id,
            move |after| async move { store.open_entries_after(owner, after, ROWS).await },
        );
        let imports = starts(|line: &ImportLine| line.id, move |from| store.imports(owner, ROWS + 1, from));
        let merges = starts(|line: &MergeLine| line.undo_id, move |from| store.merges(owner, ROWS + 1, from, None));
        let feedback = pages(
            None,
            |one: &Opinion| Some((one.conversation_id, one.item_id.clone())),
            move |after| async move { store.feedback_after(owner, after.as_ref(), ROWS).await },
        );
        [
            ("tasks", list(tasks).boxed()),
            ("library", list(tracks).boxed()),
            ("albums", list(albums).boxed()),
            ("playlists", list(playlists(store, owner)).boxed()),
            ("ownFacts", list(values(facts)).boxed()),
            ("openEntries", list(values(open)).boxed()),
            ("imports", list(imports).boxed()),
            ("merges", list(merges).boxed()),
            ("feedback", list(feedback).boxed()),
        ]
    }
}

fn conversations<'a>(store: &'a Store, owner: &'a UserId) -> impl Stream<Item = Result<String, Error>> + Send + 'a {
    try_stream! {
        let (mut before, mut separator) = (None, "[");
        loop {
            let page = store.conversations(owner, None, before, CONVERSATIONS).await?;
            for conversation in page.conversations {
                yield separator.to_owned();
                separator = ",";
                for await piece in json_pieces(store.clone(), owner.clone(), conversation) {
                    yield piece?;
                }
            }
            match page.next {
                Some(next) => before = Some(ConversationId(next)),
                None => break,
            }
        }
        yield if separator == "[" { "[]" } else { "]" }.to_owned();
    }
}

/// One playlist in memory at a time: it has up to ten thousand tracks.
fn playlists<'a>(
    store: &'a Store,
    owner: &'a UserId,
) -> impl Stream<Item = Result<Vec<ExportedPlaylist>, StoreError>> + Send + 'a {
    try_stream! {
        let mut after = None;
        loop {
            let page = store.playlist_lines(owner, after, ROWS).await?;
            for line in page.playlists {
                match store.playlist(owner, line.id).await {
                    Ok(playlist) => yield vec![ExportedPlaylist::from(playlist)],
                    // It was deleted meanwhile.
                    Err(StoreError::NotFound) => {}
                    Err(error) => Err(error)?,
                }
            }
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
    }
}

/// The pages of a list whose pages are named by their first row: `read` reads one row more than a page has.
fn starts<T, F>(
    id_of: impl Fn(&T) -> Uuid + Send,
    read: impl Fn(Option<Uuid>) -> F + Send,
) -> impl Stream<Item = Result<Vec<T>, StoreError>> + Send
where
    T: Send,
    F: Future<Output = Result<Vec<T>, StoreError>> + Send,
{
    try_stream! {
        let mut from = None;
        loop {
            let mut rows = read(from).await?;
            from = rows.get(ROWS as usize).map(&id_of);
            rows.truncate(ROWS as usize);
            yield rows;
            if from.is_none() {
                break;
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
