//! A server that is killed in the middle of a turn: nothing is lost, nothing is done twice, nothing is wedged.

use std::time::Duration;

use proptest::{
    prelude::RngExt,
    test_runner::{RngAlgorithm, TestRng},
};

use serde_json::{Value, json};

use crate::support::{Process, Upstream, World};

const N_KILLS: usize = 20;

/// Kills the server with SIGKILL after a random number of events, starts it again, and looks at what is left.
#[tokio::test]
async fn a_server_killed_at_random_points_loses_nothing_and_does_nothing_twice() {
    let upstream = Upstream::start(Duration::from_millis(2), 12).await;
    let world = World::new().await;
    let mut random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut n_interrupted = 0;
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
        n_interrupted += usize::from(check_what_is_left(&server, &title, &seen).await);
        server.kill().await;
    }
    assert!(n_interrupted > N_KILLS / 2, "the kills came too late to mean anything: {n_interrupted}");
}

/// True when the turn was cut.
async fn check_what_is_left(server: &Process, title: &str, seen: &[Value]) -> bool {
    let conversation_id = seen[0]["conversationId"].as_str().unwrap();
    let conversation = server.get(&format!("/api/conversations/{conversation_id}")).await;
    let (question, answer) = (&conversation["messages"][0], &conversation["messages"][1]);
    assert_eq!(question["content"][0]["text"], title, "the user's message is kept");
    let was_cut = answer["status"] == "error";
    if was_cut {
        assert_eq!(answer["error"]["code"], "INTERRUPTED");
    }

    let tasks = server.get("/api/tasks").await;
    let n_effects = tasks["tasks"].as_array().unwrap().iter().filter(|task| task["title"] == title).count();
    let blocks = answer["content"].as_array().unwrap();
    let results: Vec<_> = blocks.iter().filter(|block| block["type"] == "tool_result").collect();
    let n_done = results.iter().filter(|block| block["is_error"] != true).count();
    assert!(n_effects <= 1, "a tool acts once");
    assert_eq!(n_effects, n_done, "what was done is told, and what is told was done: {answer}");
    let n_calls = blocks.iter().filter(|block| block["type"] == "tool_use").count();
    assert_eq!(n_calls, results.len(), "no call without its result");
    let tool_ended = seen.iter().any(|event| event["type"] == "tool_call_end");
    assert!(!tool_ended || n_done == 1, "what was seen to end is kept");

    // A reader goes on where it was, and its count too.
    let last_seen = seen.last().unwrap()["seq"].as_u64().unwrap();
    let was_over = matches!(seen.last().unwrap()["type"].as_str(), Some("message_end" | "error"));
    let rest = server.follow(seen[0]["turnId"].as_str().unwrap(), last_seen).await.rest().await;
    if !was_over {
        let numbers: Vec<_> = rest.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (last_seen + 1..=last_seen + rest.len() as u64).collect::<Vec<_>>());
        let last = rest.last().expect("an end");
        assert!(matches!(last["type"].as_str(), Some("message_end" | "error")), "{last}");
    }

    let next = json!({"message": "still there?", "conversationId": conversation_id});
    let frames = server.chat(next).await.rest().await;
    assert_eq!(frames.last().unwrap()["stopReason"], "complete", "the conversation goes on: {frames:?}");
    was_cut
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
    eprintln!("slowest of 20 stops, upstream seen closed: {} ms", slowest.as_millis());
}
