//! The HTTP client for requests that this crate makes itself (artwork, key sets).

use std::time::Duration;

use http_client::client_builder;

/// A client with short timeouts that follows no redirects. The caller may add settings.
pub(crate) fn client() -> reqwest::ClientBuilder {
    client_builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(Duration::from_secs(5))
        .timeout(Duration::from_secs(10))
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
