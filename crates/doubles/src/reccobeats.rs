//! ReccoBeats: audio features, in its own order, without unknown tracks.

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::{Value, json};

use crate::{
    state::{ServiceState, lot, seed, title_of},
    world::{Piece, World},
};

const MAX_IDS: usize = 40;

#[derive(Clone)]
pub struct ReccoBeatsDouble(pub ServiceState);

/// What this service has for a track; the track's `lot` decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Left out of every response.
    Not,
    /// Two rows with different numbers; the first is more popular and comes last.
    Twice,
    /// No key, and values outside their documented range.
    OffTheScale,
    Once,
}

impl Known {
    pub fn of(isrc: &str) -> Self {
        match lot(isrc) {
            0..15 => Self::Not,
            15..30 => Self::Twice,
            30..40 => Self::OffTheScale,
            _ => Self::Once,
        }
    }
}

impl ReccoBeatsDouble {
    pub fn new(world: World) -> Self {
        Self(ServiceState::new(world, None))
    }

    pub fn router(&self) -> Router {
        let routes = Router::new()
            .route("/v1/audio-features", get(features))
            .route("/v1/track", get(tracks))
            .route("/v1/track/{id}/audio-features", get(features_of_one))
            .fallback(|| async { Refusal(StatusCode::NOT_FOUND, 4042, "Wrong path") });
        self.0.guard(routes)
    }

    /// The Spotify id of a code in this double: 22 letters and digits, like a real one.
    pub fn spotify_id(isrc: &str) -> String {
        format!("{isrc}{:010}", seed(isrc) % 10_000_000_000)
    }

    /// A value of the more popular row of a code, from 0 to 1.
    pub fn figure(isrc: &str, name: &str) -> f64 {
        share(isrc, name, 0)
    }
}

/// A row: a track and the number of the row.
type Row<'a> = (&'a Piece, u32);

type Pairs = Vec<(String, String)>;

async fn features(state: State<ServiceState>, Query(pairs): Query<Pairs>) -> Result<Response, Refusal> {
    let rows = asked(&state, &pairs)?;
    Ok(Json(json!({"content": shuffled(&rows).into_iter().map(feature_row).collect::<Vec<_>>()})).into_response())
}

async fn tracks(state: State<ServiceState>, Query(pairs): Query<Pairs>) -> Result<Response, Refusal> {
    let rows = asked(&state, &pairs)?;
    let row = |(piece, n): Row<'_>| {
        json!({
            "id": uuid(piece, n), "trackTitle": title_of(piece), "isrc": piece.isrc, "href": href(piece, n),
            "artists": [{"id": uuid(piece, 9), "name": state.catalogue().artist(piece)}],
            "durationMs": piece.seconds * 1000, "popularity": 60 - n * 30, "availableCountries": "US,NO",
        })
    };
    Ok(Json(json!({"content": shuffled(&rows).into_iter().map(row).collect::<Vec<_>>()})).into_response())
}

/// Accepts only ReccoBeats' own ids.
async fn features_of_one(state: State<ServiceState>, Path(id): Path<String>) -> Response {
    match by_uuid(&state, &id) {
        Some(row) => Json(feature_row(row)).into_response(),
        None => Refusal(StatusCode::NOT_FOUND, 4041, "Not found").into_response(),
    }
}

/// Ids are joined by commas, sent as repeated parameters, or both.
fn asked<'a>(state: &'a ServiceState, pairs: &Pairs) -> Result<Vec<Row<'a>>, Refusal> {
    let values = pairs.iter().filter(|(key, _)| key == "ids").flat_map(|(_, value)| value.split(','));
    let ids: Vec<&str> = values.filter(|id| !id.is_empty()).collect();
    if ids.is_empty() {
        return Err(Refusal(StatusCode::BAD_REQUEST, 4001, "ids is required"));
    }
    if ids.len() > MAX_IDS {
        return Err(Refusal(StatusCode::BAD_REQUEST, 4004, "ids: at most 40"));
    }
    if ids.iter().any(|id| !id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')) {
        return Err(Refusal(StatusCode::BAD_REQUEST, 4002, "ids: malformed"));
    }
    Ok(ids.into_iter().flat_map(|id| rows_of(state, id)).collect())
}

fn rows_of<'a>(state: &'a ServiceState, id: &str) -> Vec<Row<'a>> {
    if let Some(row) = by_uuid(state, id) {
        return vec![row];
    }
    let isrc = id.get(..12).unwrap_or(id);
    let is_spotify = id.len() == 22 && id == ReccoBeatsDouble::spotify_id(isrc);
    let Some(piece) = state.catalogue().by_isrc(isrc).filter(|_| is_spotify || id.len() == 12) else { return vec![] };
    match Known::of(&piece.isrc) {
        Known::Not => vec![],
        Known::Twice if !is_spotify => vec![(piece, 0), (piece, 1)],
        Known::Twice | Known::OffTheScale | Known::Once => vec![(piece, 0)],
    }
}

fn by_uuid<'a>(state: &'a ServiceState, id: &str) -> Option<Row<'a>> {
    let (head, tail) = id.split_once("-0000-4000-8000-")?;
    let piece = state.catalogue().by_id(u64::from_str_radix(tail, 16).ok()?)?;
    let row = (piece, u32::from_str_radix(head, 16).ok()?);
    (Known::of(&piece.isrc) != Known::Not && row.1 < 2).then_some(row)
}

/// Never in the order of the request.
fn shuffled<'a>(rows: &[Row<'a>]) -> Vec<Row<'a>> {
    let mut rows: Vec<Row<'a>> = rows.iter().rev().copied().collect();
    let middle = rows.len() / 2;
    rows.rotate_left(middle);
    rows
}

fn uuid(piece: &Piece, n: u32) -> String {
    format!("{n:08x}-0000-4000-8000-{:012x}", piece.id)
}

fn href(piece: &Piece, n: u32) -> String {
    let id = ReccoBeatsDouble::spotify_id(&piece.isrc);
    let id = if n == 0 { id } else { id.chars().rev().collect() };
    format!("https://open.spotify.com/track/{id}")
}

fn feature_row((piece, n): Row<'_>) -> Value {
    let share = |name: &str| share(&piece.isrc, name, n);
    let is_off = Known::of(&piece.isrc) == Known::OffTheScale;
    json!({
        "id": uuid(piece, n), "href": href(piece, n), "isrc": piece.isrc,
        "acousticness": share("acousticness"), "danceability": share("danceability"), "energy": share("energy"),
        "instrumentalness": share("instrumentalness"), "liveness": share("liveness"),
        "speechiness": share("speechiness"), "valence": share("valence"),
        "key": if is_off { -1 } else { (seed(&piece.isrc) % 12) as i64 }, "mode": seed(&piece.isrc) % 2,
        "loudness": if is_off { 1.5 } else { -3.0 - 20.0 * share("loudness") },
        "tempo": if is_off { 262.0 } else { 60.0 + 120.0 * share("tempo") },
    })
}

fn share(isrc: &str, name: &str, n: u32) -> f64 {
    (seed(&format!("{isrc}{name}{n}")) % 1000) as f64 / 1000.0
}

/// An error: the status, ReccoBeats' own code, and the message.
struct Refusal(StatusCode, u32, &'static str);

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Self(status, code, message) = self;
        (status, Json(json!({"status": status.as_u16(), "error": code, "message": message}))).into_response()
    }
}
