//! Requests to Qdrant, and what each way of failing means.

use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde_json::Value;

use super::super::IndexError;

#[derive(Clone, Debug)]
pub struct QdrantSettings {
    pub url: String,
    pub api_key: Option<String>,
    /// Begins the name of every collection, so that two houses can share a server.
    pub prefix: String,
    pub timeout: Duration,
}

impl QdrantSettings {
    /// A listener waits three seconds for a search, which takes three requests; a second each leaves none to spare.
    pub const TIMEOUT: Duration = Duration::from_millis(2500);

    pub fn new(url: impl Into<String>, api_key: Option<String>) -> Self {
        Self { url: url.into(), api_key, prefix: "segue".into(), timeout: Self::TIMEOUT }
    }
}

pub(super) struct Client {
    http: reqwest::Client,
    settings: QdrantSettings,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    result: Value,
    #[serde(default)]
    status: Value,
}

impl Client {
    pub(super) fn new(http: reqwest::Client, settings: QdrantSettings) -> Self {
        Self { http, settings }
    }

    pub(super) async fn put(&self, path: &str, body: &Value) -> Result<Value, IndexError> {
        self.expect(Method::PUT, path, Some(body)).await
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Value, IndexError> {
        self.expect(Method::POST, path, Some(body)).await
    }

    pub(super) async fn delete(&self, path: &str) -> Result<Value, IndexError> {
        self.expect(Method::DELETE, path, None).await
    }

    /// `None` when there is no such thing.
    pub(super) async fn find(&self, path: &str) -> Result<Option<Value>, IndexError> {
        let (status, answer) = self.send(Method::GET, path, None).await?;
        if status == StatusCode::NOT_FOUND && is_missing_collection(&answer) {
            return Ok(None);
        }
        judge(status, answer).map(Some)
    }

    async fn expect(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, IndexError> {
        let (status, answer) = self.send(method, path, body).await?;
        judge(status, answer)
    }

    async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<(StatusCode, Answer), IndexError> {
        let url = format!("{}{path}", self.settings.url.trim_end_matches('/'));
        let mut request = self.http.request(method, url).timeout(self.settings.timeout);
        if let Some(key) = &self.settings.api_key {
            request = request.header("api-key", key);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let failed = |error: reqwest::Error| match error.is_timeout() {
            true => IndexError::Slow(self.settings.timeout),
            false => IndexError::Away(error.without_url().to_string()),
        };
        let response = request.send().await.map_err(failed)?;
        let status = response.status();
        let text = response.text().await.map_err(failed)?;
        if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
            return Err(IndexError::Away(format!("Qdrant answered {status}")));
        }
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Err(IndexError::WrongSchema(format!("Qdrant refused our key ({status}); set QDRANT_API_KEY")));
        }
        let answer = serde_json::from_str(&text)
            .map_err(|_| IndexError::WrongSchema("what answers at QDRANT_URL is not Qdrant".into()))?;
        Ok((status, answer))
    }
}

fn judge(status: StatusCode, answer: Answer) -> Result<Value, IndexError> {
    if status.is_success() && answer.status == "ok" {
        return Ok(answer.result);
    }
    let said = answer.status["error"].as_str().unwrap_or("nothing").to_string();
    match status {
        StatusCode::NOT_FOUND => Err(IndexError::WrongSchema(format!("Qdrant does not have our collection: {said}"))),
        StatusCode::OK => Err(IndexError::WrongSchema("what answers at QDRANT_URL is not Qdrant".into())),
        _ => Err(IndexError::Bug(anyhow::anyhow!("Qdrant answered {status}: {said}"))),
    }
}

fn is_missing_collection(answer: &Answer) -> bool {
    answer.status["error"].as_str().is_some_and(|said| said.contains("doesn't exist"))
}
