//! Valid requests that are mutated at random. No request may cause a panic or a 5xx response. Each run sends two
//! thousand with a new seed, which it prints. `SEGUE_FUZZ_SEED` repeats a run, and `SEGUE_FUZZ_REQUESTS` sets the
//! number (`make fuzz`: 10,000).

use std::{collections::BTreeMap, fmt::Write};

use engine::script::says;
use proptest::{
    prelude::RngExt,
    test_runner::{RngAlgorithm, TestRng},
};
use reqwest::{Client, Method};
use serde_json::{Value, json};

use crate::support::{TestApp, claims, signed};

const N_REQUESTS: usize = 2_000;

/// Values that often break parsers and databases.
const EDGE_VALUES: &[&str] = &[
    "null",
    "true",
    "0",
    "-1",
    "1e999",
    "-0.0",
    "99999999999999999999",
    "\"\"",
    "\" \"",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "\"\\u202e\"",
    "\"'; DROP TABLE tasks; --\"",
    "\"../../etc/passwd\"",
    "\"%00%2e%2e\"",
    "\"<script>\"",
    "\"🎵\"",
    "\"01890000-0000-7000-8000-000000000000\"",
    "[]",
    "{}",
    "[[[[[[[[[[]]]]]]]]]]",
    "{\"\":{\"\":{}}}",
    "{\"__proto__\":1}",
    "\"discover\"",
    "\"2026-02-30T25:61:61Z\"",
    "\"NaN\"",
    "\"GBAYE0601498\"",
];

const METHODS: &[&str] = &["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "BREW"];

struct Mutator {
    random: TestRng,
    seeds: Vec<(String, String, Option<Value>)>,
}

struct Mutated {
    method: Method,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Mutator {
    fn one_in(&mut self, n: u32) -> bool {
        self.random.random_range(0..n) == 0
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.random.random_range(0..all.len())]
    }

    fn next(&mut self) -> Mutated {
        let (method, path, body) = self.seeds[self.random.random_range(0..self.seeds.len())].clone();
        let method = if self.one_in(12) { self.pick(METHODS).to_owned() } else { method };
        let path = self.path(&path);
        let body = body.map(|body| self.body(body)).unwrap_or_default();
        let mut headers = vec![("content-type", "application/json".to_owned())];
        if self.one_in(12) {
            let types = ["text/plain", "", "application/json; charset=\"", "multipart/form-data", "application/xml"];
            headers[0].1 = self.pick(&types).to_owned();
        }
        if self.one_in(8) {
            let names = ["accept", "last-event-id", "origin", "cookie", "x-forwarded-for", "range", "if-none-match"];
            headers.push((self.pick(&names), self.pick(EDGE_VALUES).replace(|c: char| !c.is_ascii_graphic(), "")));
        }
        Mutated { method: Method::from_bytes(method.as_bytes()).unwrap(), path, headers, body }
    }

    /// Replaces segments and adds a random query.
    fn path(&mut self, path: &str) -> String {
        let mut segments: Vec<_> = path.split('/').map(str::to_owned).collect();
        if self.one_in(4) && segments.len() > 2 {
            let at = self.random.random_range(2..segments.len());
            segments[at] = escaped(self.pick(EDGE_VALUES));
        }
        let mut path = segments.join("/");
        for _ in 0..self.random.random_range(0..3) {
            let name = self.pick(&["limit", "before", "after", "q", "filter", "url", "format", "agent", "x"]);
            let value = escaped(self.pick(EDGE_VALUES));
            write!(path, "{}{name}={value}", if path.contains('?') { '&' } else { '?' }).unwrap();
        }
        path
    }

    /// Changes the structure, the text, or nothing.
    fn body(&mut self, mut body: Value) -> Vec<u8> {
        for _ in 0..self.random.random_range(0..3) {
            self.change(&mut body);
        }
        let mut text = body.to_string().into_bytes();
        if self.one_in(4) {
            for _ in 0..self.random.random_range(1..4) {
                let at = self.random.random_range(0..=text.len());
                match self.random.random_range(0..4) {
                    0 => text.truncate(at),
                    1 => text.insert(at, self.random.random()),
                    2 => text.splice(at..at, self.pick(EDGE_VALUES).bytes()).for_each(drop),
                    _ if at < text.len() => text[at] ^= 1 << self.random.random_range(0..8),
                    _ => {}
                }
            }
        }
        text
    }

    fn change(&mut self, value: &mut Value) {
        let edge_value = serde_json::from_str(self.pick(EDGE_VALUES)).unwrap_or_else(|_| json!("x".repeat(20_000)));
        match value {
            Value::Object(fields) if !fields.is_empty() && !self.one_in(6) => {
                let at = self.random.random_range(0..fields.len());
                let name = fields.keys().nth(at).expect("the position is below the number of fields").clone();
                match self.random.random_range(0..4) {
                    0 => drop(fields.remove(&name)),
                    1 => drop(fields.insert(format!("{name}x"), edge_value)),
                    _ => self.change(fields.get_mut(&name).expect("the name is one of the fields")),
                }
            }
            Value::Array(items) if !items.is_empty() && !self.one_in(4) => {
                let at = self.random.random_range(0..items.len());
                self.change(&mut items[at]);
            }
            Value::String(text) if self.one_in(3) => text.push_str(edge_value.as_str().unwrap_or("\u{0}")),
            other => *other = edge_value,
        }
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() {
            escaped.push(byte.into());
        } else {
            write!(escaped, "%{byte:02x}").unwrap();
        }
    }
    escaped
}

#[tokio::test]
async fn mutated_requests_never_break_the_server() {
    let n_requests = std::env::var("SEGUE_FUZZ_REQUESTS").map_or(N_REQUESTS, |text| text.parse().unwrap());
    let app = TestApp::shared([], &[]).await;
    let ann = app.person("ann");
    let task = ann.add_task("seed").await;
    let frames = ann.say("seed").await;
    let id = |name: &str| frames[0][name].as_str().unwrap().to_owned();
    let mut seeds = Vec::new();
    let document = ann.get("/openapi.json").await;
    for (path, item) in document["paths"].as_object().unwrap() {
        let path = filled(path, &task, &id("conversationId"), &id("turnId"));
        assert!(!path.contains('{') || path.ends_with("{name}"), "no literal braces: {path}");
        for method in item.as_object().unwrap().keys() {
            for (name, body) in bodies(&path, &task, &id("conversationId")) {
                seeds.push((method.to_uppercase(), path.replace("{name}", name), Some(body)));
            }
        }
    }
    seeds.extend(mcp_seeds().into_iter().map(|body| ("POST".to_owned(), "/mcp".to_owned(), Some(body))));
    let seed = seed();
    println!("SEGUE_FUZZ_SEED={seed}");
    let mut mutator = Mutator { random: TestRng::from_seed(RngAlgorithm::ChaCha, seed_bytes(&seed).as_slice()), seeds };
    let (client, token) = (Client::new(), signed(&claims("ann")));
    let mut statuses: BTreeMap<u16, usize> = BTreeMap::new();
    for n in 0..n_requests {
        app.model.play([says("ok")]);
        let mutated = mutator.next();
        let mut request = client.request(mutated.method.clone(), format!("{}{}", app.url, mutated.path));
        if mutated.path.starts_with("/mcp") {
            request = request.header("accept", "application/json, text/event-stream");
        }
        for (name, value) in &mutated.headers {
            request = request.header(*name, value);
        }
        let response = request.bearer_auth(&token).body(mutated.body.clone()).send().await.expect("an answer");
        let status = response.status().as_u16();
        *statuses.entry(status).or_default() += 1;
        let body = response.text().await.expect("a whole answer");
        let shown = String::from_utf8_lossy(&mutated.body);
        assert!(status < 500, "seed {seed}, {n}: {} {} {shown} -> {status} {body}", mutated.method, mutated.path);
        assert!(
            !body.contains("INTERNAL_ERROR") && !body.contains("DATABASE_ERROR"),
            "{n}: {} {shown} {body}",
            mutated.path
        );
    }
    assert_eq!(ann.get("/readyz").await["ready"], true);
    println!("{n_requests} mutated requests, no 5xx, no panic: {statuses:?}");
}

/// The path with a value for every parameter: of existing resources, or random ids.
fn filled(path: &str, task: &str, conversation: &str, turn: &str) -> String {
    const RANDOM: [&str; 9] = [
        "{playlist_id}",
        "{item_id}",
        "{merge_id}",
        "{undo_id}",
        "{entry_id}",
        "{consent_id}",
        "{source_id}",
        "{track_id}",
        "{trash_id}",
    ];
    let known = [
        ("{conversation_id}", conversation),
        ("{turn_id}", turn),
        ("{task_id}", task),
        ("{isrc}", "XSGUE2600001"),
        ("{album_id}", "251380836"),
        ("{id}", conversation),
        // The setting takes effect at the next start, so it does not change the responses of later requests.
        ("{service}", "catalogue"),
        ("{user_id}", "ann"),
    ];
    let path = known.iter().fold(path.to_owned(), |path, (name, value)| path.replace(name, value));
    RANDOM.iter().fold(path, |path, name| path.replace(name, &uuid::Uuid::now_v7().to_string()))
}

/// 64 hexadecimal digits from the environment, or random ones.
fn seed() -> String {
    let fresh = || format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple());
    std::env::var("SEGUE_FUZZ_SEED").unwrap_or_else(|_| fresh())
}

fn seed_bytes(seed: &str) -> Vec<u8> {
    assert_eq!(seed.len(), 64, "a seed has 64 hexadecimal digits");
    (0..64).step_by(2).map(|at| u8::from_str_radix(&seed[at..at + 2], 16).expect("hexadecimal digits")).collect()
}

/// Requests of MCP clients.
fn mcp_seeds() -> Vec<Value> {
    let client =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
    let requests = [
        ("initialize", client),
        ("tools/list", json!({})),
        ("tools/call", json!({"name": "list_tasks", "arguments": {"filter": "all"}})),
        ("tools/call", json!({"name": "add_task", "arguments": {"title": "t"}, "_meta": {"progressToken": 1}})),
        ("ping", json!({})),
    ];
    let all = requests.into_iter().enumerate();
    all.map(|(n, (method, params))| json!({"jsonrpc": "2.0", "id": n, "method": method, "params": params})).collect()
}

/// Valid request bodies for a path.
fn bodies(path: &str, task: &str, conversation: &str) -> Vec<(&'static str, Value)> {
    if path.ends_with("/api/tools/{name}") {
        return vec![
            ("add_task", json!({"title": "t", "description": "d"})),
            ("list_tasks", json!({"filter": "all"})),
            ("complete_task", json!({"task_id": task})),
            ("update_task", json!({"task_id": task, "title": "t", "description": "d"})),
            ("delete_task", json!({"task_id": task})),
            ("semanticSearch", json!({"query": "rain", "limit": 3})),
            ("tidalSearch", json!({"query": "rain", "searchType": "both", "limit": 3})),
            ("albumTracks", json!({"albumId": "1"})),
            ("batchMetadata", json!({"isrcs": ["GBAYE0601498"]})),
            ("suggestPlaylist", json!({"title": "p", "tracks": [{"isrc": "GBAYE0601498", "reasoning": "r"}]})),
            ("list_playlists", json!({"playlist": "p"})),
            ("edit_playlist", json!({"playlist": "p", "action": "move", "tracks": ["1"], "position": 2})),
        ];
    }
    let body = match path {
        "/api/chat/stream" => json!({"message": "hi", "agent": "tasks", "conversationId": conversation}),
        "/chatkit" => {
            let content = json!([{"type": "input_text", "text": "hi"}]);
            let input = json!({"content": content, "attachments": [], "inference_options": {}});
            json!({"type": "threads.create", "params": {"input": input}, "metadata": {}})
        }
        "/ag-ui" => {
            let message = json!({"id": "m1", "role": "user", "content": "hi"});
            json!({"threadId": conversation, "runId": "r1", "messages": [message], "tools": [], "context": [],
                "state": {}, "forwardedProps": {}})
        }
        "/api/ai/chat" => {
            let message = json!({"id": "m1", "role": "user", "parts": [{"type": "text", "text": "hi"}]});
            json!({"id": conversation, "messages": [message], "trigger": "submit-message"})
        }
        path if path.ends_with("/chat") => json!({"message": "hi", "conversation_id": conversation}),
        path if path.starts_with("/api/consents/") => json!({"decision": "once"}),
        path if path.starts_with("/api/auth/") => json!({"name": "ann", "password": "x", "invitation": "y"}),
        path if path.starts_with("/api/tasks") => json!({"title": "t", "description": "d", "completed": true}),
        path if path.starts_with("/api/playlists") => json!({"title": "t", "trackIds": ["GBAYE0601498"], "at": 0}),
        path if path.starts_with("/api/conversations") => json!({"title": "t"}),
        _ => json!({"title": "t", "isrc": "GBAYE0601498", "query": "q", "limit": 1}),
    };
    vec![("x", body)]
}
