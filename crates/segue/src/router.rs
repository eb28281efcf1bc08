//! The route table: every HTTP route of the server.

use std::{net::IpAddr, num::NonZeroUsize, sync::Arc, time::Duration};

use aide::axum::ApiRouter;
use app::{
    App,
    config::{AuthMode, Config},
    library::IndexStatus,
    per_user::PerUser,
};
use axum::{Router, extract::DefaultBodyLimit, middleware};
use engine::UserId;
use tower_http::{catch_panic::CatchPanicLayer, compression::CompressionLayer};

use crate::{
    api,
    artwork::Artwork,
    auth::{self, Auth},
    error::ApiError,
    import_queue::ImportQueue,
    open_requests::OpenRequests,
    openapi, protocols,
    recent::Recent,
    request_metrics,
    request_rate::RequestRate,
    security_headers, ui,
};

/// What handlers need.
pub struct AppState {
    pub app: Arc<App>,
    pub auth: Auth,
    pub(crate) open_requests: OpenRequests<UserId>,
    pub(crate) request_rate: RequestRate,
    /// Held until the response begins; a streamed answer holds none.
    pub(crate) work_share: PerUser,
    /// By address, on routes without authentication.
    pub(crate) public_requests: OpenRequests<IpAddr>,
    pub(crate) imports: ImportQueue,
    pub(crate) index_status: Recent<Option<IndexStatus>>,
    pub(crate) database_answers: Recent<bool>,
    pub(crate) artwork: Artwork,
}

pub(crate) type Routes = ApiRouter<Arc<AppState>>;

const MAX_BODY_BYTES: usize = 256 * 1024;
/// Requests without authentication that one address may have open.
const PUBLIC_REQUESTS: Option<NonZeroUsize> = NonZeroUsize::new(32);
/// Requests of one user that are worked on at once: fewer than the database connections. With two imports and three JSON
/// answers, requests of the page can still run.
const WORKED_ON_AT_ONCE: Option<NonZeroUsize> = NonZeroUsize::new(8);
/// How long a database check is reused before the next one.
const READINESS_KEEPS: Duration = Duration::from_millis(250);
/// How long the index state is reused before it is computed again.
const INDEX_STATUS_KEEPS: Duration = Duration::from_secs(5);

pub fn router(app: Arc<App>) -> Router {
    let state = Arc::new(AppState {
        auth: Auth::new(&app.config),
        open_requests: OpenRequests::up_to(app.config.open_requests),
        request_rate: RequestRate::new(app.config.requests_per_second),
        work_share: PerUser::new(app.config.open_requests.and(WORKED_ON_AT_ONCE)),
        public_requests: OpenRequests::up_to(public_share(&app.config)),
        imports: ImportQueue::new(),
        index_status: Recent::new(INDEX_STATUS_KEEPS),
        database_answers: Recent::new(READINESS_KEEPS),
        artwork: Artwork::new(&app.config.artwork_hosts),
        app,
    });
    let policy = security_headers::policy(&state.app.config);
    let mut document = openapi::beginning();
    let router = ApiRouter::new()
        .merge(
            private(&state)
                .layer(middleware::from_fn_with_state(state.clone(), auth::identify))
                .layer(middleware::from_fn(protocols::resource_metadata::point_to)),
        )
        .merge(public().layer(middleware::from_fn_with_state(state.clone(), auth::share_of_address)))
        .merge(api::health::routes())
        .merge(
            api::health::operator_routes().layer(middleware::from_fn_with_state(state.clone(), auth::operators_only)),
        )
        .fallback_service(page())
        .finish_api_with(&mut document, |api| openapi::with_tool_outputs(api, &state.app.own_tools))
        .with_state(state.clone());
    openapi::serve(router, document, &state.app.own_tools)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(middleware::from_fn_with_state(state.clone(), auth::refuse_others))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn_with_state(state, request_metrics::count))
        .layer(middleware::from_fn_with_state(policy, security_headers::set))
}

/// In local mode there is only one user, so addresses are not limited.
fn public_share(config: &Config) -> Option<NonZeroUsize> {
    PUBLIC_REQUESTS.filter(|_| config.auth != AuthMode::Local)
}

/// Routes that require authentication.
fn private(state: &Arc<AppState>) -> Routes {
    Routes::new().merge(chat_protocols()).merge(protocols::mcp::routes(state)).merge(api::routes())
}

/// The protocols of front ends. The API documentation shows them in one group.
fn chat_protocols() -> Routes {
    Routes::new()
        .merge(protocols::native::routes())
        .merge(protocols::user_chat::routes())
        .merge(protocols::ai_sdk::routes())
        .merge(protocols::chatkit::routes())
        .merge(protocols::ag_ui::routes())
        .with_path_items(|path| path.tag(openapi::CHAT))
}

/// Routes without authentication: they return no user data.
fn public() -> Routes {
    Routes::new().merge(api::public_routes()).merge(protocols::resource_metadata::routes())
}

/// All other paths belong to the page. Only its files are compressed, because a compressor would delay events.
fn page() -> Router {
    Router::new().fallback(ui::serve).layer(CompressionLayer::new())
}

fn panicked(_: Box<dyn std::any::Any + Send>) -> axum::response::Response {
    use axum::response::IntoResponse;
    tracing::error!("A handler panicked");
    let status = axum::http::StatusCode::INTERNAL_SERVER_ERROR;
    ApiError::new(status, "INTERNAL_ERROR", "Something went wrong.").into_response()
}
