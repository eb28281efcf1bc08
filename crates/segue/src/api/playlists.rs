//! Saved playlists: open, take away as a file, delete.

use std::sync::Arc;

use aide::axum::routing::{get_with, post_with};
use app::{
    store::{Candidate, Playlist, PlaylistId, PlaylistLine},
    tools::{PlaylistTrackResult, results::TrackResult},
};
use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use chrono::{DateTime, Utc};
use formats::playlist_file::{self, Format};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    auth::Caller,
    error::ApiError,
    extract::{Named, Params},
    router::{Doors, Routes},
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

async fn list(State(doors): State<Arc<Doors>>, caller: Caller) -> Result<Json<PlaylistList>, ApiError> {
    let playlists = doors.app.store.playlists(&caller.id).await?;
    Ok(Json(PlaylistList { playlists: playlists.iter().map(PlaylistLine::from).collect() }))
}

async fn open(
    State(doors): State<Arc<Doors>>,
    caller: Caller,
    Named(path): Named<PlaylistPath>,
    Params(query): Params<FormatQuery>,
) -> Result<Response, ApiError> {
    let playlist = doors.app.store.playlist(&caller.id, path.playlist_id).await?;
    let Some(format) = query.format else {
        return Ok(Json(with_flags(&doors, &caller, playlist).await?).into_response());
    };
    let format = Format::named(&format)
        .ok_or_else(|| ApiError::invalid_field("format", "must be one of m3u8, xspf, jspf and csv"))?;
    Ok(as_file(&playlist, format))
}

/// The flags are true now, not when the playlist was made.
async fn with_flags(doors: &Doors, caller: &Caller, playlist: Playlist) -> Result<OpenPlaylist, ApiError> {
    let candidates: Vec<_> = playlist.tracks.iter().map(|choice| Candidate::from(&choice.track)).collect();
    let isrcs: Vec<_> = playlist.tracks.iter().map(|choice| choice.track.isrc.clone()).collect();
    let owned = doors.app.store.owned(&caller.id, &candidates).await?;
    let indexed = doors.app.shelf.indexed(&isrcs).await.map_err(app::library::LibraryError::from)?;
    let tracks = playlist.tracks.into_iter().zip(owned).map(|(choice, owned)| PlaylistTrackResult {
        track: TrackResult::of_track(&choice.track, owned, indexed.contains(&choice.track.isrc)),
        reasoning: choice.reasoning,
    });
    Ok(OpenPlaylist {
        tracks: tracks.collect(),
        id: playlist.id,
        title: playlist.title,
        created_at: playlist.created_at,
    })
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
    State(doors): State<Arc<Doors>>,
    caller: Caller,
    Named(path): Named<PlaylistPath>,
) -> Result<StatusCode, ApiError> {
    doors.app.store.delete_playlist(&caller.id, path.playlist_id).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn restore(
    State(doors): State<Arc<Doors>>,
    caller: Caller,
    Named(path): Named<PlaylistPath>,
) -> Result<StatusCode, ApiError> {
    doors.app.store.restore_playlist(&caller.id, path.playlist_id).await?;
    Ok(StatusCode::NO_CONTENT)
}
