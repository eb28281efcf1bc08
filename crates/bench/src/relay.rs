//! The baseline: a server that only calls the model twice and relays its text. No store, no resume, no tools, no
//! users.

use std::convert::Infallible;

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    response::{IntoResponse, Response},
    routing::post,
};
use futures::StreamExt;
use serde_json::{Value, json};
use tokio::net::TcpListener;

#[derive(Clone)]
struct Relay {
    client: reqwest::Client,
    upstream: String,
}

pub(crate) async fn serve(upstream: &str) -> anyhow::Result<()> {
    let relay = Relay { client: reqwest::Client::new(), upstream: format!("{upstream}/v1/messages") };
    let router = Router::new().route("/api/chat/stream", post(chat)).with_state(relay);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    eprintln!("ready on http://{} ", listener.local_addr()?);
    axum::serve(listener, router).await?;
    Ok(())
}

async fn chat(State(relay): State<Relay>) -> Response {
    let tool_result = "x".repeat(10_000);
    let frames = async_stream::stream! {
        yield Ok::<_, Infallible>(sse(&json!({"type": "message_start"})));
        for body in [json!({"messages": []}), json!({"messages": [{"type": "tool_result", "content": tool_result}]})] {
            let Ok(answer) = relay.client.post(&relay.upstream).json(&body).send().await else { return };
            let mut chunks = answer.bytes_stream();
            let mut buffer = Vec::new();
            while let Some(Ok(chunk)) = chunks.next().await {
                buffer.extend_from_slice(&chunk);
                let out = relayed(&mut buffer);
                if !out.is_empty() {
                    yield Ok(out.into());
                }
            }
        }
        yield Ok(sse(&json!({"type": "tool_call_end", "output": tool_result})));
        yield Ok(sse(&json!({"type": "message_end"})));
    };
    ([("content-type", "text/event-stream")], Body::from_stream(frames)).into_response()
}

/// The text deltas of the complete lines in the buffer, as Segue frames.
fn relayed(buffer: &mut Vec<u8>) -> Vec<u8> {
    let mut out = Vec::new();
    let Some(end) = buffer.iter().rposition(|byte| *byte == b'\n') else { return out };
    for line in buffer.drain(..=end).collect::<Vec<_>>().split(|byte| *byte == b'\n') {
        let Some(data) = line.strip_prefix(b"data: ") else { continue };
        let Ok(event) = serde_json::from_slice::<Value>(data) else { continue };
        if let Some(text) = event["delta"]["text"].as_str() {
            out.extend_from_slice(&sse(&json!({"type": "text_delta", "content": text})));
        }
    }
    out
}

fn sse(frame: &Value) -> Bytes {
    format!("data: {frame}\n\n").into()
}
