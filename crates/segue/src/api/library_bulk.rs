//! Changes of several tracks of the library at once.

use app::services::undo::UndoId;
use music::TrackRef;

use super::prelude::*;

pub(super) fn routes() -> Routes {
    Routes::new().api_route(
        "/api/library/tracks/remove",
        post_with(remove, |op| {
            op.summary("Remove several tracks in one step")
                .description("`POST /api/undo/{undo_id}` restores all of them.")
        }),
    )
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Several {
    /// 1 to 1000. Tracks that are not in the library are ignored.
    track_ids: Vec<TrackRef>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RemovedTracks {
    removed: usize,
    undo_id: UndoId,
}

async fn remove(State(state): Shared, caller: Caller, Json(body): Json<Several>) -> Result<Json<RemovedTracks>> {
    let (removed, undo_id) = state.app.library().remove_tracks(&caller.id, &body.track_ids).await?;
    Ok(Json(RemovedTracks { removed, undo_id }))
}
