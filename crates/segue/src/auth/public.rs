//! Routes without authentication: the number of open requests per address.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{Peer, network_of};
use crate::router::AppState;

/// A layer for public routes: one address must not occupy all places with unfinished request bodies.
pub(crate) async fn share_of_address(State(state): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    let peer = Peer::of(request.extensions(), request.headers(), &state.app.config.trusted_proxies);
    match state.public_requests.enter(&network_of(peer.address)) {
        Ok(place) => place.held_by(next.run(request).await),
        Err(refusal) => refusal.into_response(),
    }
}
