//! A call to another MCP server that needs the user's consent: the server dies while it asks for consent, while it
//! stores the decision, and while it makes the call; or it is paused while it makes an allowed call.

use std::{path::Path, time::Duration};

use serde_json::{Value, json};

use crate::{
    check, model,
    plan::{Found, Plan, Tried, enumerate, with_lease},
    signals::{end_open_transactions, signal, until, wait_until_paused},
    support::{Process, World, http, read_until_cut},
};

pub(crate) async fn every_point(plan: Plan) -> Found {
    let model = model::start(plan).await;
    enumerate(plan, plan.stride, "point", |n| at_point(&model, n)).await
}

type Settings = Vec<(&'static str, String)>;

/// The other server, which needs no model and is not killed, and the settings of a server that may call it.
async fn other_server(
    world: &World,
    folder: &Path,
    model: &[(&'static str, String)],
    lease_ms: u64,
) -> (Process, Settings) {
    let other = Process::start(world, &[]).await;
    let file = folder.join("segue.toml");
    std::fs::write(&file, format!("[mcp.othermcp]\nurl = '{}/mcp'\ntools = ['add_task']\n", other.url)).unwrap();
    let own = [("SEGUE_CONFIG", file.display().to_string())];
    let settings = with_lease(model, lease_ms).into_iter().chain(own).collect();
    (other, settings)
}

fn and(settings: &Settings, name: &'static str, n: usize) -> Settings {
    settings.iter().cloned().chain([(name, n.to_string())]).collect()
}

async fn at_point(model: &[(&'static str, String)], n: usize) -> Tried {
    let (world, other_world, folder) = (World::new().await, World::new().await, tempfile::tempdir().unwrap());
    let (other, settings) = other_server(&other_world, folder.path(), model, 5000).await;
    let dying = and(&settings, "SEGUE_CRASH_AT", n);
    let mut server = Process::start(&world, &dying).await;
    let is_whole = play(&server, "once").await.is_some();
    let died = server.has_crashed(Duration::from_millis(150)).await;
    server.kill_at_once().await;
    let server = Process::start(&world, &settings).await;
    (died || !is_whole, broken(&server, &other).await)
}

/// Two nodes: the node that makes a call, which the user has allowed in the whole conversation, is paused at its 1st, 2nd, …
/// statement or commit, and the other takes the turn over.
pub(crate) async fn every_pause(plan: Plan) -> Found {
    let model = model::start(plan).await;
    let stride = if plan.stride == 1 { 1 } else { plan.stride * 2 };
    enumerate(plan, stride, "pause at point", |n| paused_at(&model, n)).await
}

async fn paused_at(model: &[(&'static str, String)], n: usize) -> Tried {
    const RUNNING: &str = "SELECT 'token ' || lease_token FROM turns WHERE status = 'running'";
    let (world, other_world, folder) = (World::new().await, World::new().await, tempfile::tempdir().unwrap());
    let (other, settings) = other_server(&other_world, folder.path(), model, 1000).await;
    let healthy = Process::start(&world, &settings).await;
    play(&healthy, "conversation").await.expect("the call is allowed");
    let listed = healthy.get("/api/conversations").await;
    let conversation = listed["conversations"][0]["id"].clone();
    let node = Process::start(&world, &and(&settings, "SEGUE_PAUSE_AT", n)).await;
    let asked = node.post("/api/chat/stream", json!({"message": "outside", "conversationId": conversation}));
    let asking = async { read_until_cut(asked.await, &mut Vec::new()).await };
    tokio::pin!(asking);
    let was_paused = tokio::select! {
        biased;
        () = wait_until_paused(node.pid()) => true,
        () = &mut asking => false,
    };
    let mut broken = Vec::new();
    if was_paused {
        end_open_transactions(&world).await;
        if !until(&world, RUNNING, |rows| !rows.iter().any(|row| row == "token 1")).await {
            broken.push("the turn is not taken over".to_owned());
        }
        signal(node.pid(), "-CONT").await;
        asking.await;
    }
    let path = format!("/api/conversations/{}", conversation.as_str().unwrap());
    check::until_nothing_runs(&healthy, &path).await;
    let answers = healthy.get(&path).await["messages"].clone();
    // A node that was paused before it stored the message has asked nothing.
    let Some(answer) = answers.get(5) else { return (was_paused, broken) };
    let expected = if answer.to_string().contains("outcome is unknown") { 1..=2 } else { 2..=2 };
    broken.extend(effects_on_other_server(&other, expected, &format!("after two calls: {answer}")).await);
    (was_paused, broken)
}

/// Asks for a call that needs consent, and allows it. `None` if the server died.
async fn play(server: &Process, decision: &str) -> Option<()> {
    let client = http();
    let post = async |path: &str, body: Value| client.post(format!("{}{path}", server.url)).json(&body).send().await;
    let mut events = Vec::new();
    let body = json!({"message": "consent", "agent": "discover"});
    read_until_cut(post("/api/chat/stream", body).await.ok()?, &mut events).await;
    let asked = events.iter().find_map(|event| event["consentId"].as_str())?.to_owned();
    if !check::is_end(events.last()?) {
        return None;
    }
    let decided = post(&format!("/api/consents/{asked}"), json!({"decision": decision})).await.ok()?;
    let turn = decided.json::<Value>().await.ok()?["turnId"].as_str()?.to_owned();
    let mut events = Vec::new();
    let stream = client.get(format!("{}/api/turns/{turn}/stream?after=0", server.url)).send().await.ok()?;
    read_until_cut(stream, &mut events).await;
    events.last().filter(|event| check::is_end(event)).map(drop)
}

/// A stored decision is carried out once. A decision that was not stored can still be made.
async fn broken(server: &Process, other: &Process) -> Vec<String> {
    let listed = server.get("/api/conversations").await;
    let Some(conversation) = listed["conversations"].as_array().unwrap().first().cloned() else {
        return effects_on_other_server(other, 0..=0, "without a question").await;
    };
    let path = format!("/api/conversations/{}", conversation["id"].as_str().unwrap());
    check::until_nothing_runs(server, &path).await;
    let stored = server.get(&path).await;
    let asked = stored["consents"].as_array().cloned().unwrap_or_default();
    let Some(consent) = asked.first() else {
        // The server died after it opened the journal row and before it asked for consent: the call counts as running.
        let broken = wrong_with(&stored["messages"][1], "I ask. It cannot be known. ", "outcome is unknown");
        return broken.into_iter().chain(effects_on_other_server(other, 0..=0, "without a consent").await).collect();
    };
    let mut broken = wrong_with(&stored["messages"][1], "I ask. ", "waits for the user's consent");
    if asked.len() > 1 {
        broken.push(format!("one call has {} questions for consent", asked.len()));
    }
    if consent["decided"] == false {
        let id = consent["id"].as_str().unwrap();
        let decided = server.post(&format!("/api/consents/{id}"), json!({"decision": "once"})).await;
        if !decided.status().is_success() {
            broken.push(format!("an open question cannot be answered: {}", decided.status()));
        }
        check::until_nothing_runs(server, &path).await;
    }
    let answer = server.get(&path).await["messages"][3].clone();
    let is_unknown = answer.to_string().contains("outcome is unknown");
    if is_unknown {
        broken.extend(wrong_with(&answer, "It is outside. ", "outcome is unknown"));
    } else {
        broken.extend(wrong_with(&answer, "It is outside. ", "othermcp"));
    }
    let expected = if is_unknown { 0..=1 } else { 1..=1 };
    broken.extend(effects_on_other_server(other, expected, "after a consent").await);
    broken
}

/// Checks that an answer is complete, has this text, and has a result that contains `result`.
fn wrong_with(answer: &Value, words: &str, result: &str) -> Vec<String> {
    let blocks = answer["content"].as_array().cloned().unwrap_or_default();
    let said: String = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
    let is_result = |block: &&Value| block["type"] == "tool_result" && block["content"].to_string().contains(result);
    let is_good = answer["status"] == "complete" && said == words && blocks.iter().filter(is_result).count() == 1;
    if is_good { Vec::new() } else { vec![format!("expected '{words}' with '{result}': {answer}")] }
}

async fn effects_on_other_server(
    other: &Process,
    expected: std::ops::RangeInclusive<usize>,
    when: &str,
) -> Vec<String> {
    let n_tasks = other.get("/api/tasks").await["tasks"].as_array().map_or(0, Vec::len);
    if expected.contains(&n_tasks) { Vec::new() } else { vec![format!("{n_tasks} effects on the other server {when}")] }
}
