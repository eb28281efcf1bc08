//! Discovery: which model servers run on this machine?
//!
//! Loopback only, and only questions about the server itself: no word of a user leaves before someone says so.

use std::time::Duration;

use futures::future::join_all;
use reqwest::{Url, header::HeaderMap};
use serde::Serialize;

use super::{Http, servers};

/// Ollama, llama.cpp, LM Studio, vLLM.
pub const USUAL_PORTS: [u16; 4] = [11434, 8080, 1234, 8000];

/// A server that is there answers within this; one that is not refuses the connection at once.
const WITHIN: Duration = Duration::from_millis(300);

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Found {
    pub family: servers::Family,
    /// As `OPENAI_BASE_URL` wants it.
    pub base_url: String,
    pub models: Vec<String>,
}

/// The model servers on these loopback ports, in their order. `own_port` is never asked: Segue would ask itself.
pub async fn discover(http: &Http, ports: &[u16], own_port: Option<u16>) -> Vec<Found> {
    let others = ports.iter().filter(|port| Some(**port) != own_port);
    let found = join_all(others.map(async |port| {
        let root = Url::parse(&format!("http://127.0.0.1:{port}")).ok()?;
        let server = servers::look(http, &root, &HeaderMap::new(), WITHIN).await?;
        Some(Found { family: server.family, base_url: format!("http://127.0.0.1:{port}/v1"), models: server.models })
    }));
    found.await.into_iter().flatten().collect()
}
