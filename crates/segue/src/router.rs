//! The table of contents: every route of the house.

use std::sync::Arc;

use aide::{axum::ApiRouter, openapi::OpenApi};
use app::App;
use axum::{Router, extract::DefaultBodyLimit, middleware};
use tower_http::catch_panic::CatchPanicLayer;

use crate::{
    api,
    artwork::Artwork,
    auth::{self, Auth},
    error::ApiError,
    open_requests::OpenRequests,
    protocols, security_headers,
};

/// What handlers need.
pub struct Doors {
    pub app: Arc<App>,
    pub auth: Auth,
    pub(crate) open_requests: OpenRequests,
}

pub(crate) type Routes = ApiRouter<Arc<Doors>>;

const MAX_BODY_BYTES: usize = 256 * 1024;

pub fn router(app: Arc<App>) -> Router {
    let doors = Arc::new(Doors { app });
    let private = ApiRouter::new()
        .merge(protocols::native::routes())
        .merge(protocols::user_chat::routes())
        .merge(api::routes())
        .layer(middleware::from_fn_with_state(doors.clone(), auth::identify));
    ApiRouter::new()
        .merge(private)
        .merge(api::health::routes())
        .fallback(|| async { ApiError::not_found() })
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(CatchPanicLayer::custom(panicked))
        .with_state(doors)
        .into()
}

fn panicked(_: Box<dyn std::any::Any + Send>) -> axum::response::Response {
    use axum::response::IntoResponse;
    tracing::error!("A handler panicked");
    let status = axum::http::StatusCode::INTERNAL_SERVER_ERROR;
    ApiError::new(status, "INTERNAL_ERROR", "Something went wrong.").into_response()
}
