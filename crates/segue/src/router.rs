//! The route table: every HTTP route of the server.

use std::sync::Arc;

use aide::axum::ApiRouter;
use app::App;
use axum::{Router, extract::DefaultBodyLimit, middleware};
use tower_http::{catch_panic::CatchPanicLayer, compression::CompressionLayer};

use crate::{
    api,
    artwork::Artwork,
    auth::{self, Auth},
    error::ApiError,
    open_requests::OpenRequests,
    openapi, protocols, request_metrics, security_headers, ui,
};

/// What handlers need.
pub struct AppState {
    pub app: Arc<App>,
    pub auth: Auth,
    pub(crate) open_requests: OpenRequests,
    pub(crate) artwork: Artwork,
}

pub(crate) type Routes = ApiRouter<Arc<AppState>>;

const MAX_BODY_BYTES: usize = 256 * 1024;

pub fn router(app: Arc<App>) -> Router {
    let state = Arc::new(AppState {
        auth: Auth::new(&app.config),
        open_requests: OpenRequests::up_to(app.config.open_requests),
        artwork: Artwork::new(&app.config.artwork_hosts),
        app,
    });
    let mut document = openapi::beginning();
    let router = ApiRouter::new()
        .merge(
            private(&state)
                .layer(middleware::from_fn_with_state(state.clone(), auth::identify))
                .layer(middleware::from_fn(protocols::resource_metadata::point_to)),
        )
        .merge(public())
        .merge(
            api::health::operator_routes().layer(middleware::from_fn_with_state(state.clone(), auth::operators_only)),
        )
        .fallback_service(page())
        .finish_api(&mut document)
        .with_state(state.clone());
    openapi::serve(router, document, &state.app.toolbox)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn_with_state(state, request_metrics::count))
        .layer(middleware::from_fn(security_headers::set))
}

/// Routes that require authentication.
fn private(state: &Arc<AppState>) -> Routes {
    Routes::new()
        .merge(protocols::native::routes())
        .merge(protocols::user_chat::routes())
        .merge(protocols::ai_sdk::routes())
        .merge(protocols::chatkit::routes())
        .merge(protocols::ag_ui::routes())
        .merge(protocols::mcp::routes(state))
        .merge(api::routes())
}

/// Routes without authentication: they return no user data.
fn public() -> Routes {
    Routes::new().merge(api::health::routes()).merge(api::public_routes()).merge(protocols::resource_metadata::routes())
}

/// Everything else is the page. Only its files are compressed: a compressor would hold events back.
fn page() -> Router {
    Router::new().fallback(ui::serve).layer(CompressionLayer::new())
}

fn panicked(_: Box<dyn std::any::Any + Send>) -> axum::response::Response {
    use axum::response::IntoResponse;
    tracing::error!("A handler panicked");
    let status = axum::http::StatusCode::INTERNAL_SERVER_ERROR;
    ApiError::new(status, "INTERNAL_ERROR", "Something went wrong.").into_response()
}
