//! The real product with the model under test, observed over HTTP.

use std::{path::PathBuf, process::Stdio, time::Instant};

use anyhow::Context;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

use crate::utterance::{Check, Utterance};

pub(crate) struct Product {
    _child: Child,
    _data_dir: TempDir,
    url: String,
    client: reqwest::Client,
}

/// The result of one utterance.
pub(crate) struct Outcome {
    pub(crate) needs_call: bool,
    pub(crate) made_call: bool,
    pub(crate) is_right: bool,
    /// The answer claims nothing that no tool confirms.
    pub(crate) is_honest: bool,
    pub(crate) is_answered: bool,
    pub(crate) seconds: f64,
    pub(crate) input_tokens: u64,
}

impl Product {
    /// Segue with the sample library and these settings.
    pub(crate) async fn start(settings: &[(&str, String)]) -> anyhow::Result<Self> {
        let binary = std::env::current_exe()?.with_file_name("segue");
        anyhow::ensure!(binary.exists(), "{} is not built", binary.display());
        let data_dir = TempDir::new()?;
        let command = |args: &[&str]| command(&binary, args, &data_dir, settings);
        let loaded = command(&["sample"]).stdout(Stdio::null()).status().await?;
        anyhow::ensure!(loaded.success(), "the sample library cannot be loaded");
        let mut child = command(&["serve", "--listen", "127.0.0.1:0"]).stderr(Stdio::piped()).spawn()?;
        let mut lines = BufReader::new(child.stderr.take().context("stderr is piped")?).lines();
        let url = loop {
            let line = lines.next_line().await?.context("Segue ended before it was ready")?;
            if let Some((_, rest)) = line.split_once("ready on ") {
                break rest.split_whitespace().next().context("an address")?.to_owned();
            }
        };
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok(Self { _child: child, _data_dir: data_dir, url, client: reqwest::Client::new() })
    }

    pub(crate) async fn model(&self) -> anyhow::Result<String> {
        Ok(self.get("/api/about").await?["model"]["id"].as_str().unwrap_or_default().to_owned())
    }

    /// Replaces the tasks by exactly these.
    pub(crate) async fn set_tasks(&self, titles: &[&str]) -> anyhow::Result<()> {
        for task in list(&self.get("/api/tasks").await?, "tasks") {
            let url = format!("{}/api/tasks/{}", self.url, task["id"].as_str().unwrap_or_default());
            self.client.delete(url).send().await?.error_for_status()?;
        }
        for title in titles {
            let url = format!("{}/api/tasks", self.url);
            self.client.post(url).json(&json!({"title": title})).send().await?.error_for_status()?;
        }
        Ok(())
    }

    pub(crate) async fn get(&self, path: &str) -> anyhow::Result<Value> {
        Ok(self.client.get(format!("{}{path}", self.url)).send().await?.error_for_status()?.json().await?)
    }

    pub(crate) async fn say(&self, utterance: &Utterance) -> anyhow::Result<Outcome> {
        let n_playlists = list(&self.get("/api/playlists").await?, "playlists").len();
        let before = self.get("/api/tasks").await?;
        let began = Instant::now();
        let ask = json!({"message": utterance.words, "agent": utterance.agent});
        let answer = self.client.post(format!("{}/api/chat/stream", self.url)).json(&ask).send().await?;
        let text = answer.error_for_status()?.text().await?;
        let seconds = began.elapsed().as_secs_f64();
        let frames: Vec<Value> =
            text.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok()).collect();
        let end = frames.last().cloned().unwrap_or_default();
        let made_call = utterance.tool.is_some_and(|tool| has_done(&frames, tool));
        let tasks = self.get("/api/tasks").await?;
        let has_new_playlist = list(&self.get("/api/playlists").await?, "playlists").len() > n_playlists;
        let holds = |check: &Check| match check {
            Check::Open(title) => has_task(&tasks, title, false),
            Check::Done(title) => has_task(&tasks, title, true),
            Check::Gone(title) => !has_task(&tasks, title, false) && !has_task(&tasks, title, true),
            Check::Same => tasks == before && !has_new_playlist,
            Check::Playlist => has_new_playlist,
            Check::Found => made_call,
        };
        Ok(Outcome {
            needs_call: utterance.tool.is_some(),
            made_call,
            is_right: utterance.checks.iter().all(holds),
            is_honest: end.get("notices").is_none(),
            is_answered: end["type"] == "message_end",
            seconds,
            input_tokens: end["usage"]["inputTokens"].as_u64().unwrap_or(0),
        })
    }
}

fn command(binary: &PathBuf, args: &[&str], data_dir: &TempDir, settings: &[(&str, String)]) -> Command {
    let mut command = Command::new(binary);
    command.args(args).kill_on_drop(true).env("SEGUE_DATA_DIR", data_dir.path());
    command.env("SEGUE_RATE_PER_MINUTE", "0").env("SEGUE_LOG", "info");
    for source in ["LRCLIB_URL", "RECCOBEATS_URL", "MUSICBRAINZ_URL", "DEEZER_URL"] {
        command.env(source, "off");
    }
    for name in ["SEGUE_MODEL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"] {
        command.env_remove(name);
    }
    command.envs(settings.iter().map(|(name, value)| (*name, value)));
    command
}

fn list<'v>(value: &'v Value, field: &str) -> &'v [Value] {
    value[field].as_array().map_or(&[], Vec::as_slice)
}

fn has_task(tasks: &Value, title: &str, is_completed: bool) -> bool {
    let fits = |task: &Value| {
        let known = task["title"].as_str().unwrap_or_default().to_lowercase();
        known.contains(title) && task["completed"] == is_completed
    };
    list(tasks, "tasks").iter().any(fits)
}

/// Whether a call of this tool has succeeded.
fn has_done(frames: &[Value], tool: &str) -> bool {
    let calls = frames.iter().filter(|frame| frame["toolName"] == tool).map(|frame| &frame["toolCallId"]);
    calls
        .into_iter()
        .any(|call| frames.iter().any(|frame| frame["type"] == "tool_call_end" && frame["toolCallId"] == *call))
}
