//! A server that is killed in the middle of a turn: the turn is finished, no data is lost, and no effect is repeated.

use std::time::Duration;

use proptest::{
    prelude::RngExt,
    test_runner::{RngAlgorithm, TestRng},
};

use serde_json::{Value, json};

use crate::support::{Process, Upstream, World};

const N_KILLS: usize = 20;
const N_WORDS: usize = 12;

/// Kills the server with SIGKILL after a random number of events, restarts it, and continues to read.
#[tokio::test]
async fn a_server_killed_at_random_points_finishes_its_turns_and_repeats_no_effect() {
    let upstream = Upstream::start(Duration::from_millis(2), N_WORDS).await;
    let world = World::new().await;
    let mut random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut n_taken_over = 0;
    for n in 0..N_KILLS {
        let server = Process::start(&world, &upstream.settings()).await;
        let title = format!("task {n}");
        let mut stream = server.chat(json!({"message": title, "agent": "tasks"})).await;
        let n_events = random.random_range(1..28);
        let mut seen = Vec::new();
        while seen.len() < n_events {
            let Some(event) = stream.next().await else { break };
            seen.push(event);
        }
        server.kill().await;
        let server = Process::start(&world, &upstream.settings()).await;
        n_taken_over += usize::from(check_that_it_is_finished(&server, &title, &seen).await);
        server.kill().await;
    }
    assert!(n_taken_over > N_KILLS / 2, "too few kills interrupted a turn: {n_taken_over}");
}

/// Returns whether the turn was interrupted.
async fn check_that_it_is_finished(server: &Process, title: &str, seen: &[Value]) -> bool {
    let turn = seen[0]["turnId"].as_str().unwrap();
    let last_seen = seen.last().unwrap()["seq"].as_u64().unwrap();
    let was_over = seen.last().unwrap()["type"] == "message_end";
    let rest = if was_over { Vec::new() } else { server.follow(turn, last_seen).await.rest().await };
    let all: Vec<_> = seen.iter().chain(&rest).collect();
    let numbers: Vec<_> = all.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=all.len() as u64).collect::<Vec<_>>(), "a reader resumes without gaps in the numbers");
    assert_eq!(all.last().unwrap()["stopReason"], "complete", "{:?}", all.last());

    let conversation_id = seen[0]["conversationId"].as_str().unwrap();
    let conversation = server.get(&format!("/api/conversations/{conversation_id}")).await;
    let (question, answer) = (&conversation["messages"][0], &conversation["messages"][1]);
    assert_eq!(question["content"][0]["text"], title, "the user's message is kept");
    assert_eq!(answer["status"], "complete");
    let words: String = (0..N_WORDS).map(|n| format!("word{n} ")).collect();
    let blocks = answer["content"].as_array().unwrap();
    let kinds: Vec<_> = blocks.iter().map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["text", "tool_use", "tool_result", "text"], "{answer}");
    assert_eq!((blocks[0]["text"].as_str(), blocks[3]["text"].as_str()), (Some(words.as_str()), Some(words.as_str())));
    let streamed: String = all.iter().filter_map(|event| event["content"].as_str()).collect();
    assert_eq!(streamed, format!("{words}{words}"), "the stored text equals the streamed text");

    let tasks = server.get("/api/tasks").await;
    let n_effects = tasks["tasks"].as_array().unwrap().iter().filter(|task| task["title"] == title).count();
    assert_eq!(n_effects, 1, "the tool has one effect");
    let next = json!({"message": format!("{title} again"), "conversationId": conversation_id});
    let frames = server.chat(next).await.rest().await;
    assert_eq!(frames.last().unwrap()["stopReason"], "complete", "the conversation accepts new messages: {frames:?}");
    !was_over
}

#[tokio::test]
async fn a_stop_reaches_the_model_call_within_a_second() {
    let upstream = Upstream::start(Duration::from_millis(20), 500).await;
    let world = World::new().await;
    let server = Process::start(&world, &upstream.settings()).await;
    let mut slowest = Duration::ZERO;
    for n in 0..20 {
        let mut stream = server.chat(json!({"message": format!("task {n}"), "agent": "tasks"})).await;
        let start = stream.next().await.unwrap();
        for _ in 0..3 {
            stream.next().await.unwrap();
        }
        assert_eq!(upstream.n_open(), 1);
        let asked = std::time::Instant::now();
        server.post(&format!("/api/turns/{}/stop", start["turnId"].as_str().unwrap()), json!({})).await;
        let rest = stream.rest().await;
        upstream.all_closed().await;
        slowest = slowest.max(asked.elapsed());
        assert_eq!(rest.last().unwrap()["stopReason"], "stopped");
    }
    assert!(slowest < Duration::from_secs(1), "the contract promises one second; it took {slowest:?}");
}
