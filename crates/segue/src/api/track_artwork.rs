//! `GET /api/tracks/{isrc}/artwork`: the picture in, or beside, a user's own file.

use std::sync::Arc;

use aide::axum::routing::get_with;
use axum::{
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use music::TrackRef;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    artwork::media_type_of,
    auth::Caller,
    error::ApiError,
    extract::Path,
    router::{AppState, Routes},
};

pub(super) fn routes() -> Routes {
    Routes::new()
        .api_route("/api/tracks/{isrc}/artwork", get_with(show, |op| op.summary("The picture of a track of your own")))
}

#[derive(Deserialize, JsonSchema)]
struct TrackPath {
    /// An ISRC or a trackId.
    isrc: TrackRef,
}

async fn show(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Path(path): Path<TrackPath>,
    asked: HeaderMap,
) -> Result<Response, ApiError> {
    let picture = state.app.library().artwork(&caller.id, &path.isrc).await?;
    // What the file says it is does not count: only pictures are passed on.
    let media_type = media_type_of(&picture.bytes).ok_or_else(ApiError::not_found)?;
    let version = format!("\"{}\"", picture.version);
    let is_known = asked.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == version.as_bytes());
    let mut headers = HeaderMap::new();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=86400"));
    headers.insert(header::ETAG, HeaderValue::try_from(version).map_err(|_| ApiError::internal())?);
    // Opened on its own it is a picture and nothing else.
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox"));
    if is_known {
        return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
    }
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    Ok((headers, picture.bytes).into_response())
}
