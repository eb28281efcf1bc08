//! Counts every request by route and status, and measures the time until its response starts.

use std::{sync::Arc, time::Instant};

use axum::{
    extract::{MatchedPath, Request, State},
    middleware::Next,
    response::Response,
};

use crate::router::AppState;

pub(crate) async fn count(State(state): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    // A path may contain ids; the route pattern does not. A request without a route is for the page.
    let route = request.extensions().get::<MatchedPath>().cloned();
    let method = request.method().clone();
    let response = next.run(request).await;
    let route = route.as_ref().map_or("page", MatchedPath::as_str);
    let method = if matches!(method.as_str(), "GET" | "POST" | "PATCH" | "PUT" | "DELETE" | "OPTIONS" | "HEAD") {
        method.as_str()
    } else {
        "other"
    };
    state.app.observer.metrics.request_answered(method, route, response.status().as_u16(), began.elapsed());
    response
}
