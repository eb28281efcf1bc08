//! Operator access: from this machine, or with the operator's token.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};

use app::{Operator, config::Config};

use super::{Caller, Peer, bearer, keys::hash_of};
use crate::{error::ApiError, router::AppState};

impl Caller {
    /// `None` if the caller may not change the installation's settings. In `local` mode the only user may.
    pub(crate) fn operator(&self, config: &Config) -> Option<Operator> {
        Operator::proven(config, &self.id, &self.name, self.is_operator)
    }
}

/// A layer for `/metrics`. Tokens of ordinary users are rejected.
pub(crate) async fn operators_only(State(state): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    let expected = state.app.config.metrics_token.as_ref();
    let given = bearer(request.headers()).ok().flatten();
    // Hashes are compared, so that the time of the comparison reveals nothing about the token.
    let is_operator = match (expected, given) {
        (Some(expected), Some(given)) => hash_of(expected.expose()) == hash_of(given),
        _ => Peer::of(request.extensions(), request.headers(), &state.app.config.trusted_proxies).is_this_machine(),
    };
    if is_operator { next.run(request).await } else { ApiError::not_found().into_response() }
}
