//! Valid requests that are mutated at random. No request may cause a panic or a 5xx response. Each run sends two
//! thousand with a new seed, which it prints. `SEGUE_FUZZ_SEED` repeats a run, and `SEGUE_FUZZ_REQUESTS` sets the
//! number (`make fuzz`: 10,000).

mod seeds;

use std::{collections::BTreeMap, fmt::Write};

use engine::script::says;
use proptest::{
    prelude::RngExt,
    test_runner::{RngAlgorithm, TestRng},
};
use reqwest::{Client, Method};
use serde_json::{Value, json};

use self::seeds::{Seed, add_account, auth_seeds, seeds};
use crate::{
    ownership::things::{Things, ask_consent, shared_app_with, things_of},
    support::{TestApp, World, claims, signed},
};

const N_REQUESTS: usize = 2_000;
/// Requests delete what they name, so a new user with new things sends the next ones.
const N_OF_ONE_USER: usize = 100;
/// One request in so many is about accounts, on a server that has them. A password takes long to hash.
const AUTH_EVERY: usize = 25;

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
    seeds: Vec<Seed>,
}

struct Mutated {
    method: Method,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Mutated {
    fn unchanged(seed: &Seed) -> Self {
        let headers = vec![("content-type", "application/json".to_owned())];
        let body = seed.body.as_ref().map(|body| body.to_string().into_bytes()).unwrap_or_default();
        Self { method: Method::from_bytes(seed.method.as_bytes()).unwrap(), path: seed.path.clone(), headers, body }
    }
}

impl Mutator {
    fn one_in(&mut self, n: u32) -> bool {
        self.random.random_range(0..n) == 0
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.random.random_range(0..all.len())]
    }

    fn next(&mut self) -> Mutated {
        let seed = self.seeds[self.random.random_range(0..self.seeds.len())].clone();
        self.mutated(seed)
    }

    fn of(&mut self, seeds: &[Seed]) -> Mutated {
        let seed = seeds[self.random.random_range(0..seeds.len())].clone();
        self.mutated(seed)
    }

    fn mutated(&mut self, Seed { method, path, body }: Seed) -> Mutated {
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
    let names: Vec<String> = (0..=n_requests / N_OF_ONE_USER).map(|n| format!("ann{n}")).collect();
    let folder = tempfile::tempdir().unwrap();
    let operators = [("SEGUE_OPERATORS", &*names.join(",")), ("SEGUE_SECRET_KEY", "0123456789abcdef0123456789abcdef")];
    let (app, _tidal) = shared_app_with(&operators).await;
    let accounts = TestApp::start(World::new().await, [], &[("SEGUE_AUTH", "accounts")]).await;
    add_account(&accounts).await;
    let seed = seed();
    println!("SEGUE_FUZZ_SEED={seed}");
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, seed_bytes(&seed).as_slice());
    let mut mutator = Mutator { random, seeds: Vec::new() };
    let mut statuses: BTreeMap<u16, usize> = BTreeMap::new();
    for n in 0..n_requests {
        let name = &names[n / N_OF_ONE_USER];
        if n % N_OF_ONE_USER == 0 {
            mutator.seeds = seeds(&new_things(&app, name).await, folder.path());
        }
        let (mutated, (status, body)) = if n % AUTH_EVERY == 0 {
            let (seeds, token) = auth_seeds(&accounts).await;
            let mutated = mutator.of(&seeds);
            let answer = sent(&accounts, &token, &mutated).await;
            (mutated, answer)
        } else {
            app.model.play([says("ok")]);
            let mutated = mutator.next();
            let answer = sent(&app, &signed(&claims(name)), &mutated).await;
            (mutated, answer)
        };
        *statuses.entry(status).or_default() += 1;
        let shown = String::from_utf8_lossy(&mutated.body);
        assert!(status < 500, "seed {seed}, {n}: {} {} {shown} -> {status} {body}", mutated.method, mutated.path);
        // The document names the codes.
        let is_document = mutated.path.starts_with("/openapi.json") || mutated.path.starts_with("/docs");
        let is_broken = body.contains("INTERNAL_ERROR") || body.contains("DATABASE_ERROR");
        assert!(is_document || !is_broken, "{n}: {} {shown} {body}", mutated.path);
    }
    assert_eq!(app.anonymous().get("/readyz").await["ready"], true);
    println!("{n_requests} mutated requests, no 5xx, no panic: {statuses:?}");
}

/// The status and the body of the answer.
async fn sent(app: &TestApp, token: &str, mutated: &Mutated) -> (u16, String) {
    let mut request = Client::new().request(mutated.method.clone(), format!("{}{}", app.url, mutated.path));
    if mutated.path.starts_with("/mcp") {
        request = request.header("accept", "application/json, text/event-stream");
    }
    for (name, value) in &mutated.headers {
        request = request.header(*name, value);
    }
    let response = request.bearer_auth(token).body(mutated.body.clone()).send().await.expect("an answer");
    (response.status().as_u16(), response.text().await.expect("a whole answer"))
}

/// What a new user has.
async fn new_things(app: &TestApp, name: &str) -> Things {
    let things = Things { user_id: name.to_owned(), ..things_of(app, &app.person(name)).await };
    ask_consent(app, &things).await;
    things
}

/// A seed that is refused at once tests nothing behind the first check.
#[tokio::test]
async fn every_seed_of_a_mutated_request_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let operators = [("SEGUE_OPERATORS", "ann"), ("SEGUE_SECRET_KEY", "0123456789abcdef0123456789abcdef")];
    let (app, _tidal) = shared_app_with(&operators).await;
    let of_operator = seeds(&new_things(&app, "ann").await, folder.path());
    let mut refused = Vec::new();
    for (at, seed) in of_operator.into_iter().enumerate() {
        // Any other seed gets its own user, because a seed deletes what another one names.
        let user = if seed.is_of_operator() { "ann".to_owned() } else { format!("ann{at}") };
        let seed = if seed.is_of_operator() {
            seed
        } else {
            seeds(&new_things(&app, &user).await, folder.path()).swap_remove(at)
        };
        app.model.play([says("ok")]);
        let (status, body) = sent(&app, &signed(&claims(&user)), &Mutated::unchanged(&seed)).await;
        if status >= 400 && !seed.is_refused_by_design() {
            refused.push(format!("{} {}: {status} {body}", seed.method, seed.path));
        }
    }
    assert!(refused.is_empty(), "{refused:#?}");
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
