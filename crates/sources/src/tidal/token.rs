//! The access token: fetched once for all callers and renewed before it expires.

use std::{fmt, sync::Arc, time::Duration};

use serde::Deserialize;
use tokio::{sync::Mutex, time::Instant};

use super::{connection::body, error::TidalError};

/// A token is renewed this long before it expires, so that it stays valid for the duration of a call.
const RENEW_EARLY: Duration = Duration::from_secs(60);
/// The assumed lifetime if Tidal sends none. Tidal sends 14400 or 86400.
const DEFAULT_LIFE_S: u64 = 3600;

/// Credentials of an application registered at developer.tidal.com.
#[derive(Clone, PartialEq, Eq)]
pub struct TidalCredentials {
    pub client_id: String,
    pub client_secret: String,
}

impl fmt::Debug for TidalCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("client_id", &self.client_id).finish_non_exhaustive()
    }
}

pub(super) struct Tokens {
    credentials: TidalCredentials,
    url: String,
    /// Locked while a token is fetched: concurrent callers wait for that token instead of fetching another.
    current: Mutex<Option<Token>>,
}

#[derive(Clone)]
struct Token {
    text: Arc<str>,
    renew_at: Instant,
}

#[derive(Deserialize)]
struct Granted {
    access_token: String,
    expires_in: Option<u64>,
}

impl Tokens {
    pub(super) fn new(credentials: TidalCredentials, auth_url: &str) -> Self {
        Self { credentials, url: format!("{auth_url}/oauth2/token"), current: Mutex::new(None) }
    }

    /// A token that is valid for at least the next minute.
    pub(super) async fn current(&self, http: &reqwest::Client) -> Result<Arc<str>, TidalError> {
        self.other_than(http, None).await
    }

    /// A new token after Tidal rejected `rejected`. If another caller has already renewed it, that token is returned.
    pub(super) async fn renewed(&self, http: &reqwest::Client, rejected: &str) -> Result<Arc<str>, TidalError> {
        self.other_than(http, Some(rejected)).await
    }

    async fn other_than(&self, http: &reqwest::Client, rejected: Option<&str>) -> Result<Arc<str>, TidalError> {
        let mut current = self.current.lock().await;
        let usable = |token: &&Token| Instant::now() < token.renew_at && rejected != Some(&token.text);
        if let Some(token) = current.as_ref().filter(usable) {
            return Ok(token.text.clone());
        }
        let token = self.fetch(http).await?;
        let text = token.text.clone();
        *current = Some(token);
        Ok(text)
    }

    async fn fetch(&self, http: &reqwest::Client) -> Result<Token, TidalError> {
        let form = [
            ("grant_type", "client_credentials"),
            ("client_id", &self.credentials.client_id),
            ("client_secret", &self.credentials.client_secret),
        ];
        let asked_at = Instant::now();
        let response = http.post(&self.url).form(&form).send().await.map_err(TidalError::from_transport)?;
        let status = response.status();
        let body = body(response).await?;
        if !status.is_success() {
            return Err(match TidalError::from_status(status, &body) {
                // A 404 here means a wrong URL, not a missing album.
                TidalError::NotFound(reason) => TidalError::Refused(format!("the token URL is wrong: {reason}")),
                other => other,
            });
        }
        let granted: Granted = serde_json::from_slice(&body)
            .map_err(|_| TidalError::Broken("the token service sent no access token".into()))?;
        let life = Duration::from_secs(granted.expires_in.unwrap_or(DEFAULT_LIFE_S));
        Ok(Token { text: granted.access_token.into(), renew_at: asked_at + useful_part(life) })
    }
}

/// The lifetime minus one minute; half of a lifetime that is shorter than two minutes.
fn useful_part(life: Duration) -> Duration {
    life.saturating_sub(RENEW_EARLY).max(life / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_renewed_a_minute_early() {
        for (life_s, useful_s) in [(86_400, 86_340), (14_400, 14_340), (121, 61), (120, 60), (60, 30), (0, 0)] {
            assert_eq!(useful_part(Duration::from_secs(life_s)), Duration::from_secs(useful_s), "{life_s}");
        }
    }

    #[test]
    fn secrets_are_not_printed() {
        let credentials = TidalCredentials { client_id: "id".into(), client_secret: "hush".into() };
        assert!(!format!("{credentials:?}").contains("hush"));
    }
}
