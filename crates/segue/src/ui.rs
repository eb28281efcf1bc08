//! The page: its files, embedded in the binary.

use axum::{
    body::Body,
    http::{HeaderValue, Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use rust_embed::{EmbeddedFile, RustEmbed};

use crate::error::ApiError;

#[derive(RustEmbed)]
#[folder = "$CARGO_MANIFEST_DIR/../../web/dist"]
#[allow_missing = true]
struct Files;

/// Handles paths without another route: a file of the page, or the page itself for its own paths (`/tasks`, `/c/…`).
pub(crate) async fn serve(method: Method, uri: Uri) -> Response {
    let path = uri.path().trim_start_matches('/');
    if method != Method::GET && method != Method::HEAD || is_machine_path(path) {
        return ApiError::not_found().into_response();
    }
    match Files::get(path) {
        Some(file) if !path.is_empty() => answer(path, file),
        _ if path.starts_with("assets/") => ApiError::not_found().into_response(),
        _ => page(),
    }
}

fn is_machine_path(path: &str) -> bool {
    path == "api" || path.starts_with("api/")
}

fn page() -> Response {
    match Files::get("index.html") {
        Some(page) => answer("index.html", page),
        None => {
            let message =
                "This build does not contain the web page; run `make web` and build again. The API is at /api.";
            (StatusCode::NOT_FOUND, message).into_response()
        }
    }
}

fn answer(path: &str, file: EmbeddedFile) -> Response {
    // Built files have a hash in their name, so their content never changes.
    let cache = if path.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    let content_type = HeaderValue::from_str(file.metadata.mimetype());
    let mut response = Body::from(file.data.into_owned()).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    headers.insert(header::CONTENT_TYPE, content_type.unwrap_or(HeaderValue::from_static("application/octet-stream")));
    response
}
