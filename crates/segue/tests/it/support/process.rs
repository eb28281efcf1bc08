//! The real binary: started, killed and restarted.

use std::{
    process::Stdio,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use reqwest::Method;
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{Child, Command},
};

use super::{Stream, World};

pub(crate) struct Process {
    child: Child,
    pub(crate) url: String,
    client: reqwest::Client,
    /// All log lines.
    log: Arc<Mutex<Vec<String>>>,
}

impl Process {
    /// Starts `segue serve` and waits until it logs its address.
    pub(crate) async fn start(world: &World, settings: &[(&'static str, String)]) -> Self {
        // The write to a file at its size limit fails with an error and does not end the process.
        let mut command = Command::new("sh");
        command.args(["-c", "trap '' XFSZ; exec \"$0\" serve", env!("CARGO_BIN_EXE_segue")]);
        command.env("SEGUE_LISTEN", "127.0.0.1:0").envs(world.settings());
        command.envs(settings.iter().map(|(name, value)| (*name, value)));
        let mut child = command.stderr(Stdio::piped()).kill_on_drop(true).spawn().expect("the binary starts");
        let mut lines = BufReader::new(child.stderr.take().expect("stderr is piped")).lines();
        let mut said = Vec::new();
        let url = loop {
            let line =
                lines.next_line().await.expect("a log").unwrap_or_else(|| panic!("the server did not start: {said:?}"));
            if let Some((_, rest)) = line.split_once("ready on ") {
                break rest.split_whitespace().next().expect("an address").to_owned();
            }
            said.push(line);
        };
        // The log must be read continuously, or the process would block.
        let log = Arc::new(Mutex::new(said));
        let kept = log.clone();
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                kept.lock().expect("no thread panics while it holds the lock").push(line);
            }
        });
        Self { child, url, client: super::http(), log }
    }

    /// Resident memory in bytes.
    pub(crate) fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("Linux");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
        line.split_whitespace().next().and_then(|text| text.parse::<u64>().ok()).expect("a number") * 1024
    }

    /// Sends SIGTERM and waits for the end. Returns the exit code and the duration.
    pub(crate) async fn terminate(mut self) -> (Option<i32>, Duration) {
        let asked = Instant::now();
        self.send_sigterm().await;
        let status = self.child.wait().await.expect("it ends");
        assert!(status.code().is_some(), "the server did not exit by itself: {status}");
        (status.code(), asked.elapsed())
    }

    pub(crate) async fn send_sigterm(&self) {
        let pid = self.pid().to_string();
        let sent = Command::new("kill").args(["-TERM", &pid]).status().await.expect("the program `kill` is installed");
        assert!(sent.success());
    }

    pub(crate) async fn ended(mut self) -> Option<i32> {
        self.child.wait().await.expect("it ends").code()
    }

    pub(crate) fn log(&self) -> Vec<String> {
        self.log.lock().expect("no thread panics while it holds the lock").clone()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    pub(crate) async fn kill_at_once(&mut self) {
        self.child.kill().await.expect("the process can be killed");
    }

    /// Whether the process ends within this time.
    #[allow(dead_code, reason = "`prove` uses it")]
    pub(crate) async fn has_crashed(&mut self, within: Duration) -> bool {
        match tokio::time::timeout(within, self.child.wait()).await {
            Ok(ended) => !ended.expect("the exit status can be read").success(),
            Err(_) => false,
        }
    }

    /// Starts a server that may die during or soon after its start. Returns whether it did.
    #[allow(dead_code, reason = "`prove` uses it")]
    pub(crate) async fn start_and_watch(world: &World, settings: &[(&'static str, String)]) -> bool {
        let mut command = Command::new(env!("CARGO_BIN_EXE_segue"));
        command.arg("serve").env("SEGUE_LISTEN", "127.0.0.1:0").envs(world.settings());
        command.envs(settings.iter().map(|(name, value)| (*name, value)));
        command.stderr(Stdio::null()).kill_on_drop(true);
        let mut child = command.spawn().expect("the binary starts");
        let has_ended = tokio::time::timeout(Duration::from_secs(8), child.wait()).await.is_ok();
        child.kill().await.ok();
        has_ended
    }

    /// SIGKILL, without a shutdown.
    pub(crate) async fn kill(mut self) {
        self.kill_at_once().await;
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let response = self.client.get(format!("{}{path}", self.url)).send().await.expect("an answer");
        assert!(response.status().is_success(), "GET {path}: {}", response.status());
        response.json().await.expect("JSON")
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> reqwest::Response {
        self.client.request(Method::POST, format!("{}{path}", self.url)).json(&body).send().await.expect("an answer")
    }

    pub(crate) async fn import(&self, name: &str, text: String) -> Value {
        let url = format!("{}/api/library/import", self.url);
        let sent = self.client.post(url).query(&[("name", name)]).body(text).send().await;
        sent.expect("an answer").json().await.expect("JSON")
    }

    pub(crate) async fn follow_ingestion(&self) -> Stream {
        Stream::new(self.client.get(format!("{}/api/index/stream", self.url)).send().await.expect("an answer"))
    }

    pub(crate) async fn chat(&self, body: Value) -> Stream {
        Stream::new(self.post("/api/chat/stream", body).await)
    }

    /// Returns status and body of any response.
    pub(crate) async fn ask(&self, path: &str) -> (u16, Value) {
        let response = self.client.get(format!("{}{path}", self.url)).send().await.expect("an answer");
        (response.status().as_u16(), response.json().await.expect("JSON"))
    }

    pub(crate) async fn follow(&self, turn: &str, after: u64) -> Stream {
        let url = format!("{}/api/turns/{turn}/stream?after={after}", self.url);
        Stream::new(self.client.get(url).send().await.expect("an answer"))
    }
}

/// Runs a command to its end: exit code, stdout, stderr.
pub(crate) async fn command(
    world: &World,
    settings: &[(&'static str, String)],
    args: &[&str],
) -> (i32, String, String) {
    command_with_input(world, settings, args, "").await
}

/// The same, with text on stdin.
pub(crate) async fn command_with_input(
    world: &World,
    settings: &[(&'static str, String)],
    args: &[&str],
    input: &str,
) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_segue"));
    command.args(args).envs(world.settings()).envs(settings.iter().map(|(name, value)| (*name, value)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().expect("the binary starts");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    // A command that reads nothing may have closed it.
    let _ = stdin.write_all(input.as_bytes()).await;
    drop(stdin);
    let output = child.wait_with_output().await.expect("the command ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code().expect("the command was not killed"), text(output.stdout), text(output.stderr))
}
