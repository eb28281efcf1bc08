//! Several tracks of the library at once.

use std::sync::Arc;

use aide::axum::routing::post_with;
use app::services::undo::UndoId;
use axum::extract::State;
use music::TrackRef;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    auth::Caller,
    error::ApiError,
    extract::Json,
    router::{AppState, Routes},
};

pub(super) fn routes() -> Routes {
    Routes::new().api_route(
        "/api/library/tracks/remove",
        post_with(remove, |op| {
            op.summary("Remove several tracks in one step")
                .description("`POST /api/undo/{undo_id}` brings all of them back.")
        }),
    )
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Several {
    /// 1 to 1000. What is not in the library is left out.
    track_ids: Vec<TrackRef>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RemovedTracks {
    removed: usize,
    undo_id: UndoId,
}

async fn remove(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Json(body): Json<Several>,
) -> Result<Json<RemovedTracks>, ApiError> {
    let (removed, undo_id) = state.app.library().remove_tracks(&caller.id, &body.track_ids).await?;
    Ok(Json(RemovedTracks { removed, undo_id }))
}
