//! Outgoing calls: one way to make an HTTP client, so that every one has the same name and the same TLS.

use reqwest::{Client, ClientBuilder};

pub(crate) fn client_builder() -> ClientBuilder {
    // Fails only when a provider is installed already, and then there is one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().user_agent(concat!("segue/", env!("CARGO_PKG_VERSION")))
}
