//! A client of two nodes that repeats its message and its reads until they succeed, and records what it saw.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::StreamExt;
use reqwest::{Response, StatusCode};
use serde_json::Value;

use crate::{
    histories::{ask, text_of},
    history::{Event, Record, Saw},
    support::{claims, signed},
};

/// A connection without data for this long is closed.
const SILENCE: Duration = Duration::from_secs(3);
const AGAIN_AFTER: Duration = Duration::from_millis(100);
/// Pauses and restarts take seconds. A client that needs more attempts has found a broken promise.
const MOST_TRIES: usize = 150;

pub(crate) struct Shared {
    pub(crate) urls: Mutex<[String; 2]>,
    pub(crate) history: Mutex<Vec<Record>>,
    pub(crate) turns: Mutex<Vec<Turn>>,
}

#[derive(Clone)]
pub(crate) struct Turn {
    pub(crate) id: String,
    pub(crate) user: &'static str,
    pub(crate) conversation: String,
    pub(crate) message: String,
    pub(crate) mark: String,
}

pub(crate) struct Client {
    user: &'static str,
    name: String,
    token: String,
    shared: Arc<Shared>,
    http: reqwest::Client,
    random: Mutex<u64>,
}

impl Client {
    pub(crate) fn new(user: &'static str, n: usize, shared: Arc<Shared>) -> Self {
        let http = reqwest::Client::builder().read_timeout(SILENCE).build().unwrap();
        let name = format!("{user}{n}");
        let random = Mutex::new(name.bytes().fold(17, |seed, byte| seed * 31 + u64::from(byte)));
        Self { user, name, token: signed(&claims(user)), shared, http, random }
    }

    /// Runs the rounds and returns what the client could not do.
    pub(crate) async fn run(&self, n_rounds: usize) -> Vec<String> {
        let mut problems = Vec::new();
        for round in 0..n_rounds {
            let mark = format!("{}-{round}", self.name);
            let Some((turn, mut after, mut is_over)) = self.asked(&mark).await else {
                problems.push(format!("{mark} could not be asked"));
                continue;
            };
            if self.one_in(5) {
                self.stop(&turn).await;
            }
            for _ in 0..MOST_TRIES {
                if is_over {
                    break;
                }
                (after, is_over) = self.read_on(&turn, after).await;
            }
            if !is_over {
                problems.push(format!("{mark}: its stream does not end"));
            }
            self.look(&turn).await;
            if self.one_in(3) {
                self.read_turn_of_another_user().await;
            }
        }
        problems
    }

    /// Sends a message until a server returns the turn that it started, and sometimes sends it once more.
    async fn asked(&self, mark: &str) -> Option<(String, u64, bool)> {
        let mut found = None;
        for _ in 0..MOST_TRIES {
            let request = self.http.post(format!("{}/api/chat/stream", self.url())).json(&ask(mark));
            if let Ok(response) = request.bearer_auth(&self.token).timeout(SILENCE * 10).send().await
                && let events = read(response, self.roll(12)).await
                && let Some(start) = events.first()
                && let Some(turn) = start["turnId"].as_str()
            {
                let known = found.replace((turn.to_owned(), events.len() as u64, is_over(&events)));
                self.write(Saw::Asked { message: mark.to_owned(), turn: turn.to_owned() });
                self.write(Saw::Read { turn: turn.to_owned(), after: 0, events: simple(&events) });
                if known.is_none() {
                    self.remember(start, mark);
                }
                if known.is_some() || !self.one_in(3) {
                    return found;
                }
            }
            if found.is_none() {
                tokio::time::sleep(AGAIN_AFTER).await;
            }
        }
        found
    }

    fn remember(&self, start: &Value, mark: &str) {
        let text = |field: &str| start[field].as_str().unwrap_or_default().to_owned();
        self.shared.turns.lock().unwrap().push(Turn {
            id: text("turnId"),
            user: self.user,
            conversation: text("conversationId"),
            message: text("messageId"),
            mark: mark.to_owned(),
        });
    }

    /// Reads more events. Returns the number of the last event, and whether it was the end.
    async fn read_on(&self, turn: &str, after: u64) -> (u64, bool) {
        let url = format!("{}/api/turns/{turn}/stream?after={after}", self.url());
        let Ok(response) = self.http.get(url).bearer_auth(&self.token).send().await else {
            tokio::time::sleep(AGAIN_AFTER).await;
            return (after, false);
        };
        if response.status() == StatusCode::NOT_FOUND {
            self.write(Saw::Refused { turn: turn.to_owned() });
        }
        if response.status() != StatusCode::OK {
            tokio::time::sleep(AGAIN_AFTER).await;
            return (after, false);
        }
        let events = read(response, 3 + self.roll(20)).await;
        self.write(Saw::Read { turn: turn.to_owned(), after, events: simple(&events) });
        (after + events.len() as u64, is_over(&events))
    }

    async fn stop(&self, turn: &str) {
        // Recorded first: the server may process the request although its response is lost.
        self.write(Saw::Stopped { turn: turn.to_owned() });
        let url = format!("{}/api/turns/{turn}/stop", self.url());
        let _ = self.http.post(url).bearer_auth(&self.token).send().await;
    }

    async fn look(&self, id: &str) {
        let Some(turn) = self.shared.turns.lock().unwrap().iter().find(|turn| turn.id == id).cloned() else { return };
        let conversation = self.get(&format!("/api/conversations/{}", turn.conversation)).await;
        let messages = conversation["messages"].as_array().cloned().unwrap_or_default();
        let Some(message) = messages.iter().find(|message| message["id"] == turn.message.as_str()) else { return };
        let status = message["status"].as_str().unwrap_or_default().to_owned();
        self.write(Saw::Looked { turn: turn.id, status, text: text_of(message) });
    }

    async fn read_turn_of_another_user(&self) {
        let foreign = self.shared.turns.lock().unwrap().iter().rfind(|turn| turn.user != self.user).cloned();
        let Some(turn) = foreign else { return };
        let url = format!("{}/api/turns/{}/stream", self.url(), turn.id);
        let Ok(response) = self.http.get(url).bearer_auth(&self.token).send().await else { return };
        if response.status() == StatusCode::NOT_FOUND {
            self.write(Saw::Refused { turn: turn.id });
        } else {
            let events = simple(&read(response, 100).await);
            self.write(Saw::Read { turn: turn.id, after: 0, events });
        }
    }

    /// Reads a path from either node, whichever answers.
    pub(crate) async fn get(&self, path: &str) -> Value {
        for _ in 0..MOST_TRIES {
            let request = self.http.get(format!("{}{path}", self.url())).bearer_auth(&self.token);
            if let Ok(response) = request.send().await
                && response.status() == StatusCode::OK
                && let Ok(value) = response.json().await
            {
                return value;
            }
            tokio::time::sleep(AGAIN_AFTER).await;
        }
        Value::Null
    }

    fn write(&self, saw: Saw) {
        self.shared.history.lock().unwrap().push(Record { user: self.user.to_owned(), saw });
    }

    fn url(&self) -> String {
        let n = self.roll(2);
        self.shared.urls.lock().unwrap()[n].clone()
    }

    fn one_in(&self, n: usize) -> bool {
        self.roll(n) == 0
    }

    fn roll(&self, n: usize) -> usize {
        let mut random = self.random.lock().unwrap();
        *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(*random >> 33).unwrap() % n
    }
}

/// Reads at most `n` events after the first one.
async fn read(response: Response, n: usize) -> Vec<Value> {
    let (mut bytes, mut buffer, mut events) = (response.bytes_stream(), Vec::new(), Vec::new());
    while events.len() <= n
        && let Some(Ok(chunk)) = bytes.next().await
    {
        buffer.extend_from_slice(&chunk);
        while let Some(end) = buffer.windows(2).position(|pair| pair == b"\n\n") {
            let frame: Vec<u8> = buffer.drain(..end + 2).collect();
            let data = frame.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"data: "));
            events.extend(data.map(|data| serde_json::from_slice::<Value>(data).unwrap()));
        }
    }
    events
}

fn is_over(events: &[Value]) -> bool {
    events.last().is_some_and(|event| matches!(event["type"].as_str(), Some("message_end" | "error")))
}

fn simple(events: &[Value]) -> Vec<Event> {
    let event = |event: &Value| Event {
        seq: event["seq"].as_u64().unwrap_or_default(),
        kind: event["type"].as_str().unwrap_or_default().to_owned(),
        text: event["content"].as_str().unwrap_or_default().to_owned(),
    };
    events.iter().map(event).collect()
}
