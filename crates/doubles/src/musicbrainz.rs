//! MusicBrainz' web service: one call per second, a required user agent, and only a part of all codes.

use std::time::Duration;

use axum::{
    Json, Router,
    extract::{Path, Query, Request, State},
    http::{HeaderMap, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::{Value, json};

use crate::{
    state::{Limit, ServiceState, lot, title_of},
    world::{Piece, World},
};

#[derive(Clone)]
pub struct MusicBrainzDouble(pub ServiceState);

impl MusicBrainzDouble {
    /// With the limits of the real service.
    pub fn strict(world: World) -> Self {
        Self(ServiceState::new(
            world,
            Some(Limit { n_calls: 1, within: Duration::from_millis(950), refusal: too_fast }),
        ))
    }

    /// Without limits.
    pub fn generous(world: World) -> Self {
        Self(ServiceState::new(world, None))
    }

    pub fn router(&self) -> Router {
        let routes = Router::new()
            .route("/ws/2/isrc/{isrc}", get(by_isrc))
            .route("/ws/2/recording", get(search))
            .route("/ws/2/recording/{id}", get(recording))
            .layer(middleware::from_fn(ask_for_a_name));
        self.0.guard(routes)
    }

    /// Whether it has this code. The real service lacks many codes.
    pub fn knows(isrc: &str) -> bool {
        lot(isrc) >= 25
    }

    /// A second code of the same recording, for some recordings.
    pub fn sibling(isrc: &str) -> Option<String> {
        lot(isrc).is_multiple_of(3).then(|| format!("ZZ{}", &isrc[2..]))
    }
}

async fn ask_for_a_name(headers: HeaderMap, request: Request, next: Next) -> Response {
    let name = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if name.is_empty() {
        return refusal(StatusCode::FORBIDDEN, "Your request has no User-Agent");
    }
    next.run(request).await
}

type Pairs = Vec<(String, String)>;

async fn by_isrc(state: State<ServiceState>, isrc: Path<String>, Query(pairs): Query<Pairs>) -> Response {
    let is_code = isrc.len() == 12 && isrc.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
    if !is_code {
        return refusal(StatusCode::BAD_REQUEST, "Invalid isrc.");
    }
    match state.catalogue().by_isrc(&isrc).filter(|_| MusicBrainzDouble::knows(&isrc)) {
        Some(piece) => Json(json!({"isrc": *isrc, "recordings": [body(&state, piece, &pairs)]})).into_response(),
        None => refusal(StatusCode::NOT_FOUND, "Not Found"),
    }
}

async fn recording(state: State<ServiceState>, id: Path<String>, Query(pairs): Query<Pairs>) -> Response {
    let number = id.rsplit('-').next().and_then(|tail| u64::from_str_radix(tail, 16).ok());
    match number.and_then(|id| state.catalogue().by_id(id)) {
        Some(piece) => Json(body(&state, piece, &pairs)).into_response(),
        None => refusal(StatusCode::NOT_FOUND, "Not Found"),
    }
}

/// Searches for phrases in quotes and ignores the names of fields.
async fn search(state: State<ServiceState>, Query(pairs): Query<Pairs>) -> Response {
    let query = pairs.iter().find(|(key, _)| key == "query").map(|(_, value)| value.as_str()).unwrap_or_default();
    let phrases: Vec<&str> = query.split('"').skip(1).step_by(2).collect();
    if phrases.is_empty() {
        return refusal(StatusCode::BAD_REQUEST, "Your query could not be parsed");
    }
    let found = state.catalogue().search(&phrases.join(" "));
    let known: Vec<_> = found.into_iter().filter(|piece| MusicBrainzDouble::knows(&piece.isrc)).take(25).collect();
    let everything = vec![("inc".to_owned(), "artist-credits isrcs tags".to_owned())];
    let recordings: Vec<_> = known.iter().map(|piece| body(&state, piece, &everything)).collect();
    Json(json!({"created": "2026-11-15T00:00:00.000Z", "count": known.len(), "offset": 0, "recordings": recordings}))
        .into_response()
}

/// Contains only the parts that `inc` names.
fn body(state: &ServiceState, piece: &Piece, pairs: &Pairs) -> Value {
    let inc = pairs.iter().find(|(key, _)| key == "inc").map(|(_, value)| value.as_str()).unwrap_or_default();
    let has = |name: &str| inc.split([' ', '+']).any(|part| part == name);
    let mut body = json!({
        "id": format!("00000000-0000-4000-8000-{:012x}", piece.id), "title": title_of(piece),
        "length": piece.seconds * 1000 + 46, "disambiguation": "", "video": false,
        "first-release-date": state.catalogue().release_date(piece),
    });
    if has("artist-credits") {
        body["artist-credit"] = json!([{"name": state.catalogue().artist(piece), "joinphrase": ""}]);
    }
    if has("isrcs") {
        let codes = [Some(piece.isrc.clone()), MusicBrainzDouble::sibling(&piece.isrc)];
        body["isrcs"] = json!(codes.into_iter().flatten().collect::<Vec<_>>());
    }
    if has("tags") {
        body["tags"] =
            json!([{"count": 1, "name": "harbour"}, {"count": 3, "name": "folk"}, {"count": -1, "name": "metal"}]);
    }
    body
}

fn too_fast() -> Response {
    refusal(StatusCode::SERVICE_UNAVAILABLE, "Your requests are exceeding the allowable rate limit.")
}

fn refusal(status: StatusCode, error: &str) -> Response {
    (status, Json(json!({"error": error, "help": "For usage, please see the documentation"}))).into_response()
}
