//! Leases and takeovers with real processes: paused nodes, nodes that die repeatedly, and nodes without takeovers.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::process::Command;

use crate::support::{Process, Upstream, World, read_until_cut};

/// Short enough for a test to wait for.
const LEASE: (&str, &str) = ("SEGUE_LEASE_MS", "1000");

fn settings(upstream: &Upstream, more: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    let own = more.iter().chain([&LEASE]).map(|(name, value)| (*name, (*value).to_owned()));
    upstream.settings().into_iter().chain(own).collect()
}

async fn signal(server: &Process, name: &str) {
    let sent = Command::new("kill")
        .args([name, &server.pid().to_string()])
        .status()
        .await
        .expect("the program `kill` is installed");
    assert!(sent.success());
}

/// Pauses a server between two transactions. With an open transaction it would block every other writer, and no node
/// could finish the turn.
async fn pause(world: &World, server: &Process) {
    const SAME: &str = "UPDATE turns SET stop_requested = stop_requested";
    loop {
        signal(server, "-STOP").await;
        if let Ok(Ok(())) = tokio::time::timeout(Duration::from_secs(2), world.try_execute(SAME)).await {
            return;
        }
        signal(server, "-CONT").await;
    }
}

async fn n_tasks(server: &Process) -> usize {
    server.get("/api/tasks").await["tasks"].as_array().unwrap().len()
}

fn assert_counted(seen: &[Value]) {
    let numbers: Vec<_> = seen.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=seen.len() as u64).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_node_that_resumes_after_a_pause_stores_nothing_of_a_turn_that_another_node_finished() {
    let (upstream, world) = (Upstream::start(Duration::from_millis(10), 60).await, World::new().await);
    let settings = settings(&upstream, &[]);
    let (paused, other) = (Process::start(&world, &settings).await, Process::start(&world, &settings).await);
    let mut stream = paused.chat(json!({"message": "a task", "agent": "tasks"})).await;
    let mut seen = vec![stream.next().await.unwrap()];
    for _ in 0..10 {
        seen.push(stream.next().await.unwrap());
    }
    pause(&world, &paused).await;
    let turn = seen[0]["turnId"].as_str().unwrap().to_owned();
    seen.extend(other.follow(&turn, seen.len() as u64).await.rest().await);
    assert_eq!(seen.last().unwrap()["stopReason"], "complete");
    assert_counted(&seen);
    let conversation = format!("/api/conversations/{}", seen[0]["conversationId"].as_str().unwrap());
    let stored = other.get(&conversation).await;
    signal(&paused, "-CONT").await;
    let cut = stream.rest().await;
    assert!(
        cut.iter().all(|event| event["type"] == "text_delta"),
        "the stream of its reader ends without an end event: {cut:?}"
    );
    // A healthy turn on the same node is saved: the lost turn does not prevent it.
    let next = paused.chat(json!({"message": "another task", "agent": "tasks"})).await.rest().await;
    assert_eq!(next.last().unwrap()["stopReason"], "complete");
    assert_eq!(other.get(&conversation).await, stored, "the finished turn is not changed");
    assert_eq!(n_tasks(&other).await, 2, "each task once");
}

#[tokio::test]
async fn a_turn_that_is_taken_over_keeps_its_model() {
    let (upstream, world) = (Upstream::start(Duration::from_millis(10), 60).await, World::new().await);
    let settings = settings(&upstream, &[("SEGUE_MODELS", "deep=anthropic:big")]);
    let (first, other) = (Process::start(&world, &settings).await, Process::start(&world, &settings).await);
    let mut stream = first.chat(json!({"message": "a task", "agent": "tasks", "model": "deep"})).await;
    let mut seen = vec![stream.next().await.unwrap(), stream.next().await.unwrap(), stream.next().await.unwrap()];
    let conversation = format!("/api/conversations/{}", seen[0]["conversationId"].as_str().unwrap());
    let patch = reqwest::Client::new().patch(format!("{}{conversation}", other.url));
    assert_eq!(patch.json(&json!({"model": null})).send().await.unwrap().status(), 200);
    first.kill().await;
    let turn = seen[0]["turnId"].as_str().unwrap().to_owned();
    seen.extend(other.follow(&turn, seen.len() as u64).await.rest().await);
    assert_eq!(seen.last().unwrap()["stopReason"], "complete");
    let models = upstream.models();
    assert!(models.len() > 2 && models.iter().all(|model| model == "big"), "{models:?}");
}

#[tokio::test]
async fn what_a_reply_had_said_before_its_node_died_is_charged_to_its_user() {
    const N_SEEN: usize = 200;
    let (upstream, world) = (Upstream::start(Duration::from_millis(5), 300).await, World::new().await);
    // Tokens are counted if they have a limit.
    let settings = settings(&upstream, &[("SEGUE_TOKENS_PER_DAY", "1000000000")]);
    let used = async |server: &Process| server.get("/api/usage").await["tokens"].as_u64().unwrap();
    let server = Process::start(&world, &settings).await;
    let mut stream = server.chat(json!({"message": "a task", "agent": "tasks"})).await;
    let mut seen = Vec::new();
    while seen.len() < N_SEEN {
        seen.push(stream.next().await.unwrap());
    }
    let n_bytes =
        |events: &[Value]| events.iter().filter_map(|event| event["content"].as_str()).map(str::len).sum::<usize>();
    // The input of the reply that is cut stays charged.
    let n_input = used(&server).await;
    server.kill().await;
    let server = Process::start(&world, &settings).await;
    let turn = seen[0]["turnId"].as_str().unwrap().to_owned();
    seen.extend(server.follow(&turn, seen.len() as u64).await.rest().await);
    let end = seen.last().unwrap();
    assert_eq!(end["stopReason"], "complete");
    let reported = end["usage"]["inputTokens"].as_u64().unwrap() + end["usage"]["outputTokens"].as_u64().unwrap();
    let n_charged =
        used(&server).await.checked_sub(n_input + reported).expect("the other replies are charged") as usize;
    // An estimate: four bytes a token. The node may have stored more than the reader saw, up to the end of the reply.
    let expected = n_bytes(&seen[..N_SEEN]) / 4..=n_bytes(&seen) / 4;
    assert!(expected.contains(&n_charged), "{n_charged} tokens, expected {expected:?}");
}

#[tokio::test]
async fn a_turn_that_loses_its_node_a_third_time_is_closed() {
    let (upstream, world) = (Upstream::start(Duration::from_millis(20), 500).await, World::new().await);
    let settings = settings(&upstream, &[]);
    let mut server = Process::start(&world, &settings).await;
    let mut stream = server.chat(json!({"message": "a task", "agent": "tasks"})).await;
    let mut seen = vec![stream.next().await.unwrap(), stream.next().await.unwrap()];
    let turn = seen[0]["turnId"].as_str().unwrap().to_owned();
    for _ in 0..2 {
        server.kill().await;
        server = Process::start(&world, &settings).await;
        let mut stream = server.follow(&turn, seen.len() as u64).await;
        for _ in 0..5 {
            seen.push(stream.next().await.expect("it goes on"));
        }
    }
    server.kill().await;
    let server = Process::start(&world, &settings).await;
    seen.extend(server.follow(&turn, seen.len() as u64).await.rest().await);
    assert_eq!(seen.last().unwrap()["code"], "INTERRUPTED");
    assert_counted(&seen);
    let conversation = server.get(&format!("/api/conversations/{}", seen[0]["conversationId"].as_str().unwrap())).await;
    let streamed: String = seen.iter().filter_map(|event| event["content"].as_str()).collect();
    assert_eq!(conversation["messages"][1]["content"][0]["text"], streamed, "the streamed text is kept");
}

#[tokio::test]
async fn without_takeovers_a_turn_of_a_dead_node_is_closed() {
    let (upstream, world) = (Upstream::start(Duration::from_millis(20), 500).await, World::new().await);
    let settings = settings(&upstream, &[("SEGUE_TAKEOVER", "off")]);
    let server = Process::start(&world, &settings).await;
    let mut stream = server.chat(json!({"message": "a task", "agent": "tasks"})).await;
    let start = stream.next().await.unwrap();
    server.kill().await;
    let server = Process::start(&world, &settings).await;
    let rest = server.follow(start["turnId"].as_str().unwrap(), 1).await.rest().await;
    assert_eq!(rest.last().unwrap()["code"], "INTERRUPTED");
}

#[tokio::test]
async fn a_turn_that_was_stopped_before_its_node_died_is_not_continued() {
    let (upstream, world) = (Upstream::start(Duration::from_millis(20), 500).await, World::new().await);
    let settings = settings(&upstream, &[]);
    let server = Process::start(&world, &settings).await;
    let mut stream = server.chat(json!({"message": "a task", "agent": "tasks"})).await;
    let start = stream.next().await.unwrap();
    let turn = start["turnId"].as_str().unwrap();
    // The stop is written to the database only, like a request that the paused node has not received yet.
    pause(&world, &server).await;
    world.execute("UPDATE turns SET stop_requested = TRUE").await;
    server.kill().await;
    let server = Process::start(&world, &settings).await;
    let rest = server.follow(turn, 1).await.rest().await;
    assert_eq!(rest.last().unwrap()["stopReason"], "stopped");
    assert_eq!(n_tasks(&server).await, 0);
}

/// Clients disconnect while their message is being stored: either it is answered, or it is not stored.
#[tokio::test]
async fn every_stored_message_of_a_disconnected_client_is_answered() {
    let (upstream, world) = (Upstream::start(Duration::ZERO, 2).await, World::new().await);
    let server = Process::start(&world, &settings(&upstream, &[])).await;
    let client = reqwest::Client::new();
    for n in 0..200_u64 {
        let body = json!({"message": format!("task {n}"), "agent": "tasks"});
        let sending = client.post(format!("{}/api/chat/stream", server.url)).json(&body).send();
        // The time is between the first byte of the request and the first byte of the answer.
        let _ = tokio::time::timeout(Duration::from_micros(n * 40), sending).await;
    }
    let listed = server.get("/api/conversations?limit=100").await;
    for conversation in listed["conversations"].as_array().unwrap() {
        let path = format!("/api/conversations/{}", conversation["id"].as_str().unwrap());
        let mut events = Vec::new();
        let running = client.get(format!("{}{path}/stream", server.url)).send().await.unwrap();
        read_until_cut(running, &mut events).await;
        assert_eq!(server.get(&path).await["messages"][1]["status"], "complete", "{conversation}");
    }
}
