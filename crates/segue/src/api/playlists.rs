//! Playlists: create, open, export as a file, delete. `playlist_edits.rs` changes their tracks.

use app::services::playlists::{
    ChangedPlaylist, NewPlaylist, PlaylistChange, PlaylistDetails, PlaylistId, PlaylistLine,
    playlist_file::{self, Format},
};

use super::{page::PageLimit, prelude::*};

pub(super) fn routes() -> Routes {
    Routes::new()
        .api_route(
            "/api/playlists",
            get_with(list, |op| op.summary("Your playlists, newest first"))
                .post_with(create, |op| op.summary("Create a playlist").response::<201, Json<ChangedPlaylist>>()),
        )
        .api_route(
            "/api/playlists/{playlist_id}",
            get_with(open, |op| {
                op.summary("A playlist, or with `format` the playlist as a file")
                    .response::<200, Json<PlaylistDetails>>()
            })
            .patch_with(change, |op| {
                op.summary("Rename or describe a playlist").response::<200, Json<ChangedPlaylist>>()
            })
            .delete_with(delete, |op| op.summary("Delete a playlist")),
        )
        .api_route(
            "/api/playlists/{playlist_id}/restore",
            post_with(restore, |op| op.summary("Undo a deletion").response::<204, ()>()),
        )
        .api_route(
            "/api/playlists/{playlist_id}/duplicate",
            post_with(duplicate, |op| op.summary("Copy a playlist").response::<201, Json<ChangedPlaylist>>()),
        )
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListQuery {
    #[serde(default)]
    limit: PageLimit,
    /// The `next` of the previous page.
    #[serde(default)]
    cursor: Option<PlaylistId>,
}

#[derive(Serialize, JsonSchema)]
struct PlaylistList {
    playlists: Vec<PlaylistLine>,
    /// The `cursor` of the next page; absent when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<PlaylistId>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct PlaylistPath {
    pub(super) playlist_id: PlaylistId,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FormatQuery {
    /// m3u8, xspf, jspf or csv; without it, JSON.
    #[serde(default)]
    format: Option<String>,
}

async fn list(State(state): Shared, caller: Caller, Query(query): Query<ListQuery>) -> Result<Json<PlaylistList>> {
    let page = state.app.playlists().list(&caller.id, query.cursor, query.limit.checked("limit")?).await?;
    Ok(Json(PlaylistList { playlists: page.playlists, next: page.next }))
}

async fn create(State(state): Shared, caller: Caller, Json(new): Json<NewPlaylist>) -> Result<Response> {
    Ok(changed(StatusCode::CREATED, &state.app.playlists().create(&caller.id, new).await?))
}

/// A playlist after a change.
pub(super) fn changed(status: StatusCode, changed: &ChangedPlaylist) -> Response {
    (status, encoded(changed.playlist.tracks.len(), changed)).into_response()
}

/// JSON of a playlist. A long one is encoded beside the other requests of this thread.
fn encoded(n_tracks: usize, playlist: &(impl Serialize + Sync)) -> Response {
    match background::aside(n_tracks > LONG, || serde_json::to_vec(playlist)) {
        Ok(json) => ([(header::CONTENT_TYPE, "application/json")], json).into_response(),
        Err(_) => ApiError::internal().into_response(),
    }
}

/// Takes about a millisecond to encode.
const LONG: usize = 1000;

async fn open(
    State(state): Shared,
    caller: Caller,
    Path(path): Path<PlaylistPath>,
    Query(query): Query<FormatQuery>,
) -> Result<Response> {
    let (playlists, id) = (state.app.playlists(), path.playlist_id);
    let Some(format) = query.format else {
        let playlist = playlists.details(&caller.id, id).await?;
        return Ok(encoded(playlist.tracks.len(), &playlist));
    };
    let playlist = playlists.file(&caller.id, id).await?;
    let format = Format::named(&format)
        .ok_or_else(|| ApiError::invalid_field("format", "must be one of m3u8, xspf, jspf and csv"))?;
    Ok(as_file(&playlist, format))
}

fn as_file(playlist: &playlist_file::PlaylistContents, format: Format) -> Response {
    // The title is a user's text, so only its ASCII letters and digits go into the header.
    let name: String =
        playlist.title.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(60).collect();
    let disposition = format!("attachment; filename=\"{}.{}\"", name.trim_matches('-'), format.extension());
    let headers = [(header::CONTENT_TYPE, format.media_type().to_owned()), (header::CONTENT_DISPOSITION, disposition)];
    let file = background::aside(playlist.tracks.len() > LONG, || format.write(playlist));
    (headers, file).into_response()
}

async fn change(
    State(state): Shared,
    caller: Caller,
    Path(path): Path<PlaylistPath>,
    Json(change): Json<PlaylistChange>,
) -> Result<Response> {
    Ok(changed(StatusCode::OK, &state.app.playlists().change(&caller.id, path.playlist_id, change).await?))
}

async fn delete(State(state): Shared, caller: Caller, Path(path): Path<PlaylistPath>) -> Result<StatusCode> {
    state.app.playlists().delete(&caller.id, path.playlist_id).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn restore(State(state): Shared, caller: Caller, Path(path): Path<PlaylistPath>) -> Result<StatusCode> {
    state.app.playlists().restore(&caller.id, path.playlist_id).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn duplicate(State(state): Shared, caller: Caller, Path(path): Path<PlaylistPath>) -> Result<Response> {
    Ok(changed(StatusCode::CREATED, &state.app.playlists().duplicate(&caller.id, path.playlist_id).await?))
}
