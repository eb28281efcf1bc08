//! Undoes a merge or a split. Merges are undone in any order: what was merged later stays, as if this merge had not been made.
//!
//! A merge adds the plays and the files of a track to another one, which may be merged itself. So the undo takes them from every
//! track to which later merges have carried them. A split is undone while both of its tracks are in the library.

use engine::UserId;
use sqlx::types::Json;
use uuid::Uuid;

use super::{
    Store, StoreError,
    db::Tx,
    documents::project,
    locks::lock_library,
    merges::{Before, PlayTime, Played, add_plays, remove, take_file},
    schedule::{park, wake},
};

/// A merge that was not undone, or a split.
struct MergeRow {
    id: Uuid,
    recording_id: String,
    into_id: String,
    kind: String,
    before: Json<Before>,
}
from_row!(MergeRow { id, recording_id, into_id, kind, before });

/// The bound is for rows that form a circle.
const LONGEST: usize = 100;

const BRING_BACK: &str = "UPDATE library_tracks SET removed_at = NULL, left_with_file = FALSE
    WHERE user_id = $1 AND recording_id = $2";
/// Also of a track that was merged: its row keeps its dates.
const PLAYED: &str =
    "SELECT first_played_at, last_played_at FROM library_tracks WHERE user_id = $1 AND recording_id = $2";
const LATER: &str = "SELECT id, recording_id, into_id, kind, before FROM track_merges
    WHERE user_id = $1 AND into_id = $2 AND id > $3 AND kind = 'merge' AND undone_at IS NULL ORDER BY id";
const NEXT: &str = "SELECT id, recording_id, into_id, kind, before FROM track_merges
    WHERE user_id = $1 AND recording_id = $2 AND kind = 'merge' AND undone_at IS NULL ORDER BY id DESC LIMIT 1";
/// Merges after a split that have removed one of its tracks, or have made the split-off track part of something else.
const AFTER_SPLIT: &str = "SELECT 1 FROM track_merges WHERE user_id = $1 AND kind = 'merge' AND undone_at IS NULL
    AND id > $2 AND (recording_id IN ($3, $4) OR into_id = $4) LIMIT 1";
const SET_BEFORE: &str = "UPDATE track_merges SET before = $2 WHERE id = $1";

impl Store {
    /// Undoes a merge or a split. `NotFound` if it belongs to another user or was already undone; `Conflict` for a split one of
    /// whose tracks was merged later.
    pub async fn undo_merge(&self, owner: &UserId, id: Uuid) -> Result<(), StoreError> {
        const TAKE: &str = "UPDATE track_merges SET undone_at = $3 WHERE id = $1 AND user_id = $2 AND undone_at IS NULL
            RETURNING id, recording_id, into_id, kind, before";
        let user = owner.as_str();
        let mut tx = self.begin().await?;
        lock_library(&mut tx, user).await?;
        let row: Option<MergeRow> = tx.query(TAKE).bind(id).bind(user).bind_now().fetch_optional().await?;
        let row = row.ok_or(StoreError::NotFound)?;
        let is_merge = row.kind == "merge";
        for file in &row.before.files {
            // Files that the user parted stay parted, whatever they sound like.
            take_file(&mut tx, user, file, &row.recording_id, is_merge).await?;
        }
        let changed = if is_merge {
            tx.query(BRING_BACK).bind(user).bind(&row.recording_id).execute().await?;
            wake(&mut tx, std::slice::from_ref(&row.recording_id)).await?;
            take_back(&mut tx, user, row).await?
        } else {
            refuse_after_merge(&mut tx, user, &row).await?;
            remove(&mut tx, user, &row.into_id).await?;
            park(&mut tx, std::slice::from_ref(&row.into_id)).await?;
            vec![row.recording_id, row.into_id]
        };
        project(&mut tx, &changed).await?;
        tx.commit().await
    }
}

/// The undo of a split would take a file from the track of a later merge, which would not know it.
async fn refuse_after_merge(tx: &mut Tx, user: &str, split: &MergeRow) -> Result<(), StoreError> {
    let query = tx.query(AFTER_SPLIT).bind(user).bind(split.id).bind(&split.recording_id).bind(&split.into_id);
    match query.fetch_optional::<(i32,)>().await? {
        Some(_) => Err(StoreError::Conflict("One of these tracks was merged later. Please undo that merge first.")),
        None => Ok(()),
    }
}

/// Takes the plays of a merged track from the track that it was merged into, from the one that this was merged into, and so on.
/// Returns all of these tracks.
async fn take_back(tx: &mut Tx, user: &str, undone: MergeRow) -> Result<Vec<String>, StoreError> {
    let (n_plays, part) = (undone.before.n_plays, played(tx, user, &undone.recording_id).await?);
    let mut changed = vec![undone.recording_id.clone()];
    // The dates that the merged track had added, and those that it adds now.
    let (mut was, mut is) = (part, Played::default());
    let mut merge = undone;
    for _ in 0..LONGEST {
        (was, is) = correct(tx, user, &merge, (was, is)).await?;
        add_plays(tx, user, &merge.into_id, -n_plays, is).await?;
        let next: Option<MergeRow> = tx.query(NEXT).bind(user).bind(&merge.into_id).fetch_optional().await?;
        changed.push(std::mem::take(&mut merge.into_id));
        let Some(mut next) = next else { break };
        // The undo of the next merge must not take them again.
        let Json(before) = &mut next.before;
        before.n_plays -= n_plays;
        before.files.retain(|file| !merge.before.files.contains(file));
        tx.query(SET_BEFORE).bind(next.id).bind(Json(&*before)).execute().await?;
        // Only files of the undone merge are taken, also from the merges after the next one.
        next.before.files.clone_from(&merge.before.files);
        merge = next;
    }
    Ok(changed)
}

/// The dates of the track that stays in a merge, before and after the dates of the track that goes have changed. The merges into
/// the same track that came later have stored the old dates, so they are corrected too.
async fn correct(
    tx: &mut Tx,
    user: &str,
    merge: &MergeRow,
    (was, is): (Played, Played),
) -> Result<(Played, Played), StoreError> {
    let (mut with, mut without) = (merge.before.played.with(was), merge.before.played.with(is));
    let later: Vec<MergeRow> = tx.query(LATER).bind(user).bind(&merge.into_id).bind(merge.id).fetch_all().await?;
    for MergeRow { id, recording_id, before: Json(mut before), .. } in later {
        let part = played(tx, user, &recording_id).await?;
        let stored = before.played;
        before.played = stored.replaced(with, without);
        tx.query(SET_BEFORE).bind(id).bind(Json(&before)).execute().await?;
        (with, without) = (stored.with(part), before.played.with(part));
    }
    let now = played(tx, user, &merge.into_id).await?;
    Ok((now, now.replaced(with, without)))
}

impl Played {
    /// Dates of `with` become those of `without`. Other dates come from an import since the merge, and stay.
    fn replaced(self, with: Self, without: Self) -> Self {
        let first = if self.first == with.first { without.first } else { self.first };
        Self { first, last: if self.last == with.last { without.last } else { self.last } }
    }
}

async fn played(tx: &mut Tx, user: &str, track: &str) -> Result<Played, StoreError> {
    let row: Option<(PlayTime, PlayTime)> = tx.query(PLAYED).bind(user).bind(track).fetch_optional().await?;
    Ok(row.map_or_else(Played::default, |(first, last)| Played { first, last }))
}
