//! A proxy for cover images, so that browsers do not contact other hosts. It fetches images only, only from allowed
//! hosts, and never from private networks.

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

/// Which URLs are allowed. The same rules apply to the first URL and to every redirect.
struct Rules {
    hosts: Vec<String>,
    schemes: &'static [&'static str],
}

impl Rules {
    /// Only host names: an IP address in the URL is not resolved, so the resolver could not check it.
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
                return attempt.error("the redirect points to a host that is not allowed");
            }
            attempt.follow()
        });
        let client = http::client()
            .redirect(redirects)
            .timeout(Duration::from_secs(10))
            // A proxy would resolve names itself and bypass our check.
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
            return Err(ApiError::invalid_field("url", "is not on a host that is allowed for artwork"));
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
        let bytes = http_client::read_at_most(response, MAX_BYTES).await.map_err(unreachable)?;
        let bytes = bytes.ok_or_else(|| no_picture("The image is too large."))?;
        let media_type = media_type_of(&bytes).ok_or_else(|| no_picture("This is not an image."))?;
        Ok(Picture { bytes: bytes.into(), media_type })
    }
}

/// The media type from the first bytes; the header of the response is ignored. SVG can contain scripts, so it is not
/// supported.
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
    no_picture("The image could not be fetched.")
}

fn no_picture(message: &str) -> ApiError {
    ApiError::new(StatusCode::BAD_GATEWAY, "NO_PICTURE", message)
}

#[cfg(test)]
mod tests;
