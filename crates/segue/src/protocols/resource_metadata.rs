//! Tells an MCP client without a token who issues tokens (RFC 9728).

use std::sync::Arc;

use app::config::AuthMode;
use axum::{
    Json,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::Next,
    response::Response,
    routing::get,
};
use serde_json::{Value, json};

use crate::{
    error::ApiError,
    router::{AppState, Routes},
};

const PATH: &str = "/.well-known/oauth-protected-resource";

pub(crate) fn routes() -> Routes {
    Routes::new().route(PATH, get(metadata)).route(&format!("{PATH}/mcp"), get(metadata))
}

/// 404 in `local` mode: no token is needed there, and a client that reads the metadata would request one.
async fn metadata(State(state): State<Arc<AppState>>, headers: HeaderMap) -> Result<Json<Value>, ApiError> {
    let config = &state.app.config;
    let base = match (config.auth, base_of(&headers)) {
        (AuthMode::Local, _) | (_, None) => return Err(ApiError::not_found()),
        (AuthMode::Accounts | AuthMode::Jwt, Some(base)) => base,
    };
    let mut metadata = json!({
        "resource": format!("{base}/mcp"),
        "resource_name": "Segue",
        "bearer_methods_supported": ["header"],
    });
    if let Some(issuer) = config.jwt.as_ref().and_then(|jwt| jwt.issuer.as_ref()) {
        metadata["authorization_servers"] = json!([issuer]);
    }
    Ok(Json(metadata))
}

/// Adds a link to the metadata to rejected requests of `/mcp`.
pub(crate) async fn point_to(request: Request, next: Next) -> Response {
    let base = (request.uri().path() == "/mcp").then(|| base_of(request.headers())).flatten();
    let mut response = next.run(request).await;
    if let Some(base) = base.filter(|_| response.status() == StatusCode::UNAUTHORIZED)
        && let Ok(challenge) = HeaderValue::from_str(&format!("Bearer resource_metadata=\"{base}{PATH}/mcp\""))
    {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

/// The URL under which the client reached the server.
fn base_of(headers: &HeaderMap) -> Option<String> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let scheme = text("x-forwarded-proto").filter(|scheme| *scheme == "https").unwrap_or("http");
    // Only a plain authority is accepted, because other characters could end the quoted header value.
    let host = text("host").filter(|host| host.parse::<axum::http::uri::Authority>().is_ok())?;
    Some(format!("{scheme}://{host}"))
}
