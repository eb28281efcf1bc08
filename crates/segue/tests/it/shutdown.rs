//! Graceful shutdown: no new turns, running turns finish, readers continue on another node.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::support::{Process, Upstream, World, read_until_cut};

#[tokio::test]
async fn a_running_turn_finishes_while_new_ones_get_503() {
    let (upstream, world) = (Upstream::start(Duration::from_millis(20), 40).await, World::new().await);
    let server = Process::start(&world, &upstream.settings()).await;
    let mut stream = server.chat(json!({"message": "a task", "agent": "tasks"})).await;
    stream.next().await.unwrap();
    server.send_sigterm().await;
    while server.ask("/readyz").await.1["ready"] == true {}
    let (status, ready) = server.ask("/readyz").await;
    assert_eq!((status, &ready["causes"]), (503, &json!(["shutting down"])));
    let refused = server.post("/api/chat/stream", json!({"message": "another"})).await;
    assert_eq!(refused.status(), 503);
    assert!(refused.headers().contains_key("retry-after"));
    assert_eq!(stream.rest().await.last().unwrap()["stopReason"], "complete");
    assert_eq!(server.ended().await, Some(0));
}

#[tokio::test]
async fn a_turn_longer_than_the_drain_time_continues_after_the_restart() {
    let (upstream, world) = (Upstream::start(Duration::from_millis(20), 100).await, World::new().await);
    let settings = [&upstream.settings()[..], &[("SEGUE_DRAIN_SECONDS", "0".to_owned())]].concat();
    let server = Process::start(&world, &settings).await;
    let mut stream = server.chat(json!({"message": "a task", "agent": "tasks"})).await;
    let mut seen = vec![stream.next().await.unwrap()];
    seen.push(stream.next().await.unwrap());
    let reading = tokio::spawn(stream.rest());
    let (code, took) = server.terminate().await;
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(5), "{took:?}");
    seen.extend(reading.await.unwrap());
    assert_eq!(
        seen.last().unwrap()["type"],
        "text_delta",
        "a stream that continues on another node has no end event here"
    );
    let server = Process::start(&world, &settings).await;
    let last = seen.last().unwrap()["seq"].as_u64().unwrap();
    seen.extend(server.follow(seen[0]["turnId"].as_str().unwrap(), last).await.rest().await);
    assert_eq!(seen.last().unwrap()["stopReason"], "complete");
    let numbers: Vec<_> = seen.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=seen.len() as u64).collect::<Vec<_>>());
}

#[tokio::test]
async fn without_takeovers_a_turn_longer_than_the_drain_time_is_closed() {
    let (upstream, world) = (Upstream::start(Duration::from_millis(20), 5000).await, World::new().await);
    let own = [("SEGUE_DRAIN_SECONDS", "0".to_owned()), ("SEGUE_TAKEOVER", "off".to_owned())];
    let settings = [&upstream.settings()[..], &own].concat();
    let server = Process::start(&world, &settings).await;
    let mut stream = server.chat(json!({"message": "a task", "agent": "tasks"})).await;
    let start = stream.next().await.unwrap();
    let reading = tokio::spawn(stream.rest());
    assert_eq!(server.terminate().await.0, Some(0));
    assert_eq!(reading.await.unwrap().last().unwrap()["code"], "INTERRUPTED");
    let server = Process::start(&world, &settings).await;
    let path = format!("/api/conversations/{}", start["conversationId"].as_str().unwrap());
    assert_eq!(server.get(&path).await["messages"][1]["error"]["code"], "INTERRUPTED");
}

#[tokio::test]
async fn a_reader_of_another_nodes_turn_is_disconnected_and_can_resume() {
    let (upstream, world) = (Upstream::start(Duration::from_millis(15), 60).await, World::new().await);
    let (here, there) =
        (Process::start(&world, &upstream.settings()).await, Process::start(&world, &upstream.settings()).await);
    let mut stream = here.chat(json!({"message": "a task", "agent": "tasks"})).await;
    let start = stream.next().await.unwrap();
    let turn = start["turnId"].as_str().unwrap();
    let mut remote = there.follow(turn, 1).await;
    let mut seen = vec![start.clone(), remote.next().await.unwrap()];
    let (code, took) = tokio::join!(there.terminate(), async {
        while let Some(event) = remote.next().await {
            seen.push(event);
        }
    })
    .0;
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(5), "an open stream does not delay the shutdown: {took:?}");
    assert!(seen.last().unwrap()["stopReason"].is_null(), "the turn was still running");
    let after = seen.last().unwrap()["seq"].as_u64().unwrap();
    seen.extend(here.follow(turn, after).await.rest().await);
    let whole = [vec![start.clone()], stream.rest().await].concat();
    assert_eq!(seen, whole, "no event is lost or repeated");
}

/// The URLs of the servers, as a proxy would know them.
type Nodes = Arc<Mutex<Vec<String>>>;

const N_CLIENTS: usize = 12;
const N_ROUNDS: usize = 2;

/// Counts the outcomes of all turns.
#[derive(Default)]
struct Tally {
    started: AtomicUsize,
    finished: AtomicUsize,
    resumed: AtomicUsize,
    sent_again: AtomicUsize,
}

#[tokio::test]
async fn a_rolling_restart_under_load_loses_no_turn() {
    let (upstream, world) = (Upstream::start(Duration::from_millis(4), 20).await, World::new().await);
    let mut servers =
        vec![Process::start(&world, &upstream.settings()).await, Process::start(&world, &upstream.settings()).await];
    let nodes: Nodes = Arc::new(Mutex::new(servers.iter().map(|server| server.url.clone()).collect()));
    let (tally, is_over) = (Arc::new(Tally::default()), Arc::new(AtomicBool::new(false)));
    let clients: Vec<_> =
        (0..N_CLIENTS).map(|n| tokio::spawn(client(n, nodes.clone(), tally.clone(), is_over.clone()))).collect();
    let began = Instant::now();
    for round in 0..N_ROUNDS {
        for at in 0..servers.len() {
            let wanted = tally.finished.load(Ordering::SeqCst) + N_CLIENTS;
            while tally.finished.load(Ordering::SeqCst) < wanted {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            let (code, took) = servers.remove(at).terminate().await;
            assert_eq!(code, Some(0));
            let server = Process::start(&world, &upstream.settings()).await;
            nodes.lock().unwrap()[at] = server.url.clone();
            servers.insert(at, server);
            println!("round {round}: node {at} ended within {} ms and was restarted", took.as_millis());
        }
    }
    is_over.store(true, Ordering::SeqCst);
    for client in clients {
        client.await.unwrap();
    }
    let count = |n: &AtomicUsize| n.load(Ordering::SeqCst);
    let (started, finished) = (count(&tally.started), count(&tally.finished));
    println!(
        "rolling restart, {} restarts in {:.1} s, {N_CLIENTS} clients: {started} turns started, {finished} finished, {} lost; \
         {} streams resumed, {} messages sent again",
        N_ROUNDS * servers.len(),
        began.elapsed().as_secs_f64(),
        started - finished,
        count(&tally.resumed),
        count(&tally.sent_again),
    );
    assert_eq!(started, finished);
    let tasks = servers[0].get("/api/tasks").await;
    assert_eq!(tasks["tasks"].as_array().unwrap().len(), finished, "each turn added its task once");
}

/// Chats continuously. If a server rejects a request or shuts down, the client uses the other one.
async fn client(n: usize, nodes: Nodes, tally: Arc<Tally>, is_over: Arc<AtomicBool>) {
    let http = reqwest::Client::new();
    for n_turn in 0.. {
        if is_over.load(Ordering::SeqCst) {
            return;
        }
        let id = format!("client {n} turn {n_turn}");
        tally.started.fetch_add(1, Ordering::SeqCst);
        let seen = turn(&http, &nodes, &id, n + n_turn, &tally).await;
        let numbers: Vec<_> = seen.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (1..=seen.len() as u64).collect::<Vec<_>>(), "{id}");
        assert_eq!(seen.last().unwrap()["stopReason"], "complete", "{id}: {:?}", seen.last());
        tally.finished.fetch_add(1, Ordering::SeqCst);
    }
}

async fn turn(http: &reqwest::Client, nodes: &Nodes, id: &str, first: usize, tally: &Tally) -> Vec<Value> {
    let mut seen: Vec<Value> = Vec::new();
    for attempt in 0.. {
        let node = nodes.lock().unwrap()[(first + attempt) % 2].clone();
        let request = match seen.first() {
            None => {
                let body = json!({"message": id, "agent": "tasks", "clientMessageId": id});
                http.post(format!("{node}/api/chat/stream")).json(&body)
            }
            Some(start) => {
                tally.resumed.fetch_add(1, Ordering::SeqCst);
                let (turn, after) = (start["turnId"].as_str().unwrap(), seen.len());
                http.get(format!("{node}/api/turns/{turn}/stream?after={after}"))
            }
        };
        match request.send().await {
            Ok(response) if response.status() == 200 => read_until_cut(response, &mut seen).await,
            Ok(response) => assert_eq!(response.status(), 503, "{id}"),
            Err(error) => assert!(!error.is_timeout(), "{id}: {error}"),
        }
        if seen.last().is_some_and(|last| matches!(last["type"].as_str(), Some("message_end" | "error"))) {
            return seen;
        }
        if seen.is_empty() {
            tally.sent_again.fetch_add(1, Ordering::SeqCst);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    unreachable!("a turn ends")
}
