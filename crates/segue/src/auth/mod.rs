//! Authentication: the only place that turns a request into a caller.

mod accounts;
pub(crate) mod csrf;
mod jwks;
mod jwt;
pub mod keys;
mod local;
mod operator;
pub mod passwords;
mod peer;
mod public;
mod throttle;
mod token_session;

use std::{sync::Arc, time::Instant};

use aide::{OperationInput, generate::GenContext, openapi::Operation};
use app::{
    App,
    config::{AuthMode, Config},
};
use axum::{
    extract::{FromRequestParts, Request, State},
    http::{HeaderMap, HeaderValue, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use engine::UserId;

pub(crate) use accounts::{AccountAuth, Session, TOKEN_PREFIX, clear_cookies, sessions, set_cookie};
pub(crate) use local::refuse_others;
pub(crate) use operator::operators_only;
pub(crate) use peer::Peer;
pub(crate) use public::share_of_address;
pub(crate) use throttle::network_of;
pub(crate) use token_session::TokenSession;

use crate::{error::ApiError, router::AppState};

/// The only user of `local` mode.
pub const LOCAL_USER: &str = "local";

/// An authenticated user.
#[derive(Clone, Debug)]
pub struct Caller {
    pub id: UserId,
    pub name: String,
    /// Set for an account that was added as an operator.
    pub(crate) is_operator: bool,
}

/// A caller, and a cookie for the browser.
struct Admitted {
    caller: Caller,
    /// Set if the session was extended, so that the cookie is extended too.
    renewed_cookie: Option<HeaderValue>,
}

impl From<Caller> for Admitted {
    fn from(caller: Caller) -> Self {
        Self { caller, renewed_cookie: None }
    }
}

/// The authentication mode.
pub enum Auth {
    /// Every caller on this machine is the one user.
    Local,
    Accounts(AccountAuth),
    Jwt(jwt::Verifier),
}

impl Auth {
    pub fn new(config: &Config) -> Self {
        match (config.auth, &config.jwt) {
            (AuthMode::Local, _) => Auth::Local,
            (AuthMode::Accounts, _) => Auth::Accounts(AccountAuth::new()),
            (AuthMode::Jwt, Some(jwt)) => Auth::Jwt(jwt::Verifier::new(jwt)),
            (AuthMode::Jwt, None) => unreachable!("settings without keys are refused when they are read"),
        }
    }

    /// The built-in accounts, if the mode has them.
    pub(crate) fn accounts(&self) -> Result<&AccountAuth, ApiError> {
        match self {
            Auth::Accounts(accounts) => Ok(accounts),
            Auth::Local | Auth::Jwt(_) => Err(ApiError::not_found()),
        }
    }

    /// The page's session for the token of this request, if an external issuer creates the tokens.
    pub(crate) async fn token_session(&self, headers: &HeaderMap) -> Result<TokenSession, ApiError> {
        match self {
            Auth::Jwt(verifier) => token_session::begin(verifier, headers).await,
            Auth::Local | Auth::Accounts(_) => Err(ApiError::not_found()),
        }
    }

    /// Whether people sign in on the page.
    pub(crate) fn has_page_sessions(&self) -> bool {
        match self {
            Auth::Local => false,
            Auth::Accounts(_) => true,
            Auth::Jwt(verifier) => verifier.has_page,
        }
    }

    async fn caller(&self, app: &App, request: &Parts) -> Result<Admitted, ApiError> {
        match self {
            // In local mode, `local::refuse_others` has already checked the request.
            Auth::Local => Ok(Caller { id: UserId::new(LOCAL_USER), name: "You".into(), is_operator: true }.into()),
            Auth::Accounts(_) => accounts::caller(app.accounts(), &request.method, &request.headers).await,
            Auth::Jwt(verifier) => token_session::caller(verifier, &request.method, &request.headers).await,
        }
    }
}

/// Authenticates a request before any handler runs.
pub async fn identify(State(state): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let Admitted { caller, renewed_cookie } = match state.auth.caller(&state.app, &parts).await {
        Ok(admitted) => admitted,
        Err(refusal) => return refusal.into_response(),
    };
    if let Err(refusal) = state.request_rate.count(&caller.id, Instant::now()) {
        return refusal.into_response();
    }
    let place = match state.open_requests.enter(&caller.id) {
        Ok(place) => place,
        Err(refusal) => return refusal.into_response(),
    };
    let working = state.work_share.enter(&caller.id).await;
    parts.extensions.insert(caller);
    let mut response = place.held_by(next.run(Request::from_parts(parts, body)).await);
    drop(working);
    if let Some(cookie) = renewed_cookie {
        // A handler that signs in or out has set its own cookie.
        response.headers_mut().entry(header::SET_COOKIE).or_insert(cookie);
    }
    response
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        parts.extensions.get::<Caller>().cloned().ok_or_else(please_sign_in)
    }
}

impl OperationInput for Caller {
    fn operation_input(_: &mut GenContext, operation: &mut Operation) {
        operation.security.push([("bearer".to_owned(), Vec::new())].into_iter().collect());
    }
}

fn please_sign_in() -> ApiError {
    ApiError::unauthorized("Please sign in.")
}

/// The bearer token, if the header is there. Any other value, or a repeated header, is rejected.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, ApiError> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let token = value.to_str().ok().and_then(|text| {
        let (scheme, token) = text.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
    });
    match token {
        Some(token) if !token.is_empty() && values.next().is_none() => Ok(Some(token)),
        _ => Err(ApiError::unauthorized("The Authorization header must be 'Bearer' and one token.")),
    }
}
