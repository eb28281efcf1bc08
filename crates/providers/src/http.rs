//! HTTP access to providers: one connection pool, endpoints with their keys, and the delay between retries.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use engine::ModelError;
use reqwest::{
    Client, RequestBuilder, Response, Url,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
    redirect,
};

use serde_json::Value;

use super::{
    failure::{Failure, Retry},
    quirks::Learned,
};
use http_client::{client_builder, read_at_most, read_start};

/// What was learned, by endpoint and model.
type Known = HashMap<(String, String), Arc<Learned>>;

/// The connections to all providers. Clones are cheap and share the pool.
#[derive(Clone)]
pub struct Http {
    client: Client,
    pause: Duration,
    known: Arc<Mutex<Known>>,
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `known` is left out: its keys are URLs, and a URL may contain a password.
        f.debug_struct("Http").field("pause", &self.pause).finish_non_exhaustive()
    }
}

/// A setting that cannot work. It is reported to the operator at start.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error("the base URL of {0} is not an http:// or https:// URL")]
    BadUrl(&'static str),
    #[error("the API key of {0} contains characters that are not allowed in a header")]
    BadKey(&'static str),
    #[error("the HTTP client cannot be created: {0}")]
    NoClient(String),
}

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_TRIES: u32 = 3;
/// If the provider asks for a longer wait than this, the user gets the error at once.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(10);
/// For lists of models and their properties.
const MAX_DOCUMENT_BYTES: usize = 4 << 20;
const MIN_SECRET_BYTES: usize = 6;
const MAX_ERROR_BYTES: usize = 16 * 1024;
/// How many characters of a provider's message go into our log.
const MAX_WHY_CHARS: usize = 300;

impl Http {
    pub fn new() -> Result<Self, SetupError> {
        let client = client_builder()
            .connect_timeout(CONNECT_TIMEOUT)
            // A redirect would send the key to another host.
            .redirect(redirect::Policy::none())
            // Compression delays deltas.
            .no_gzip()
            .build()
            .map_err(|error| SetupError::NoClient(format!("{:#}", anyhow::Error::from(error))))?;
        Ok(Self { client, pause: Duration::from_millis(500), known: Arc::default() })
    }

    /// The delay before the second attempt if the provider names none. It doubles before the third.
    pub fn with_pause(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    /// Sends the request once and returns the start of the stream.
    pub(crate) async fn post(&self, endpoint: &Endpoint, body: Bytes) -> Result<Response, Failure> {
        let request = self.client.post(endpoint.url.clone()).headers(endpoint.headers.clone()).body(body);
        let response = request.send().await.map_err(Failure::network)?;
        if !response.status().is_success() {
            let (status, headers) = (response.status(), response.headers().clone());
            return Err(Failure::status(status, &headers, &read_start(response, MAX_ERROR_BYTES).await));
        }
        match content_type(&response) {
            Some("text/html") => {
                Err(Failure::no_server("it answered with text/html instead of a stream; check the base URL"))
            }
            _ => Ok(response),
        }
    }

    /// A small JSON document from the same server, with a timeout of `within`. `None` if the server has no such
    /// document.
    pub(crate) async fn json(&self, request: RequestBuilder, within: Duration) -> Option<Value> {
        let read = async {
            let response = request.timeout(within).send().await.ok()?;
            if !response.status().is_success() {
                return None;
            }
            serde_json::from_slice(&read_at_most(response, MAX_DOCUMENT_BYTES).await.ok()??).ok()
        };
        tokio::time::timeout(within, read).await.ok()?
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// What is known about this model at this endpoint.
    pub(crate) fn learned(&self, endpoint: &Endpoint, model: &str) -> Arc<Learned> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry((endpoint.url.to_string(), model.to_owned())).or_default().clone()
    }

    /// The delay before the next attempt; `None` if there is none.
    pub(crate) fn wait_after(&self, n_tries: u32, retry: &Retry) -> Option<Duration> {
        match retry {
            _ if n_tries >= MAX_TRIES => None,
            Retry::No => None,
            Retry::Once => (n_tries < 2).then_some(Duration::ZERO),
            Retry::Soon => Some(self.pause * 2_u32.pow(n_tries.saturating_sub(1))),
            Retry::After(wait) => (*wait <= MAX_RETRY_AFTER).then_some(*wait),
        }
    }
}

/// Whether the server sent one JSON document instead of the requested stream.
pub(crate) fn is_json(response: &Response) -> bool {
    content_type(response) == Some("application/json")
}

fn content_type(response: &Response) -> Option<&str> {
    let value = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    value.split(';').next().map(str::trim)
}

/// A provider's URL and key.
pub(crate) struct Endpoint {
    url: Url,
    headers: HeaderMap,
    secret: Option<String>,
}

impl Endpoint {
    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Whether it is on this machine or in a private network.
    pub(crate) fn is_local(&self) -> bool {
        match self.url.host() {
            Some(url::Host::Ipv4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
            Some(url::Host::Ipv6(ip)) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
            Some(url::Host::Domain(name)) => {
                let is_plain = !name.contains('.');
                let ends = [".localhost", ".local", ".lan", ".internal", ".home.arpa"];
                is_plain || ends.iter().any(|end| name.ends_with(end))
            }
            None => false,
        }
    }

    pub(crate) fn new(url: Url) -> Self {
        let headers = HeaderMap::from_iter([
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (ACCEPT, HeaderValue::from_static("text/event-stream")),
        ]);
        Self { url, headers, secret: None }
    }

    pub(crate) fn with_header(mut self, name: &'static str, value: &'static str) -> Self {
        self.headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        self
    }

    /// Sends `key` after `prefix` in the header `name`.
    pub(crate) fn with_key(
        mut self,
        vendor: &'static str,
        name: &'static str,
        prefix: &str,
        key: &str,
    ) -> Result<Self, SetupError> {
        let value = HeaderValue::from_str(&format!("{prefix}{}", key.trim()));
        let mut value = value.map_err(|_| SetupError::BadKey(vendor))?;
        value.set_sensitive(true);
        self.headers.insert(HeaderName::from_static(name), value);
        self.secret = Some(key.trim().to_owned()).filter(|key| !key.is_empty());
        Ok(self)
    }

    /// Removes the key from the error, in case the server repeated it, then truncates it to the length of a log line.
    /// The order matters: half a key would not be found.
    pub(crate) fn redacted(&self, error: ModelError) -> ModelError {
        let clean = |why: String| -> String {
            let why = match &self.secret {
                // A short key is not a secret, and would be found inside ordinary words.
                Some(secret) if secret.len() >= MIN_SECRET_BYTES => why.replace(secret, "[key]"),
                Some(_) => why,
                None => why,
            };
            why.chars().take(MAX_WHY_CHARS).collect()
        };
        match error {
            ModelError::Unavailable(why) => ModelError::Unavailable(clean(why)),
            ModelError::RateLimited(why) => ModelError::RateLimited(clean(why)),
            ModelError::Refused(why) => ModelError::Refused(clean(why)),
            ModelError::ContextOverflow { limit, detail } => {
                ModelError::ContextOverflow { limit, detail: clean(detail) }
            }
            ModelError::NoSuchModel(why) => ModelError::NoSuchModel(clean(why)),
            ModelError::Unauthorized(why) => ModelError::Unauthorized(clean(why)),
            ModelError::NotAModelServer(why) => ModelError::NotAModelServer(clean(why)),
            ModelError::TimedOut => ModelError::TimedOut,
            ModelError::OverBudget(text) => ModelError::OverBudget(text),
            ModelError::EmptyReply => ModelError::EmptyReply,
        }
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The URL may contain a password, so only the host is printed.
        f.debug_struct("Endpoint").field("host", &self.url.host_str()).finish_non_exhaustive()
    }
}

/// Parses a base URL; `path` computes the vendor's path from the path of the base.
pub(crate) fn url_under(base: &str, vendor: &'static str, path: impl Fn(&str) -> String) -> Result<Url, SetupError> {
    let mut url = Url::parse(base.trim()).map_err(|_| SetupError::BadUrl(vendor))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(SetupError::BadUrl(vendor));
    }
    let full = path(url.path().trim_end_matches('/'));
    url.set_path(&full);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_doubles_and_the_retries_end() {
        let http = Http::new().expect("a client").with_pause(Duration::from_millis(500));
        let after = |seconds| Retry::After(Duration::from_secs(seconds));
        let cases = [
            (1, Retry::Soon, Some(500)),
            (2, Retry::Soon, Some(1_000)),
            (3, Retry::Soon, None),
            (1, Retry::No, None),
            (1, after(10), Some(10_000)),
            (1, after(11), None),
            (3, after(0), None),
        ];
        for (n_tries, retry, expected) in cases {
            assert_eq!(http.wait_after(n_tries, &retry), expected.map(Duration::from_millis), "{n_tries} {retry:?}");
        }
    }
}
