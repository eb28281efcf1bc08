//! Two running nodes, and turns that lose their lease or cannot be saved.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{
    check, model,
    pause::said,
    plan::{Found, Plan, with_lease},
    scenario::Seen,
    signals::{end_open_transactions, expire_simulated_lease, signal, simulate_takeover, until},
    support::{Process, Stream, World, http, read_until_cut},
};

/// Long enough to be renewed on a busy machine.
const LEASE_MS: u64 = 2500;
const STOPS_WITHIN: Duration = Duration::from_secs(1);

async fn ask(server: &Process, question: &str) -> (Stream, Value) {
    let mut stream = server.chat(json!({"message": question, "agent": "tasks"})).await;
    let start = stream.next().await.unwrap();
    (stream, start)
}

/// Reads until the first text has arrived.
async fn some_words(stream: &mut Stream, events: &mut Vec<Value>) {
    while events.last().is_none_or(|event| event["type"] != "text_delta") {
        events.push(stream.next().await.unwrap());
    }
}

fn is_taken(line: &str) -> bool {
    line.contains("whose server died")
}

/// A turn that runs for longer than two leases stays on its node while the node lives.
pub(crate) async fn keeps_its_turn(plan: Plan) -> Found {
    let (world, settings) = (World::new().await, with_lease(&model::start(plan).await, LEASE_MS));
    let (here, there) = (Process::start(&world, &settings).await, Process::start(&world, &settings).await);
    // A node takes turns over only after it has run for one lease.
    tokio::time::sleep(Duration::from_millis(LEASE_MS)).await;
    let (stream, start) = ask(&here, "long").await;
    let rest = stream.rest().await;
    let mut broken = Vec::new();
    if rest.last().is_none_or(|last| last["stopReason"] != "complete") {
        broken.push(format!("the turn {} of a running node ends with {:?}", start["turnId"], rest.last()));
    }
    let taken = here.log().into_iter().chain(there.log()).filter(|line| is_taken(line));
    broken.extend(taken.map(|line| format!("taken over from a running node: {line}")));
    (1, broken)
}

/// The model sends nothing. The node notices at a renewal that the lease is lost, and disconnects its readers.
pub(crate) async fn loses_its_lease(plan: Plan) -> Found {
    let (world, settings) = (World::new().await, with_lease(&model::start(plan).await, LEASE_MS));
    let server = Process::start(&world, &settings).await;
    let (mut stream, start) = ask(&server, "silent").await;
    let mut seen = Seen { question: Some("silent"), events: vec![start], ..Seen::default() };
    some_words(&mut stream, &mut seen.events).await;
    simulate_takeover(&world).await;
    match tokio::time::timeout(Duration::from_secs(10), stream.rest()).await {
        Ok(rest) => seen.events.extend(rest),
        Err(_) => return (1, vec!["the readers of a turn that was lost are not disconnected".into()]),
    }
    let mut broken = Vec::new();
    if !said(&server, "A turn was released").await {
        broken.push("the node continues a turn that it lost".into());
    }
    expire_simulated_lease(&world).await;
    broken.extend(check::broken(&server, &seen).await);
    (1, broken)
}

/// A turn whose node dies three times is closed, and the streamed text is kept.
pub(crate) async fn dies_three_times(plan: Plan) -> Found {
    let (world, settings) = (World::new().await, with_lease(&model::start(plan).await, LEASE_MS));
    let mut server = Process::start(&world, &settings).await;
    let (mut stream, start) = ask(&server, "long").await;
    let turn = start["turnId"].as_str().unwrap().to_owned();
    let mut events = vec![start];
    for _ in 0..3 {
        events.push(stream.next().await.unwrap());
        server.kill().await;
        server = Process::start(&world, &settings).await;
        stream = server.follow(&turn, events.len() as u64).await;
    }
    events.extend(stream.rest().await);
    let mut broken = Vec::new();
    if events.last().unwrap()["code"] != "INTERRUPTED" {
        broken.push(format!("after the third crash the stream ends with {}", events.last().unwrap()));
    }
    let streamed: String = events.iter().filter_map(|event| event["content"].as_str()).collect();
    let path = format!("/api/conversations/{}", events[0]["conversationId"].as_str().unwrap());
    let text = server.get(&path).await["messages"][1]["content"][0]["text"].clone();
    if text != streamed {
        broken.push(format!("streamed '{streamed}' and stored {text}"));
    }
    (1, broken)
}

/// The node is paused, the stop is requested through another node, and the node that takes the turn over ends it.
pub(crate) async fn stops_while_paused(plan: Plan) -> Found {
    let (world, settings) = (World::new().await, with_lease(&model::start(plan).await, LEASE_MS));
    let (node, other) = (Process::start(&world, &settings).await, Process::start(&world, &settings).await);
    let (mut stream, start) = ask(&node, "long").await;
    let turn = start["turnId"].as_str().unwrap().to_owned();
    let mut seen = Seen { question: Some("long"), events: vec![start], is_stopped: true, ..Seen::default() };
    some_words(&mut stream, &mut seen.events).await;
    signal(node.pid(), "-STOP").await;
    end_open_transactions(&world).await;
    other.post(&format!("/api/turns/{turn}/stop"), json!({})).await;
    seen.events.extend(other.follow(&turn, seen.events.len() as u64).await.rest().await);
    let mut broken = Vec::new();
    if seen.events.last().unwrap()["stopReason"] != "stopped" {
        broken.push(format!("a turn that was stopped ends with {}", seen.events.last().unwrap()));
    }
    signal(node.pid(), "-CONT").await;
    broken.extend(check::broken(&other, &seen).await);
    (1, broken)
}

/// The events of one turn cannot be saved. Those of another turn are saved, and its reader gets them before its end.
pub(crate) async fn saves_the_others(plan: Plan) -> Found {
    let (world, settings) = (World::new().await, model::start(plan).await);
    let server = Process::start(&world, &settings).await;
    let (blocked, blocked_start) = ask(&server, "longest").await;
    let places: Vec<_> = (0..80).map(|n| format!("SELECT {n} AS n")).collect();
    let block = format!(
        "INSERT INTO turn_log (turn_id, position, events) SELECT id, n_events + n, '[]' FROM turns,
            ({}) AS places WHERE status = 'running' ON CONFLICT DO NOTHING",
        places.join(" UNION ALL ")
    );
    world.execute(&block).await;
    let (mut healthy, start) = ask(&server, "long").await;
    some_words(&mut healthy, &mut vec![]).await;
    let stop = async |start: &Value| {
        server.post(&format!("/api/turns/{}/stop", start["turnId"].as_str().unwrap()), json!({})).await;
    };
    stop(&start).await;
    let healthy = healthy.rest().await;
    let mut broken = Vec::new();
    // A turn whose words come only when it has ended cannot be stopped after its first words.
    if healthy.last().is_none_or(|last| last["stopReason"] != "stopped") {
        broken.push(format!("the healthy turn ends with {:?}", healthy.last()));
    }
    world.execute("DELETE FROM turn_log WHERE events = '[]'").await;
    stop(&blocked_start).await;
    let blocked = blocked.rest().await;
    if blocked.last().is_none_or(|last| last["stopReason"] != "stopped") {
        broken.push(format!("a turn that can be saved again ends with {:?}", blocked.last()));
    }
    broken.extend(check::broken(&server, &Seen::default()).await);
    (1, broken)
}

/// A message that is sent five times starts one turn.
pub(crate) async fn deduplicates_a_message(plan: Plan) -> Found {
    let (world, settings) = (World::new().await, model::start(plan).await);
    let (here, there) = (Process::start(&world, &settings).await, Process::start(&world, &settings).await);
    let body = json!({"message": "write", "agent": "tasks", "clientMessageId": "once"});
    let send = async |server: &Process| {
        let mut events = Vec::new();
        read_until_cut(server.post("/api/chat/stream", body.clone()).await, &mut events).await;
        events
    };
    let together = tokio::join!(send(&here), send(&there), send(&here), send(&there));
    let all = [together.0, together.1, together.2, together.3, send(&there).await];
    let mut broken = Vec::new();
    if all.iter().any(|events| events != &all[0] || events.len() < 3) {
        broken.push(format!("the streams of one message differ: {all:?}"));
    }
    let seen = Seen { question: Some("write"), events: all[0].clone(), ..Seen::default() };
    broken.extend(check::broken(&here, &seen).await);
    (1, broken)
}

/// Clients disconnect while their message is being stored: either the node answers it, or it is not stored.
pub(crate) async fn answers_disconnected_clients(plan: Plan) -> Found {
    const N: u64 = 200;
    let (world, settings) = (World::new().await, with_lease(&model::start(plan).await, LEASE_MS));
    let server = Process::start(&world, &settings).await;
    let client = http();
    for n in 0..N {
        let body = json!({"message": "plain", "agent": "tasks"});
        let sending = client.post(format!("{}/api/chat/stream", server.url)).json(&body).send();
        // The time is between the first byte of the request and the first byte of the answer.
        let _ = tokio::time::timeout(Duration::from_micros(n * 60), sending).await;
    }
    let mut broken = check::answered(&server, "/api/conversations?limit=100").await;
    if !until(&world, "SELECT 'one' FROM turns WHERE status = 'running'", <[_]>::is_empty).await {
        broken.push("a turn that was stored is not answered".into());
    }
    let taken = server.log().into_iter().filter(|line| is_taken(line));
    broken.extend(taken.map(|line| format!("a turn was not finished by its own server: {line}")));
    (usize::try_from(N).unwrap(), broken)
}

/// The promised time: a stop ends the turn within a second, requested through its own node or through another.
pub(crate) async fn stops_in_time(plan: Plan) -> Found {
    let (world, settings) = (World::new().await, model::start(plan).await);
    let (here, there) = (Process::start(&world, &settings).await, Process::start(&world, &settings).await);
    let mut broken = Vec::new();
    for n in 0..10 {
        let (mut stream, start) = ask(&here, "long").await;
        some_words(&mut stream, &mut vec![]).await;
        let (asked, through) = (Instant::now(), if n % 2 == 0 { &here } else { &there });
        through.post(&format!("/api/turns/{}/stop", start["turnId"].as_str().unwrap()), json!({})).await;
        let rest = stream.rest().await;
        let took = asked.elapsed();
        if took > STOPS_WITHIN || rest.last().is_none_or(|last| last["stopReason"] != "stopped") {
            let whose = if n % 2 == 0 { "its own" } else { "another" };
            broken.push(format!("a stop through {whose} node took {took:?} and ended with {:?}", rest.last()));
        }
    }
    (10, broken)
}
