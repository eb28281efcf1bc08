//! `GET /api/artwork`: a cover image of another host, through us.

use std::sync::Arc;

use aide::axum::routing::get_with;
use axum::{
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    auth::Caller,
    error::ApiError,
    extract::Query,
    router::{AppState, Routes},
};

pub(super) fn routes() -> Routes {
    Routes::new().api_route("/api/artwork", get_with(show, |op| op.summary("A cover image of a known host")))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ArtworkQuery {
    url: String,
}

async fn show(
    State(state): State<Arc<AppState>>,
    _: Caller,
    Query(query): Query<ArtworkQuery>,
) -> Result<Response, ApiError> {
    let picture = state.artwork.get(&query.url).await?;
    let headers = [
        (header::CONTENT_TYPE, picture.media_type),
        (header::CACHE_CONTROL, "private, max-age=604800, immutable"),
        // Opened on its own it is a picture and nothing else.
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"),
    ];
    Ok((headers, picture.bytes).into_response())
}
