//! The shipped proxy configuration with the real HAProxy, and nodes with accounts: requests that had an effect are not repeated,
//! others are.

use std::process::Stdio;

use doubles::model::{Fault, Scenario, Step};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use tokio::{
    net::{TcpListener, TcpStream},
    process::{Child, Command},
};

use crate::support::{Process, Stream, Upstream, World, command, command_with_input, http};

/// The file itself, unchanged: its addresses come from the environment.
const CONFIG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/haproxy.cfg");
const HAPROXY: &str = "/usr/sbin/haproxy";

/// Nodes behind the shipped proxy, which they trust, and the token of a user.
struct Installation {
    one: Process,
    /// Only runs.
    _two: Process,
    proxy: String,
    token: String,
    _haproxy: Child,
}

impl Installation {
    async fn start(world: &World, upstream: &Upstream) -> Self {
        let own = [("SEGUE_AUTH", "accounts"), ("SEGUE_TRUSTED_PROXIES", "127.0.0.1"), ("SEGUE_CONCURRENT_TURNS", "0")];
        let own = own.map(|(name, value)| (name, value.to_owned()));
        let settings: Vec<_> = upstream.settings().into_iter().chain(own).collect();
        let (one, two) = (Process::start(world, &settings).await, Process::start(world, &settings).await);
        let add = command_with_input(world, &settings, &["user", "add", "Ann"], "correct horse battery\n");
        let (code, _, error) = add.await;
        assert_eq!(code, 0, "{error}");
        let (_, token, _) = command(world, &settings, &["token", "Ann"]).await;
        let (proxy, haproxy) = haproxy([&one, &two]).await;
        Self { one, _two: two, proxy, token: token.trim().to_owned(), _haproxy: haproxy }
    }

    async fn post(&self, url: &str, path: &str, body: &Value) -> Response {
        http().post(format!("{url}{path}")).bearer_auth(&self.token).json(body).send().await.unwrap()
    }

    async fn get(&self, path: &str) -> Value {
        let sent = http().get(format!("{}{path}", self.one.url)).bearer_auth(&self.token).send().await.unwrap();
        assert_eq!(sent.status(), StatusCode::OK, "{path}");
        sent.json().await.unwrap()
    }

    /// A request through the proxy, once the proxy has checked that a node is ready.
    async fn post_when_ready(&self, path: &str, body: &Value) -> Response {
        loop {
            let sent = self.post(&self.proxy, path, body).await;
            if sent.status() != StatusCode::SERVICE_UNAVAILABLE {
                return sent;
            }
        }
    }
}

/// HAProxy in front of two nodes, and its URL.
async fn haproxy(nodes: [&Process; 2]) -> (String, Child) {
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let [one, two] = nodes.map(|node| node.url.trim_start_matches("http://"));
    let mut command = Command::new(HAPROXY);
    command.args(["-db", "-f", CONFIG]).env("SEGUE_BIND", format!("127.0.0.1:{port}"));
    command.env("SEGUE_NODE_1", one).env("SEGUE_NODE_2", two).stderr(Stdio::null()).kill_on_drop(true);
    let child = command.spawn().expect("HAProxy is installed by 'make setup-test'");
    while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
        tokio::task::yield_now().await;
    }
    (format!("http://127.0.0.1:{port}"), child)
}

/// A model that calls `add_task` and answers the next request with "overloaded".
async fn model_that_fails_after_a_call() -> Upstream {
    let steps = [Step::calls("add_task", json!({"title": "milk"})), Step::fails(Fault::Status(529))];
    Upstream::playing([Scenario::always(steps)]).await
}

#[tokio::test]
async fn a_request_whose_tool_has_acted_is_not_repeated_by_the_shipped_proxy() {
    let (world, model) = (World::new().await, model_that_fails_after_a_call().await);
    let ann = Installation::start(&world, &model).await;
    let id = ann.get("/api/me").await["id"].as_str().unwrap().to_owned();
    let response = ann.post_when_ready(&format!("/api/{id}/chat"), &json!({"message": "milk"})).await;
    assert_eq!(response.status(), StatusCode::BAD_GATEWAY, "{}", response.text().await.unwrap());
    let tasks = ann.get("/api/tasks").await;
    assert_eq!(tasks["tasks"].as_array().unwrap().len(), 1, "the task is added once: {tasks}");
}

#[tokio::test]
async fn a_request_to_a_draining_node_goes_to_the_other() {
    let (upstream, world) = (Upstream::start(std::time::Duration::from_millis(20), 100).await, World::new().await);
    let ann = Installation::start(&world, &upstream).await;
    assert_eq!(ann.post_when_ready("/api/tasks", &json!({"title": "ready"})).await.status(), StatusCode::CREATED);
    // A running turn delays the end of the node.
    let body = json!({"message": "a task", "agent": "tasks"});
    let mut stream = Stream::new(ann.post(&ann.one.url, "/api/chat/stream", &body).await);
    stream.next().await.unwrap();
    ann.one.send_sigterm().await;
    while ann.one.ask("/readyz").await.1["ready"] == true {}
    for n in 0..4 {
        let body = json!({"message": format!("task {n}"), "agent": "tasks"});
        let sent = ann.post(&ann.proxy, "/api/chat/stream", &body).await;
        assert_eq!(sent.status(), StatusCode::OK, "request {n}: {}", sent.text().await.unwrap());
    }
}
