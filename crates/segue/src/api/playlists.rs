//! Saved playlists: open, take away as a file, delete.

use std::sync::Arc;

use aide::axum::routing::{get_with, post_with};
use app::services::playlists::playlist_file::{self, Format};
use app::services::playlists::{Playlist, PlaylistDetails, PlaylistId, PlaylistLine, PlaylistTrackResult};
use axum::{
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    auth::Caller,
    error::ApiError,
    extract::{Json, Path, Query},
    router::{AppState, Routes},
};

pub(super) fn routes() -> Routes {
    Routes::new()
        .api_route("/api/playlists", get_with(list, |op| op.summary("Your playlists, newest first")))
        .api_route(
            "/api/playlists/{playlist_id}",
            get_with(open, |op| {
                op.summary("A playlist, or with `format` a file").response::<200, Json<OpenPlaylist>>()
            })
            .delete_with(delete, |op| op.summary("Delete a playlist")),
        )
        .api_route("/api/playlists/{playlist_id}/restore", post_with(restore, |op| op.summary("Undo a deletion")))
}

#[derive(Serialize, JsonSchema)]
struct PlaylistList {
    playlists: Vec<PlaylistLine>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct OpenPlaylist {
    id: PlaylistId,
    title: String,
    created_at: DateTime<Utc>,
    tracks: Vec<PlaylistTrackResult>,
}

#[derive(Deserialize, JsonSchema)]
struct PlaylistPath {
    playlist_id: PlaylistId,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FormatQuery {
    /// m3u8, xspf, jspf or csv; JSON without it.
    #[serde(default)]
    format: Option<String>,
}

async fn list(State(state): State<Arc<AppState>>, caller: Caller) -> Result<Json<PlaylistList>, ApiError> {
    Ok(Json(PlaylistList { playlists: state.app.playlists().list(&caller.id).await? }))
}

async fn open(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Path(path): Path<PlaylistPath>,
    Query(query): Query<FormatQuery>,
) -> Result<Response, ApiError> {
    let (playlists, id) = (state.app.playlists(), path.playlist_id);
    let Some(format) = query.format else {
        return Ok(Json(OpenPlaylist::from(playlists.details(&caller.id, id).await?)).into_response());
    };
    let playlist = playlists.get(&caller.id, id).await?;
    let format = Format::named(&format)
        .ok_or_else(|| ApiError::invalid_field("format", "must be one of m3u8, xspf, jspf and csv"))?;
    Ok(as_file(&playlist, format))
}

impl From<PlaylistDetails> for OpenPlaylist {
    fn from(PlaylistDetails { id, title, created_at, tracks }: PlaylistDetails) -> Self {
        Self { id, title, created_at, tracks }
    }
}

fn as_file(playlist: &Playlist, format: Format) -> Response {
    let entries = playlist.tracks.iter().map(|choice| playlist_file::Entry {
        isrc: choice.track.isrc.clone(),
        title: choice.track.title.clone(),
        artist: choice.track.artist.clone(),
        album: Some(choice.track.album.clone()).filter(|album| !album.is_empty()),
        duration: choice.track.duration,
        tidal_id: choice.track.tidal_id.clone(),
        location: None,
        note: Some(choice.reasoning.clone()).filter(|note| !note.is_empty()),
    });
    let file = format.write(&playlist_file::Playlist { title: playlist.title.clone(), tracks: entries.collect() });
    // Only plain characters in the header: the title is anyone's text.
    let name: String =
        playlist.title.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(60).collect();
    let disposition = format!("attachment; filename=\"{}.{}\"", name.trim_matches('-'), format.extension());
    ([(header::CONTENT_TYPE, format.media_type().to_owned()), (header::CONTENT_DISPOSITION, disposition)], file)
        .into_response()
}

async fn delete(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Path(path): Path<PlaylistPath>,
) -> Result<StatusCode, ApiError> {
    state.app.playlists().delete(&caller.id, path.playlist_id).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn restore(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Path(path): Path<PlaylistPath>,
) -> Result<StatusCode, ApiError> {
    state.app.playlists().restore(&caller.id, path.playlist_id).await?;
    Ok(StatusCode::NO_CONTENT)
}
