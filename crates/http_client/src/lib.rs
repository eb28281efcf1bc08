//! Outgoing calls: one way to make an HTTP client, so that every one has the same name and the same TLS, and one way to say
//! why a call failed.

pub mod service;

use reqwest::{Client, ClientBuilder};

pub fn client_builder() -> ClientBuilder {
    // Fails only when a provider is installed already, and then there is one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().user_agent(concat!("segue/", env!("CARGO_PKG_VERSION")))
}

/// What went wrong at the bottom of it: the layers above say only through whose hands it went.
pub fn root_cause(error: &dyn std::error::Error) -> String {
    std::iter::successors(Some(error), |&error| error.source()).last().unwrap_or(error).to_string()
}
