//! The library by hand: tracks and albums, found, sorted, added, removed and restored.

use std::sync::Arc;

use aide::axum::routing::{get_with, post_with};
use app::{
    library::SavedAlbum,
    store::{LibrarySort, LibraryTrack, Listing},
    tools::results::{AlbumResult, IndexedTrackResult, TrackResult},
};
use axum::{Json, extract::State, http::StatusCode};
use chrono::{DateTime, Utc};
use music::Isrc;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    auth::Caller,
    error::ApiError,
    extract::{Body, Named, Params},
    router::{Doors, Routes},
};

pub(super) fn routes() -> Routes {
    Routes::new()
        .api_route(
            "/api/library/tracks",
            get_with(tracks, |op| op.summary("Your tracks"))
                .post_with(add_track, |op| op.summary("Add a track by its ISRC").response::<201, Json<LibraryEntry>>()),
        )
        .api_route(
            "/api/library/tracks/{isrc}",
            get_with(track, |op| op.summary("Everything known about a track"))
                .delete_with(remove_track, |op| op.summary("Remove a track")),
        )
        .api_route("/api/library/tracks/{isrc}/restore", post_with(restore_track, |op| op.summary("Undo a removal")))
        .api_route(
            "/api/library/albums",
            get_with(albums, |op| op.summary("Your albums")).post_with(add_album, |op| {
                op.summary("Add an album of the catalogue").response::<201, Json<AlbumEntry>>()
            }),
        )
        .api_route(
            "/api/library/albums/{album_id}",
            get_with(album, |op| op.summary("A saved album with its tracks"))
                .delete_with(remove_album, |op| op.summary("Remove an album")),
        )
        .api_route(
            "/api/library/albums/{album_id}/restore",
            post_with(restore_album, |op| op.summary("Undo a removal")),
        )
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListQuery {
    /// Words in title, artist or album.
    #[serde(default)]
    q: Option<String>,
    #[serde(default)]
    sort: LibrarySort,
    /// 1 to 200, default 50.
    #[serde(default)]
    limit: Option<u32>,
    /// The `next` of the page before.
    #[serde(default)]
    cursor: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
struct TrackPage {
    tracks: Vec<LibraryEntry>,
    total: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LibraryEntry {
    #[serde(flatten)]
    track: TrackResult,
    added_at: DateTime<Utc>,
}

impl From<(TrackResult, LibraryTrack)> for LibraryEntry {
    fn from((track, row): (TrackResult, LibraryTrack)) -> Self {
        Self { track, added_at: row.added_at }
    }
}

#[derive(Deserialize, JsonSchema)]
struct TrackPath {
    isrc: Isrc,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewTrack {
    isrc: Isrc,
}

async fn tracks(
    State(doors): State<Arc<Doors>>,
    caller: Caller,
    Params(query): Params<ListQuery>,
) -> Result<Json<TrackPage>, ApiError> {
    let limit = query.limit.unwrap_or(50);
    if !(1..=200).contains(&limit) {
        return Err(ApiError::invalid_field("limit", "must be between 1 and 200"));
    }
    let offset = query.cursor.unwrap_or(0);
    let words = query.q.as_deref().map(str::trim).filter(|words| !words.is_empty());
    let listing = Listing { words, sort: query.sort, offset, limit };
    let (rows, total) = doors.app.store.library_tracks(&caller.id, listing).await?;
    let end = offset.saturating_add(u32::try_from(rows.len()).unwrap_or(limit));
    let tracks = doors.app.with_flags(rows).await?.into_iter().map(LibraryEntry::from).collect();
    Ok(Json(TrackPage { tracks, total, next: (i64::from(end) < total).then_some(end) }))
}

async fn track(
    State(doors): State<Arc<Doors>>,
    caller: Caller,
    Named(path): Named<TrackPath>,
) -> Result<Json<IndexedTrackResult>, ApiError> {
    Ok(Json(doors.app.track_details(&caller.id, &path.isrc).await?))
}

async fn add_track(
    State(doors): State<Arc<Doors>>,
    caller: Caller,
    Body(new): Body<NewTrack>,
) -> Result<(StatusCode, Json<LibraryEntry>), ApiError> {
    let added = doors.app.add_track(&caller.id, &new.isrc).await?;
    Ok((StatusCode::CREATED, Json(entry(&doors, added).await?)))
}

async fn remove_track(
    State(doors): State<Arc<Doors>>,
    caller: Caller,
    Named(path): Named<TrackPath>,
) -> Result<StatusCode, ApiError> {
    doors.app.store.remove_from_library(&caller.id, &path.isrc).await?;
    doors.app.library_changed();
    Ok(StatusCode::NO_CONTENT)
}

async fn restore_track(
    State(doors): State<Arc<Doors>>,
    caller: Caller,
    Named(path): Named<TrackPath>,
) -> Result<Json<LibraryEntry>, ApiError> {
    let restored = doors.app.store.restore_to_library(&caller.id, &path.isrc).await?;
    doors.app.library_changed();
    Ok(Json(entry(&doors, restored).await?))
}

pub(super) async fn entry(doors: &Doors, track: LibraryTrack) -> Result<LibraryEntry, ApiError> {
    let mut entries = doors.app.with_flags(vec![track]).await?;
    entries.pop().map(LibraryEntry::from).ok_or_else(ApiError::not_found)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AlbumQuery {
    /// Words in title or artist.
    #[serde(default)]
    q: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct AlbumList {
    albums: Vec<AlbumEntry>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AlbumEntry {
    #[serde(flatten)]
    album: AlbumResult,
    #[serde(skip_serializing_if = "Option::is_none")]
    added_at: Option<DateTime<Utc>>,
}

#[derive(Serialize, JsonSchema)]
struct OpenAlbum {
    #[serde(flatten)]
    album: AlbumResult,
    tracks: Vec<TrackResult>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewAlbum {
    /// The catalogue's id of the album, as `tidalSearch` returns it.
    album_id: String,
}

#[derive(Deserialize, JsonSchema)]
struct AlbumPath {
    album_id: String,
}

async fn albums(
    State(doors): State<Arc<Doors>>,
    caller: Caller,
    Params(query): Params<AlbumQuery>,
) -> Result<Json<AlbumList>, ApiError> {
    let words = query.q.as_deref().map(str::trim).filter(|words| !words.is_empty());
    let saved = doors.app.store.albums::<SavedAlbum>(&caller.id, words).await?;
    let albums = saved.into_iter().map(|saved| AlbumEntry { album: saved.album.album, added_at: Some(saved.added_at) });
    Ok(Json(AlbumList { albums: albums.collect() }))
}

async fn album(
    State(doors): State<Arc<Doors>>,
    caller: Caller,
    Named(path): Named<AlbumPath>,
) -> Result<Json<OpenAlbum>, ApiError> {
    let saved = doors.app.store.albums::<SavedAlbum>(&caller.id, None).await?;
    let found =
        saved.into_iter().find(|saved| saved.album.album.id == path.album_id).ok_or_else(ApiError::not_found)?;
    let isrcs: Vec<_> = found.album.tracks.iter().map(|track| track.isrc.clone()).collect();
    let indexed = doors.app.shelf.indexed(&isrcs).await.map_err(app::library::LibraryError::from)?;
    let tracks =
        found.album.tracks.iter().map(|track| TrackResult::of_track(track, true, indexed.contains(&track.isrc)));
    Ok(Json(OpenAlbum { tracks: tracks.collect(), album: found.album.album }))
}

async fn add_album(
    State(doors): State<Arc<Doors>>,
    caller: Caller,
    Body(new): Body<NewAlbum>,
) -> Result<(StatusCode, Json<AlbumEntry>), ApiError> {
    let saved = doors.app.add_album(&caller.id, &new.album_id).await?;
    Ok((StatusCode::CREATED, Json(AlbumEntry { album: saved.album, added_at: None })))
}

async fn remove_album(
    State(doors): State<Arc<Doors>>,
    caller: Caller,
    Named(path): Named<AlbumPath>,
) -> Result<StatusCode, ApiError> {
    doors.app.store.remove_album(&caller.id, &path.album_id).await?;
    doors.app.library_changed();
    Ok(StatusCode::NO_CONTENT)
}

async fn restore_album(
    State(doors): State<Arc<Doors>>,
    caller: Caller,
    Named(path): Named<AlbumPath>,
) -> Result<StatusCode, ApiError> {
    doors.app.store.restore_album(&caller.id, &path.album_id).await?;
    doors.app.library_changed();
    Ok(StatusCode::NO_CONTENT)
}
