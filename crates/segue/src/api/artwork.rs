//! `GET /api/artwork`: a cover image of another host, fetched by this server.

use super::prelude::*;

pub(super) fn routes() -> Routes {
    Routes::new().api_route("/api/artwork", get_with(show, |op| op.summary("A cover image of an allowed host")))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ArtworkQuery {
    url: String,
}

async fn show(State(state): Shared, _: Caller, Query(query): Query<ArtworkQuery>) -> Result<Response> {
    let picture = state.artwork.get(&query.url).await?;
    let headers = [
        (header::CONTENT_TYPE, picture.media_type),
        (header::CACHE_CONTROL, "private, max-age=604800, immutable"),
        // A browser that opens the image as a page runs nothing in it.
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"),
    ];
    Ok((headers, picture.bytes).into_response())
}
