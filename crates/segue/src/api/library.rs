//! The library by hand: tracks and albums, found, sorted, added, removed and restored.

use std::sync::Arc;

use aide::axum::routing::{delete_with, get_with, post_with};
use app::library::{
    AlbumDetails, ArtistLine, GroupLine, LibraryEntry, LibrarySort, Listing,
    results::{AlbumResult, IndexedTrackResult, TrackResult},
};
use axum::{extract::State, http::StatusCode};
use chrono::{DateTime, Utc};
use music::TrackRef;
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
        .api_route("/api/library/artists", get_with(artists, |op| op.summary("Artists of your tracks")))
        .api_route("/api/library/genres", get_with(genres, |op| op.summary("Genres and decades of your tracks")))
        .api_route(
            "/api/library/sample",
            delete_with(remove_sample, |op| {
                op.summary("Remove the sample library; it stays away").response::<204, ()>()
            }),
        )
        .api_route(
            "/api/library/sample/restore",
            post_with(restore_sample, |op| op.summary("Undo the removal").response::<204, ()>()),
        )
        .api_route("/api/tracks/{isrc}/similar", get_with(similar, |op| op.summary("More like this")))
        .api_route(
            "/api/library/albums",
            get_with(albums, |op| op.summary("Albums of your tracks, and those you saved"))
                .post_with(add_album, |op| {
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
    /// Exactly this artist, whatever the case; likewise the next ones.
    #[serde(default)]
    artist: Option<String>,
    #[serde(default)]
    album: Option<String>,
    #[serde(default)]
    genre: Option<String>,
    #[serde(default)]
    year: Option<i32>,
    /// The first year of ten, such as 1990.
    #[serde(default)]
    decade: Option<i32>,
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

#[derive(Deserialize, JsonSchema)]
struct TrackPath {
    /// An ISRC or a trackId.
    isrc: TrackRef,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewTrack {
    /// An ISRC or a trackId.
    isrc: TrackRef,
}

async fn tracks(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> Result<Json<TrackPage>, ApiError> {
    let limit = query.limit.unwrap_or(50);
    if !(1..=200).contains(&limit) {
        return Err(ApiError::invalid_field("limit", "must be between 1 and 200"));
    }
    let offset = query.cursor.unwrap_or(0);
    let words = query.q.as_deref().map(str::trim).filter(|words| !words.is_empty());
    let listing = Listing {
        words,
        artist: query.artist.as_deref(),
        album: query.album.as_deref(),
        genre: query.genre.as_deref(),
        year: query.year,
        decade: query.decade,
        sort: query.sort,
        offset,
        limit,
    };
    let (tracks, total) = state.app.library().tracks(&caller.id, listing).await?;
    let end = offset.saturating_add(u32::try_from(tracks.len()).unwrap_or(limit));
    Ok(Json(TrackPage { tracks, total, next: (i64::from(end) < total).then_some(end) }))
}

async fn track(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Path(path): Path<TrackPath>,
) -> Result<Json<IndexedTrackResult>, ApiError> {
    Ok(Json(state.app.library().track_details(&caller.id, &path.isrc).await?))
}

async fn add_track(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Json(new): Json<NewTrack>,
) -> Result<(StatusCode, Json<LibraryEntry>), ApiError> {
    Ok((StatusCode::CREATED, Json(state.app.library().add_track(&caller.id, &new.isrc).await?)))
}

async fn remove_track(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Path(path): Path<TrackPath>,
) -> Result<StatusCode, ApiError> {
    state.app.library().remove_track(&caller.id, &path.isrc).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn restore_track(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Path(path): Path<TrackPath>,
) -> Result<Json<LibraryEntry>, ApiError> {
    Ok(Json(state.app.library().restore_track(&caller.id, &path.isrc).await?))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ArtistQuery {
    /// Words in the name.
    #[serde(default)]
    q: Option<String>,
    /// 1 to 200, default 50.
    #[serde(default)]
    limit: Option<u32>,
    /// The `next` of the page before.
    #[serde(default)]
    cursor: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
struct ArtistPage {
    artists: Vec<ArtistLine>,
    total: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u32>,
}

async fn artists(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Query(query): Query<ArtistQuery>,
) -> Result<Json<ArtistPage>, ApiError> {
    let (limit, offset) = (query.limit.unwrap_or(50), query.cursor.unwrap_or(0));
    if !(1..=200).contains(&limit) {
        return Err(ApiError::invalid_field("limit", "must be between 1 and 200"));
    }
    let (artists, total) = state.app.library().artists(&caller.id, query.q.as_deref(), (offset, limit)).await?;
    let end = offset.saturating_add(u32::try_from(artists.len()).unwrap_or(limit));
    Ok(Json(ArtistPage { artists, total, next: (i64::from(end) < total).then_some(end) }))
}

#[derive(Serialize, JsonSchema)]
struct Genres {
    genres: Vec<GroupLine>,
    /// By their first year.
    decades: Vec<GroupLine>,
}

async fn genres(State(state): State<Arc<AppState>>, caller: Caller) -> Result<Json<Genres>, ApiError> {
    let (genres, decades) = state.app.library().genres(&caller.id).await?;
    Ok(Json(Genres { genres, decades }))
}

async fn remove_sample(State(state): State<Arc<AppState>>, caller: Caller) -> Result<StatusCode, ApiError> {
    state.app.library().remove_sample(&caller.id).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn restore_sample(State(state): State<Arc<AppState>>, caller: Caller) -> Result<StatusCode, ApiError> {
    state.app.library().restore_sample(&caller.id).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SimilarQuery {
    /// 1 to 50, default 20.
    #[serde(default)]
    limit: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
struct SimilarTracks {
    tracks: Vec<IndexedTrackResult>,
}

async fn similar(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Path(path): Path<TrackPath>,
    Query(query): Query<SimilarQuery>,
) -> Result<Json<SimilarTracks>, ApiError> {
    let limit = query.limit.unwrap_or(20);
    if !(1..=50).contains(&limit) {
        return Err(ApiError::invalid_field("limit", "must be between 1 and 50"));
    }
    Ok(Json(SimilarTracks { tracks: state.app.library().similar(&caller.id, &path.isrc, limit).await? }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AlbumQuery {
    /// Words in title or artist.
    #[serde(default)]
    q: Option<String>,
    /// 1 to 200; without it, all.
    #[serde(default)]
    limit: Option<u32>,
    /// The `next` of the page before.
    #[serde(default)]
    cursor: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
struct AlbumList {
    albums: Vec<AlbumEntry>,
    /// Where the next page begins; absent when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u32>,
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
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Query(query): Query<AlbumQuery>,
) -> Result<Json<AlbumList>, ApiError> {
    if query.limit.is_some_and(|limit| !(1..=200).contains(&limit)) {
        return Err(ApiError::invalid_field("limit", "must be between 1 and 200"));
    }
    let (offset, limit) = (query.cursor.unwrap_or(0), query.limit.unwrap_or(u32::MAX));
    let (albums, has_more) = state.app.library().albums(&caller.id, query.q.as_deref(), (offset, limit)).await?;
    let albums = albums.into_iter().map(|(album, added_at)| AlbumEntry { album, added_at: Some(added_at) });
    Ok(Json(AlbumList { albums: albums.collect(), next: has_more.then(|| offset.saturating_add(limit)) }))
}

async fn album(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Path(path): Path<AlbumPath>,
) -> Result<Json<OpenAlbum>, ApiError> {
    let AlbumDetails { album, tracks } = state.app.library().album(&caller.id, &path.album_id).await?;
    Ok(Json(OpenAlbum { album, tracks }))
}

async fn add_album(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Json(new): Json<NewAlbum>,
) -> Result<(StatusCode, Json<AlbumEntry>), ApiError> {
    let album = state.app.library().add_album(&caller.id, &new.album_id).await?;
    Ok((StatusCode::CREATED, Json(AlbumEntry { album, added_at: None })))
}

async fn remove_album(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Path(path): Path<AlbumPath>,
) -> Result<StatusCode, ApiError> {
    state.app.library().remove_album(&caller.id, &path.album_id).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn restore_album(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Path(path): Path<AlbumPath>,
) -> Result<StatusCode, ApiError> {
    state.app.library().restore_album(&caller.id, &path.album_id).await?;
    Ok(StatusCode::NO_CONTENT)
}
