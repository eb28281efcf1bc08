//! What only the operator may see: from this machine, or with the operator's token.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};

use app::config::{AuthMode, Config};

use super::{Caller, Peer, bearer, keys::hash_of};
use crate::{error::ApiError, router::AppState};

impl Caller {
    /// Whether they may change the installation's settings. In `local` mode there is only one person.
    pub(crate) fn is_operator(&self, config: &Config) -> bool {
        // The name in another issuer's token is often what its user typed: only the subject counts there.
        let has_own_names = config.auth == AuthMode::Accounts;
        let is_named = |name: &String| *name == self.id.as_str() || (has_own_names && *name == self.name);
        config.auth == AuthMode::Local || config.operators.iter().any(is_named)
    }
}

/// A layer for `/metrics`. Users are not operators: their tokens do not open it.
pub async fn operators_only(State(state): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    let expected = state.app.config.metrics_token.as_ref();
    let given = bearer(request.headers()).ok().flatten();
    // Hashes are compared: how long that takes says nothing about the token.
    let is_operator = match (expected, given) {
        (Some(expected), Some(given)) => hash_of(expected.expose()) == hash_of(given),
        _ => Peer::of(request.extensions(), request.headers(), &state.app.config.trusted_proxies).is_this_machine(),
    };
    if is_operator { next.run(request).await } else { ApiError::not_found().into_response() }
}
