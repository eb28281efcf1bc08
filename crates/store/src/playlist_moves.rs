//! Changes of playlists that are no edits of their owner: a track is identified as another recording, or matched later.
//!
//! A playlist is read, changed, encoded and, if it is long, stored in parts before the transaction that replaces it, and replaced only
//! if nobody has changed it meanwhile, so that SQLite's only writer is held for a short write alone.

use std::collections::BTreeSet;

use engine::UserId;
use uuid::Uuid;

use super::{
    PlaylistTrack, Store, StoreError,
    db::Query,
    imports::{listed, playlist_id},
    long_texts::{Staged, decoded},
};
use music::{
    Track,
    playlist::{MOST_NAME_BYTES, MOST_TRACKS, name_bytes},
};

/// The same list of the same file is one playlist, also after several imports. A deleted playlist stays deleted, and one that its
/// owner has edited is not changed.
const PUT: &str = "INSERT INTO playlists (id, user_id, title, created_at, tracks, tracks_id, n_tracks)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (id) DO UPDATE SET tracks = excluded.tracks, tracks_id = excluded.tracks_id,
            n_tracks = excluded.n_tracks, revision = playlists.revision + 1
        WHERE playlists.deleted_at IS NULL AND playlists.edited_at IS NULL";
const SWAP: &str = "UPDATE playlists SET tracks = $3, tracks_id = $4, n_tracks = $5, revision = revision + 1
    WHERE id = $1 AND revision = $2";

impl Store {
    /// Stores a playlist of a file.
    pub(crate) async fn put_playlist(
        &self,
        owner: &UserId,
        kind: &str,
        title: &str,
        tracks: &[PlaylistTrack],
    ) -> Result<(), StoreError> {
        let staged = self.stage_tracks(owner, tracks).await?;
        let id = playlist_id(owner, kind, title);
        self.replace(&staged, PUT, |query| {
            let query = query.bind(id).bind(owner.as_str()).bind(title).bind_now();
            query.bind(&staged.short).bind(staged.long).bind(count(tracks))
        })
        .await?;
        Ok(())
    }

    /// Replaces a track in all playlists of its owner, deleted ones included.
    pub(crate) async fn move_in_playlists(&self, owner: &UserId, from: &str, to: &Track) -> Result<(), StoreError> {
        const SQL: &str = "SELECT id FROM playlists WHERE user_id = $1 AND (CAST(tracks AS TEXT) LIKE '%' || $2 || '%'
            OR EXISTS (SELECT 1 FROM long_text_parts WHERE text_id = tracks_id AND body LIKE '%' || $2 || '%'))";
        if from == to.id.to_string() {
            return Ok(());
        }
        let holding = self.read(SQL).bind(owner.as_str()).bind(from);
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
        const READ: &str = "SELECT revision, CASE WHEN tracks_id IS NULL THEN CAST(tracks AS TEXT) ELSE
                (SELECT string_agg(body, '' ORDER BY number) FROM long_text_parts WHERE text_id = tracks_id) END
            FROM playlists WHERE id = $1 AND user_id = $2 AND erased_at IS NULL";
        loop {
            let row: Option<(i64, String)> = self.read(READ).bind(id).bind(owner.as_str()).fetch_optional().await?;
            let Some((revision, text)) = row else { return Ok(false) };
            let mut tracks: Vec<PlaylistTrack> = decoded(&text)?;
            if !change(&mut tracks) {
                return Ok(true);
            }
            let staged = self.stage_tracks(owner, &tracks).await?;
            let is_replaced = self.replace(&staged, SWAP, |query| {
                query.bind(id).bind(revision).bind(&staged.short).bind(staged.long).bind(count(&tracks))
            });
            if is_replaced.await? {
                return Ok(true);
            }
        }
    }

    /// Runs the statement that makes these tracks those of a playlist. Returns whether it changed a row.
    async fn replace(
        &self,
        staged: &Staged,
        sql: &'static str,
        bind: impl for<'c> Fn(Query<'c>) -> Query<'c>,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin_short().await?;
        let replace = async {
            staged.claim(&mut tx).await?;
            let n_changed = bind(tx.query(sql)).execute().await?;
            if n_changed > 0 {
                tx.commit().await?;
            }
            Ok::<_, StoreError>(n_changed > 0)
        };
        let is_replaced = self.undisturbed(replace).await?;
        match (is_replaced, staged.long) {
            (true, Some(_)) => self.erase_unused_texts().await?,
            (false, long) => self.discard(long.as_slice()).await?,
            (true, None) => {}
        }
        Ok(is_replaced)
    }
}

fn count(tracks: &[PlaylistTrack]) -> i64 {
    i64::try_from(tracks.len()).unwrap_or(i64::MAX)
}
