//! For operators: alive, and ready.

use std::sync::Arc;

use aide::axum::routing::get_with;
use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::json;

use crate::router::{Doors, Routes};

pub(crate) fn routes() -> Routes {
    Routes::new()
        .api_route("/healthz", get_with(healthz, |op| op.summary("Alive")))
        .api_route("/readyz", get_with(readyz, |op| op.summary("Ready, or why not")))
}

async fn healthz() -> &'static str {
    "ok"
}

/// Ready when requests can be served. A node that is leaving says so, and proxies send the next request elsewhere.
async fn readyz(State(doors): State<Arc<Doors>>) -> Response {
    let mut causes = Vec::new();
    if doors.app.shutdown.is_cancelled() {
        causes.push("shutting down".to_owned());
    }
    if doors.app.store.ping().await.is_err() {
        causes.push(format!("the database ({}) does not answer", doors.app.store.kind()));
    }
    let status = if causes.is_empty() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(json!({"ready": causes.is_empty(), "causes": causes}))).into_response()
}
