//! Edits of playlists: each is one transaction that another edit does not change, and stores what its undo needs.

use engine::{CallId, UserId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    Playlist, PlaylistContent, PlaylistId, Store, StoreError, UndoId,
    db::Tx,
    long_texts::{Staged, is_long},
    playlist_diff::PlaylistDiff,
    room::Room,
    undo::{Change, remember, remember_staged},
};

/// A playlist after an edit, and the id of the edit.
#[derive(Clone, Debug)]
pub struct EditedPlaylist {
    pub playlist: Playlist,
    pub undo_id: UndoId,
}

/// What the journal stores about an edit: not the tracks, which are thousands.
#[derive(Serialize, Deserialize)]
struct Recorded {
    playlist: RecordedPlaylist,
    undo_id: UndoId,
}

#[derive(Serialize, Deserialize)]
struct RecordedPlaylist {
    id: PlaylistId,
    title: String,
    revision: i64,
}

impl Recorded {
    fn of(playlist: &Playlist, undo_id: UndoId) -> Self {
        let (id, title, revision) = (playlist.id, playlist.content.title.clone(), playlist.revision);
        Self { playlist: RecordedPlaylist { id, title, revision }, undo_id }
    }
}

impl Store {
    pub async fn create_playlist(
        &self,
        owner: &UserId,
        content: PlaylistContent,
        call: Option<CallId>,
    ) -> Result<EditedPlaylist, StoreError> {
        self.check_room(owner, Room::Playlists).await?;
        let (id, created_at) = (PlaylistId::new(), self.clock.now());
        let playlist = Playlist { id, created_at, edited_at: None, revision: 1, content };
        let tracks = self.stage_tracks(owner, &playlist.content.tracks).await?;
        let made = Change::PlaylistMade { id: playlist.id, revision: playlist.revision };
        let mut tx = self.begin().await?;
        let recorded = self
            .settle(&mut tx, call, async |tx| {
                insert(tx, owner, &playlist, &tracks).await?;
                let undo_id = remember(tx, owner, call, &made).await?;
                Ok::<_, StoreError>(Recorded::of(&playlist, undo_id))
            })
            .await?;
        tx.commit().await?;
        self.after(owner, playlist, recorded).await
    }

    /// Edits a playlist. `edit` gets the current playlist, and is called again if another edit came first, so that no edit is
    /// lost. A long list is read, edited, encoded and stored in parts before the transaction, which holds SQLite's only writer.
    pub async fn edit_playlist<E: From<StoreError> + Send>(
        &self,
        owner: &UserId,
        id: PlaylistId,
        call: Option<CallId>,
        edit: impl Fn(&Playlist) -> Result<PlaylistContent, E> + Sync,
    ) -> Result<EditedPlaylist, E> {
        for attempt in 1.. {
            // An error is returned inside the transaction: the call may have had its effect already.
            let prepared = self.prepare(owner, id, &edit).await;
            let staged = prepared.as_ref().map_or_else(|_| Vec::new(), Prepared::texts);
            let (mut tx, mut is_stale, mut edited) = (self.begin().await?, false, None);
            let recorded = self
                .settle(&mut tx, call, async |tx| {
                    let Prepared { next, change, staged } = prepared?;
                    if !swap(tx, &next).await? {
                        is_stale = true;
                        return Err(StoreError::Conflict("The playlist was changed meanwhile. Read it again.").into());
                    }
                    let undo_id = remember_staged(tx, owner, call, (&change, &staged)).await?;
                    let recorded = Recorded::of(&next.playlist, undo_id);
                    edited = Some(next);
                    Ok::<_, E>(recorded)
                })
                .await;
            if is_stale && attempt < MOST_ATTEMPTS {
                drop(tx);
                self.discard(&staged).await?;
                continue;
            }
            let recorded = recorded?;
            tx.commit().await?;
            let Some(next) = edited else { return Ok(self.recorded_edit(owner, recorded).await?) };
            self.erase_replaced(&next).await?;
            return Ok(EditedPlaylist { playlist: next.playlist, undo_id: recorded.undo_id });
        }
        unreachable!("the last attempt returns")
    }

    async fn prepare<E: From<StoreError> + Send>(
        &self,
        owner: &UserId,
        id: PlaylistId,
        edit: impl Fn(&Playlist) -> Result<PlaylistContent, E> + Sync,
    ) -> Result<Prepared, E> {
        let (next, diff) = self.next_version(owner, id, edit).await?;
        let change = Change::Playlist { id, diff };
        let staged = self.stage_change(owner, &change).await?;
        Ok(Prepared { next, change, staged })
    }

    /// A playlist after an edit that is not stored yet.
    pub(crate) async fn next_version<E: From<StoreError> + Send>(
        &self,
        owner: &UserId,
        id: PlaylistId,
        edit: impl Fn(&Playlist) -> Result<PlaylistContent, E> + Sync,
    ) -> Result<(NextVersion, PlaylistDiff), E> {
        let before = self.playlist(owner, id).await?;
        let edited = || edit(&before).map(|content| (PlaylistDiff::between(&before.content, &content), content));
        let (diff, content) = background::aside(is_long(before.content.tracks.len()), edited)?;
        let tracks = if diff.keeps_tracks() { None } else { Some(self.stage_tracks(owner, &content.tracks).await?) };
        let revision = before.revision;
        let playlist = Playlist { edited_at: Some(self.clock.now()), revision: revision + 1, content, ..before };
        Ok((NextVersion { playlist, revision, tracks }, diff))
    }

    /// Erases the parts of the tracks that an edit has replaced. A crash before it leaves them to the next sweep.
    pub(crate) async fn erase_replaced(&self, next: &NextVersion) -> Result<(), StoreError> {
        if next.texts().is_empty() { Ok(()) } else { self.erase_unused_texts().await }
    }

    async fn after(
        &self,
        owner: &UserId,
        playlist: Playlist,
        recorded: Recorded,
    ) -> Result<EditedPlaylist, StoreError> {
        if recorded.playlist.id != playlist.id {
            return self.recorded_edit(owner, recorded).await;
        }
        Ok(EditedPlaylist { playlist, undo_id: recorded.undo_id })
    }

    /// The playlist of an earlier attempt at the same call, as it is now.
    async fn recorded_edit(&self, owner: &UserId, recorded: Recorded) -> Result<EditedPlaylist, StoreError> {
        let playlist = self.playlist(owner, recorded.playlist.id).await?;
        Ok(EditedPlaylist { playlist, undo_id: recorded.undo_id })
    }
}

/// How often an edit is tried while others edit the same playlist.
pub(crate) const MOST_ATTEMPTS: usize = 20;

/// An edit that is ready to be written.
struct Prepared {
    next: NextVersion,
    change: Change,
    /// The change, encoded.
    staged: Staged,
}

impl Prepared {
    /// Its texts in parts.
    fn texts(&self) -> Vec<Uuid> {
        self.next.texts().into_iter().chain(self.staged.long).collect()
    }
}

pub(crate) struct NextVersion {
    /// After the edit.
    pub(crate) playlist: Playlist,
    /// Before the edit.
    revision: i64,
    /// `None` if the edit does not change them.
    tracks: Option<Staged>,
}

impl NextVersion {
    /// Its texts in parts.
    pub(crate) fn texts(&self) -> Vec<Uuid> {
        self.tracks.iter().filter_map(|tracks| tracks.long).collect()
    }
}

async fn insert(tx: &mut Tx, owner: &UserId, playlist: &Playlist, tracks: &Staged) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO playlists
            (id, user_id, title, description, created_at, revision, tracks, tracks_id, n_tracks)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    tracks.claim(tx).await?;
    tx.query(SQL)
        .bind(playlist.id.0)
        .bind(owner.as_str())
        .bind(&playlist.content.title)
        .bind(&playlist.content.description)
        .bind(playlist.created_at)
        .bind(playlist.revision)
        .bind(&tracks.short)
        .bind(tracks.long)
        .bind(n_tracks(playlist))
        .execute()
        .await?;
    Ok(())
}

/// Writes a playlist if it still has the revision before the edit. Returns whether it had.
pub(crate) async fn swap(tx: &mut Tx, next: &NextVersion) -> Result<bool, StoreError> {
    const NAMES: &str = "UPDATE playlists SET title = $2, description = $3, edited_at = $4, revision = $5
        WHERE id = $1 AND revision = $6 AND deleted_at IS NULL";
    const ALL: &str = "UPDATE playlists SET title = $2, description = $3, edited_at = $4, revision = $5,
            tracks = $7, tracks_id = $8, n_tracks = $9
        WHERE id = $1 AND revision = $6 AND deleted_at IS NULL";
    let NextVersion { playlist, revision, tracks } = next;
    if let Some(tracks) = tracks {
        tracks.claim(tx).await?;
    }
    let query = tx.query(if tracks.is_some() { ALL } else { NAMES });
    let query = query.bind(playlist.id.0).bind(&playlist.content.title).bind(&playlist.content.description);
    let query = query.bind(playlist.edited_at).bind(playlist.revision).bind(*revision);
    let query = match tracks {
        Some(tracks) => query.bind(&tracks.short).bind(tracks.long).bind(n_tracks(playlist)),
        None => query,
    };
    Ok(query.execute().await? > 0)
}

fn n_tracks(playlist: &Playlist) -> i64 {
    i64::try_from(playlist.content.tracks.len()).unwrap_or(i64::MAX)
}
