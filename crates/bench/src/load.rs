//! The load: concurrent streams that run turn after turn. Each turn is read to its end and checked.

use std::time::{Duration, Instant};

use futures::{StreamExt, future::join_all};
use serde_json::json;

use crate::process::Server;

pub(crate) struct Load {
    pub(crate) streams: usize,
    pub(crate) time: Duration,
}

pub(crate) struct Report {
    pub(crate) turns_per_second: f64,
    pub(crate) cpu_ms_per_turn: f64,
    pub(crate) errors: usize,
}

const WARM_UP: usize = 200;
const N_DELTAS: usize = 80;

impl Load {
    pub(crate) async fn run(&self, server: &Server) -> anyhow::Result<Report> {
        let client = reqwest::Client::new();
        for _ in 0..WARM_UP / self.streams {
            join_all((0..self.streams).map(|_| turn(&client, &server.url))).await;
        }
        let (cpu_before, started) = (server.cpu_ms()?, Instant::now());
        let outcomes = join_all((0..self.streams).map(async |_| {
            let (mut n_whole, mut n_errors) = (0_usize, 0_usize);
            while started.elapsed() < self.time {
                match turn(&client, &server.url).await {
                    Ok(true) => n_whole += 1,
                    _ => n_errors += 1,
                }
            }
            (n_whole, n_errors)
        }))
        .await;
        let seconds = started.elapsed().as_secs_f64();
        let n_turns: usize = outcomes.iter().map(|(whole, _)| whole).sum();
        Ok(Report {
            turns_per_second: n_turns as f64 / seconds,
            cpu_ms_per_turn: (server.cpu_ms()? - cpu_before) / (n_turns.max(1) as f64),
            errors: outcomes.iter().map(|(_, errors)| errors).sum(),
        })
    }
}

/// Runs one turn and reads it to its end. Returns true if it was complete: every delta, the tool result, one end.
async fn turn(client: &reqwest::Client, url: &str) -> anyhow::Result<bool> {
    let answer = begin(client, url).await?.bytes().await?;
    let count = |word: &str| answer.windows(word.len()).filter(|window| *window == word.as_bytes()).count();
    Ok(count("\"text_delta\"") == N_DELTAS && count("\"tool_call_end\"") == 1 && count("\"message_end\"") == 1)
}

pub(crate) async fn begin(client: &reqwest::Client, url: &str) -> anyhow::Result<reqwest::Response> {
    let request = client.post(format!("{url}/api/chat/stream"));
    let answer = request.json(&json!({"message": "What is on my list?", "agent": "tasks"})).send().await?;
    Ok(answer.error_for_status()?)
}

/// The memory growth of the process per stream that is held open in the middle of its turn.
pub(crate) async fn memory_per_stream(server: &Server, streams: usize) -> anyhow::Result<f64> {
    let client = reqwest::Client::new();
    let before = server.rss_kib()?;
    let mut open = Vec::new();
    for _ in 0..streams {
        let mut body = begin(&client, &server.url).await?.bytes_stream();
        body.next().await;
        open.push(body);
    }
    join_all(open.iter_mut().map(|body| body.next())).await;
    let after = server.rss_kib()?;
    Ok((after - before) / streams as f64)
}
