//! Albums of the library: list, open, add, remove, restore.

use app::library::{
    AlbumDetails,
    results::{AlbumResult, TrackResult},
};
use chrono::{DateTime, Utc};

use super::{page::PageLimit, prelude::*};

pub(super) fn routes() -> Routes {
    Routes::new()
        .api_route(
            "/api/library/albums",
            get_with(albums, |op| op.summary("Albums of your tracks, and albums that you saved"))
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
struct AlbumQuery {
    /// Words in title or artist.
    #[serde(default)]
    q: Option<String>,
    #[serde(default)]
    limit: PageLimit,
    /// The `next` of the previous page.
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

async fn albums(State(state): Shared, caller: Caller, Query(query): Query<AlbumQuery>) -> Result<Json<AlbumList>> {
    let offset = query.cursor.unwrap_or(0);
    let limit = query.limit.checked("limit")?;
    let (albums, has_more) = state.app.library().albums(&caller.id, query.q.as_deref(), (offset, limit)).await?;
    let albums = albums.into_iter().map(|(album, added_at)| AlbumEntry { album, added_at: Some(added_at) });
    Ok(Json(AlbumList { albums: albums.collect(), next: has_more.then(|| offset.saturating_add(limit)) }))
}

async fn album(State(state): Shared, caller: Caller, Path(path): Path<AlbumPath>) -> Result<Json<OpenAlbum>> {
    let AlbumDetails { album, tracks } = state.app.library().album(&caller.id, &path.album_id).await?;
    Ok(Json(OpenAlbum { album, tracks }))
}

async fn add_album(
    State(state): Shared,
    caller: Caller,
    Json(new): Json<NewAlbum>,
) -> Result<(StatusCode, Json<AlbumEntry>)> {
    let album = state.app.library().add_album(&caller.id, &new.album_id).await?;
    Ok((StatusCode::CREATED, Json(AlbumEntry { album, added_at: None })))
}

async fn remove_album(State(state): Shared, caller: Caller, Path(path): Path<AlbumPath>) -> Result<StatusCode> {
    state.app.library().remove_album(&caller.id, &path.album_id).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn restore_album(State(state): Shared, caller: Caller, Path(path): Path<AlbumPath>) -> Result<StatusCode> {
    state.app.library().restore_album(&caller.id, &path.album_id).await?;
    Ok(StatusCode::NO_CONTENT)
}
