//! Sign-in, sign-up, sign-out and passwords of built-in accounts, and sessions for another issuer's tokens.

use app::services::accounts::{AccountName, CheckedName};
use axum::{http::HeaderMap, response::AppendHeaders};
use chrono::{DateTime, Utc};
use engine::UserId;

use super::prelude::*;
use crate::auth::{Peer, Session, clear_cookies, csrf, keys::hash_of, passwords, sessions, set_cookie};

/// Routes without authentication: sign-in and sign-up.
pub(crate) fn public_routes() -> Routes {
    Routes::new()
        .api_route(
            "/api/auth/sign-in",
            post_with(sign_in, |op| {
                op.summary("Sign in; the response sets a session cookie").response::<200, Json<SignedIn>>()
            }),
        )
        .api_route(
            "/api/auth/sign-up",
            post_with(sign_up, |op| {
                op.summary("Create an account with an invitation").response::<201, Json<SignedIn>>()
            }),
        )
}

pub(super) fn routes() -> Routes {
    Routes::new()
        .api_route(
            "/api/auth/session",
            post_with(begin_session, |op| {
                op.summary("Exchange a token of the issuer for a session cookie that expires with the token")
                    .response::<200, Json<TokenSessionBody>>()
            }),
        )
        .api_route("/api/auth/sign-out", post_with(sign_out, |op| op.summary("End this session").response::<204, ()>()))
        .api_route(
            "/api/auth/sign-out-everywhere",
            post_with(sign_out_everywhere, |op| {
                op.summary("End every session and token of this account").response::<204, ()>()
            }),
        )
        .api_route(
            "/api/auth/password",
            post_with(change_password, |op| {
                op.summary("Change the password; every other session and token ends").response::<204, ()>()
            }),
        )
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SignIn {
    name: String,
    password: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SignUp {
    /// From `segue user invite`.
    invitation: String,
    name: AccountName,
    /// At least 8 characters.
    password: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ChangePassword {
    current: String,
    /// At least 8 characters.
    next: String,
}

#[derive(Serialize, JsonSchema)]
struct SignedIn {
    id: UserId,
    name: String,
    mode: &'static str,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TokenSessionBody {
    id: UserId,
    name: String,
    mode: &'static str,
    /// When the session ends; a new token before that renews it.
    expires_at: DateTime<Utc>,
}

impl SignedIn {
    fn new(id: UserId, name: String) -> Json<Self> {
        Json(Self { id, name, mode: "accounts" })
    }
}

async fn sign_in(State(state): Shared, peer: Peer, headers: HeaderMap, Json(body): Json<SignIn>) -> Result<Response> {
    let accounts = state.auth.accounts()?;
    csrf::check_if_browser(&headers)?;
    let (caller, session) = accounts.sign_in(state.app.accounts(), peer, &body.name, body.password).await?;
    Ok(with_session(&headers, &session, SignedIn::new(caller.id, caller.name)))
}

async fn sign_up(State(state): Shared, peer: Peer, headers: HeaderMap, Json(body): Json<SignUp>) -> Result<Response> {
    let accounts = state.auth.accounts()?;
    csrf::check_if_browser(&headers)?;
    let name = CheckedName::of(body.name)?;
    check_new_password("password", &body.password)?;
    let (account, session) =
        accounts.sign_up(state.app.accounts(), peer, &body.invitation, &name, body.password).await?;
    let signed_in = SignedIn::new(account.owner(), account.name);
    Ok(with_session(&headers, &session, (StatusCode::CREATED, signed_in)))
}

/// Only with `SEGUE_AUTH=jwt`.
async fn begin_session(State(state): Shared, caller: Caller, headers: HeaderMap) -> Result<Response> {
    let session = state.auth.token_session(&headers).await?;
    let body = TokenSessionBody { id: caller.id, name: caller.name, mode: "jwt", expires_at: session.ends_at };
    Ok(([(header::SET_COOKIE, session.cookie)], Json(body)).into_response())
}

async fn sign_out(State(state): Shared, _: Caller, headers: HeaderMap) -> Result<Response> {
    if !state.auth.has_page_sessions() {
        return Err(ApiError::not_found());
    }
    // With another issuer the server stores no session, so clearing the cookie ends it.
    if state.auth.accounts().is_ok() {
        for session in sessions(&headers) {
            state.app.accounts().revoke_key(&hash_of(&session)).await?;
        }
    }
    Ok(signed_out(&headers))
}

async fn sign_out_everywhere(State(state): Shared, caller: Caller, headers: HeaderMap) -> Result<Response> {
    state.auth.accounts()?;
    let account = caller.id.as_str().parse().map_err(|_| ApiError::internal())?;
    state.app.accounts().revoke_all_keys(account).await?;
    Ok(signed_out(&headers))
}

async fn change_password(
    State(state): Shared,
    peer: Peer,
    caller: Caller,
    headers: HeaderMap,
    Json(body): Json<ChangePassword>,
) -> Result<Response> {
    let accounts = state.auth.accounts()?;
    check_new_password("next", &body.next)?;
    let service = state.app.accounts();
    accounts.check_password(service, peer, &caller.name, body.current).await.map_err(|refusal| {
        // The caller is signed in: a wrong password is an invalid field (400), not a missing sign-in (401).
        if refusal.status == StatusCode::UNAUTHORIZED {
            ApiError::invalid_field("current", "This is not your password.")
        } else {
            refusal
        }
    })?;
    let session = accounts.change_password(service, &caller, body.next).await?;
    Ok(with_session(&headers, &session, StatusCode::NO_CONTENT))
}

fn with_session(headers: &HeaderMap, session: &Session, response: impl IntoResponse) -> Response {
    ([(header::SET_COOKIE, set_cookie(headers, session))], response).into_response()
}

fn signed_out(headers: &HeaderMap) -> Response {
    let cleared = clear_cookies(headers).into_iter().map(|cookie| (header::SET_COOKIE, cookie));
    (AppendHeaders(cleared), StatusCode::NO_CONTENT).into_response()
}

fn check_new_password(field: &'static str, password: &str) -> Result<()> {
    passwords::problem_with(password).map_or(Ok(()), |problem| Err(ApiError::invalid_field(field, problem)))
}
