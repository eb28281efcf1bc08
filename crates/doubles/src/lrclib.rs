//! LRCLIB: lyrics by exact names and a length within two seconds.

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    state::{ServiceState, lot, title_of},
    world::{Piece, World},
};

#[derive(Clone)]
pub struct LrclibDouble(pub ServiceState);

/// What this service has for a track; the track's `lot` decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    /// Not in the database.
    Unknown,
    Instrumental,
    /// Synchronised lyrics without the plain text.
    SyncedOnly,
    /// A record without content.
    Empty,
    Plain,
}

impl Words {
    pub fn of(isrc: &str) -> Self {
        match lot(isrc) {
            0..10 => Self::Unknown,
            10..20 => Self::Instrumental,
            20..30 => Self::SyncedOnly,
            30..33 => Self::Empty,
            _ => Self::Plain,
        }
    }
}

impl LrclibDouble {
    pub fn new(world: World) -> Self {
        Self(ServiceState::new(world, None))
    }

    pub fn router(&self) -> Router {
        let routes = Router::new()
            .route("/api/get", get(exact))
            .route("/api/get/{id}", get(by_id))
            .route("/api/search", get(search));
        self.0.guard(routes)
    }
}

#[derive(Deserialize)]
struct Question {
    track_name: Option<String>,
    artist_name: Option<String>,
    album_name: Option<String>,
    duration: Option<f64>,
    q: Option<String>,
}

async fn exact(state: State<ServiceState>, Query(question): Query<Question>) -> Response {
    let (Some(title), Some(artist)) = (&question.track_name, &question.artist_name) else {
        return invalid("track_name and artist_name are required");
    };
    if title.trim().is_empty() || artist.trim().is_empty() {
        return invalid("track_name and artist_name must not be empty");
    }
    if question.duration.is_some_and(|seconds| !(1.0..=3600.0).contains(&seconds)) {
        return invalid("duration must be between 1 and 3600");
    }
    let catalogue = state.catalogue();
    let fits = |piece: &&&Piece| {
        let album =
            question.album_name.as_deref().is_none_or(|album| album.eq_ignore_ascii_case(catalogue.album(piece)));
        let length = question.duration.is_none_or(|seconds| (seconds - f64::from(piece.seconds)).abs() <= 2.0);
        album && length && Words::of(&piece.isrc) != Words::Unknown
    };
    match catalogue.by_name(title, artist).iter().find(fits) {
        Some(piece) => Json(record(&state, piece)).into_response(),
        None => missing(),
    }
}

async fn by_id(state: State<ServiceState>, Path(id): Path<u64>) -> Response {
    match state.catalogue().by_id(id).filter(|piece| Words::of(&piece.isrc) != Words::Unknown) {
        Some(piece) => Json(record(&state, piece)).into_response(),
        None => missing(),
    }
}

async fn search(state: State<ServiceState>, Query(question): Query<Question>) -> Response {
    if question.q.is_none() && question.track_name.is_none() {
        return invalid("q or track_name is required");
    }
    let words = [question.q, question.track_name, question.artist_name, question.album_name];
    let words = words.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let found = state.catalogue().search(&words);
    let known = found.iter().filter(|piece| Words::of(&piece.isrc) != Words::Unknown);
    Json(known.take(20).map(|piece| record(&state, piece)).collect::<Vec<_>>()).into_response()
}

fn record(state: &ServiceState, piece: &Piece) -> Value {
    let words = Words::of(&piece.isrc);
    let lines = [
        format!("{} is all I know", piece.title),
        "the harbour keeps its lights on low".to_owned(),
        format!("{} seconds and then we go", piece.seconds),
    ];
    let synced = || (1..).zip(&lines).map(|(n, line)| format!("[00:{:02}.00] {line}", n * 9)).collect::<Vec<_>>();
    json!({
        "id": piece.id, "name": title_of(piece), "trackName": title_of(piece),
        "artistName": state.catalogue().artist(piece), "albumName": state.catalogue().album(piece),
        "duration": f64::from(piece.seconds), "instrumental": words == Words::Instrumental,
        "plainLyrics": (words == Words::Plain).then(|| lines.join("\n")),
        "syncedLyrics": matches!(words, Words::Plain | Words::SyncedOnly).then(|| synced().join("\n")),
    })
}

fn missing() -> Response {
    refusal(StatusCode::NOT_FOUND, "TrackNotFound", "Failed to find specified track")
}

fn invalid(message: &str) -> Response {
    refusal(StatusCode::BAD_REQUEST, "ValidationError", message)
}

fn refusal(status: StatusCode, name: &str, message: &str) -> Response {
    (status, Json(json!({"message": message, "name": name, "statusCode": status.as_u16()}))).into_response()
}
