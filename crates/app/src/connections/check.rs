//! Tests a connection: whether the service answers and accepts the secret.

use std::time::Duration;

use http_client::client_builder;
use schemars::JsonSchema;
use search::embed::{Embedder, RemoteEmbedder, remote::RemoteSettings};
use serde::Serialize;
use sources::tidal::Tidal;

use super::content::{ConnectedService, Connection};
use crate::{config::Config, models};

/// The user waits for the result.
const TIMEOUT: Duration = Duration::from_secs(40);

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Checked {
    pub well: bool,
    /// The answer of the service, or the problem.
    pub says: String,
}

pub(super) async fn check(service: ConnectedService, connection: &Connection, config: &Config) -> Checked {
    let config = connection.over(config.clone());
    let asked = async {
        match service {
            ConnectedService::Model => model(&config).await,
            ConnectedService::Catalogue => catalogue(&config).await,
            ConnectedService::Embedder => embedder(&config).await,
        }
    };
    let said = tokio::time::timeout(TIMEOUT, asked).await;
    let said = said.unwrap_or_else(|_| Err(format!("no answer within {} s", TIMEOUT.as_secs())));
    let (well, says) = said.map_or_else(|why| (false, why), |says| (true, says));
    // A server may repeat the secret in its answer, so the secret is removed.
    let says = connection.secret().map_or(says.clone(), |secret| says.replace(secret, "…"));
    Checked { well, says }
}

async fn model(config: &Config) -> Result<String, String> {
    let chosen = models::choose_probed(config).await.map_err(|error| format!("{error:#}"))?;
    match chosen.probe().await {
        Some(Ok(found)) => Ok(found.to_string()),
        Some(Err(error)) => Err(format!("{} {error}", error.for_user())),
        None => Err("the built-in model needs no connection".to_owned()),
    }
}

async fn catalogue(config: &Config) -> Result<String, String> {
    let tidal = Tidal::new(&config.tidal).map_err(|error| format!("{error:#}"))?;
    match tidal.search_tracks("hello", 1).await {
        Ok(_) => Ok(format!("Tidal answers, with the catalogue of {}", config.tidal.country)),
        Err(error) => Err(error.to_string()),
    }
}

pub(super) async fn embedder(config: &Config) -> Result<String, String> {
    let Some(remote) = &config.embeddings else { return Err("no server is named".to_owned()) };
    let api_key = remote.key.as_ref().map(|key| key.expose().to_owned());
    let settings = RemoteSettings { url: remote.url.clone(), model: remote.model.clone(), api_key };
    let http = client_builder().build().map_err(|error| error.to_string())?;
    let found = RemoteEmbedder::connect(http, settings).await.map_err(|error| error.to_string())?;
    Ok(format!("it answers: {}", found.id()))
}
