//! The delay of a delta: the time from its sending by the model server to its arrival at the client, with several paced
//! streams at once. The model server and the clients are in this process, so they share a clock.

use std::{
    convert::Infallible,
    sync::LazyLock,
    time::{Duration, Instant},
};

use anyhow::Context;
use axum::{
    Router,
    body::{Body, Bytes},
    response::{IntoResponse, Response},
    routing::post,
};
use futures::{StreamExt, future::join_all};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::{load::begin, process::Server};

const N_STREAMS: u32 = 10;
const N_DELTAS: usize = 150;
/// The pace of a hosted model: 25 deltas per second.
const PACE: Duration = Duration::from_millis(40);
/// Before this many deltas a stream is not measured: its turn is starting.
const N_SKIPPED: usize = 5;

static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);

pub(crate) struct Delays(Vec<Duration>);

impl Delays {
    pub(crate) fn ms(&self, percent: usize) -> f64 {
        let at = (self.0.len() * percent / 100).min(self.0.len().saturating_sub(1));
        self.0.get(at).map_or(0.0, |delay| delay.as_secs_f64() * 1000.0)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Starts a model server whose deltas say when they were sent, and returns its URL. It is not the double of
/// `crates/doubles`, because no script can know the time at which a delta is sent.
pub(crate) async fn upstream() -> anyhow::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    let router = Router::new().route("/v1/messages", post(answer));
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(url)
}

async fn answer() -> Response {
    let frames = async_stream::stream! {
        yield frame(&json!({"type": "message_start", "message": {"usage": {"input_tokens": 9, "output_tokens": 1}}}));
        yield frame(&json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}));
        for _ in 0..N_DELTAS {
            tokio::time::sleep(PACE).await;
            let text = format!("{} ", BEGAN.elapsed().as_micros());
            let delta = json!({"type": "text_delta", "text": text});
            yield frame(&json!({"type": "content_block_delta", "index": 0, "delta": delta}));
        }
        yield frame(&json!({"type": "content_block_stop", "index": 0}));
        let delta = json!({"stop_reason": "end_turn"});
        yield frame(&json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": N_DELTAS}}));
        yield frame(&json!({"type": "message_stop"}));
    };
    ([("content-type", "text/event-stream")], Body::from_stream(frames)).into_response()
}

fn frame(event: &Value) -> Result<Bytes, Infallible> {
    Ok(format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default()).into())
}

/// Reads paced streams at once and measures each delta. Streams begin at different moments of the pace.
pub(crate) async fn measure(server: &Server) -> anyhow::Result<Delays> {
    let client = reqwest::Client::new();
    let streams = (0..N_STREAMS).map(async |n| {
        tokio::time::sleep(PACE * n / N_STREAMS).await;
        read(&client, &server.url).await
    });
    let mut all = Vec::new();
    for delays in join_all(streams).await {
        all.extend(delays?);
    }
    all.sort_unstable();
    Ok(Delays(all))
}

async fn read(client: &reqwest::Client, url: &str) -> anyhow::Result<Vec<Duration>> {
    let mut chunks = begin(client, url).await?.bytes_stream();
    let (mut buffer, mut delays) = (Vec::new(), Vec::new());
    while let Some(chunk) = chunks.next().await {
        let now = BEGAN.elapsed();
        buffer.extend_from_slice(&chunk?);
        let Some(end) = buffer.iter().rposition(|byte| *byte == b'\n') else { continue };
        for line in buffer.drain(..=end).collect::<Vec<_>>().split(|byte| *byte == b'\n') {
            let Some(data) = line.strip_prefix(b"data: ") else { continue };
            let event: Value = serde_json::from_slice(data)?;
            // A frame may hold several deltas.
            for sent in event["content"].as_str().unwrap_or_default().split_whitespace() {
                let sent = Duration::from_micros(sent.parse().context("a delta that is not a time")?);
                delays.push(now.saturating_sub(sent));
            }
        }
        // The relay asks the model twice, Segue once.
        if delays.len() >= N_DELTAS {
            break;
        }
    }
    anyhow::ensure!(delays.len() >= N_DELTAS, "{} of {N_DELTAS} deltas arrived", delays.len());
    Ok(delays.split_off(N_SKIPPED))
}
