//! Many clients at once: all disconnect, or the server is killed under load.

use std::time::{Duration, Instant};

use futures::future::join_all;
use proptest::{
    prelude::RngExt,
    test_runner::{RngAlgorithm, TestRng},
};
use serde_json::json;

use crate::{
    stage::{Heard, Numbers, Stage, leaks, listen, together},
    support::{JWT_SECRET, claims, signed},
    table::Row,
};

const N_PEOPLE: usize = 50;
const STREAMS_EACH: usize = 20;

/// Fifty users with twenty streams each disconnect at the same moment, in the middle of an answer.
pub(crate) async fn leaves_at_once() -> Row {
    let stage = Stage::new([]).await;
    let jwt = [("SEGUE_AUTH", "jwt".to_owned()), ("SEGUE_JWT_SECRET", JWT_SECRET.to_owned())];
    let shared = stage.another(&jwt).await;
    // One connection to the model per answer stays in the pool for 90 seconds.
    let rested = Numbers::of(&shared).await.with_connections(N_PEOPLE);
    stage.model.set_pace(Duration::from_millis(700));
    let http = reqwest::Client::new();
    let open = join_all((0..N_PEOPLE).map(async |n| {
        let token = signed(&claims(&format!("person {n}")));
        let body = json!({"message": format!("windows {n}"), "agent": "tasks"});
        let first = http.post(format!("{}/api/chat/stream", shared.url)).bearer_auth(&token).json(&body).send().await;
        let mut first = first.unwrap();
        let start = String::from_utf8(first.chunk().await.unwrap().unwrap().to_vec()).unwrap();
        let start: serde_json::Value =
            serde_json::from_str(start.lines().next().unwrap().strip_prefix("data: ").unwrap()).unwrap();
        let url = format!("{}/api/turns/{}/stream", shared.url, start["turnId"].as_str().unwrap());
        let more = join_all((1..STREAMS_EACH).map(async |_| http.get(&url).bearer_auth(&token).send().await.unwrap()));
        let streams: Vec<_> = more.await.into_iter().chain([first]).collect();
        (token, start, streams)
    }))
    .await;
    let n_open: usize = open.iter().map(|(_, _, streams)| streams.len()).sum();
    let files =
        |server: &crate::support::Process| std::fs::read_dir(format!("/proc/{}/fd", server.pid())).unwrap().count();
    let n_files = files(&shared);
    let people: Vec<_> = open
        .into_iter()
        .map(|(token, start, streams)| {
            drop(streams);
            (token, start)
        })
        .collect();
    let left = Instant::now();
    while files(&shared) > n_files - n_open + N_PEOPLE {
        assert!(left.elapsed() < Duration::from_secs(20), "connections stay open: {}", files(&shared));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let recovery = left.elapsed();
    let mut n_complete = 0;
    for (token, start) in &people {
        let turn = format!("{}/api/turns/{}/stream", shared.url, start["turnId"].as_str().unwrap());
        let mut heard = Heard::default();
        crate::support::read_until_cut(http.get(turn).bearer_auth(token).send().await.unwrap(), &mut heard.events)
            .await;
        n_complete += usize::from(heard.is_complete());
    }
    let grown = leaks(&shared, Some(rested)).await;
    let mut row = stage
        .row(format!("{n_open} streams closed; {n_complete} of {N_PEOPLE} answers complete all the same"), recovery)
        .await;
    row.broken.extend(grown);
    if n_complete != N_PEOPLE {
        row.broken.push(format!("{} turns were lost", N_PEOPLE - n_complete));
    }
    row
}

const N_KILLS: usize = 4;
const N_CLIENTS: usize = 8;

/// Eight users chat continuously while their server is killed and restarted.
pub(crate) async fn killed_under_load() -> Row {
    let mut stage = Stage::new([]).await;
    stage.model.set_pace(Duration::from_millis(15));
    let mut random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let (mut all, mut slowest) = (Vec::new(), Duration::ZERO);
    for n_kill in 0..N_KILLS {
        let pause = Duration::from_millis(random.random_range(50..900));
        let url = stage.server.url.clone();
        let clients: Vec<_> =
            (0..N_CLIENTS).map(|n| tokio::spawn(talk(url.clone(), format!("kill {n_kill} client {n}")))).collect();
        tokio::time::sleep(pause).await;
        let killed = Instant::now();
        stage.server.kill_at_once().await;
        for said in join_all(clients).await {
            for (text, heard) in said.unwrap() {
                all.push(heard.clone());
                stage.note(&text, heard);
            }
        }
        stage.start_again().await;
        slowest = slowest.max(stage.until_recovered(killed, &format!("after {n_kill}"), Heard::is_complete).await);
    }
    stage.model.set_pace(Duration::from_millis(2));
    stage.row(format!("{N_KILLS} kills: {}", together(&all)), slowest).await
}

/// Sends one message after another until the server does not answer.
async fn talk(url: String, name: String) -> Vec<(String, Heard)> {
    let mut said = Vec::new();
    for n in 0.. {
        let text = format!("{name} message {n}");
        let heard = listen(&url, json!({"message": text, "agent": "tasks"})).await;
        let is_over = !heard.is_complete();
        said.push((text, heard));
        if is_over {
            break;
        }
    }
    said
}
