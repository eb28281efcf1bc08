//! Edits of playlists: each is one transaction that another edit does not change, and stores what its undo needs.

use engine::{CallId, UserId};
use serde::{Deserialize, Serialize};
use sqlx::types::Json;

use super::{
    Playlist, PlaylistContent, PlaylistId, Store, StoreError, UndoId,
    db::Tx,
    playlist_diff::PlaylistDiff,
    playlists::PlaylistRow,
    room::Room,
    undo::{Change, remember},
};

/// A playlist after an edit, and the id of the edit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EditedPlaylist {
    pub playlist: Playlist,
    pub undo_id: UndoId,
}

const LOCKED_SQLITE: &str = "SELECT id, title, description, tracks, created_at, edited_at, revision FROM playlists
    WHERE id = $1 AND user_id = $2 AND deleted_at IS NULL";
const LOCKED_POSTGRES: &str = "SELECT id, title, description, tracks, created_at, edited_at, revision FROM playlists
    WHERE id = $1 AND user_id = $2 AND deleted_at IS NULL FOR UPDATE";

impl Store {
    pub async fn create_playlist(
        &self,
        owner: &UserId,
        content: PlaylistContent,
        call: Option<CallId>,
    ) -> Result<EditedPlaylist, StoreError> {
        const SQL: &str = "INSERT INTO playlists (id, user_id, title, description, tracks, created_at, revision)
            VALUES ($1, $2, $3, $4, $5, $6, 1)";
        self.check_room(owner, Room::Playlists).await?;
        let (id, created_at) = (PlaylistId::new(), self.clock.now());
        let playlist = Playlist { id, created_at, edited_at: None, revision: 1, content };
        let mut tx = self.begin().await?;
        let made = self
            .settle(&mut tx, call, async |tx| {
                tx.query(SQL)
                    .bind(playlist.id.0)
                    .bind(owner.as_str())
                    .bind(&playlist.content.title)
                    .bind(&playlist.content.description)
                    .bind(Json(&playlist.content.tracks))
                    .bind(playlist.created_at)
                    .execute()
                    .await?;
                let made = Change::PlaylistMade { id: playlist.id, revision: playlist.revision };
                let undo_id = remember(tx, owner, call, &made).await?;
                Ok::<_, StoreError>(EditedPlaylist { playlist, undo_id })
            })
            .await?;
        tx.commit().await?;
        Ok(made)
    }

    /// Edits a playlist. `edit` gets the current playlist, and is called again if another edit came first, so that no edit is
    /// lost. A long list is read, edited and encoded before the transaction, which holds SQLite's only writer.
    pub async fn edit_playlist<E: From<StoreError>>(
        &self,
        owner: &UserId,
        id: PlaylistId,
        call: Option<CallId>,
        edit: impl Fn(&Playlist) -> Result<PlaylistContent, E>,
    ) -> Result<EditedPlaylist, E> {
        for attempt in 1.. {
            // An error is returned inside the transaction: the call may have had its effect already.
            let prepared = self.prepare(owner, id, &edit).await;
            let (mut tx, mut is_stale) = (self.begin().await?, false);
            let edited = self
                .settle(&mut tx, call, async |tx| {
                    let Prepared { playlist, revision, tracks, diff } = prepared?;
                    if !swap(tx, &playlist, revision, tracks).await? {
                        is_stale = true;
                        return Err(StoreError::Conflict("The playlist was changed meanwhile. Read it again.").into());
                    }
                    let undo_id = remember(tx, owner, call, &Change::Playlist { id, diff }).await?;
                    Ok::<_, E>(EditedPlaylist { playlist, undo_id })
                })
                .await;
            if is_stale && attempt < MOST_ATTEMPTS {
                continue;
            }
            let edited = edited?;
            tx.commit().await?;
            return Ok(edited);
        }
        unreachable!("the last attempt returns")
    }

    async fn prepare<E: From<StoreError>>(
        &self,
        owner: &UserId,
        id: PlaylistId,
        edit: impl Fn(&Playlist) -> Result<PlaylistContent, E>,
    ) -> Result<Prepared, E> {
        let before = self.playlist(owner, id).await?;
        let content = edit(&before)?;
        let diff = PlaylistDiff::between(&before.content, &content);
        let encode = || serde_json::to_string(&content.tracks).map_err(|error| sqlx::Error::Encode(error.into()));
        let tracks =
            if diff.keeps_tracks() { None } else { Some(encode().map_err(StoreError::from).map_err(E::from)?) };
        let revision = before.revision;
        let playlist = Playlist { edited_at: Some(self.clock.now()), revision: revision + 1, content, ..before };
        Ok(Prepared { playlist, revision, tracks, diff })
    }
}

/// How often an edit is tried while others edit the same playlist.
const MOST_ATTEMPTS: usize = 20;

/// An edit that is ready to be written.
struct Prepared {
    /// After the edit.
    playlist: Playlist,
    /// Before the edit.
    revision: i64,
    /// As JSON; `None` if the edit does not change them.
    tracks: Option<String>,
    diff: PlaylistDiff,
}

/// Writes a playlist if it still has this revision. Returns whether it had.
async fn swap(tx: &mut Tx, playlist: &Playlist, revision: i64, tracks: Option<String>) -> Result<bool, StoreError> {
    const SQLITE: &str = "UPDATE playlists SET title = $2, description = $3, tracks = COALESCE($4, tracks),
        edited_at = $5, revision = $6 WHERE id = $1 AND revision = $7 AND deleted_at IS NULL";
    const POSTGRES: &str = "UPDATE playlists SET title = $2, description = $3,
        tracks = COALESCE(CAST($4 AS JSONB), tracks),
        edited_at = $5, revision = $6 WHERE id = $1 AND revision = $7 AND deleted_at IS NULL";
    let sql = tx.in_dialect(SQLITE, POSTGRES);
    let query = tx.query(sql).bind(playlist.id.0).bind(&playlist.content.title).bind(&playlist.content.description);
    let query = query.bind(tracks).bind(playlist.edited_at).bind(playlist.revision).bind(revision);
    Ok(query.execute().await? > 0)
}

/// Locks a playlist: no other transaction changes it until this one ends. SQLite has one writer, so it needs no lock.
pub(crate) async fn locked(tx: &mut Tx, owner: &UserId, id: PlaylistId) -> Result<Option<Playlist>, StoreError> {
    let sql = tx.in_dialect(LOCKED_SQLITE, LOCKED_POSTGRES);
    let row: Option<PlaylistRow> = tx.query(sql).bind(id.0).bind(owner.as_str()).fetch_optional().await?;
    Ok(row.map(Playlist::from))
}

pub(crate) async fn put(tx: &mut Tx, before: Playlist, content: PlaylistContent) -> Result<Playlist, StoreError> {
    const SQL: &str = "UPDATE playlists SET title = $2, description = $3, tracks = $4, edited_at = $5, revision = $6
        WHERE id = $1";
    let playlist = Playlist { edited_at: Some(tx.now()), revision: before.revision + 1, content, ..before };
    tx.query(SQL)
        .bind(playlist.id.0)
        .bind(&playlist.content.title)
        .bind(&playlist.content.description)
        .bind(Json(&playlist.content.tracks))
        .bind(playlist.edited_at)
        .bind(playlist.revision)
        .execute()
        .await?;
    Ok(playlist)
}
