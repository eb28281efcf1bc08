//! The access token: fetched once for everybody, renewed before it ends.

use std::{fmt, sync::Arc, time::Duration};

use serde::Deserialize;
use tokio::{sync::Mutex, time::Instant};

use super::error::TidalError;

/// A token this close to its end is not worth a call that may outlive it.
const RENEW_EARLY: Duration = Duration::from_secs(60);
/// Where Tidal does not say. It says 14400 or 86400.
const UNTOLD_LIFE_S: u64 = 3600;

/// Of an application registered at developer.tidal.com.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    pub client_id: String,
    pub client_secret: String,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("client_id", &self.client_id).finish_non_exhaustive()
    }
}

pub(super) struct Tokens {
    credentials: Credentials,
    url: String,
    /// Held while a token is fetched: whoever comes meanwhile waits for that token instead of fetching another.
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
    pub(super) fn new(credentials: Credentials, auth_url: &str) -> Self {
        Self { credentials, url: format!("{auth_url}/oauth2/token"), current: Mutex::new(None) }
    }

    /// A token that is good for the next minute.
    pub(super) async fn current(&self, http: &reqwest::Client) -> Result<Arc<str>, TidalError> {
        self.other_than(http, None).await
    }

    /// A token after `rejected` was turned down. If somebody else has renewed it meanwhile, theirs is taken.
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
        let body = response.bytes().await.map_err(TidalError::from_transport)?;
        if !status.is_success() {
            return Err(match TidalError::from_status(status, &body) {
                // Says a wrong address, not a missing album.
                TidalError::NotFound(reason) => TidalError::Refused(format!("no token service: {reason}")),
                other => other,
            });
        }
        let granted: Granted =
            serde_json::from_slice(&body).map_err(|_| TidalError::Broken("the token service sent no token".into()))?;
        let life = Duration::from_secs(granted.expires_in.unwrap_or(UNTOLD_LIFE_S));
        Ok(Token { text: granted.access_token.into(), renew_at: asked_at + useful_part(life) })
    }
}

/// All but the last minute; of a token that lives for less than two, the first half.
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
        let credentials = Credentials { client_id: "id".into(), client_secret: "hush".into() };
        assert!(!format!("{credentials:?}").contains("hush"));
    }
}
