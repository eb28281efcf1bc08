//! Discovery: finds the model servers that run on this machine.
//!
//! It sends requests to the loopback only, and only about the server itself. No user text is sent before the operator
//! chooses a server.

use std::time::Duration;

use futures::future::join_all;
use reqwest::{Url, header::HeaderMap};
use serde::Serialize;

use super::{Http, servers};

/// The default ports of Ollama, llama.cpp, LM Studio and vLLM.
pub const USUAL_PORTS: [u16; 4] = [11434, 8080, 1234, 8000];

/// A running server answers within this time. Without a server the connection is refused at once.
const WITHIN: Duration = Duration::from_millis(300);

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FoundServer {
    pub family: servers::Family,
    /// In the form that `OPENAI_BASE_URL` expects.
    pub base_url: String,
    pub models: Vec<String>,
}

/// The model servers on these loopback ports, in the order of the ports. `own_port` is skipped, because Segue listens
/// there.
pub async fn discover(http: &Http, ports: &[u16], own_port: Option<u16>) -> Vec<FoundServer> {
    let others = ports.iter().filter(|port| Some(**port) != own_port);
    let found = join_all(others.map(async |port| {
        let root = Url::parse(&format!("http://127.0.0.1:{port}")).ok()?;
        let server = servers::look(http, &root, &HeaderMap::new(), WITHIN).await?;
        Some(FoundServer {
            family: server.family,
            base_url: format!("http://127.0.0.1:{port}/v1"),
            models: server.models,
        })
    }));
    found.await.into_iter().flatten().collect()
}
