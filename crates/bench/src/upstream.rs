//! The scripted model: Anthropic's stream, at full speed or at a given pace.
//!
//! It is not the double of `crates/doubles`, because it shares the cores with the measured server: it sends bytes that were
//! written before the load begins, and does not parse the request.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    response::{IntoResponse, Response},
    routing::post,
};
use serde_json::{Value, json};
use tokio::net::TcpListener;

struct Script {
    first: Vec<Bytes>,
    second: Vec<Bytes>,
    pace: Duration,
}

/// Starts the server and returns its URL.
pub(crate) async fn start(pace: Duration) -> anyhow::Result<String> {
    let call = json!({"type": "tool_use", "id": "toolu_1", "name": "list_tasks", "input": {}});
    let script = Script {
        first: [text(20), block(1, call, json!({"type": "input_json_delta", "partial_json": "{}"})), end("tool_use")]
            .concat(),
        second: [text(60), end("end_turn")].concat(),
        pace,
    };
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    let router = Router::new().route("/v1/messages", post(answer)).with_state(Arc::new(script));
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(url)
}

async fn answer(State(script): State<Arc<Script>>, body: Bytes) -> Response {
    let has_result = body.windows(13).any(|window| window == b"\"tool_result\"");
    let frames = async_stream::stream! {
        let part = if has_result { &script.second } else { &script.first };
        if script.pace.is_zero() {
            yield Ok::<_, Infallible>(Bytes::from(part.concat()));
            return;
        }
        for frame in part {
            tokio::time::sleep(script.pace).await;
            yield Ok(frame.clone());
        }
    };
    ([("content-type", "text/event-stream")], Body::from_stream(frames)).into_response()
}

fn text(n_deltas: usize) -> Vec<Bytes> {
    let start = json!({"type": "message_start", "message": {"usage": {"input_tokens": 500, "output_tokens": 1}}});
    let open = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}});
    let deltas = (0..n_deltas).map(|n| {
        let delta = json!({"type": "text_delta", "text": format!("some words {n} ")});
        frame(&json!({"type": "content_block_delta", "index": 0, "delta": delta}))
    });
    let close = json!({"type": "content_block_stop", "index": 0});
    [frame(&start), frame(&open)].into_iter().chain(deltas).chain([frame(&close)]).collect()
}

fn block(index: usize, start: Value, delta: Value) -> Vec<Bytes> {
    vec![
        frame(&json!({"type": "content_block_start", "index": index, "content_block": start})),
        frame(&json!({"type": "content_block_delta", "index": index, "delta": delta})),
        frame(&json!({"type": "content_block_stop", "index": index})),
    ]
}

fn end(reason: &str) -> Vec<Bytes> {
    let delta = json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 80}});
    vec![frame(&delta), frame(&json!({"type": "message_stop"}))]
}

fn frame(event: &Value) -> Bytes {
    format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default()).into()
}
