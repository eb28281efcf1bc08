//! Deezer's public API. Every error has status 200.

use std::time::Duration;

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::{Value, json};

use crate::{
    state::{Limit, ServiceState, lot, title_of},
    world::{Piece, World},
};

#[derive(Clone)]
pub struct DeezerDouble(pub ServiceState);

impl DeezerDouble {
    /// With the published quota of 50 calls in 5 seconds.
    pub fn strict(world: World) -> Self {
        Self(ServiceState::new(world, Some(Limit { n_calls: 50, within: Duration::from_secs(5), refusal: over_quota })))
    }

    /// Without limits.
    pub fn generous(world: World) -> Self {
        Self(ServiceState::new(world, None))
    }

    pub fn router(&self) -> Router {
        let routes = Router::new()
            .route("/track/{id}", get(track))
            .route("/search", get(search))
            .fallback(|| async { failure("InvalidQueryException", "Unknown path components", 600) });
        self.0.guard(routes)
    }
}

async fn track(state: State<ServiceState>, id: Path<String>) -> Response {
    let piece = match id.strip_prefix("isrc:") {
        Some(isrc) => state.catalogue().by_isrc(isrc),
        None => id.parse().ok().and_then(|id| state.catalogue().by_id(id)),
    };
    piece.map_or_else(no_data, |piece| Json(whole(&state, piece)).into_response())
}

/// `artist:"…" track:"…"` or plain words.
async fn search(state: State<ServiceState>, Query(pairs): Query<Vec<(String, String)>>) -> Response {
    let Some((_, query)) = pairs.iter().find(|(key, _)| key == "q") else {
        return failure("MissingParameterException", "Missing parameters: q", 501);
    };
    let phrases: Vec<&str> = query.split('"').skip(1).step_by(2).collect();
    let words = if phrases.is_empty() { query.clone() } else { phrases.join(" ") };
    let found = state.catalogue().search(&words);
    let hits: Vec<Value> = found.iter().take(25).map(|piece| hit(&state, piece)).collect();
    Json(json!({"data": hits, "total": found.len()})).into_response()
}

/// A search result: without code and tempo.
fn hit(state: &ServiceState, piece: &Piece) -> Value {
    json!({
        "id": piece.id, "readable": true, "title": title_of(piece), "title_short": piece.title,
        "title_version": piece.version.as_ref().map(|version| format!("({version})")).unwrap_or_default(),
        "duration": piece.seconds, "rank": (piece.popularity * 1_000_000.0) as u64, "explicit_lyrics": piece.explicit,
        "artist": {"id": piece.artists.first(), "name": state.catalogue().artist(piece), "type": "artist"},
        "album": {"id": piece.album, "title": state.catalogue().album(piece), "type": "album"}, "type": "track",
    })
}

fn whole(state: &ServiceState, piece: &Piece) -> Value {
    let mut body = hit(state, piece);
    body["isrc"] = json!(piece.isrc);
    body["release_date"] = json!(state.catalogue().release_date(piece));
    body["gain"] = json!(-9.4);
    // Most tempos are unknown.
    body["bpm"] = if lot(&piece.isrc) < 30 { json!(118.5) } else { json!(0) };
    body
}

fn no_data() -> Response {
    failure("DataException", "no data", 800)
}

fn over_quota() -> Response {
    failure("Exception", "Quota limit exceeded", 4)
}

fn failure(kind: &str, message: &str, code: u32) -> Response {
    Json(json!({"error": {"type": kind, "message": message, "code": code}})).into_response()
}
