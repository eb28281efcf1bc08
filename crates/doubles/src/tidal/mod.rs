//! Tidal's catalogue API v2 and its token service, as of autumn 2026.

mod asked;
mod gate;
mod include;
mod refusal;
mod render;
mod token;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    Json, Router,
    extract::{Path, Query, Request, State},
    http::{HeaderMap, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{any, get, post},
};
use serde_json::{Value, json};
use tower_http::compression::{CompressionLayer, predicate::SizeAbove};

pub(crate) use self::refusal::Refusal;
use self::{
    asked::{Asked, Pairs},
    gate::Gate,
    render::{Ref, View},
};
pub use self::{
    gate::Limits,
    token::{CLIENT_ID, CLIENT_SECRET},
};
pub use crate::fault::Fault;
use crate::{
    fault,
    script::{Script, Step},
    world::{Album, Piece, World},
};

const JSON_API: &str = "application/vnd.api+json";
const MAX_QUERY: usize = 256;

/// Clones share one double.
#[derive(Clone)]
pub struct TidalDouble {
    world: Arc<World>,
    gate: Arc<Mutex<Gate>>,
}

impl TidalDouble {
    pub fn new(world: World, limits: Limits) -> Self {
        Self::with_token_life(world, limits, Duration::from_secs(14_400))
    }

    pub fn with_token_life(world: World, limits: Limits, token_life: Duration) -> Self {
        Self { world: Arc::new(world), gate: Arc::new(Mutex::new(Gate::new(limits, token_life))) }
    }

    /// Plans faults for the next catalogue calls, one each; `None` means no fault.
    pub fn plan(&self, faults: impl IntoIterator<Item = Option<Fault>>) {
        self.gate().plan.add(faults);
    }

    /// Sets a fault for every catalogue call from now on.
    pub fn always(&self, fault: Option<Fault>) {
        self.gate().plan.always(fault);
    }

    /// Plans the faults of a script for the next catalogue calls.
    pub fn play_script(&self, script: Script) {
        self.gate().plan.play_script(script);
    }

    pub fn revoke_tokens(&self) {
        self.gate().revoke_tokens();
    }

    pub fn n_tokens(&self) -> usize {
        self.gate().n_tokens
    }

    /// Path and query of every catalogue call so far, including rejected ones.
    pub fn requests(&self) -> Vec<String> {
        self.gate().requests.clone()
    }

    /// `/v2` is the catalogue, `/v1` the token service, `/_double` the admin routes for a demo.
    pub fn router(&self) -> Router {
        let catalogue = Router::new()
            .route("/searchResults", get(search))
            .route("/searchResults/{id}", any(old_search))
            .route("/searchResults/{id}/relationships/{name}", get(search_relationship))
            .route("/albums", get(albums))
            .route("/albums/{id}", get(album))
            .route("/albums/{id}/relationships/{name}", get(album_relationship))
            .route("/tracks", get(tracks))
            .route("/tracks/{id}", get(track))
            .fallback(|| async { Refusal::not_found() })
            .layer(middleware::from_fn_with_state(self.clone(), stand_guard));
        Router::new()
            .nest("/v2", catalogue)
            .route("/v1/oauth2/token", post(token::token))
            .route("/_double/faults", post(add_faults).delete(clear_faults))
            .layer(CompressionLayer::new().compress_when(SizeAbove::new(2048)))
            .with_state(self.clone())
    }

    fn gate(&self) -> MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn stand_guard(double: State<TidalDouble>, request: Request, next: Next) -> Response {
    let planned = {
        let mut gate = double.gate();
        // The nested path, without /v2, as in Tidal's own links.
        let uri = request.uri().to_string();
        gate.requests.push(uri.clone());
        gate.plan.next(&uri)
    };
    let refused = fault::play(planned).await.or_else(|| entry_refused(&mut double.gate(), request.headers()));
    let mut response = match refused {
        Some(refused) => refused,
        None => next.run(request).await,
    };
    double.gate().stamp(&mut response);
    response
}

fn entry_refused(gate: &mut Gate, headers: &HeaderMap) -> Option<Response> {
    if !gate.knows(headers) {
        let detail = "Invalid or missing Authorization Header";
        return Some(Refusal::new(StatusCode::UNAUTHORIZED, "UNAUTHORIZED", detail).into_response());
    }
    let accepts = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or("*/*");
    if !accepts.contains(JSON_API) && !accepts.contains("*/*") {
        let detail = "Only JSON:API is spoken here";
        return Some(Refusal::new(StatusCode::NOT_ACCEPTABLE, "NOT_ACCEPTABLE", detail).into_response());
    }
    (!gate.admit()).then(|| fault::too_many(None, true))
}

type Answer = Result<Response, Refusal>;

/// `GET /searchResults?filter[query]=…`: an array of exactly one result.
async fn search(double: State<TidalDouble>, Query(pairs): Query<Pairs>) -> Answer {
    let asked = Asked::read("/searchResults", "searchResults", pairs, &["query"])?;
    let query = *asked.filters("query").first().ok_or_else(|| Refusal::no_filter("filter[query]"))?;
    if query.chars().count() > MAX_QUERY {
        return Err(Refusal::parameter("filter[query]", "size must be between 0 and 256"));
    }
    let result = Ref::new("searchResults", render::search_id(query));
    let mut document =
        double.view(&asked).single(&result, &asked.includes, &asked.link).ok_or_else(Refusal::not_found)?;
    document["data"] = json!([document["data"]]);
    Ok(json_api(&document))
}

/// The endpoint that worked until August 2026.
async fn old_search() -> Refusal {
    Refusal { code: "INVALID_RESOURCE_ID", ..Refusal::parameter("id", "Invalid resource id") }
}

async fn search_relationship(
    double: State<TidalDouble>,
    Path((id, name)): Path<(String, String)>,
    Query(pairs): Query<Pairs>,
) -> Answer {
    double.relationship(&Ref::new("searchResults", id), &name, pairs)
}

async fn album_relationship(
    double: State<TidalDouble>,
    Path((id, name)): Path<(String, String)>,
    Query(pairs): Query<Pairs>,
) -> Answer {
    double.relationship(&Ref::new("albums", id), &name, pairs)
}

async fn album(double: State<TidalDouble>, id: Path<String>, Query(pairs): Query<Pairs>) -> Answer {
    double.single(&Ref::new("albums", &*id), pairs)
}

async fn track(double: State<TidalDouble>, id: Path<String>, Query(pairs): Query<Pairs>) -> Answer {
    double.single(&Ref::new("tracks", &*id), pairs)
}

async fn albums(double: State<TidalDouble>, Query(pairs): Query<Pairs>) -> Answer {
    let asked = Asked::read("/albums", "albums", pairs, &["id", "barcodeId", "owners.id"])?;
    let view = double.view(&asked);
    let (ids, barcodes) = (asked.filters("id"), asked.filters("barcodeId"));
    if ids.is_empty() && barcodes.is_empty() {
        return Err(Refusal::no_filter("filter"));
    }
    let wanted = |album: &&Album| {
        ids.contains(&album.id.to_string().as_str()) || barcodes.contains(&render::barcode(album).as_str())
    };
    let there = view.world.albums.values().filter(|album| view.world.album(album.id, view.country).is_some());
    let found: Vec<_> = there.filter(wanted).map(|album| Ref::new("albums", album.id)).collect();
    Ok(json_api(&view.collection(&found, asked.from, &asked.includes, &asked.link)))
}

async fn tracks(double: State<TidalDouble>, Query(pairs): Query<Pairs>) -> Answer {
    let asked = Asked::read("/tracks", "tracks", pairs, &["id", "isrc", "owners.id"])?;
    let view = double.view(&asked);
    let (ids, codes) = (asked.filters("id"), asked.filters("isrc"));
    if ids.is_empty() && codes.is_empty() {
        return Err(Refusal::no_filter("filter"));
    }
    let wanted = |track: &&Piece| ids.contains(&track.id.to_string().as_str()) || codes.contains(&track.isrc.as_str());
    let mut found: Vec<_> = view.world.tracks(view.country).filter(wanted).collect();
    // One code returns every track with it; several codes return one track each: the most popular.
    if codes.len() > 1 {
        found.sort_by(|a, b| a.isrc.cmp(&b.isrc).then(b.popularity.total_cmp(&a.popularity)));
        found.dedup_by(|b, a| a.isrc == b.isrc);
    }
    let found: Vec<_> = found.iter().map(|track| Ref::new("tracks", track.id)).collect();
    Ok(json_api(&view.collection(&found, asked.from, &asked.includes, &asked.link)))
}

impl TidalDouble {
    fn view<'a>(&'a self, asked: &'a Asked) -> View<'a> {
        View { world: &self.world, country: &asked.country }
    }

    fn single(&self, it: &Ref, pairs: Pairs) -> Answer {
        let asked = Asked::read(&format!("/{}/{}", it.kind, it.id), it.kind, pairs, &[])?;
        let document = self.view(&asked).single(it, &asked.includes, &asked.link).ok_or_else(Refusal::not_found)?;
        Ok(json_api(&document))
    }

    fn relationship(&self, it: &Ref, name: &str, pairs: Pairs) -> Answer {
        let path = format!("/{}/{}/relationships/{name}", it.kind, it.id);
        let asked = Asked::read(&path, it.kind, pairs, &[])?;
        let document = self.view(&asked).relationship(it, name, asked.from, &asked.includes, &asked.link);
        Ok(json_api(&document.ok_or_else(Refusal::not_found)?))
    }
}

fn json_api(document: &Value) -> Response {
    ([(header::CONTENT_TYPE, JSON_API)], document.to_string()).into_response()
}

/// A step of a script. Without `times` it is for every call until the faults are cleared.
async fn add_faults(double: State<TidalDouble>, Json(step): Json<Step>) -> StatusCode {
    let plan = &mut double.gate().plan;
    match step.times {
        Some(_) => plan.add_steps([step]),
        None => plan.always(fault::planned(&step)),
    }
    StatusCode::NO_CONTENT
}

async fn clear_faults(double: State<TidalDouble>) -> StatusCode {
    double.always(None);
    StatusCode::NO_CONTENT
}
