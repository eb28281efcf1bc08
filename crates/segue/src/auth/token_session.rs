//! A session of the page where an external issuer creates the tokens: a cookie that contains the token and expires with
//! it.
//!
//! Every request verifies the token again, on every node; no node stores a session.

use axum::http::{HeaderMap, HeaderValue};
use chrono::{DateTime, Utc};

use super::{Admitted, accounts, bearer, csrf, jwt::Verifier, please_sign_in};
use crate::error::ApiError;

/// Browsers drop a cookie of more than 4096 bytes, its name and attributes included.
const MAX_COOKIE_TOKEN_BYTES: usize = 3800;

/// The result of exchanging a token.
pub(crate) struct TokenSession {
    pub(crate) cookie: HeaderValue,
    pub(crate) ends_at: DateTime<Utc>,
}

/// Uses the token in the header if there is one, otherwise the token in the cookie. A rejected token in the header
/// never falls back to the cookie.
pub(super) async fn caller(
    verifier: &Verifier,
    method: &axum::http::Method,
    headers: &HeaderMap,
) -> Result<Admitted, ApiError> {
    if let Some(token) = bearer(headers)? {
        return Ok(verifier.verified(token).await?.caller.into());
    }
    let session = accounts::sessions(headers).into_iter().next();
    let token = session.filter(|_| verifier.has_page).ok_or_else(please_sign_in)?;
    let verified = verifier.verified(&token).await?;
    csrf::check(method, headers)?;
    Ok(verified.caller.into())
}

/// The cookie for the bearer token of this request.
pub(super) async fn begin(verifier: &Verifier, headers: &HeaderMap) -> Result<TokenSession, ApiError> {
    if !verifier.has_page {
        return Err(ApiError::not_found());
    }
    csrf::check_if_browser(headers)?;
    let token = bearer(headers)?.ok_or_else(please_sign_in)?;
    let ends_at = verifier.verified(token).await?.expires_at;
    if token.len() > MAX_COOKIE_TOKEN_BYTES {
        return Err(ApiError::invalid(format!(
            "The token has {} bytes and a cookie holds {MAX_COOKIE_TOKEN_BYTES}; let the issuer leave claims out of it.",
            token.len()
        )));
    }
    let seconds_left = (ends_at - Utc::now()).num_seconds().max(0).unsigned_abs();
    Ok(TokenSession { cookie: accounts::cookie(headers, token, seconds_left), ends_at })
}
