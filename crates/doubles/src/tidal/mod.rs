//! Tidal's catalogue API v2 and its token service, as they behave in autumn 2026.

mod gate;
mod include;
mod render;

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
use serde::Deserialize;
use serde_json::{Value, json};
use tower_http::compression::{CompressionLayer, predicate::SizeAbove};

pub use self::gate::{Fault, Limits};
use self::{
    gate::Gate,
    include::Includes,
    render::{Ref, View},
};
use crate::world::World;

const JSON_API: &str = "application/vnd.api+json";
const MAX_QUERY: usize = 256;
const MAX_IDS: usize = 20;

/// The only client this double knows.
pub const CLIENT_ID: &str = "demo";
pub const CLIENT_SECRET: &str = "demo-secret";

/// Clones are handles to one double.
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

    /// What happens to the next catalogue calls, one each; `None` lets a call pass.
    pub fn plan(&self, faults: impl IntoIterator<Item = Option<Fault>>) {
        self.gate().plan(faults);
    }

    /// What happens to every catalogue call from now on.
    pub fn always(&self, fault: Option<Fault>) {
        self.gate().always(fault);
    }

    pub fn revoke_tokens(&self) {
        self.gate().revoke_tokens();
    }

    pub fn n_tokens(&self) -> usize {
        self.gate().n_tokens
    }

    /// Path and query of every catalogue call so far, refused ones too.
    pub fn requests(&self) -> Vec<String> {
        self.gate().requests.clone()
    }

    /// `/v2` is the catalogue, `/v1` the token service, `/_double` the switches for a demo.
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
            .fallback(|| async { not_found() })
            .layer(middleware::from_fn_with_state(self.clone(), stand_guard));
        Router::new()
            .nest("/v2", catalogue)
            .route("/v1/oauth2/token", post(token))
            .route("/_double/faults", post(add_faults).delete(clear_faults))
            .layer(CompressionLayer::new().compress_when(SizeAbove::new(2048)))
            .with_state(self.clone())
    }

    fn gate(&self) -> MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn stand_guard(double: State<TidalDouble>, request: Request, next: Next) -> Response {
    let fault = {
        let mut gate = double.gate();
        // The nested path: without /v2, as Tidal's own links spell it.
        gate.requests.push(request.uri().to_string());
        gate.next_fault()
    };
    let faulty = match fault {
        Some(fault) => fault.play().await,
        None => None,
    };
    let refused = faulty.or_else(|| entry_refused(&mut double.gate(), request.headers()));
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
        return Some(refusal(StatusCode::UNAUTHORIZED, "UNAUTHORIZED", detail, None));
    }
    let accepts = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or("*/*");
    if !accepts.contains(JSON_API) && !accepts.contains("*/*") {
        return Some(refusal(StatusCode::NOT_ACCEPTABLE, "NOT_ACCEPTABLE", "Only JSON:API is spoken here", None));
    }
    (!gate.admit()).then(|| gate::too_many(None, true))
}

/// `GET /searchResults?filter[query]=…`: an array of exactly one result.
async fn search(double: State<TidalDouble>, Query(pairs): Query<Pairs>) -> Result<Response, Response> {
    let asked = Asked::read("searchResults", pairs, &["query"], 1)?;
    let Some(query) = asked.filter("query") else {
        let detail = "At least one filter is required";
        return Err(refusal(StatusCode::BAD_REQUEST, "MISSING_REQUIRED_PARAMETER", detail, Some("filter[query]")));
    };
    if query.chars().count() > MAX_QUERY {
        return Err(bad_request("filter[query]", "size must be between 0 and 256"));
    }
    let result = Ref::new("searchResults", render::search_id(query));
    let mut document = double.view(&asked).single(&result, &asked.includes, &asked.link).ok_or_else(not_found)?;
    document["data"] = json!([document["data"]]);
    Ok(json_api(document))
}

/// The form that worked until August 2026.
async fn old_search() -> Response {
    refusal(StatusCode::BAD_REQUEST, "INVALID_RESOURCE_ID", "Invalid resource id", Some("id"))
}

async fn search_relationship(
    double: State<TidalDouble>,
    Path((id, name)): Path<(String, String)>,
    Query(pairs): Query<Pairs>,
) -> Result<Response, Response> {
    double.relationship(&Ref::new("searchResults", id), &name, pairs)
}

async fn album_relationship(
    double: State<TidalDouble>,
    Path((id, name)): Path<(String, String)>,
    Query(pairs): Query<Pairs>,
) -> Result<Response, Response> {
    double.relationship(&Ref::new("albums", id), &name, pairs)
}

async fn album(double: State<TidalDouble>, id: Path<String>, Query(pairs): Query<Pairs>) -> Result<Response, Response> {
    double.single(&Ref::new("albums", &*id), pairs)
}

async fn track(double: State<TidalDouble>, id: Path<String>, Query(pairs): Query<Pairs>) -> Result<Response, Response> {
    double.single(&Ref::new("tracks", &*id), pairs)
}

async fn albums(double: State<TidalDouble>, Query(pairs): Query<Pairs>) -> Result<Response, Response> {
    let asked = Asked::read("albums", pairs, &["id", "barcodeId", "owners.id"], MAX_IDS)?;
    let view = double.view(&asked);
    let is_there = |id: &&String| id.parse().is_ok_and(|id| view.world.album(id, view.country).is_some());
    let found: Vec<_> = asked.filters("id").iter().filter(is_there).map(|id| Ref::new("albums", id)).collect();
    Ok(json_api(view.collection(&found, asked.from, &asked.includes, &asked.link)))
}

async fn tracks(double: State<TidalDouble>, Query(pairs): Query<Pairs>) -> Result<Response, Response> {
    let asked = Asked::read("tracks", pairs, &["id", "isrc", "owners.id"], MAX_IDS)?;
    let view = double.view(&asked);
    let (ids, codes) = (asked.filters("id"), asked.filters("isrc"));
    if ids.is_empty() && codes.is_empty() {
        let detail = "At least one filter is required";
        return Err(refusal(StatusCode::BAD_REQUEST, "MISSING_REQUIRED_PARAMETER", detail, Some("filter")));
    }
    let wanted = |id: u64, isrc: &str| ids.contains(&id.to_string()) || codes.iter().any(|code| code == isrc);
    let mut found: Vec<_> = view.world.tracks(view.country).filter(|track| wanted(track.id, &track.isrc)).collect();
    // One code gives every track that carries it, several give one track each, the most popular.
    if codes.len() > 1 {
        found.sort_by(|a, b| (&a.isrc, b.popularity).partial_cmp(&(&b.isrc, a.popularity)).expect("no NaN"));
        found.dedup_by(|b, a| a.isrc == b.isrc);
    }
    let found: Vec<_> = found.iter().map(|track| Ref::new("tracks", track.id)).collect();
    Ok(json_api(view.collection(&found, asked.from, &asked.includes, &asked.link)))
}

impl TidalDouble {
    fn view<'a>(&'a self, asked: &'a Asked) -> View<'a> {
        View { world: &self.world, country: &asked.country }
    }

    fn single(&self, it: &Ref, pairs: Pairs) -> Result<Response, Response> {
        let asked = Asked::read(it.kind, pairs, &[], 0)?.at(&format!("/{}/{}", it.kind, it.id));
        let document = self.view(&asked).single(it, &asked.includes, &asked.link).ok_or_else(not_found)?;
        Ok(json_api(document))
    }

    fn relationship(&self, it: &Ref, name: &str, pairs: Pairs) -> Result<Response, Response> {
        let asked = Asked::read(it.kind, pairs, &[], 0)?.at(&format!("/{}/{}/relationships/{name}", it.kind, it.id));
        let view = self.view(&asked);
        let document = view.relationship(it, name, asked.from, &asked.includes, &asked.link).ok_or_else(not_found)?;
        Ok(json_api(document))
    }
}

type Pairs = Vec<(String, String)>;

/// What a request asks for, checked as Tidal checks it.
struct Asked {
    filters: Pairs,
    includes: Includes,
    country: String,
    from: usize,
    /// This request as a relative link, without its cursor.
    link: String,
}

impl Asked {
    fn read(kind: &str, pairs: Pairs, filters: &[&str], max_values: usize) -> Result<Self, Response> {
        let mut asked = Self {
            filters: vec![],
            includes: Includes::default(),
            country: "US".into(),
            from: 0,
            link: format!("/{kind}"),
        };
        let (mut paths, mut kept) = (vec![], vec![]);
        for (key, value) in pairs {
            // Lists come joined by commas, as repeated parameters, or both.
            let values = || value.split(',').map(str::to_owned);
            match key.as_str() {
                "include" => paths.extend(values()),
                "countryCode" => asked.country.clone_from(&value),
                "page[cursor]" => {
                    asked.from = render::offset(&value).ok_or_else(|| bad_request("page[cursor]", "Invalid cursor"))?;
                    continue;
                }
                "sort" => return Err(bad_request("sort", "Sorting is not supported here")),
                "filter[query]" if filters.contains(&"query") => asked.filters.push((key.clone(), value.clone())),
                _ if key.starts_with("filter[") => {
                    if !filters.iter().any(|filter| key == format!("filter[{filter}]")) {
                        return Err(bad_request(&key, &format!("Unknown filter; available: {filters:?}")));
                    }
                    asked.filters.extend(values().map(|value| (key.clone(), value)));
                }
                _ => {}
            }
            kept.push(format!("{}={}", encode(&key), encode(&value)));
        }
        if asked.filters.len() > max_values {
            return Err(bad_request("filter", &format!("At most {max_values} values")));
        }
        asked.includes = Includes::read(kind, &paths).map_err(|detail| bad_request("include", &detail))?;
        asked.link = asked.link + "?" + &kept.join("&");
        Ok(asked)
    }

    fn at(mut self, path: &str) -> Self {
        let query = self.link.split_once('?').map_or("", |(_, query)| query);
        self.link = format!("{path}?{query}");
        self
    }

    fn filters(&self, name: &str) -> Vec<String> {
        let key = format!("filter[{name}]");
        self.filters.iter().filter(|(k, _)| *k == key).map(|(_, value)| value.clone()).collect()
    }

    fn filter(&self, name: &str) -> Option<&str> {
        self.filters.iter().find(|(k, _)| *k == format!("filter[{name}]")).map(|(_, value)| value.as_str())
    }
}

fn encode(text: &str) -> String {
    let byte = |b: u8| match b {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(b).to_string(),
        _ => format!("%{b:02X}"),
    };
    text.bytes().map(byte).collect()
}

fn json_api(document: Value) -> Response {
    ([(header::CONTENT_TYPE, JSON_API)], document.to_string()).into_response()
}

fn not_found() -> Response {
    refusal(StatusCode::NOT_FOUND, "NOT_FOUND", "Resource not found", None)
}

fn bad_request(parameter: &str, detail: &str) -> Response {
    refusal(StatusCode::BAD_REQUEST, "INVALID_REQUEST", detail, Some(parameter))
}

/// An error document. Like the real one it lacks `status` where the gateway itself says no.
fn refusal(status: StatusCode, code: &str, detail: &str, parameter: Option<&str>) -> Response {
    let error = match parameter {
        Some(parameter) => json!({
            "id": "0f1e2d3c", "status": status.as_str(), "code": code, "detail": detail,
            "source": {"parameter": parameter},
        }),
        None => json!({"code": code, "detail": detail, "meta": {"category": "REQUEST_ERROR"}}),
    };
    (status, [(header::CONTENT_TYPE, JSON_API)], json!({"errors": [error]}).to_string()).into_response()
}

/// Client credentials, in the body or as HTTP Basic.
async fn token(double: State<TidalDouble>, headers: HeaderMap, body: String) -> Response {
    let body = form(&body);
    let field = |name: &str| body.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    if field("grant_type") != Some("client_credentials") {
        return token_error(StatusCode::BAD_REQUEST, "unsupported_grant_type", 1001);
    }
    let in_body = field("client_id") == Some(CLIENT_ID) && field("client_secret") == Some(CLIENT_SECRET);
    let basic = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    if !in_body && basic != Some(BASIC) {
        return token_error(StatusCode::UNAUTHORIZED, "invalid_client", 6001);
    }
    let (access_token, expires_in) = double.gate().issue_token();
    Json(json!({"access_token": access_token, "token_type": "Bearer", "expires_in": expires_in, "scope": ""}))
        .into_response()
}

/// `demo:demo-secret` in base 64.
const BASIC: &str = "Basic ZGVtbzpkZW1vLXNlY3JldA==";

fn token_error(status: StatusCode, error: &str, sub_status: u32) -> Response {
    let body = json!({
        "error": error, "error_description": "as asked", "status": status.as_u16(), "sub_status": sub_status,
    });
    (status, Json(body)).into_response()
}

fn form(body: &str) -> Pairs {
    Query::try_from_uri(&format!("/?{body}").parse().unwrap_or_default()).map_or_else(|_| vec![], |Query(pairs)| pairs)
}

#[derive(Deserialize)]
struct FaultPlan {
    fault: Fault,
    /// How many calls it spoils; without it, every call until it is cleared.
    times: Option<usize>,
}

async fn add_faults(double: State<TidalDouble>, Json(plan): Json<FaultPlan>) -> StatusCode {
    match plan.times {
        Some(times) => double.plan(std::iter::repeat_n(Some(plan.fault), times)),
        None => double.always(Some(plan.fault)),
    }
    StatusCode::NO_CONTENT
}

async fn clear_faults(double: State<TidalDouble>) -> StatusCode {
    double.always(None);
    StatusCode::NO_CONTENT
}
