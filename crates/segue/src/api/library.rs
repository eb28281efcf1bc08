//! Tracks of the library: list, sort, add, remove, restore; artists and genres.

use app::library::{
    ArtistLine, GroupLine, LibraryEntry, LibrarySort, Listing, SearchLimit, results::IndexedTrackResult,
};
use music::TrackRef;

use super::{
    page::{PageLimit, next_offset},
    prelude::*,
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
            get_with(track, |op| op.summary("All data of a track"))
                .delete_with(remove_track, |op| op.summary("Remove a track")),
        )
        .api_route("/api/library/tracks/{isrc}/restore", post_with(restore_track, |op| op.summary("Undo a removal")))
        .api_route("/api/library/artists", get_with(artists, |op| op.summary("Artists of your tracks")))
        .api_route("/api/library/genres", get_with(genres, |op| op.summary("Genres and decades of your tracks")))
        .api_route(
            "/api/tracks/{isrc}/similar",
            get_with(similar, |op| op.summary("Tracks that are similar to this one")),
        )
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListQuery {
    /// Each word begins a word of the title, the artist or the album; accents do not matter.
    #[serde(default)]
    q: Option<String>,
    /// The exact name of the artist, in any case; likewise `album` and `genre`.
    #[serde(default)]
    artist: Option<String>,
    #[serde(default)]
    album: Option<String>,
    #[serde(default)]
    genre: Option<String>,
    #[serde(default)]
    year: Option<i32>,
    /// The first year of the decade, such as 1990.
    #[serde(default)]
    decade: Option<i32>,
    #[serde(default)]
    sort: LibrarySort,
    #[serde(default)]
    limit: PageLimit<50>,
    /// The `next` of the previous page.
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
pub(super) struct TrackPath {
    /// An ISRC or a trackId.
    pub(super) isrc: TrackRef,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewTrack {
    /// An ISRC or a trackId.
    isrc: TrackRef,
}

async fn tracks(State(state): Shared, caller: Caller, Query(query): Query<ListQuery>) -> Result<Json<TrackPage>> {
    let (limit, offset) = (query.limit.checked("limit")?, query.cursor.unwrap_or(0));
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
    let next = next_offset(offset, tracks.len(), total);
    Ok(Json(TrackPage { tracks, total, next }))
}

async fn track(State(state): Shared, caller: Caller, Path(path): Path<TrackPath>) -> Result<Json<IndexedTrackResult>> {
    Ok(Json(state.app.library().track_details(&caller.id, &path.isrc).await?))
}

async fn add_track(
    State(state): Shared,
    caller: Caller,
    Json(new): Json<NewTrack>,
) -> Result<(StatusCode, Json<LibraryEntry>)> {
    Ok((StatusCode::CREATED, Json(state.app.library().add_track(&caller.id, &new.isrc).await?)))
}

async fn remove_track(State(state): Shared, caller: Caller, Path(path): Path<TrackPath>) -> Result<StatusCode> {
    state.app.library().remove_track(&caller.id, &path.isrc).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn restore_track(
    State(state): Shared,
    caller: Caller,
    Path(path): Path<TrackPath>,
) -> Result<Json<LibraryEntry>> {
    Ok(Json(state.app.library().restore_track(&caller.id, &path.isrc).await?))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ArtistQuery {
    /// Words in the name.
    #[serde(default)]
    q: Option<String>,
    #[serde(default)]
    limit: PageLimit<50>,
    /// The `next` of the previous page.
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

async fn artists(State(state): Shared, caller: Caller, Query(query): Query<ArtistQuery>) -> Result<Json<ArtistPage>> {
    let (limit, offset) = (query.limit.checked("limit")?, query.cursor.unwrap_or(0));
    let (artists, total) = state.app.library().artists(&caller.id, query.q.as_deref(), (offset, limit)).await?;
    let next = next_offset(offset, artists.len(), total);
    Ok(Json(ArtistPage { artists, total, next }))
}

#[derive(Serialize, JsonSchema)]
struct Genres {
    genres: Vec<GroupLine>,
    /// By their first year.
    decades: Vec<GroupLine>,
}

async fn genres(State(state): Shared, caller: Caller) -> Result<Json<Genres>> {
    let (genres, decades) = state.app.library().genres(&caller.id).await?;
    Ok(Json(Genres { genres, decades }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SimilarQuery {
    #[serde(default)]
    limit: SearchLimit,
}

#[derive(Serialize, JsonSchema)]
struct SimilarTracks {
    tracks: Vec<IndexedTrackResult>,
}

async fn similar(
    State(state): Shared,
    caller: Caller,
    Path(path): Path<TrackPath>,
    Query(query): Query<SimilarQuery>,
) -> Result<Json<SimilarTracks>> {
    let limit = query.limit.checked("limit")? as usize;
    Ok(Json(SimilarTracks { tracks: state.app.library().similar(&caller.id, &path.isrc, limit).await? }))
}
