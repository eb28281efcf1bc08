//! The scenarios: what a server does when it dies.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::{
    model::ISRC,
    support::{Process, http, read_until_cut},
};

/// What the client of one run sent and received.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The question, if the client started a turn.
    pub(crate) question: Option<&'static str>,
    /// The events of its stream; empty if the server rejected the request or died before the first event.
    pub(crate) events: Vec<Value>,
    /// Titles of tasks that were created outside a turn, and whether the server confirmed each.
    pub(crate) direct: Vec<(&'static str, bool)>,
    pub(crate) is_stopped: bool,
}

#[derive(Clone, Copy)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) does: Does,
    /// Whether the crash points are those of the start of a server: the scenario is what a server does with unfinished
    /// turns.
    pub(crate) at_start: bool,
}

#[derive(Clone, Copy)]
pub(crate) enum Does {
    Asks(&'static str),
    AsksTwice(&'static str),
    Stops,
    CallsDirectly,
    Creates,
    Imports,
    Drains,
    CallsByMcp,
    /// Sends the same question twice; the second answer replaces the first.
    AsksAgain,
    /// Saves a playlist of a track that is already in the library.
    SavesPlaylist,
}

pub(crate) fn all() -> Vec<Scenario> {
    let scenario = |name, does| Scenario { name, does, at_start: false };
    vec![
        scenario("plain answer", Does::Asks("plain")),
        scenario("one write", Does::Asks("write")),
        scenario("several writes", Does::Asks("writes")),
        scenario("reads together", Does::Asks("reads")),
        scenario("several steps", Does::Asks("steps")),
        scenario("second message", Does::AsksTwice("write")),
        scenario("stop", Does::Stops),
        scenario("direct call", Does::CallsDirectly),
        scenario("task by REST", Does::Creates),
        scenario("import", Does::Imports),
        scenario("drain", Does::Drains),
        scenario("MCP call", Does::CallsByMcp),
        scenario("regenerate", Does::AsksAgain),
        scenario("playlist", Does::SavesPlaylist),
        Scenario { name: "takeover itself", does: Does::Asks("steps"), at_start: true },
    ]
}

impl Scenario {
    /// Whether its client reads no stream of a turn.
    pub(crate) fn is_direct(&self) -> bool {
        matches!(self.does, Does::CallsDirectly | Does::Creates | Does::Imports | Does::CallsByMcp | Does::AsksAgain)
    }

    /// Whether it needs tracks in the library.
    pub(crate) fn needs_tracks(&self) -> bool {
        matches!(self.does, Does::SavesPlaylist)
    }

    /// Runs the scenario on a server that may die at any time.
    pub(crate) async fn play(&self, server: &mut Process) -> Seen {
        let mut seen = Seen::default();
        match self.does {
            Does::Asks(question) => ask(server, "tasks", question, None, &mut seen).await,
            Does::SavesPlaylist => ask(server, "discover", "playlist", None, &mut seen).await,
            Does::AsksAgain => ask_again(server).await,
            Does::AsksTwice(question) => {
                ask(server, "tasks", "plain", None, &mut seen).await;
                let conversation = seen.events.first().map(|start| start["conversationId"].clone());
                if seen.events.last().is_some_and(|event| event["type"] == "message_end") {
                    seen = Seen::default();
                    ask(server, "tasks", question, conversation, &mut seen).await;
                }
            }
            Does::Stops => stop(server, &mut seen).await,
            Does::CallsDirectly => {
                let done = post(server, "/api/tools/add_task", json!({"title": "direct"})).await;
                seen.direct.push(("direct", done.is_some_and(|response| response.status().is_success())));
            }
            Does::Creates => {
                let done = post(server, "/api/tasks", json!({"title": "created"})).await;
                seen.direct.push(("created", done.is_some_and(|response| response.status().is_success())));
            }
            Does::Imports => {
                let url = format!("{}/api/library/import?name=imported.csv", server.url);
                let body = "title,artist,isrc\nOne,Someone,QZAAA2400001\nTwo,Someone,QZAAA2400002\n";
                let done = http().post(url).body(body).send().await;
                // This file also becomes a playlist, named after the file.
                seen.direct.push(("imported", done.is_ok_and(|response| response.status().is_success())));
            }
            Does::Drains => {
                let body = json!({"message": "slow", "agent": "tasks"});
                let Some(response) = post(server, "/api/chat/stream", body).await else { return seen };
                seen.question = Some("slow");
                let pid = server.pid().to_string();
                let terminate = async {
                    tokio::time::sleep(Duration::from_millis(60)).await;
                    Command::new("kill").args(["-TERM", &pid]).status().await.unwrap();
                };
                tokio::join!(read_until_cut(response, &mut seen.events), terminate);
            }
            Does::CallsByMcp => {
                let done = call_by_mcp(server).await;
                seen.direct.push(("by mcp", done == Some(true)));
            }
        }
        seen
    }
}

/// Starts a slow answer and stops it.
async fn stop(server: &Process, seen: &mut Seen) {
    let body = json!({"message": "slow", "agent": "tasks"});
    let Some(response) = post(server, "/api/chat/stream", body).await else { return };
    seen.question = Some("slow");
    let stop = async {
        tokio::time::sleep(Duration::from_millis(60)).await;
        let listed = get(server, "/api/conversations").await?;
        let id = listed["conversations"][0]["id"].as_str()?.to_owned();
        let stream = http().get(format!("{}/api/conversations/{id}/stream", server.url)).send().await.ok()?;
        let mut events = Vec::new();
        let reading = read_until_cut(stream, &mut events);
        let _ = tokio::time::timeout(Duration::from_millis(50), reading).await;
        let turn = events.first()?["turnId"].as_str()?.to_owned();
        let stopped = post(server, &format!("/api/turns/{turn}/stop"), json!({})).await?;
        // On a busy machine the answer may be complete before the request. Stopping an ended turn is not an error.
        let read = get(server, &format!("/api/conversations/{id}")).await.unwrap_or_default();
        Some(stopped.status().is_success() && read["messages"][1]["status"] != "complete")
    };
    let ((), stopped) = tokio::join!(read_until_cut(response, &mut seen.events), stop);
    seen.is_stopped = stopped == Some(true);
}

/// Adds the track of the playlist to the library.
pub(crate) async fn fill(server: &Process) {
    server.import("a.csv", format!("Title;Artist;ISRC\nOne;Someone;{ISRC}\n")).await;
}

/// Regenerates an answer. Only the AI SDK's protocol has a request for this.
async fn ask_again(server: &Process) {
    for trigger in ["submit-message", "regenerate-message"] {
        let message = json!({"id": "m", "role": "user", "parts": [{"type": "text", "text": "again"}]});
        let body = json!({"id": "c", "agent": "tasks", "trigger": trigger, "messages": [message]});
        let Some(response) = post(server, "/api/ai/chat", body).await else { return };
        // The frames are those of the AI SDK. Only the stored messages are checked.
        let _ = response.bytes().await;
    }
}

async fn ask(server: &Process, agent: &str, question: &'static str, conversation: Option<Value>, seen: &mut Seen) {
    let mut body = json!({"message": question, "agent": agent});
    if let Some(conversation) = conversation {
        body["conversationId"] = conversation;
    }
    seen.question = Some(question);
    if let Some(response) = post(server, "/api/chat/stream", body).await {
        read_until_cut(response, &mut seen.events).await;
    }
}

async fn call_by_mcp(server: &Process) -> Option<bool> {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "add_task", "arguments": {"title": "by mcp"}}});
    let request = http()
        .post(format!("{}/mcp", server.url))
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2025-06-18")
        .json(&call);
    let response = request.send().await.ok()?;
    let is_success = response.status().is_success();
    Some(is_success && response.text().await.ok()?.contains("\"by mcp\""))
}

async fn post(server: &Process, path: &str, body: Value) -> Option<reqwest::Response> {
    let client = http();
    client.request(Method::POST, format!("{}{path}", server.url)).json(&body).send().await.ok()
}

async fn get(server: &Process, path: &str) -> Option<Value> {
    http().get(format!("{}{path}", server.url)).send().await.ok()?.json().await.ok()
}
