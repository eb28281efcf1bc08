//! `GET /api/tracks/{isrc}/artwork`: the picture in, or beside, a user's own file.

use axum::http::{HeaderMap, HeaderValue};

use super::{library::TrackPath, prelude::*};
use crate::artwork::media_type_of;

pub(super) fn routes() -> Routes {
    Routes::new().api_route(
        "/api/tracks/{isrc}/artwork",
        get_with(show, |op| op.summary("The picture in, or beside, your own file of a track")),
    )
}

async fn show(State(state): Shared, caller: Caller, Path(path): Path<TrackPath>, asked: HeaderMap) -> Result<Response> {
    let picture = state.app.library().artwork(&caller.id, &path.isrc).await?;
    // The bytes decide the media type, not the file: anything but a picture is not found.
    let media_type = media_type_of(&picture.bytes).ok_or_else(ApiError::not_found)?;
    let version = format!("\"{}\"", picture.version);
    let is_known = asked.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == version.as_bytes());
    let mut headers = HeaderMap::new();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=86400"));
    headers.insert(header::ETAG, HeaderValue::try_from(version).map_err(|_| ApiError::internal())?);
    // A browser that opens the image as a page runs nothing in it.
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox"));
    if is_known {
        return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
    }
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    Ok((headers, picture.bytes).into_response())
}
