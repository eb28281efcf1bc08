//! A track of one user is identified as another recording: the track, its files and its data are moved.

use engine::UserId;

use super::{
    StoreError,
    db::Tx,
    locks::{lock_documents, lock_library},
};
use music::Track;

/// Moves a track of one user from one recording to another. Other users are not affected. The caller projects both
/// recordings at the end of its transaction, and moves the track in playlists (`playlist_moves`), which is long.
pub(crate) async fn move_recording(tx: &mut Tx, owner: &UserId, from: &str, to: &Track) -> Result<(), StoreError> {
    const MERGE: &str = "UPDATE library_tracks SET
            n_plays = n_plays + COALESCE((SELECT n_plays FROM library_tracks o
                WHERE o.user_id = $1 AND o.recording_id = $2), 0),
            added_at = COALESCE((SELECT MIN(added_at) FROM library_tracks o WHERE o.user_id = $1
                AND o.recording_id IN ($2, $3)), added_at)
        WHERE user_id = $1 AND recording_id = $3";
    const DROP: &str = "DELETE FROM library_tracks WHERE user_id = $1 AND recording_id = $2";
    const MOVE: &str = "UPDATE library_tracks SET recording_id = $3, isrc = COALESCE($4, isrc)
        WHERE user_id = $1 AND recording_id = $2";
    const FILES: &str = "UPDATE library_files SET recording_id = $3 WHERE user_id = $1 AND recording_id = $2";
    const FORGET: &str = "DELETE FROM ingested_tracks WHERE owner = $1 AND recording_id = $2";
    const MERGED: &str = "UPDATE track_merges SET into_id = $3 WHERE user_id = $1 AND into_id = $2";
    const AUDIO: &str = "INSERT INTO own_names (user_id, kind, value, recording_id)
        SELECT user_id, kind, value, $3 FROM own_names WHERE user_id = $1 AND recording_id = $2 AND kind = 'audio'
        ON CONFLICT (user_id, kind, value, recording_id) DO NOTHING";
    const OLD_AUDIO: &str = "DELETE FROM own_names WHERE user_id = $1 AND recording_id = $2 AND kind = 'audio'";
    let into = to.id.to_string();
    if from == into {
        return Ok(());
    }
    lock_library(tx, owner.as_str()).await?;
    lock_documents(tx, &[from.to_owned(), into.clone()]).await?;
    let merged = tx.query(MERGE).bind(owner.as_str()).bind(from).bind(&into).execute().await?;
    if merged > 0 {
        tx.query(DROP).bind(owner.as_str()).bind(from).execute().await?;
    } else {
        let isrc = to.isrc.as_ref().map(|isrc| isrc.as_str());
        tx.query(MOVE).bind(owner.as_str()).bind(from).bind(&into).bind(isrc).execute().await?;
    }
    for sql in [FILES, MERGED, AUDIO] {
        tx.query(sql).bind(owner.as_str()).bind(from).bind(&into).execute().await?;
    }
    tx.query(OLD_AUDIO).bind(owner.as_str()).bind(from).execute().await?;
    tx.query(FORGET).bind(owner.as_str()).bind(from).execute().await?;
    Ok(())
}
