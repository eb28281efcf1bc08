//! Changes of playlists that are no edits of their owner: a track is identified as another recording, or matched later.
//!
//! A playlist is one long row. It is read, changed and encoded before the transaction that writes it, and written only if nobody
//! has changed it meanwhile, so that SQLite's only writer is held for the write alone.

use std::collections::BTreeSet;

use engine::UserId;
use sqlx::types::Json;
use uuid::Uuid;

use super::{
    PlaylistTrack, Store, StoreError,
    imports::{listed, playlist_id},
};
use music::{
    Track,
    playlist::{MOST_NAME_BYTES, MOST_TRACKS, name_bytes},
};

/// The same list of the same file is one playlist, also after several imports. A deleted playlist stays deleted, and one that its
/// owner has edited is not changed.
const PUT_SQLITE: &str = "INSERT INTO playlists (id, user_id, title, tracks, created_at) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (id) DO UPDATE SET tracks = excluded.tracks, revision = playlists.revision + 1
        WHERE playlists.deleted_at IS NULL AND playlists.edited_at IS NULL";
const PUT_POSTGRES: &str = "INSERT INTO playlists (id, user_id, title, tracks, created_at)
    VALUES ($1, $2, $3, CAST($4 AS JSONB), $5)
    ON CONFLICT (id) DO UPDATE SET tracks = excluded.tracks, revision = playlists.revision + 1
        WHERE playlists.deleted_at IS NULL AND playlists.edited_at IS NULL";
const SWAP_SQLITE: &str = "UPDATE playlists SET tracks = $3, revision = revision + 1 WHERE id = $1 AND revision = $2";
const SWAP_POSTGRES: &str =
    "UPDATE playlists SET tracks = CAST($3 AS JSONB), revision = revision + 1 WHERE id = $1 AND revision = $2";

impl Store {
    /// Stores a playlist of a file.
    pub(crate) async fn put_playlist(
        &self,
        owner: &UserId,
        kind: &str,
        title: &str,
        tracks: &[PlaylistTrack],
    ) -> Result<(), StoreError> {
        let (id, encoded) = (playlist_id(owner, kind, title), encoded(tracks)?);
        let mut tx = self.begin_short().await?;
        let sql = tx.in_dialect(PUT_SQLITE, PUT_POSTGRES);
        let put = async {
            let query = tx.query(sql).bind(id).bind(owner.as_str()).bind(title).bind(&encoded).bind_now();
            query.execute().await?;
            tx.commit().await
        };
        self.undisturbed(put).await
    }

    /// Replaces a track in all playlists of its owner, deleted ones included.
    pub(crate) async fn move_in_playlists(&self, owner: &UserId, from: &str, to: &Track) -> Result<(), StoreError> {
        const SQLITE: &str = "SELECT id FROM playlists WHERE user_id = $1 AND tracks LIKE '%' || $2 || '%'";
        const POSTGRES: &str = "SELECT id FROM playlists WHERE user_id = $1 AND tracks::text LIKE '%' || $2 || '%'";
        if from == to.id.to_string() {
            return Ok(());
        }
        let holding = self.read(self.in_dialect(SQLITE, POSTGRES)).bind(owner.as_str()).bind(from);
        let holding: Vec<(Uuid,)> = holding.fetch_all().await?;
        for (id,) in holding {
            self.swap_tracks(owner, id, |tracks| {
                let mut is_changed = false;
                for item in tracks.iter_mut().filter(|item| item.track.id.to_string() == from) {
                    item.track = listed(to).track;
                    is_changed = true;
                }
                is_changed
            })
            .await?;
        }
        Ok(())
    }

    /// Adds a track that was matched later to the playlists of its file, unless it is there or there is no room.
    pub(crate) async fn add_to_playlists(
        &self,
        owner: &UserId,
        kind: &str,
        titles: &BTreeSet<String>,
        track: &Track,
    ) -> Result<(), StoreError> {
        for title in titles {
            let add = |tracks: &mut Vec<PlaylistTrack>| {
                let n_bytes: usize = tracks.iter().map(|item| name_bytes(&item.track)).sum();
                let has_room = tracks.len() < MOST_TRACKS && n_bytes + name_bytes(track) <= MOST_NAME_BYTES;
                let is_new = tracks.iter().all(|other| other.track.id != track.id);
                if is_new && has_room {
                    tracks.push(listed(track));
                }
                is_new && has_room
            };
            let is_there = self.swap_tracks(owner, playlist_id(owner, kind, title), add).await?;
            if !is_there {
                self.put_playlist(owner, kind, title, &[listed(track)]).await?;
            }
        }
        Ok(())
    }

    /// Changes the tracks of a playlist. `change` is called again if another change came first, and says whether it changed
    /// anything. Returns whether there is such a playlist.
    async fn swap_tracks(
        &self,
        owner: &UserId,
        id: Uuid,
        change: impl Fn(&mut Vec<PlaylistTrack>) -> bool,
    ) -> Result<bool, StoreError> {
        const READ: &str = "SELECT tracks, revision FROM playlists WHERE id = $1 AND user_id = $2
            AND erased_at IS NULL";
        loop {
            let row: Option<(Json<Vec<PlaylistTrack>>, i64)> =
                self.read(READ).bind(id).bind(owner.as_str()).fetch_optional().await?;
            let Some((Json(mut tracks), revision)) = row else { return Ok(false) };
            if !change(&mut tracks) {
                return Ok(true);
            }
            let encoded = encoded(&tracks)?;
            let mut tx = self.begin_short().await?;
            let sql = tx.in_dialect(SWAP_SQLITE, SWAP_POSTGRES);
            let swap = async {
                let n_changed = tx.query(sql).bind(id).bind(revision).bind(&encoded).execute().await?;
                tx.commit().await?;
                Ok::<u64, StoreError>(n_changed)
            };
            if self.undisturbed(swap).await? > 0 {
                return Ok(true);
            }
        }
    }
}

fn encoded(tracks: &[PlaylistTrack]) -> Result<String, StoreError> {
    serde_json::to_string(tracks).map_err(|error| sqlx::Error::Encode(error.into()).into())
}
