//! Users with tokens, on a server that accepts tokens of one secret.

use std::sync::Arc;

use engine::script::Reply;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode, get_current_timestamp};
use reqwest::{Method, Response, header::HeaderName};
use serde_json::{Value, json};

use super::{Stream, TestApp, World};

pub(crate) const JWT_SECRET: &str = "a secret of the tests, longer than 32 bytes";

/// A client with or without a token.
pub(crate) struct Person<'a> {
    app: &'a TestApp,
    token: Option<String>,
}

impl TestApp {
    /// A server that accepts tokens signed with `JWT_SECRET`.
    pub(crate) async fn shared(replies: impl IntoIterator<Item = Reply>, settings: &[(&'static str, &str)]) -> Self {
        let jwt = [("SEGUE_AUTH", "jwt"), ("SEGUE_JWT_SECRET", JWT_SECRET)];
        Self::start(World::new().await as Arc<World>, replies, &[&jwt, settings].concat()).await
    }

    pub(crate) fn person(&self, id: &str) -> Person<'_> {
        self.with_token(&signed(&claims(id)))
    }

    pub(crate) fn with_token(&self, token: &str) -> Person<'_> {
        Person { app: self, token: Some(token.to_owned()) }
    }

    pub(crate) fn anonymous(&self) -> Person<'_> {
        Person { app: self, token: None }
    }
}

impl Person<'_> {
    pub(crate) async fn request(&self, method: Method, path: &str, body: Option<Value>) -> Response {
        let mut request = self.app.client.request(method, format!("{}{path}", self.app.url));
        if path.starts_with("/mcp") {
            request = request.header("accept", "application/json, text/event-stream");
        }
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        if let Some(body) = body {
            request = request.json(&body);
        }
        request.send().await.expect("the server answers")
    }

    /// A request with a header and without a body.
    pub(crate) async fn request_with(&self, method: Method, path: &str, name: HeaderName, value: &str) -> Response {
        let request = self.app.client.request(method, format!("{}{path}", self.app.url)).header(name, value);
        let request = self.token.iter().fold(request, |request, token| request.bearer_auth(token));
        request.send().await.expect("the server answers")
    }

    pub(crate) async fn answer(&self, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
        let response = self.request(method, path, body).await;
        let status = response.status().as_u16();
        let text = response.text().await.expect("a body");
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    /// Sends a file as the request body.
    pub(crate) async fn upload(&self, name: &str, bytes: Vec<u8>) -> (u16, Value) {
        let request = self.app.client.post(format!("{}/api/library/import", self.app.url)).query(&[("name", name)]);
        let request = self.token.iter().fold(request, |request, token| request.bearer_auth(token));
        let response = request.body(bytes).send().await.expect("the server answers");
        (response.status().as_u16(), response.json().await.expect("JSON"))
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let (status, body) = self.answer(Method::GET, path, None).await;
        assert_eq!(status, 200, "GET {path}: {body}");
        body
    }

    /// Sends a message to the Tasks agent in a new conversation.
    pub(crate) async fn open_chat(&self, message: &str) -> Stream {
        let body = json!({"message": message, "agent": "tasks"});
        let response = self.request(Method::POST, "/api/chat/stream", Some(body)).await;
        assert_eq!(response.status().as_u16(), 200, "{}", response.text().await.unwrap_or_default());
        Stream::new(response)
    }

    pub(crate) async fn say(&self, message: &str) -> Vec<Value> {
        self.open_chat(message).await.rest().await
    }

    pub(crate) async fn add_task(&self, title: &str) -> String {
        let (status, task) = self.answer(Method::POST, "/api/tasks", Some(json!({"title": title}))).await;
        assert_eq!(status, 201, "{task}");
        task["id"].as_str().expect("an id").to_owned()
    }
}

/// The claims of a valid token.
pub(crate) fn claims(id: &str) -> Value {
    json!({"sub": id, "iat": get_current_timestamp(), "exp": get_current_timestamp() + 900})
}

pub(crate) fn signed(claims: &Value) -> String {
    encode(&Header::new(Algorithm::HS256), claims, &EncodingKey::from_secret(JWT_SECRET.as_bytes())).expect("a token")
}
