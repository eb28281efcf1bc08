//! Cover images of other hosts, fetched by us so that browsers need not: only from known hosts, only images, never
//! from inside our own network.

mod addresses;
mod cache;

use std::{sync::Arc, time::Duration};

use axum::http::StatusCode;
use bytes::Bytes;
use reqwest::{Url, redirect};
use tokio::sync::Semaphore;

use crate::{error::ApiError, http};
use addresses::{Reach, Resolver};
use cache::Cache;

const MAX_BYTES: usize = 5 * 1024 * 1024;
const MAX_REDIRECTS: usize = 3;
const AT_ONCE: usize = 16;

#[derive(Clone)]
pub(crate) struct Picture {
    pub(crate) bytes: Bytes,
    pub(crate) media_type: &'static str,
}

pub(crate) struct Artwork {
    client: reqwest::Client,
    rules: Arc<Rules>,
    cache: Cache,
    slots: Semaphore,
}

/// What may be asked for; the same for the first address and for every redirect.
struct Rules {
    hosts: Vec<String>,
    schemes: &'static [&'static str],
}

impl Rules {
    /// Host names only: an address in the URL would not be resolved, so nobody would look at it.
    fn allow(&self, url: &Url) -> bool {
        let is_known = url.domain().is_some_and(|host| self.hosts.iter().any(|allowed| allowed == host));
        let has_login = !url.username().is_empty() || url.password().is_some();
        self.schemes.contains(&url.scheme()) && is_known && !has_login
    }
}

impl Artwork {
    pub(crate) fn new(hosts: &[String]) -> Self {
        Self::with(Rules { hosts: hosts.to_vec(), schemes: &["https"] }, Resolver::new(Reach::PublicOnly))
    }

    fn with(rules: Rules, resolver: Resolver) -> Self {
        let rules = Arc::new(rules);
        let checked = rules.clone();
        let redirects = redirect::Policy::custom(move |attempt| {
            if attempt.previous().len() > MAX_REDIRECTS || !checked.allow(attempt.url()) {
                return attempt.error("the redirect leads to where artwork may not come from");
            }
            attempt.follow()
        });
        let client = http::client()
            .redirect(redirects)
            .timeout(Duration::from_secs(10))
            // A proxy would resolve names itself, past our check.
            .no_proxy()
            .dns_resolver(Arc::new(resolver));
        Self {
            client: client.build().expect("a client with these settings can be built"),
            rules,
            cache: Cache::default(),
            slots: Semaphore::new(AT_ONCE),
        }
    }

    pub(crate) async fn get(&self, url: &str) -> Result<Picture, ApiError> {
        let url: Url = url.parse().map_err(|_| ApiError::invalid_field("url", "is not a URL"))?;
        if !self.rules.allow(&url) {
            return Err(ApiError::invalid_field("url", "is not of a host artwork may come from"));
        }
        if let Some(picture) = self.cache.get(&url) {
            return Ok(picture);
        }
        let _slot = self.slots.acquire().await.map_err(|_| ApiError::internal())?;
        let picture = self.fetch(url.clone()).await?;
        self.cache.keep(url, picture.clone());
        Ok(picture)
    }

    async fn fetch(&self, url: Url) -> Result<Picture, ApiError> {
        let response = self.client.get(url).send().await.map_err(unreachable)?;
        if !response.status().is_success() {
            return Err(ApiError::not_found());
        }
        let bytes = http::read_at_most(response, MAX_BYTES).await.map_err(unreachable)?;
        let bytes = bytes.ok_or_else(|| no_picture("The picture is too large."))?;
        let media_type = media_type_of(&bytes).ok_or_else(|| no_picture("This is not a picture."))?;
        Ok(Picture { bytes: bytes.into(), media_type })
    }
}

/// What the bytes are; what their sender says they are does not count. SVG is a program and not among them.
pub(crate) fn media_type_of(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => Some("image/png"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [_, _, _, _, b'f', b't', b'y', b'p', b'a', b'v', b'i', b'f', ..] => Some("image/avif"),
        _ => None,
    }
}

fn unreachable(error: reqwest::Error) -> ApiError {
    tracing::debug!("Artwork could not be fetched: {error}");
    no_picture("The picture could not be fetched.")
}

fn no_picture(message: &str) -> ApiError {
    ApiError::new(StatusCode::BAD_GATEWAY, "NO_PICTURE", message)
}

#[cfg(test)]
mod tests;
