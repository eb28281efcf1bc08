//! Built-in accounts: a session cookie for the page, a bearer token for scripts.

use app::{
    Error,
    services::accounts::{self as service, Account, CheckedName, KeyHolder, KeyKind, NewKey},
};
use axum::http::{HeaderMap, HeaderValue, Method, header};
use chrono::TimeDelta;
use engine::UserId;

use super::{
    Admitted, Caller, Peer, bearer, csrf,
    keys::{RandomKey, hash_of},
    local,
    passwords::Passwords,
    please_sign_in,
    throttle::Subjects,
};
use crate::error::ApiError;

const COOKIE: &str = "segue_session";
/// With this prefix and `Secure`, browsers do not let other hosts of the domain set the cookie. Cookies of version
/// 0.1 stay valid.
const HOST_COOKIE: &str = "__Host-segue_session";
/// A session ends after this many days without use.
const SESSION_LASTS: TimeDelta = TimeDelta::days(30);
/// A session in use is extended once a day, not with every request.
const EXTEND_BELOW_DAYS: i64 = 29;
pub(crate) const TOKEN_PREFIX: &str = "segue_";

/// Sign-in and sign-up.
pub struct AccountAuth {
    pub(crate) passwords: Passwords,
}

/// A new session: the value of the cookie.
pub(crate) struct Session(pub(crate) String);

impl AccountAuth {
    pub(super) fn new() -> Self {
        Self { passwords: Passwords::new() }
    }

    /// A wrong name and a wrong password give the same response in the same time.
    pub(crate) async fn sign_in(
        &self,
        service: &service::Accounts,
        peer: Peer,
        name: &str,
        password: String,
    ) -> Result<(Caller, Session), ApiError> {
        let caller = self.check_password(service, peer, name, password).await?;
        let account = caller.id.as_str().parse().map_err(|_| ApiError::internal())?;
        let key = RandomKey::new("").map_err(no_randomness)?;
        service.add_key(account, &session_key(&key)).await?;
        Ok((caller, Session(key.text)))
    }

    /// Throttled like a sign-in: otherwise a stolen session could guess the password. The attempt is counted before
    /// the password is hashed, so that cancelled or concurrent requests are counted too.
    pub(crate) async fn check_password(
        &self,
        service: &service::Accounts,
        peer: Peer,
        name: &str,
        password: String,
    ) -> Result<Caller, ApiError> {
        let subjects = Subjects::of(name, peer.address);
        count(service, &subjects).await?;
        let found = service.credentials(name).await?;
        let hash = found.as_ref().map(|found| found.password_hash.clone());
        let is_right = match self.passwords.verify(password, hash).await {
            Ok(is_right) => is_right,
            Err(busy) => {
                service.take_attempt_back(&subjects.all).await?;
                return Err(busy);
            }
        };
        match found.filter(|_| is_right) {
            Some(found) => {
                service.take_attempt_back(&subjects.all).await?;
                service.forget_attempts(&subjects.name_from_address).await?;
                let id = UserId::new(found.id.to_string());
                Ok(Caller { id, name: found.name, is_operator: found.is_operator })
            }
            None => Err(ApiError::unauthorized("The name or the password is wrong.")),
        }
    }

    /// Accepts an invitation and signs in. Guessing invitations is throttled like guessing passwords.
    pub(crate) async fn sign_up(
        &self,
        service: &service::Accounts,
        peer: Peer,
        invitation: &str,
        name: &CheckedName,
        password: String,
    ) -> Result<(Account, Session), ApiError> {
        let subjects = Subjects::of("\0invitation", peer.address);
        count(service, &subjects).await?;
        let invitation = hash_of(invitation);
        if !service.is_invited(&invitation).await? {
            return Err(no_invitation());
        }
        service.take_attempt_back(&subjects.all).await?;
        let hash = self.passwords.hash(password).await?;
        let account = service.accept_invitation(&invitation, name, &hash).await.map_err(|error| match error {
            Error::NotFound => no_invitation(),
            other => other.into(),
        })?;
        let key = RandomKey::new("").map_err(no_randomness)?;
        service.add_key(account.id, &session_key(&key)).await?;
        Ok((account, Session(key.text)))
    }

    /// A new password revokes every session and token; the user who changed it gets a new session.
    pub(crate) async fn change_password(
        &self,
        service: &service::Accounts,
        caller: &Caller,
        next: String,
    ) -> Result<Session, ApiError> {
        let account = caller.id.as_str().parse().map_err(|_| ApiError::internal())?;
        let hash = self.passwords.hash(next).await?;
        let key = RandomKey::new("").map_err(no_randomness)?;
        service.change_password(account, &hash, &session_key(&key)).await?;
        Ok(Session(key.text))
    }
}

/// Counts an attempt, or rejects it.
async fn count(service: &service::Accounts, subjects: &Subjects) -> Result<(), ApiError> {
    match service.count_attempt(&subjects.all).await? {
        Some(wait) => {
            let seconds = wait.num_seconds().max(1).unsigned_abs();
            Err(ApiError::rate_limited("Too many attempts. Please wait.", seconds))
        }
        None => Ok(()),
    }
}

/// The caller by the bearer token if there is one, else by the cookie. An invalid token never falls back to the
/// cookie.
pub(super) async fn caller(
    service: &service::Accounts,
    method: &Method,
    headers: &HeaderMap,
) -> Result<Admitted, ApiError> {
    if let Some(token) = bearer(headers)? {
        let holder = service.key_holder(&hash_of(token), KeyKind::Token).await?.ok_or_else(please_sign_in)?;
        return Ok(Caller::from(holder).into());
    }
    let session = session(headers).ok_or_else(please_sign_in)?;
    let hash = hash_of(&session);
    let holder = service.key_holder(&hash, KeyKind::Session).await?.ok_or_else(please_sign_in)?;
    csrf::check(method, headers)?;
    let mut renewed_cookie = None;
    if holder.remains.is_some_and(|remains| remains < TimeDelta::days(EXTEND_BELOW_DAYS)) {
        service.extend_key(&hash, SESSION_LASTS).await?;
        renewed_cookie = Some(set_cookie(headers, &Session(session)));
    }
    Ok(Admitted { caller: holder.into(), renewed_cookie })
}

impl From<KeyHolder> for Caller {
    fn from(holder: KeyHolder) -> Self {
        Self { id: UserId::new(holder.id.to_string()), name: holder.name, is_operator: holder.is_operator }
    }
}

/// The session in the cookie, if there is one.
fn session(headers: &HeaderMap) -> Option<String> {
    sessions(headers).into_iter().next()
}

/// All session cookies of a request: one, or two after an update from 0.1. The newer cookie is first.
pub(crate) fn sessions(headers: &HeaderMap) -> Vec<String> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = cookies.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let pairs: Vec<_> = pairs.filter(|(_, value)| !value.is_empty()).collect();
    let named = |wanted| pairs.iter().find(|(name, _)| *name == wanted).map(|(_, value)| (*value).to_owned());
    [HOST_COOKIE, COOKIE].into_iter().filter_map(named).collect()
}

pub(crate) fn set_cookie(headers: &HeaderMap, session: &Session) -> HeaderValue {
    cookie(headers, &session.0, SESSION_LASTS.num_seconds().unsigned_abs())
}

/// Headers that delete every Segue cookie, including that of 0.1.
pub(crate) fn clear_cookies(headers: &HeaderMap) -> Vec<HeaderValue> {
    let old = HeaderValue::from_static("segue_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax");
    vec![cookie(headers, "", 0), old]
}

/// `Secure` except on the loopback, where there is no TLS and no network in between.
pub(super) fn cookie(headers: &HeaderMap, value: &str, age_seconds: u64) -> HeaderValue {
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let (name, secure) = if local::is_loopback(host) { (COOKIE, "") } else { (HOST_COOKIE, "; Secure") };
    let text = format!("{name}={value}; Path=/; Max-Age={age_seconds}; HttpOnly; SameSite=Lax{secure}");
    HeaderValue::from_str(&text).expect("keys, tokens and the fixed parts are ASCII")
}

fn session_key(key: &RandomKey) -> NewKey {
    NewKey { hash: key.hash, kind: KeyKind::Session, lasts: Some(SESSION_LASTS) }
}

fn no_invitation() -> ApiError {
    ApiError::invalid_field("invitation", "This invitation is not valid or has expired.")
}

fn no_randomness(error: anyhow::Error) -> ApiError {
    tracing::error!("{error:#}");
    ApiError::internal()
}
