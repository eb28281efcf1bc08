//! An entry of an import that a catalogue or its owner has confirmed later: it leaves the open entries and becomes an ordinary track.

use std::collections::BTreeSet;

use engine::UserId;
use sqlx::types::Json;
use uuid::Uuid;

use super::{
    NewLibraryTrack, Priority, Store, StoreError,
    db::Tx,
    documents::project,
    library_insert::{Removed, insert_tracks},
    locks::lock_library,
    merge_log::merged_into,
    moves::move_recording,
};
use music::TrackId;

impl Store {
    /// The playlists come first: after a crash between them and the rest, the entry is still open and is searched for again.
    pub(crate) async fn keep_match(&self, owner: &UserId, id: Uuid, new: &NewLibraryTrack) -> Result<(), StoreError> {
        const ENTRY: &str = "SELECT kind, playlists, recording_id FROM open_entries WHERE user_id = $1 AND id = $2";
        let mut tx = self.begin().await?;
        let row: Option<MatchedRow> = tx.query(ENTRY).bind(owner.as_str()).bind(id).fetch_optional().await?;
        let entry = Matched::of(&mut tx, owner, row.ok_or(StoreError::NotFound)?).await?;
        drop(tx);
        if !entry.is_decided {
            if let Some(moved) = &entry.moved {
                self.move_in_playlists(owner, moved, &new.track).await?;
            }
            self.add_to_playlists(owner, &entry.kind, &entry.playlists, &new.track).await?;
        }
        let mut tx = self.begin().await?;
        let moved = keep_match(&mut tx, owner, id, new).await?;
        tx.commit().await?;
        match moved {
            // An edit may have added the old track meanwhile.
            Some(moved) => self.move_in_playlists(owner, &moved, &new.track).await,
            None => Ok(()),
        }
    }
}

type MatchedRow = (String, Json<BTreeSet<String>>, Option<String>);

/// An entry that a catalogue has confirmed now.
struct Matched {
    kind: String,
    playlists: BTreeSet<String>,
    /// The owner or the sound decided which recording it is, which counts more than a search by name.
    is_decided: bool,
    /// The track that represented the entry until now.
    moved: Option<String>,
}

impl Matched {
    async fn of(tx: &mut Tx, owner: &UserId, row: MatchedRow) -> Result<Self, StoreError> {
        let (kind, Json(playlists), meanwhile) = row;
        let merged = match &meanwhile {
            Some(meanwhile) => merged_into(tx, owner, meanwhile).await?,
            None => None,
        };
        let has_code = |id: &str| id.parse::<TrackId>().is_ok_and(|id| id.isrc().is_some());
        let is_decided = merged.as_deref().is_some_and(has_code);
        // A track that a code refers to is an independent track. Only the track that represented the entry is moved.
        let is_own = |id: &String| id.parse::<TrackId>().is_ok_and(|id| id.isrc().is_none());
        Ok(Self { kind, playlists, is_decided, moved: merged.or(meanwhile).filter(is_own) })
    }
}

/// Returns the track that was moved, if any.
async fn keep_match(
    tx: &mut Tx,
    owner: &UserId,
    id: Uuid,
    new: &NewLibraryTrack,
) -> Result<Option<String>, StoreError> {
    const GONE: &str =
        "DELETE FROM open_entries WHERE user_id = $1 AND id = $2 RETURNING kind, playlists, recording_id";
    lock_library(tx, owner.as_str()).await?;
    let gone: Option<MatchedRow> = tx.query(GONE).bind(owner.as_str()).bind(id).fetch_optional().await?;
    let entry = Matched::of(tx, owner, gone.ok_or(StoreError::NotFound)?).await?;
    if entry.is_decided {
        return Ok(None);
    }
    if let Some(moved) = &entry.moved {
        move_recording(tx, owner, moved, &new.track).await?;
    }
    // The owner may have removed it since.
    let removed = if entry.moved.is_some() { Removed::StaysAway } else { Removed::ComesBack };
    insert_tracks(tx, owner, std::slice::from_ref(new), removed, Priority::Import).await?;
    let recordings: Vec<_> = entry.moved.iter().cloned().chain([new.track.id.to_string()]).collect();
    project(tx, &recordings).await?;
    Ok(entry.moved)
}
