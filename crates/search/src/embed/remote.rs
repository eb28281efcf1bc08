//! A remote embedder: any server with OpenAI's `/v1/embeddings` API (TEI, Ollama, vLLM, OpenAI).

use std::time::Duration;

use futures::future::BoxFuture;
use http_client::{read_at_most, read_start};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{EmbedError, Embedder, EmbedderId, TextKind, normalize};

pub struct RemoteEmbedder {
    http: reqwest::Client,
    settings: RemoteSettings,
    dims: usize,
}

/// The server's URL and the model to use.
#[derive(Clone, Debug)]
pub struct RemoteSettings {
    /// With or without `/v1/embeddings` at the end.
    pub url: String,
    pub model: String,
    pub api_key: Option<String>,
}

/// Servers have different limits for the number of texts; all known servers accept this number.
const BATCH: usize = 32;
const TIMEOUT: Duration = Duration::from_secs(30);
/// Vectors of 4,096 numbers for a full batch are about 3 MB of JSON.
const MAX_BODY: usize = 16 << 20;
const MAX_REASON_BYTES: usize = 200;

impl RemoteEmbedder {
    /// Requests one vector, to check that the server answers and to learn the length of its vectors.
    pub async fn connect(http: reqwest::Client, settings: RemoteSettings) -> Result<Self, EmbedError> {
        let mut embedder = Self { http, settings, dims: 0 };
        let probe = embedder.ask(&["music".to_string()]).await?;
        embedder.dims = probe.first().map(Vec::len).unwrap_or_default();
        Ok(embedder)
    }

    async fn ask(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut request = self.http.post(self.endpoint()).timeout(TIMEOUT);
        if let Some(key) = &self.settings.api_key {
            request = request.bearer_auth(key);
        }
        let body = Request { model: &self.settings.model, input: texts, encoding_format: "float" };
        let away = |error: reqwest::Error| EmbedError::Away(error.without_url().to_string());
        let response = request.json(&body).send().await.map_err(away)?;
        let status = response.status();
        if status.is_server_error() || status == reqwest::StatusCode::TOO_MANY_REQUESTS {
            return Err(EmbedError::Away(format!("its status is {status}")));
        }
        if !status.is_success() {
            let reason = read_start(response, MAX_REASON_BYTES).await;
            let reason = String::from_utf8_lossy(&reason);
            return Err(EmbedError::Setup(format!("the embeddings server refused ({status}): {reason}")));
        }
        let body = read_at_most(response, MAX_BODY).await.map_err(away)?;
        let body =
            body.ok_or_else(|| EmbedError::Setup("the response of the embeddings server is larger than 16 MB".into()))?;
        let response: Response = serde_json::from_slice(&body).map_err(|error| {
            EmbedError::Setup(format!("the response of the embeddings server cannot be parsed: {error}"))
        })?;
        response.into_vectors(texts.len(), self.dims)
    }

    fn endpoint(&self) -> String {
        let url = self.settings.url.trim_end_matches('/');
        if url.ends_with("/embeddings") {
            url.into()
        } else if url.ends_with("/v1") {
            format!("{url}/embeddings")
        } else {
            format!("{url}/v1/embeddings")
        }
    }
}

impl Embedder for RemoteEmbedder {
    fn embed<'a>(&'a self, texts: &'a [String], _: TextKind) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
        Box::pin(async move {
            let mut vectors = Vec::with_capacity(texts.len());
            for batch in texts.chunks(BATCH) {
                vectors.extend(self.ask(batch).await?);
            }
            Ok(vectors)
        })
    }

    fn id(&self) -> EmbedderId {
        let hash = format!("{:x}", Sha256::digest(self.endpoint()));
        EmbedderId { model: self.settings.model.clone(), dims: self.dims, hash: hash[..16].into() }
    }
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [String],
    encoding_format: &'static str,
}

#[derive(Deserialize)]
struct Response {
    data: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Embedding {
    index: usize,
    embedding: Vec<f32>,
}

impl Response {
    /// In the order of the texts, independent of the order in the response. `dims` is 0 while it is unknown.
    fn into_vectors(mut self, n_texts: usize, dims: usize) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.data.sort_by_key(|embedding| embedding.index);
        let complete = self.data.len() == n_texts && self.data.iter().enumerate().all(|(at, one)| one.index == at);
        let width = if dims > 0 { dims } else { self.data.first().map_or(0, |one| one.embedding.len()) };
        if !complete || width == 0 || self.data.iter().any(|one| one.embedding.len() != width) {
            return Err(EmbedError::Setup(
                "the number or the length of the vectors from the embeddings server is wrong".into(),
            ));
        }
        let mut vectors: Vec<Vec<f32>> = self.data.into_iter().map(|one| one.embedding).collect();
        vectors.iter_mut().for_each(|vector| normalize(vector));
        Ok(vectors)
    }
}

#[cfg(test)]
mod tests {
    use axum::{Router, http::StatusCode, routing::post};

    use super::*;

    /// Connects to a server that answers every request with this status and body.
    async fn connect(status: StatusCode, body: String) -> Result<RemoteEmbedder, EmbedError> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let answer = move || std::future::ready((status, body.clone()));
        let server = axum::serve(listener, Router::new().route("/v1/embeddings", post(answer)));
        tokio::spawn(server.into_future());
        let settings = RemoteSettings { url, model: "any".into(), api_key: None };
        RemoteEmbedder::connect(http_client::client_builder().build().unwrap(), settings).await
    }

    #[tokio::test]
    async fn a_response_of_the_embeddings_server_has_a_limit() {
        let vector = r#"{"data":[{"index":0,"embedding":[1,0]}]}"#;
        assert_eq!(connect(StatusCode::OK, vector.into()).await.unwrap().dims, 2);
        let padded = " ".repeat(MAX_BODY) + vector;
        let error = connect(StatusCode::OK, padded).await.err().unwrap().to_string();
        assert!(error.contains("larger than 16 MB"), "{error}");
        let error = connect(StatusCode::BAD_REQUEST, "x".repeat(5000)).await.err().unwrap().to_string();
        assert!(error.ends_with(&"x".repeat(MAX_REASON_BYTES)) && error.len() < 400, "{error}");
    }

    #[test]
    fn vectors_have_the_order_of_the_texts_and_a_missing_one_is_an_error() {
        let read = |json: &str, n, dims| {
            serde_json::from_str::<Response>(json).unwrap().into_vectors(n, dims).map_err(|error| error.to_string())
        };
        let swapped = r#"{"data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[3,0]}]}"#;
        assert_eq!(read(swapped, 2, 0).unwrap(), [[1.0, 0.0], [0.0, 1.0]]);
        assert!(read(swapped, 3, 0).is_err(), "one vector is missing");
        assert!(read(swapped, 2, 3).is_err(), "the length differs from the first request");
        assert!(read(r#"{"data":[]}"#, 0, 0).is_err());
    }
}
