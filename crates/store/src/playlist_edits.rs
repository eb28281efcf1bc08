//! Edits of playlists: each is one transaction on a locked row, and stores what its undo needs.

use engine::{CallId, UserId};
use serde::{Deserialize, Serialize};
use sqlx::types::Json;

use super::{
    Playlist, PlaylistContent, PlaylistId, Store, StoreError, UndoId,
    db::Tx,
    playlist_diff::PlaylistDiff,
    playlists::PlaylistRow,
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

    /// Edits a playlist. `edit` gets the current playlist while no other edit can run, so that no edit is lost.
    pub async fn edit_playlist<E: From<StoreError>>(
        &self,
        owner: &UserId,
        id: PlaylistId,
        call: Option<CallId>,
        edit: impl FnOnce(&Playlist) -> Result<PlaylistContent, E>,
    ) -> Result<EditedPlaylist, E> {
        let mut tx = self.begin().await?;
        let edited = self
            .settle(&mut tx, call, async |tx| {
                let before = locked(tx, owner, id).await?.ok_or(StoreError::NotFound)?;
                let content = edit(&before)?;
                let diff = PlaylistDiff::between(&before.content, &content);
                let playlist = put(tx, before, content).await?;
                let undo_id = remember(tx, owner, call, &Change::Playlist { id, diff }).await?;
                Ok::<_, E>(EditedPlaylist { playlist, undo_id })
            })
            .await?;
        tx.commit().await?;
        Ok(edited)
    }
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
