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
