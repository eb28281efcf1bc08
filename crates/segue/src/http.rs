//! The HTTP client for requests that this crate makes itself (artwork, key sets).

use std::time::Duration;

/// A client with short timeouts that follows no redirects. The caller may add settings.
pub(crate) fn client() -> reqwest::ClientBuilder {
    // Several parts of the process may call this; only the first call installs the provider, which is the same for all.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(Duration::from_secs(5))
        .timeout(Duration::from_secs(10))
        .user_agent(concat!("segue/", env!("CARGO_PKG_VERSION")))
}

/// A body of at most `max` bytes; the `Content-Length` header is ignored. `None` if the body is larger.
pub(crate) async fn read_at_most(mut response: reqwest::Response, max: usize) -> reqwest::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if bytes.len() + chunk.len() > max {
            return Ok(None);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(Some(bytes))
}
