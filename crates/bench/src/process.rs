//! A server under test: started, measured from outside, stopped.

use std::{path::PathBuf, process::Stdio};

use anyhow::Context;
use serde_json::json;
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

pub(crate) struct Server {
    child: Child,
    pub(crate) url: String,
    _data_dir: Option<TempDir>,
}

pub(crate) async fn relay(upstream: &str) -> anyhow::Result<Server> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["relay", upstream]);
    start(command, None).await
}

/// Segue with fifty tasks. Their list is the tool result of every turn.
pub(crate) async fn segue(upstream: &str, database: Option<&str>) -> anyhow::Result<Server> {
    let data_dir = TempDir::new()?;
    let mut command = Command::new(sibling("segue")?);
    command.arg("serve").args(["--listen", "127.0.0.1:0", "--model", "anthropic:bench", "--log", "info"]);
    command.args(["--rate-per-minute", "0", "--concurrent-turns", "0"]);
    command
        .env("SEGUE_DATA_DIR", data_dir.path())
        .env("ANTHROPIC_BASE_URL", upstream)
        .env("ANTHROPIC_API_KEY", "bench");
    if let Some(url) = database {
        command.env("DATABASE_URL", url);
    }
    let server = start(command, Some(data_dir)).await?;
    let client = reqwest::Client::new();
    let tasks: serde_json::Value = client.get(format!("{}/api/tasks", server.url)).send().await?.json().await?;
    let n_there = tasks["tasks"].as_array().map_or(0, Vec::len);
    for n in n_there..40 {
        let task = json!({"title": format!("task {n}"), "description": "something to be done ".repeat(4)});
        client.post(format!("{}/api/tasks", server.url)).json(&task).send().await?.error_for_status()?;
    }
    Ok(server)
}

pub(crate) fn sibling(name: &str) -> anyhow::Result<PathBuf> {
    let path = std::env::current_exe()?.with_file_name(name);
    anyhow::ensure!(path.exists(), "{} is not built", path.display());
    Ok(path)
}

pub(crate) async fn start(mut command: Command, data_dir: Option<TempDir>) -> anyhow::Result<Server> {
    let mut child = command.stderr(Stdio::piped()).kill_on_drop(true).spawn()?;
    let mut lines = BufReader::new(child.stderr.take().context("stderr is piped")?).lines();
    let url = loop {
        let line = lines.next_line().await?.context("it ended before it was ready")?;
        if let Some((_, rest)) = line.split_once("ready on ") {
            break rest.split_whitespace().next().context("an address")?.to_owned();
        }
    };
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    Ok(Server { child, url, _data_dir: data_dir })
}

impl Server {
    /// User and system time of the process so far.
    pub(crate) fn cpu_ms(&self) -> anyhow::Result<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid()?))?;
        let fields: Vec<_> = stat.rsplit_once(')').context("a stat line")?.1.split_whitespace().collect();
        let ticks: u64 = fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
        // The kernel always counts in hundredths of a second.
        Ok(ticks as f64 * 10.0)
    }

    pub(crate) fn rss_kib(&self) -> anyhow::Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid()?))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("VmRSS")?;
        Ok(line.trim().trim_end_matches("kB").trim().parse()?)
    }

    pub(crate) async fn stop(mut self) -> anyhow::Result<()> {
        Ok(self.child.kill().await?)
    }

    fn pid(&self) -> anyhow::Result<u32> {
        self.child.id().context("the server has ended")
    }
}
