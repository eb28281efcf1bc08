//! Liveness, readiness and metrics, for operators.

use axum::http::HeaderName;
use serde_json::json;

use super::prelude::*;
use crate::openapi::OPERATIONS;

pub(crate) fn routes() -> Routes {
    Routes::new()
        .api_route("/healthz", get_with(healthz, |op| op.summary("Whether the process runs")))
        .api_route("/readyz", get_with(readyz, |op| op.summary("Whether the server is ready, and if not, why")))
        .with_path_items(|path| path.tag(OPERATIONS))
}

/// Only for operators: even counts show what users do.
pub(crate) fn operator_routes() -> Routes {
    Routes::new().api_route("/metrics", get_with(metrics, |op| op.summary("Metrics for Prometheus").tag(OPERATIONS)))
}

async fn metrics(State(state): Shared) -> ([(HeaderName, &'static str); 1], String) {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], state.app.metrics().await)
}

async fn healthz() -> &'static str {
    "ok"
}

/// Ready when requests can be served. `parts` lists the parts that requests can be served without; one that does not
/// answer does not change the status. A node that shuts down is not ready, so that proxies use other nodes.
async fn readyz(State(state): Shared) -> Response {
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
