//! An export as JSON, in pieces: one conversation and one page of the library are in memory at a time.

use async_stream::try_stream;
use chrono::Utc;
use engine::{ConversationId, UserId};
use futures::Stream;
use serde::Serialize;
use serde_json::Value;
use store::{LibrarySort, Listing, Store, TaskFilter};

use crate::{
    Error,
    export::{ExportedConversation, ExportedPlaylist},
    library::SavedAlbum,
};

const CONVERSATIONS: u32 = 50;
const TRACKS: u32 = 500;

/// The pieces of the document that `Export` describes.
pub(crate) fn pieces(store: Store, owner: UserId) -> impl Stream<Item = Result<String, Error>> + Send + 'static {
    try_stream! {
        yield format!("{{\"user\":{},\"exportedAt\":{},\"conversations\":[", json(&owner), json(&Utc::now()));
        let (mut before, mut separator) = (None, "");
        loop {
            let page = store.conversations(&owner, None, before, CONVERSATIONS).await?;
            for conversation in page.conversations {
                let exported = ExportedConversation::of(&store, &owner, conversation).await?;
                yield format!("{separator}{}", json(&exported));
                separator = ",";
            }
            match page.next {
                Some(next) => before = Some(ConversationId(next)),
                None => break,
            }
        }
        let tasks = store.tasks(&owner, TaskFilter::All).await?;
        yield format!("],\"tasks\":{},\"library\":[", json(&tasks));
        let (mut offset, mut separator) = (0, "");
        loop {
            let listing = Listing { sort: LibrarySort::Added, offset, limit: TRACKS, ..Listing::default() };
            let (tracks, _) = store.library_tracks(&owner, listing).await?;
            for track in &tracks {
                yield format!("{separator}{}", json(track));
                separator = ",";
            }
            if tracks.len() < TRACKS as usize {
                break;
            }
            offset += TRACKS;
        }
        let albums = store.albums::<SavedAlbum>(&owner, None).await?;
        let albums: Vec<_> = albums.into_iter().map(|saved| saved.album.album).collect();
        let playlists: Vec<_> = store.playlists(&owner).await?.into_iter().map(ExportedPlaylist::from).collect();
        yield format!("],\"albums\":{},\"playlists\":{}", json(&albums), json(&playlists));
        let own_facts = store.own_facts(&owner).await?;
        yield format!(",\"ownFacts\":{}", json(&own_facts));
        let open = store.open_entries::<Value, Value>(&owner, (0, u32::MAX)).await?;
        let open: Vec<Value> = open.into_iter().map(|open| open.entry).collect();
        let imports = store.imports(&owner, i32::MAX.unsigned_abs(), None).await?;
        let sources = store.folders(&owner).await?;
        let merges = store.merges(&owner, i32::MAX.unsigned_abs(), None, None).await?;
        let feedback = store.feedback(&owner).await?;
        yield format!(
            ",\"openEntries\":{},\"imports\":{},\"sources\":{},\"merges\":{},\"feedback\":{}}}",
            json(&open), json(&imports), json(&sources), json(&merges), json(&feedback)
        );
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("what is stored is plain data")
}
