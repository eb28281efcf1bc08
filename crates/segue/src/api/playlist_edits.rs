//! What is on a playlist: add, remove, reorder; and the way back from each.

use std::sync::Arc;

use aide::axum::routing::{delete_with, post_with, put_with};
use app::services::{
    playlists::{Additions, Arrangement, ChangedPlaylist, ItemId, PlaylistId},
    undo::{UndoId, Undone},
};
use axum::extract::State;
use schemars::JsonSchema;
use serde::Deserialize;

use super::playlists::PlaylistPath;
use crate::{
    auth::Caller,
    error::ApiError,
    extract::{Json, Path},
    router::{AppState, Routes},
};

pub(super) fn routes() -> Routes {
    Routes::new()
        .api_route(
            "/api/playlists/{playlist_id}/tracks",
            put_with(arrange, |op| op.summary("Reorder or replace the tracks of a playlist"))
                .post_with(add, |op| op.summary("Add tracks to a playlist")),
        )
        .api_route(
            "/api/playlists/{playlist_id}/tracks/{item_id}",
            delete_with(remove, |op| op.summary("Remove a track from a playlist")),
        )
        .api_route(
            "/api/undo/{undo_id}",
            post_with(undo, |op| {
                op.summary("Take back what one tool call or one edit did; 409 when it cannot be taken back any more")
            }),
        )
}

#[derive(Deserialize, JsonSchema)]
struct ItemPath {
    playlist_id: PlaylistId,
    item_id: ItemId,
}

#[derive(Deserialize, JsonSchema)]
struct UndoPath {
    undo_id: UndoId,
}

async fn arrange(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Path(path): Path<PlaylistPath>,
    Json(arrangement): Json<Arrangement>,
) -> Result<Json<ChangedPlaylist>, ApiError> {
    Ok(Json(state.app.playlists().arrange(&caller.id, path.playlist_id, arrangement).await?))
}

async fn add(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Path(path): Path<PlaylistPath>,
    Json(additions): Json<Additions>,
) -> Result<Json<ChangedPlaylist>, ApiError> {
    Ok(Json(state.app.playlists().add(&caller.id, path.playlist_id, additions).await?))
}

async fn remove(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Path(path): Path<ItemPath>,
) -> Result<Json<ChangedPlaylist>, ApiError> {
    Ok(Json(state.app.playlists().remove(&caller.id, path.playlist_id, &[path.item_id]).await?))
}

async fn undo(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Path(path): Path<UndoPath>,
) -> Result<Json<Undone>, ApiError> {
    Ok(Json(state.app.undo().take_back(&caller.id, path.undo_id).await?))
}
