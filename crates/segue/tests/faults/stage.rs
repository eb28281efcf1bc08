//! The setup of the fault tests: the real binary, a model with faults, and a user who records every answer.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    model,
    support::{Process, Upstream, World, read_until_cut},
    table::Row,
};

pub(crate) struct Stage {
    pub(crate) world: Arc<World>,
    pub(crate) model: Upstream,
    pub(crate) server: Process,
    settings: Vec<(&'static str, String)>,
    /// The result of every message, by its text.
    heard: Mutex<BTreeMap<String, Heard>>,
    /// The resource numbers before the fault.
    rested: Option<Numbers>,
}

/// What a user received for one message.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heard {
    /// The error, if the turn did not start.
    pub(crate) refused: Option<String>,
    pub(crate) events: Vec<Value>,
}

impl Heard {
    /// A short form for the table.
    pub(crate) fn in_short(&self) -> String {
        let Some(last) = self.events.last() else { return self.refused.clone().unwrap_or("no answer".into()) };
        let failed = self.events.iter().find(|event| event["type"] == "tool_call_error");
        let tool = failed.map(|event| format!(" after \"{}\"", event["error"].as_str().unwrap_or_default()));
        match last["type"].as_str() {
            Some("message_end") => format!("{}{}", last["stopReason"].as_str().unwrap(), tool.unwrap_or_default()),
            Some("error") => last["code"].as_str().unwrap().to_owned(),
            _ => "cut stream".into(),
        }
    }

    /// Complete, and no tool call failed.
    pub(crate) fn is_complete_with_tools(&self) -> bool {
        self.is_complete() && !self.events.iter().any(|event| event["type"] == "tool_call_error")
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.events.last().is_some_and(|last| last["stopReason"] == "complete")
    }
}

/// The resource numbers in which a leak would show.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    turns: f64,
    tasks: f64,
    files: f64,
    memory: f64,
    used_connections: f64,
}

const RECOVERS_WITHIN: Duration = Duration::from_secs(60);

impl Stage {
    pub(crate) async fn new(settings: impl IntoIterator<Item = (&'static str, String)>) -> Self {
        Self::in_world(World::new().await, settings).await
    }

    pub(crate) async fn in_world(
        world: Arc<World>,
        settings: impl IntoIterator<Item = (&'static str, String)>,
    ) -> Self {
        let model = model::start().await;
        let settings: Vec<_> = model.settings().into_iter().chain(settings).collect();
        let server = Process::start(&world, &settings).await;
        let mut stage = Self { world, model, server, settings, heard: Mutex::default(), rested: None };
        for n in 0..3 {
            assert!(stage.say(&format!("warm up {n}")).await.is_complete(), "the server works before the fault");
        }
        stage.rested = Some(Numbers::of(&stage.server).await);
        stage
    }

    /// Starts a second server on the same database.
    pub(crate) async fn another(&self, more: &[(&'static str, String)]) -> Process {
        Process::start(&self.world, &[&self.settings[..], more].concat()).await
    }

    /// Starts a server in place of the one that was killed.
    pub(crate) async fn start_again(&mut self) {
        self.server = Process::start(&self.world, &self.settings).await;
        self.rested = None;
    }

    /// Sends a message in a new conversation and reads the answer to its end.
    pub(crate) async fn say(&self, text: &str) -> Heard {
        let agent = if text.starts_with("find ") || text.starts_with("tidal ") { "discover" } else { "tasks" };
        let heard = listen(&self.server.url, json!({"message": text, "agent": agent})).await;
        self.heard.lock().unwrap().insert(text.to_owned(), heard.clone());
        heard
    }

    pub(crate) fn note(&self, text: &str, heard: Heard) {
        self.heard.lock().unwrap().insert(text.to_owned(), heard);
    }

    /// Sends messages until a good answer arrives. Returns the time since `repaired_at`.
    pub(crate) async fn until_recovered(
        &self,
        repaired_at: Instant,
        text: &str,
        is_good: impl Fn(&Heard) -> bool,
    ) -> Duration {
        for n in 0.. {
            if is_good(&self.say(&format!("{text} {n}")).await) {
                break;
            }
            assert!(repaired_at.elapsed() < RECOVERS_WITHIN, "the server does not recover");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        repaired_at.elapsed()
    }

    /// The final checks: what was stored, and whether all invariants hold.
    pub(crate) async fn row(&self, seen: impl Into<String>, recovery: Duration) -> Row {
        let mut broken = Vec::new();
        let heard = self.heard.lock().unwrap().clone();
        let begun: Vec<_> = heard.iter().filter(|(_, heard)| !heard.events.is_empty()).collect();
        let tasks = self.server.get("/api/tasks").await;
        let (mut n_kept, mut n_effects) = (0, 0);
        for (text, heard) in &begun {
            let path = format!("/api/conversations/{}", heard.events[0]["conversationId"].as_str().unwrap());
            let conversation = settled(&self.server, &path).await;
            let n_tasks = tasks["tasks"].as_array().unwrap().iter().filter(|task| task["title"] == **text).count();
            broken.extend(wrong_with(text, heard, &conversation, n_tasks));
            n_kept += usize::from(conversation["messages"][0]["content"][0]["text"] == **text);
            n_effects += n_tasks;
        }
        for (text, heard) in begun.iter().rev().take(3) {
            let body = json!({"message": "go on", "conversationId": heard.events[0]["conversationId"]});
            let next = listen(&self.server.url, body).await;
            if !next.is_complete() {
                broken.push(format!("the conversation '{text}' is wedged: {}", next.in_short()));
            }
        }
        broken.extend(leaks(&self.server, self.rested).await);
        let kept = format!("{n_kept} of {} messages, {n_effects} effects, none twice", begun.len());
        Row { seen: seen.into(), kept, recovery, broken }
    }
}

/// Resources that are still held after all clients have disconnected.
pub(crate) async fn leaks(server: &Process, rested: Option<Numbers>) -> Vec<String> {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let now = Numbers::of(server).await;
        let mut leaks = Vec::new();
        let mut check = |name: &str, now: f64, most: f64| {
            if now > most {
                leaks.push(format!("{name}: {now} instead of {most}"));
            }
        };
        check("turns running", now.turns, 0.0);
        // The metrics request itself needs a connection.
        check("connections in use", now.used_connections, 1.0);
        if let Some(rested) = rested {
            check("tasks", now.tasks, rested.tasks + 8.0);
            // SQLite has up to ten connections with three files each, opened on demand.
            check("open files", now.files, rested.files + 40.0);
            check("memory in MiB", now.memory / 1048576.0, rested.memory / 1048576.0 + 64.0);
        }
        if leaks.is_empty() || Instant::now() > deadline {
            return leaks;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

impl Numbers {
    /// The same with `n` more connections. Each is a task and a file.
    pub(crate) fn with_connections(self, n: usize) -> Self {
        Self { tasks: self.tasks + n as f64, files: self.files + n as f64, ..self }
    }

    pub(crate) async fn of(server: &Process) -> Self {
        let text = reqwest::get(format!("{}/metrics", server.url)).await.unwrap().text().await.unwrap();
        let sum = |is_meant: &dyn Fn(&str) -> bool| -> f64 {
            let lines = text.lines().filter(|line| is_meant(line));
            lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
        };
        Self {
            turns: sum(&|line| line.starts_with("segue_turns_running ")),
            tasks: sum(&|line| line.starts_with("segue_tasks ")),
            files: sum(&|line| line.starts_with("segue_open_files ")),
            memory: sum(&|line| line.starts_with("segue_memory_bytes ")),
            used_connections: sum(&|line| line.contains("state=\"used\"")),
        }
    }
}

/// A conversation after all its turns have ended.
async fn settled(server: &Process, path: &str) -> Value {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let conversation = server.get(path).await;
        let runs = conversation["messages"].as_array().unwrap().iter().any(|message| message["status"] == "running");
        if !runs || Instant::now() > deadline {
            return conversation;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// The violated invariants.
fn wrong_with(text: &str, heard: &Heard, conversation: &Value, n_tasks: usize) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut must = |holds: bool, what: &str| {
        if !holds {
            wrong.push(format!("'{text}': {what}"));
        }
    };
    let answer = &conversation["messages"][1];
    let blocks = answer["content"].as_array().cloned().unwrap_or_default();
    let results: Vec<_> = blocks.iter().filter(|block| block["type"] == "tool_result").collect();
    let n_uses = blocks.iter().filter(|block| block["type"] == "tool_use").count();
    let wrote = blocks.iter().any(|block| block["name"] == "add_task");
    let n_done = results.iter().filter(|block| block["is_error"] != true).count();
    must(conversation["messages"][0]["content"][0]["text"] == text, "the message is lost");
    must(answer["status"] != "running", "the turn never ended");
    must(n_uses == results.len(), "a call without its result");
    must(n_tasks <= 1, "done twice");
    must(!wrote || n_tasks == n_done, "the answer does not match the tasks");
    must(!heard.is_complete() || answer["status"] == "complete", "shown as complete but not stored as complete");
    let numbers: Vec<_> = heard.events.iter().filter_map(|event| event["seq"].as_u64()).collect();
    must(numbers.iter().zip(1..).all(|(number, expected)| *number == expected), "events are missing or repeated");
    wrong
}

/// Sends a message and reads the stream, even if the server dies.
pub(crate) async fn listen(url: &str, body: Value) -> Heard {
    let mut heard = Heard::default();
    let response = reqwest::Client::new().post(format!("{url}/api/chat/stream")).json(&body).send().await;
    match response {
        Ok(response) if response.status() == 200 => read_until_cut(response, &mut heard.events).await,
        Ok(response) => {
            let status = response.status().as_u16();
            let body: Value = response.json().await.unwrap_or_default();
            heard.refused = Some(format!("{status} {}", body["error"]["code"].as_str().unwrap_or_default()));
        }
        Err(_) => heard.refused = Some("no connection".into()),
    }
    heard
}

/// Several answers in short form: "3 × complete, 1 × 503 DATABASE_ERROR".
pub(crate) fn together(heard: &[Heard]) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for one in heard {
        *counts.entry(one.in_short()).or_default() += 1;
    }
    counts.iter().map(|(what, n)| format!("{n} × {what}")).collect::<Vec<_>>().join(", ")
}
