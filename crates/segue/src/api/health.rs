//! For operators: alive, ready, and in numbers.

use std::sync::Arc;

use aide::axum::routing::get_with;
use axum::{
    Json,
    extract::State,
    http::{HeaderName, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::json;

use crate::router::{AppState, Routes};

pub(crate) fn routes() -> Routes {
    Routes::new()
        .api_route("/healthz", get_with(healthz, |op| op.summary("Alive")))
        .api_route("/readyz", get_with(readyz, |op| op.summary("Ready, or why not")))
}

/// Only for the operator: what users ask for is private, even as a count.
pub(crate) fn operator_routes() -> Routes {
    Routes::new().api_route("/metrics", get_with(metrics, |op| op.summary("Numbers for Prometheus")))
}

async fn metrics(State(state): State<Arc<AppState>>) -> ([(HeaderName, &'static str); 1], String) {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], state.app.metrics().await)
}

async fn healthz() -> &'static str {
    "ok"
}

/// Ready when requests can be served. `parts` tells of what they can be served without: a part that is away is named and
/// fails nothing. A node that is leaving says so, and proxies send the next request elsewhere.
async fn readyz(State(state): State<Arc<AppState>>) -> Response {
    let mut causes = Vec::new();
    if state.app.shutdown.is_cancelled() {
        causes.push("shutting down".to_owned());
    }
    let ping = async { state.app.ping_database().await.is_ok() };
    if !state.database_answers.get(ping).await {
        causes.push(format!("the database ({}) does not answer", state.app.database_kind()));
    }
    let status = if causes.is_empty() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let body = json!({"ready": causes.is_empty(), "causes": causes, "parts": state.app.parts()});
    (status, Json(body)).into_response()
}
