//! The shipped proxy configuration with the real HAProxy: requests that had an effect are not repeated, others are.

use std::process::Stdio;

use doubles::model::{Fault, Scenario, Step};
use serde_json::json;
use tempfile::TempDir;
use tokio::{
    net::{TcpListener, TcpStream},
    process::{Child, Command},
};

use crate::support::{Process, Upstream, World};

const CONFIG: &str = include_str!("../../../../deploy/haproxy.cfg");
const HAPROXY: &str = "/usr/sbin/haproxy";

/// HAProxy in front of two nodes, with the shipped configuration.
struct Proxy {
    url: String,
    _child: Child,
    _folder: TempDir,
}

impl Proxy {
    async fn start(nodes: [&Process; 2]) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
        let address = |node: &Process| node.url.trim_start_matches("http://").to_owned();
        let config = CONFIG
            // These nodes run in local mode, which rejects forwarded requests and HTTP/1.0.
            .replace("option forwardfor", "")
            .replace(
                "http-check expect",
                "http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host 127.0.0.1\n    http-check expect",
            )
            .replace("bind :8080", &format!("bind 127.0.0.1:{port}"))
            .replace("segue-1:8080", &address(nodes[0]))
            .replace("segue-2:8080", &address(nodes[1]));
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("haproxy.cfg");
        std::fs::write(&path, config).unwrap();
        let child =
            Command::new(HAPROXY).arg("-db").arg("-f").arg(path).stderr(Stdio::null()).kill_on_drop(true).spawn();
        let child = child.expect("HAProxy is installed by 'make setup-test'");
        while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            tokio::task::yield_now().await;
        }
        Self { url: format!("http://127.0.0.1:{port}"), _child: child, _folder: folder }
    }
}

/// A model that calls `add_task` and answers the next request with "overloaded".
async fn model_that_fails_after_a_call() -> Upstream {
    let steps = [Step::calls("add_task", json!({"title": "milk"})), Step::fails(Fault::Status(529))];
    Upstream::playing([Scenario::always(steps)]).await
}

#[tokio::test]
async fn a_request_whose_tool_has_acted_is_not_repeated_by_the_shipped_proxy() {
    let (world, model) = (World::new().await, model_that_fails_after_a_call().await);
    let settings = model.settings();
    let (one, two) = (Process::start(&world, &settings).await, Process::start(&world, &settings).await);
    let proxy = Proxy::start([&one, &two]).await;
    let client = reqwest::Client::new();
    // HAProxy checks `/readyz` before it sends a request to a node.
    let body = json!({"message": "milk"});
    let response = loop {
        // Local mode accepts requests for loopback hosts only, and the proxy adds forwarding headers.
        let sent = client.post(format!("{}/api/local/chat", proxy.url)).json(&body).send().await.unwrap();
        if sent.status() != 503 {
            break sent;
        }
    };
    assert_eq!(response.status(), 502, "{}", response.text().await.unwrap());
    let tasks = one.get("/api/tasks").await;
    assert_eq!(tasks["tasks"].as_array().unwrap().len(), 1, "the task is added once: {tasks}");
}

#[tokio::test]
async fn a_request_to_a_draining_node_goes_to_the_other() {
    let (upstream, world) = (Upstream::start(std::time::Duration::from_millis(20), 100).await, World::new().await);
    let settings = upstream.settings();
    let (one, two) = (Process::start(&world, &settings).await, Process::start(&world, &settings).await);
    let proxy = Proxy::start([&one, &two]).await;
    // A running turn delays the end of the node.
    let mut stream = one.chat(json!({"message": "a task", "agent": "tasks"})).await;
    stream.next().await.unwrap();
    one.send_sigterm().await;
    while one.ask("/readyz").await.1["ready"] == true {}
    for n in 0..4 {
        let body = json!({"message": format!("task {n}"), "agent": "tasks"});
        let sent = reqwest::Client::new().post(format!("{}/api/chat/stream", proxy.url)).json(&body).send().await;
        let sent = sent.unwrap();
        assert_eq!(sent.status(), 200, "request {n}: {}", sent.text().await.unwrap());
    }
}
