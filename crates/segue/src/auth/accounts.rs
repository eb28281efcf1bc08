//! Built-in accounts: a session cookie for the page, a bearer token for scripts.

use std::time::{Duration, Instant};

use app::{
    Error,
    services::accounts::{self as service, Account, AccountName, KeyKind, NewKey},
};
use axum::http::{HeaderMap, HeaderValue, Method, header};
use chrono::{DateTime, TimeDelta, Utc};
use engine::UserId;

use super::{
    Caller, Peer, bearer, csrf,
    keys::{Key, hash_of},
    local,
    passwords::Passwords,
    please_sign_in,
    throttle::Throttle,
};
use crate::error::ApiError;

const COOKIE: &str = "segue_session";
/// A session ends when it was not used for this long.
const SESSION_DAYS: i64 = 30;
/// A session in use is extended once a day, not with every request.
const EXTEND_BELOW_DAYS: i64 = 29;
pub(crate) const TOKEN_PREFIX: &str = "segue_";

/// Signing in and up.
pub struct Accounts {
    pub(crate) passwords: Passwords,
    throttle: Throttle,
}

/// A new session: what the cookie holds.
pub(crate) struct Session(pub(crate) String);

impl Accounts {
    pub(super) fn new() -> Self {
        Self { passwords: Passwords::new(), throttle: Throttle::default() }
    }

    /// The same answer in the same time, whether the name or the password is wrong.
    pub(crate) async fn sign_in(
        &self,
        service: &service::Accounts,
        peer: Peer,
        name: &str,
        password: String,
    ) -> Result<(Caller, Session), ApiError> {
        let caller = self.check_password(service, peer, name, password).await?;
        let account = caller.id.as_str().parse().map_err(|_| ApiError::internal())?;
        let key = Key::new("").map_err(no_randomness)?;
        service.add_key(account, &session_key(&key)).await?;
        Ok((caller, Session(key.text)))
    }

    /// Throttled like a sign-in: otherwise a stolen session could try passwords.
    pub(crate) async fn check_password(
        &self,
        service: &service::Accounts,
        peer: Peer,
        name: &str,
        password: String,
    ) -> Result<Caller, ApiError> {
        self.refuse_if_throttled(name, peer)?;
        let found = service.credentials(name).await?;
        let hash = found.as_ref().map(|found| found.password_hash.clone());
        if self.passwords.verify(password, hash).await?
            && let Some(found) = found
        {
            self.throttle.succeeded(name, peer.address);
            return Ok(Caller { id: UserId::new(found.id.to_string()), name: found.name });
        }
        self.throttle.failed(name, peer.address, Instant::now());
        Err(ApiError::unauthorized("The name or the password is wrong."))
    }

    /// Accepts an invitation and signs in. Guessing invitations is throttled like guessing passwords.
    pub(crate) async fn sign_up(
        &self,
        service: &service::Accounts,
        peer: Peer,
        invitation: &str,
        name: AccountName,
        password: String,
    ) -> Result<(Account, Session), ApiError> {
        const GUESSED: &str = "\0invitation";
        self.refuse_if_throttled(GUESSED, peer)?;
        let invitation = hash_of(invitation);
        if !service.is_invited(&invitation).await? {
            self.throttle.failed(GUESSED, peer.address, Instant::now());
            return Err(no_invitation());
        }
        let hash = self.passwords.hash(password).await?;
        let account = service.accept_invitation(&invitation, name, &hash).await.map_err(|error| match error {
            Error::NotFound => no_invitation(),
            other => other.into(),
        })?;
        let key = Key::new("").map_err(no_randomness)?;
        service.add_key(account.id, &session_key(&key)).await?;
        Ok((account, Session(key.text)))
    }

    /// A new password ends every session and token; the one who changed it gets a new session.
    pub(crate) async fn change_password(
        &self,
        service: &service::Accounts,
        caller: &Caller,
        next: String,
    ) -> Result<Session, ApiError> {
        let account = caller.id.as_str().parse().map_err(|_| ApiError::internal())?;
        let hash = self.passwords.hash(next).await?;
        let key = Key::new("").map_err(no_randomness)?;
        service.change_password(account, &hash, &session_key(&key)).await?;
        Ok(Session(key.text))
    }

    fn refuse_if_throttled(&self, name: &str, peer: Peer) -> Result<(), ApiError> {
        match self.throttle.wait(name, peer.address, Instant::now()) {
            Some(wait) => Err(ApiError::rate_limited("Too many attempts. Please wait.", wait.as_secs().max(1))),
            None => Ok(()),
        }
    }
}

/// A token if there is one, else the cookie; never the other after one was refused.
pub(super) async fn caller(
    service: &service::Accounts,
    method: &Method,
    headers: &HeaderMap,
) -> Result<Caller, ApiError> {
    if let Some(token) = bearer(headers)? {
        let holder = service.key_holder(&hash_of(token), KeyKind::Token).await?.ok_or_else(please_sign_in)?;
        return Ok(Caller { id: UserId::new(holder.id.to_string()), name: holder.name });
    }
    let hash = hash_of(&session(headers).ok_or_else(please_sign_in)?);
    let holder = service.key_holder(&hash, KeyKind::Session).await?.ok_or_else(please_sign_in)?;
    csrf::check(method, headers)?;
    if holder.expires_at.is_some_and(|at| at < Utc::now() + TimeDelta::days(EXTEND_BELOW_DAYS)) {
        service.extend_key(&hash, session_end()).await?;
    }
    Ok(Caller { id: UserId::new(holder.id.to_string()), name: holder.name })
}

/// The session in the cookie, if there is one.
pub(crate) fn session(headers: &HeaderMap) -> Option<String> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, value)| *name == COOKIE && !value.is_empty()).map(|(_, value)| value.to_owned())
}

pub(crate) fn set_cookie(headers: &HeaderMap, session: &Session) -> HeaderValue {
    let age = Duration::from_secs(SESSION_DAYS.unsigned_abs() * 24 * 60 * 60).as_secs();
    cookie(headers, &session.0, age)
}

pub(crate) fn clear_cookie(headers: &HeaderMap) -> HeaderValue {
    cookie(headers, "", 0)
}

/// `Secure` everywhere but on this very machine, where there is no TLS and no one in between.
fn cookie(headers: &HeaderMap, value: &str, age_seconds: u64) -> HeaderValue {
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let secure = if local::is_loopback(host) { "" } else { "; Secure" };
    let text = format!("{COOKIE}={value}; Path=/; Max-Age={age_seconds}; HttpOnly; SameSite=Lax{secure}");
    HeaderValue::from_str(&text).expect("a key is base64, the rest is ours")
}

fn session_key(key: &Key) -> NewKey {
    NewKey { hash: key.hash, kind: KeyKind::Session, expires_at: Some(session_end()) }
}

fn session_end() -> DateTime<Utc> {
    Utc::now() + TimeDelta::days(SESSION_DAYS)
}

fn no_invitation() -> ApiError {
    ApiError::invalid_field("invitation", "This invitation is not valid, or not any more.")
}

fn no_randomness(error: anyhow::Error) -> ApiError {
    tracing::error!("{error:#}");
    ApiError::internal()
}
