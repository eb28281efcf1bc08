//! Two tracks that are one recording, and one track whose files are several recordings: a user's own correction.

use app::library::{LibraryEntry, MergeLine, Rearranged};
use music::TrackRef;

use super::{library::TrackPath, page::PageLimit, prelude::*};

pub(super) fn routes() -> Routes {
    Routes::new()
        .api_route(
            "/api/tracks/merges",
            get_with(list, |op| op.summary("Tracks of yours that were merged, newest first")),
        )
        .api_route(
            "/api/tracks/{isrc}/merge",
            post_with(merge, |op| op.summary("Merge two of your tracks into one; nothing changes for other users")),
        )
        .api_route(
            "/api/tracks/{isrc}/split",
            post_with(split, |op| {
                op.summary("Make a file of a track a track of its own; nothing changes for other users")
            }),
        )
        .api_route(
            "/api/tracks/merges/{merge_id}/undo",
            post_with(undo, |op| op.summary("Undo a merge or a split").response::<204, ()>()),
        )
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Merge {
    /// The track that stays: an ISRC or a trackId.
    into: TrackRef,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Split {
    /// The file that becomes a track of its own; without it the last one.
    #[serde(default)]
    path: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Done {
    /// For `POST /api/tracks/merges/{undoId}/undo`.
    undo_id: Uuid,
    track: LibraryEntry,
}

impl From<Rearranged> for Done {
    fn from(Rearranged { undo_id, track }: Rearranged) -> Self {
        Self { undo_id, track }
    }
}

#[derive(Deserialize, JsonSchema)]
struct MergePath {
    merge_id: Uuid,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MergeQuery {
    #[serde(default)]
    limit: PageLimit,
    /// The `next` of the page before.
    #[serde(default)]
    cursor: Option<Uuid>,
    /// An ISRC or a trackId of your library: only what was merged into this track.
    #[serde(default)]
    into: Option<TrackRef>,
}

#[derive(Serialize, JsonSchema)]
struct MergeList {
    merges: Vec<MergeLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Uuid>,
}

async fn list(State(state): Shared, caller: Caller, Query(query): Query<MergeQuery>) -> Result<Json<MergeList>> {
    let MergeQuery { limit, cursor, into } = query;
    let (merges, next) = state.app.library().merges(&caller.id, limit.checked("limit")?, cursor, into.as_ref()).await?;
    Ok(Json(MergeList { merges, next }))
}

async fn merge(
    State(state): Shared,
    caller: Caller,
    Path(path): Path<TrackPath>,
    Json(merge): Json<Merge>,
) -> Result<Json<Done>> {
    Ok(Json(state.app.library().merge(&caller.id, &path.isrc, &merge.into).await?.into()))
}

async fn split(
    State(state): Shared,
    caller: Caller,
    Path(path): Path<TrackPath>,
    Json(split): Json<Split>,
) -> Result<Json<Done>> {
    Ok(Json(state.app.library().split(&caller.id, &path.isrc, split.path.as_deref()).await?.into()))
}

async fn undo(State(state): Shared, caller: Caller, Path(path): Path<MergePath>) -> Result<StatusCode> {
    state.app.library().undo_merge(&caller.id, path.merge_id).await?;
    Ok(StatusCode::NO_CONTENT)
}
