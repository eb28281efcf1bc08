//! A model that calls one tool, whose result is empty in every installation, and then answers in twenty pieces. It knows how much it
//! was sent.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use axum::{Router, body::Bytes, extract::State, response::IntoResponse, routing::post};
use serde_json::{Value, json};
use tokio::net::TcpListener;

pub(crate) struct Model {
    pub(crate) url: String,
    n_bytes: Arc<AtomicUsize>,
}

impl Model {
    pub(crate) async fn start() -> anyhow::Result<Self> {
        let n_bytes = Arc::new(AtomicUsize::default());
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let router = Router::new().route("/v1/messages", post(answer)).with_state(n_bytes.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self { url, n_bytes })
    }

    /// The size of the last request.
    pub(crate) fn last_kib(&self) -> f64 {
        self.n_bytes.load(Ordering::Relaxed) as f64 / 1024.0
    }
}

async fn answer(State(n_bytes): State<Arc<AtomicUsize>>, body: Bytes) -> impl IntoResponse {
    n_bytes.store(body.len(), Ordering::Relaxed);
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let last =
        request["messages"].as_array().and_then(|messages| messages.last()).map(|last| last["content"].to_string());
    let has_result = last.is_some_and(|last| last.contains("\"tool_result\""));
    ([("content-type", "text/event-stream")], frames(has_result).iter().map(frame).collect::<String>())
}

fn frame(event: &Value) -> String {
    format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
}

fn frames(has_result: bool) -> Vec<Value> {
    let call = json!({"type": "tool_use", "id": "toolu_1", "name": "list_tasks", "input": {}});
    let (block, reason) =
        if has_result { (json!({"type": "text", "text": ""}), "end_turn") } else { (call, "tool_use") };
    let piece = |n: usize| match has_result {
        true => json!({"type": "text_delta", "text": format!("some words {n} ")}),
        false => json!({"type": "input_json_delta", "partial_json": r#"{"filter": "completed"}"#}),
    };
    let usage = json!({"usage": {"input_tokens": 500, "output_tokens": 1}});
    let mut frames = vec![
        json!({"type": "message_start", "message": usage}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
    ];
    let n_pieces = if has_result { 20 } else { 1 };
    frames.extend((0..n_pieces).map(|n| json!({"type": "content_block_delta", "index": 0, "delta": piece(n)})));
    frames.push(json!({"type": "content_block_stop", "index": 0}));
    let usage = json!({"output_tokens": 80});
    frames.push(json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}));
    frames.push(json!({"type": "message_stop"}));
    frames
}
