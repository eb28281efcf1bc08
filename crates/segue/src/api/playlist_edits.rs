//! The tracks of a playlist: add, remove, reorder; and undo for each.

use app::services::{
    playlists::{Additions, Arrangement, ChangedPlaylist, ItemId, PlaylistId},
    undo::{UndoId, Undone},
};

use super::{
    playlists::{PlaylistPath, changed},
    prelude::*,
};

pub(super) fn routes() -> Routes {
    Routes::new()
        .api_route(
            "/api/playlists/{playlist_id}/tracks",
            put_with(arrange, |op| {
                op.summary("Reorder or replace the tracks of a playlist").response::<200, Json<ChangedPlaylist>>()
            })
            .post_with(add, |op| op.summary("Add tracks to a playlist").response::<200, Json<ChangedPlaylist>>()),
        )
        .api_route(
            "/api/playlists/{playlist_id}/tracks/{item_id}",
            delete_with(remove, |op| {
                op.summary("Remove a track from a playlist").response::<200, Json<ChangedPlaylist>>()
            }),
        )
        .api_route(
            "/api/undo/{undo_id}",
            post_with(undo, |op| op.summary("Undo one tool call or one edit; 409 when it can no longer be undone")),
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
    State(state): Shared,
    caller: Caller,
    Path(path): Path<PlaylistPath>,
    Json(arrangement): Json<Arrangement>,
) -> Result<Response> {
    Ok(changed(StatusCode::OK, &state.app.playlists().arrange(&caller.id, path.playlist_id, arrangement).await?))
}

async fn add(
    State(state): Shared,
    caller: Caller,
    Path(path): Path<PlaylistPath>,
    Json(additions): Json<Additions>,
) -> Result<Response> {
    Ok(changed(StatusCode::OK, &state.app.playlists().add(&caller.id, path.playlist_id, additions).await?))
}

async fn remove(State(state): Shared, caller: Caller, Path(path): Path<ItemPath>) -> Result<Response> {
    let after = state.app.playlists().remove(&caller.id, path.playlist_id, &[path.item_id]).await?;
    Ok(changed(StatusCode::OK, &after))
}

async fn undo(State(state): Shared, caller: Caller, Path(path): Path<UndoPath>) -> Result<Json<Undone>> {
    Ok(Json(state.app.undo().take_back(&caller.id, path.undo_id).await?))
}
