//! Checks the promises after a run: no answer is lost, no effect happens twice, every stream is a prefix of the stored
//! answer, and every conversation accepts new messages.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    model::{TOKENS_PER_STEP, script, text},
    scenario::Seen,
    support::{Process, http, read_until_cut},
};

/// Reads everything through a healthy server and returns the broken promises.
pub(crate) async fn broken(server: &Process, seen: &Seen) -> Vec<String> {
    let mut broken = Vec::new();
    let listed = server.get("/api/conversations").await;
    let mut expected = BTreeMap::<String, usize>::new();
    let mut n_questions = 0;
    for conversation in listed["conversations"].as_array().unwrap() {
        let path = format!("/api/conversations/{}", conversation["id"].as_str().unwrap());
        until_nothing_runs(server, &path).await;
        let stored = server.get(&path).await;
        for pair in stored["messages"].as_array().unwrap().chunks(2) {
            let question = pair[0]["content"][0]["text"].as_str().unwrap_or_default();
            n_questions += usize::from(Some(question) == seen.question);
            let may_stop = may_stop(question);
            broken.extend(wrong_with_answer(question, &pair[1], may_stop, &mut expected));
        }
        let next = json!({"message": "plain", "conversationId": conversation["id"]});
        if let Some(end) = incomplete(server, next).await {
            broken.push(format!("a conversation accepts no new message: {end}"));
        }
    }
    if !seen.events.is_empty() {
        broken.extend(wrong_with_stream(server, seen).await);
        if n_questions != 1 {
            broken.push(format!("a question that was answered is stored {n_questions} times"));
        }
    }
    broken.extend(wrong_effects(server, seen, expected).await);
    broken
}

/// A server may disconnect its readers when it loses the lease of a turn. They request the stream again, like a client.
const MOST_CUTS: usize = 20;

pub(crate) async fn until_nothing_runs(server: &Process, path: &str) {
    for _ in 0..MOST_CUTS {
        let response = http().get(format!("{}{path}/stream", server.url)).send().await.unwrap();
        if response.status() == reqwest::StatusCode::NO_CONTENT {
            return;
        }
        read_until_cut(response, &mut Vec::new()).await;
    }
}

/// Sends a message and returns the last event of its answer, unless the answer is complete.
pub(crate) async fn incomplete(server: &Process, message: Value) -> Option<Value> {
    let events = server.chat(message).await.rest().await;
    let end = read_to_end(server, events).await.pop().unwrap_or_default();
    (end["stopReason"] != "complete").then_some(end)
}

/// Requests the rest of a stream, again after each cut, until its end.
async fn read_to_end(server: &Process, mut events: Vec<Value>) -> Vec<Value> {
    let Some(turn) = events.first().and_then(|start| start["turnId"].as_str()).map(str::to_owned) else {
        return events;
    };
    for _ in 0..MOST_CUTS {
        let last = events.last().unwrap();
        if is_end(last) {
            break;
        }
        let after = last["seq"].as_u64().unwrap();
        events.extend(server.follow(&turn, after).await.rest().await);
    }
    events
}

pub(crate) fn is_end(event: &Value) -> bool {
    matches!(event["type"].as_str(), Some("message_end" | "error"))
}

/// Whether a client may stop the answer to this question.
fn may_stop(question: &str) -> bool {
    matches!(question, "slow" | "long" | "longest")
}

/// Checks that every question of the listed conversations has its complete answer.
pub(crate) async fn answered(server: &Process, list: &str) -> Vec<String> {
    let mut broken = Vec::new();
    for conversation in server.get(list).await["conversations"].as_array().unwrap() {
        let path = format!("/api/conversations/{}", conversation["id"].as_str().unwrap());
        until_nothing_runs(server, &path).await;
        for pair in server.get(&path).await["messages"].as_array().unwrap().chunks(2) {
            let question = pair[0]["content"][0]["text"].as_str().unwrap_or_default();
            broken.extend(wrong_with_answer(question, &pair[1], may_stop(question), &mut BTreeMap::new()));
        }
    }
    broken
}

fn wrong_with_answer(
    question: &str,
    answer: &Value,
    may_stop: bool,
    expected: &mut BTreeMap<String, usize>,
) -> Vec<String> {
    let mut broken = Vec::new();
    let status = answer["status"].as_str().unwrap_or_default();
    if status != "complete" && !(may_stop && status == "stopped") {
        return vec![format!("'{question}' is not answered: {status} {}", answer["error"])];
    }
    let blocks = answer["content"].as_array().unwrap();
    let said: String = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
    let steps = script(question);
    let words = text(&steps);
    let is_whole = said == words || (status == "stopped" && words.starts_with(&said));
    if !is_whole {
        broken.push(format!("'{question}' says '{said}' instead of '{words}'"));
    }
    if status == "complete" {
        for call in steps.iter().flat_map(|step| &step.calls) {
            if call.name != "list_tasks" {
                *expected.entry(call.arguments["title"].as_str().unwrap().to_owned()).or_default() += 1;
            }
        }
    }
    let n_uses = blocks.iter().filter(|block| block["type"] == "tool_use").count();
    let n_good = blocks.iter().filter(|block| block["type"] == "tool_result" && block["is_error"] != true).count();
    if n_uses != n_good {
        broken.push(format!("'{question}': {n_uses} calls and {n_good} good results"));
    }
    broken
}

/// Compares the events that the client saw, and the rest of the stream, with the stored answer.
async fn wrong_with_stream(server: &Process, seen: &Seen) -> Vec<String> {
    let mut broken = Vec::new();
    let all = read_to_end(server, seen.events.clone()).await;
    let numbers: Vec<_> = all.iter().filter_map(|event| event["seq"].as_u64()).collect();
    if numbers != (1..=all.len() as u64).collect::<Vec<_>>() {
        broken.push(format!("the events of the stream are numbered {numbers:?}"));
    }
    let end = all.last().unwrap();
    let is_good =
        end["stopReason"] == "complete" || (seen.question.is_some_and(may_stop) && end["stopReason"] == "stopped");
    if !is_good {
        broken.push(format!("the stream ends with {end}"));
    }
    if seen.is_stopped && end["stopReason"] != "stopped" && all.len() > seen.events.len() {
        let (n_seen, n_all) = (seen.events.len(), all.len());
        broken.push(format!("a turn continued after its stop was confirmed, from event {n_seen} to {n_all}: {end}"));
    }
    // A reply that was complete when its server died costs less the second time, because no text remains.
    let n_steps = seen.question.map_or(0, |question| script(question).len() as u64 - 1);
    if end["stopReason"] == "complete" && end["usage"]["outputTokens"].as_u64() <= Some(n_steps * TOKENS_PER_STEP) {
        broken.push(format!("the usage of more than {n_steps} steps is {}", end["usage"]));
    }
    let streamed: String = all.iter().filter_map(|event| event["content"].as_str()).collect();
    let path = format!("/api/conversations/{}", all[0]["conversationId"].as_str().unwrap());
    let stored = server.get(&path).await;
    let answers = stored["messages"].as_array().unwrap();
    let answer = answers.iter().find(|message| message["id"] == all[0]["messageId"]).cloned().unwrap_or_default();
    let blocks = answer["content"].as_array().cloned().unwrap_or_default();
    let said: String = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
    if streamed != said {
        broken.push(format!("streamed '{streamed}' and stored '{said}'"));
    }
    broken
}

async fn wrong_effects(server: &Process, seen: &Seen, mut expected: BTreeMap<String, usize>) -> Vec<String> {
    let mut found = BTreeMap::<String, usize>::new();
    for (path, list) in [("/api/tasks", "tasks"), ("/api/playlists", "playlists")] {
        for made in server.get(path).await[list].as_array().unwrap() {
            *found.entry(made["title"].as_str().unwrap().to_owned()).or_default() += 1;
        }
    }
    for (title, is_confirmed) in &seen.direct {
        // Without a confirmation the effect may have happened once, or not at all.
        let n = found.get(*title).copied().unwrap_or(0);
        expected.insert((*title).to_owned(), if *is_confirmed { 1 } else { n.min(1) });
    }
    expected.retain(|_, n| *n > 0);
    if found == expected { Vec::new() } else { vec![format!("effects {found:?} instead of {expected:?}")] }
}
