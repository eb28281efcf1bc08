//! One request to Tidal: cache, rate limit, access token, deadline and parsing.

use std::{sync::Arc, time::Duration};

use anyhow::Context;
use reqwest::{
    Client, Response, StatusCode, Url,
    header::{ACCEPT, HeaderMap},
    redirect,
};
use tokio::time::{Instant, sleep, timeout_at};
use tracing::debug;

use super::{
    TidalConfig,
    cache::Cache,
    document::Document,
    error::TidalError,
    pace::{Pace, Slot},
    token::Tokens,
};
use http_client::client_builder;

const JSON_API: &str = "application/vnd.api+json";
/// A page of a hundred resources is about 100 kB.
const MAX_BODY: usize = 8 << 20;
/// We wait for the rate limit only if at least this much of the deadline is left for the request itself.
const TIME_FOR_A_CALL: Duration = Duration::from_millis(300);
/// After this many 429 responses to one request we give up, even if time is left.
const MAX_REFUSALS: u32 = 2;
const CACHED_DOCUMENTS: usize = 512;
const CACHED_FOR: Duration = Duration::from_secs(15 * 60);

pub(super) struct Connection {
    http: Client,
    base: Url,
    country: String,
    tokens: Option<Tokens>,
    pace: Pace,
    documents: Cache<Url, Arc<Document>>,
}

impl Connection {
    pub(super) fn new(config: &TidalConfig) -> anyhow::Result<Self> {
        // Redirects are not followed, so that the token is sent to Tidal only.
        let http = client_builder().redirect(redirect::Policy::none()).build()?;
        let base = Url::parse(config.api_url.trim_end_matches('/'))
            .with_context(|| format!("TIDAL_API_URL is not a URL: {}", config.api_url))?;
        anyhow::ensure!(!base.cannot_be_a_base(), "TIDAL_API_URL is not an http:// or https:// URL: {base}");
        let auth_url = config.auth_url.trim_end_matches('/');
        Ok(Self {
            http,
            base,
            country: config.country.to_ascii_uppercase(),
            tokens: config.credentials.clone().map(|credentials| Tokens::new(credentials, auth_url)),
            pace: Pace::default(),
            documents: Cache::new(CACHED_DOCUMENTS, CACHED_FOR),
        })
    }

    pub(super) fn is_configured(&self) -> bool {
        self.tokens.is_some()
    }

    pub(super) fn country(&self) -> &str {
        &self.country
    }

    /// A URL below the base: `["albums", "17"]`, with the country and these parameters.
    pub(super) fn url(&self, path: &[&str], parameters: &[(&str, &str)]) -> Url {
        let mut url = self.base.clone();
        url.path_segments_mut().expect("checked in new").pop_if_empty().extend(path);
        let country = [("countryCode", self.country.as_str())];
        set_query(&mut url, parameters.iter().copied().chain(country));
        url
    }

    /// The URL of a `next` link. The link is relative to the base although it starts with a slash, and may lack
    /// `include`. An absolute link is accepted only below the base.
    pub(super) fn next_url(&self, link: &str, include: &str) -> Result<Url, TidalError> {
        let base = self.base.as_str().trim_end_matches('/');
        let path = link.strip_prefix(base).unwrap_or(link);
        let prefix = self.base.path().trim_end_matches('/');
        let path = path.strip_prefix(prefix).filter(|rest| rest.starts_with('/')).unwrap_or(path);
        let strange = || TidalError::Broken("a next link that points to another server or path".into());
        if !path.starts_with('/') {
            return Err(strange());
        }
        let mut url = Url::parse(&format!("{base}{path}")).map_err(|_| strange())?;
        // `..` in the link is already resolved here.
        if !url.as_str().starts_with(&format!("{base}/")) {
            return Err(strange());
        }
        let mut pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        pairs.retain(|(key, _)| key != "include" && key != "countryCode");
        pairs.extend([("include".into(), include.into()), ("countryCode".into(), self.country.clone())]);
        set_query(&mut url, pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())));
        Ok(url)
    }

    pub(super) async fn get(&self, url: Url, deadline: Instant) -> Result<Arc<Document>, TidalError> {
        let tokens = self.tokens.as_ref().ok_or(TidalError::NotConfigured)?;
        if let Some(document) = self.documents.get(&url) {
            return Ok(document);
        }
        let fetched = timeout_at(deadline, self.fetch(tokens, &url, deadline)).await;
        let document = Arc::new(fetched.map_err(|_| TidalError::Unavailable("no answer in time".into()))??);
        self.documents.keep(url, document.clone());
        Ok(document)
    }

    async fn fetch(&self, tokens: &Tokens, url: &Url, deadline: Instant) -> Result<Document, TidalError> {
        let mut token = tokens.current(&self.http).await?;
        let (mut n_refusals, mut is_renewed) = (0, false);
        loop {
            let response = self.send(url, &token, deadline).await?;
            match response.status() {
                StatusCode::OK => return read(response).await,
                // The token may have been revoked: retry once with a new one. A second 401 is final.
                StatusCode::UNAUTHORIZED if !is_renewed => {
                    is_renewed = true;
                    token = tokens.renewed(&self.http, &token).await?;
                }
                StatusCode::TOO_MANY_REQUESTS if n_refusals < MAX_REFUSALS => {
                    n_refusals += 1;
                    self.wait_out_refusal(response.headers(), deadline).await?;
                }
                status => return Err(TidalError::from_status(status, &body(response).await?)),
            }
        }
    }

    async fn send(&self, url: &Url, token: &str, deadline: Instant) -> Result<Response, TidalError> {
        match self.pace.next_turn() {
            // Our estimate may delay a request, but only a `Retry-After` of Tidal fails it.
            Slot::In(wait) if fits(wait, deadline) => sleep(wait).await,
            Slot::In(_) => {}
            Slot::Closed(wait) if fits(wait, deadline) => sleep(wait).await,
            Slot::Closed(wait) => return Err(asked_to_wait(wait)),
        }
        let request = self.http.get(url.clone()).bearer_auth(token).header(ACCEPT, JSON_API);
        let response = request.send().await.map_err(TidalError::from_transport)?;
        self.pace.learn(response.headers());
        debug!(url.path = url.path(), http.status = response.status().as_u16(), "Asked Tidal");
        Ok(response)
    }

    async fn wait_out_refusal(&self, headers: &HeaderMap, deadline: Instant) -> Result<(), TidalError> {
        let wait = self.pace.refused(headers);
        if !fits(wait, deadline) {
            return Err(asked_to_wait(wait));
        }
        sleep(wait).await;
        Ok(())
    }
}

fn fits(wait: Duration, deadline: Instant) -> bool {
    wait.is_zero() || Instant::now() + wait + TIME_FOR_A_CALL <= deadline
}

fn asked_to_wait(wait: Duration) -> TidalError {
    TidalError::Unavailable(format!("too many requests; retry after {} s", wait.as_secs().max(1)))
}

/// Spaces as `%20`, because not every server accepts the `+` of web forms.
fn set_query<'a>(url: &mut Url, pairs: impl Iterator<Item = (&'a str, &'a str)>) {
    url.query_pairs_mut().clear().extend_pairs(pairs);
    let query = url.query().unwrap_or_default().replace('+', "%20");
    url.set_query(Some(&query));
}

async fn read(response: Response) -> Result<Document, TidalError> {
    let body = body(response).await?;
    Document::read(&body).map_err(|error| TidalError::Broken(format!("no JSON:API document: {error}")))
}

pub(super) async fn body(response: Response) -> Result<Vec<u8>, TidalError> {
    let body = http_client::read_at_most(response, MAX_BODY).await.map_err(TidalError::from_transport)?;
    body.ok_or_else(|| TidalError::Broken("a response larger than 8 MB".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection(api_url: &str) -> Connection {
        Connection::new(&TidalConfig { api_url: api_url.into(), ..TidalConfig::default() }).unwrap()
    }

    #[test]
    fn urls_are_encoded() {
        let url = connection("https://openapi.tidal.com/v2/")
            .url(&["albums", "a/b?c"], &[("filter[query]", "don't + stop, é"), ("include", "items.artists")]);
        assert_eq!(
            url.as_str(),
            "https://openapi.tidal.com/v2/albums/a%2Fb%3Fc?filter%5Bquery%5D=don%27t%20%2B%20stop%2C%20%C3%A9\
             &include=items.artists&countryCode=US"
        );
    }

    #[test]
    fn a_next_link_stays_below_the_base_and_gets_its_include_back() {
        let connection = connection("https://openapi.tidal.com/v2");
        let expected = "https://openapi.tidal.com/v2/albums/1/relationships/items?\
                        page%5Bcursor%5D=3nI&include=items.artists&countryCode=US";
        for link in [
            "/albums/1/relationships/items?page%5Bcursor%5D=3nI&countryCode=US",
            "/albums/1/relationships/items?page[cursor]=3nI&include=items",
            "/v2/albums/1/relationships/items?page%5Bcursor%5D=3nI",
            "https://openapi.tidal.com/v2/albums/1/relationships/items?page%5Bcursor%5D=3nI",
        ] {
            let url = connection.next_url(link, "items.artists").unwrap();
            assert_eq!(url.as_str(), expected, "{link}");
        }
        for link in
            ["https://elsewhere.example/v2/albums", "albums/1", "", "/../../v1/me", "https://openapi.tidal.com/v22/x"]
        {
            assert!(matches!(connection.next_url(link, ""), Err(TidalError::Broken(_))), "{link}");
        }
    }

    #[test]
    fn an_invalid_base_url_is_rejected_at_start() {
        for api_url in ["", "openapi", "mailto:tidal"] {
            let config = TidalConfig { api_url: api_url.into(), ..TidalConfig::default() };
            assert!(Connection::new(&config).is_err(), "{api_url}");
        }
    }
}
