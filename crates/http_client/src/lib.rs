//! The HTTP client for outgoing requests. Every client has the same user agent and the same TLS settings, and every
//! failed request is reported by its root cause. No body is read without a limit.

mod body;
mod retry_after;
pub mod service;
mod tls;

pub use body::{read_at_most, read_start};
use reqwest::{Client, ClientBuilder};
pub use retry_after::retry_after;

/// Operators of free services block clients that hide their user agent.
pub const USER_AGENT: &str = concat!("segue/", env!("CARGO_PKG_VERSION"));

pub fn client_builder() -> ClientBuilder {
    // Fails only if a provider is already installed, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().user_agent(USER_AGENT).tls_backend_preconfigured(tls::config())
}

/// The innermost cause of an error. The outer layers only name the libraries in between.
pub fn root_cause(error: &dyn std::error::Error) -> String {
    std::iter::successors(Some(error), |&error| error.source()).last().unwrap_or(error).to_string()
}
