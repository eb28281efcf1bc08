//! What a turn costs a user with little and with much: conversations, messages of a conversation, tracks.

use std::path::Path;

use anyhow::Context;
use futures::{StreamExt, TryStreamExt, stream};
use serde_json::{Value, json};

use crate::{
    model::Model,
    process::Server,
    seed::{self, Size},
    serve,
};

/// Conversations that grow together; a point is the mean of several turns of each.
const N_CONVERSATIONS: usize = 50;
const AT_ONCE: usize = 10;
/// Messages of a conversation before the turns of a point.
const MESSAGES: [usize; 5] = [0, 18, 58, 98, 198];
const TURNS: usize = 4;
const SIZES: [Size; 3] = [
    Size { n_tracks: 1, n_conversations: 10 },
    Size { n_tracks: 1_000, n_conversations: 1_000 },
    Size { n_tracks: 100_000, n_conversations: 10_000 },
];

impl Size {
    fn folder(self) -> String {
        format!("turns-{}-{}", self.n_tracks, self.n_conversations)
    }
}

/// One line for each size of an installation and each length of a conversation. Every point is measured in new
/// conversations.
#[expect(clippy::print_stdout, reason = "the table is the result")]
pub(crate) async fn every_size(folder: &Path, settings: &[(&'static str, String)]) -> anyhow::Result<()> {
    let model = Model::start().await?;
    let mut with_model = settings.to_vec();
    with_model.retain(|(name, _)| *name != "SEGUE_MODEL");
    with_model.push(("SEGUE_MODEL", "anthropic:bench".to_owned()));
    with_model.push(("ANTHROPIC_BASE_URL", model.url.clone()));
    with_model.push(("ANTHROPIC_API_KEY", "bench".to_owned()));
    println!("\nCPU-ms of the server for a turn");
    for size in SIZES {
        let data = folder.join(size.folder());
        seed::fill(&data, settings, size).await?.stop().await?;
        let server = serve(&data, &with_model).await?;
        grow(&server, &[], WARM_UP).await?;
        let cpu_ms = cpu_of(&server, || grow(&server, &[], N_CONVERSATIONS * TURNS)).await?.0;
        let Size { n_tracks, n_conversations } = size;
        println!(
            "{n_tracks:>7} tracks, {n_conversations:>6} conversations: {:.2}",
            cpu_ms / (N_CONVERSATIONS * TURNS) as f64
        );
        server.stop().await?;
    }
    let server = serve(&folder.join(SIZES[0].folder()), &with_model).await?;
    every_length(&server, &model).await?;
    server.stop().await
}

const WARM_UP: usize = 100;

#[expect(clippy::print_stdout, reason = "the table is the result")]
async fn every_length(server: &Server, model: &Model) -> anyhow::Result<()> {
    let ids = grow(server, &[], N_CONVERSATIONS).await?;
    let mut n_messages = 2;
    for wanted in MESSAGES {
        while n_messages < wanted {
            grow(server, &ids, N_CONVERSATIONS).await?;
            n_messages += 2;
        }
        let (cpu_ms, _) = cpu_of(server, || async { grow(server, &ids, N_CONVERSATIONS * TURNS).await }).await?;
        let (cpu_ms, kib) = (cpu_ms / (N_CONVERSATIONS * TURNS) as f64, model.last_kib());
        println!("{n_messages:>7} messages of the conversation: {cpu_ms:.2}, {kib:.0} KiB to the model");
        n_messages += 2 * TURNS;
    }
    Ok(())
}

async fn cpu_of<T, F: Future<Output = anyhow::Result<T>>>(
    server: &Server,
    work: impl FnOnce() -> F,
) -> anyhow::Result<(f64, T)> {
    let before = server.cpu_ms()?;
    let done = work().await?;
    Ok((server.cpu_ms()? - before, done))
}

/// Runs this many turns: in the given conversations, each in its turn, or in new ones. Returns the conversations.
async fn grow(server: &Server, ids: &[String], n_turns: usize) -> anyhow::Result<Vec<String>> {
    let client = reqwest::Client::new();
    let turn = async |n: usize| {
        let mut body = json!({"message": "What is on my list?", "agent": "tasks"});
        if !ids.is_empty() {
            body["conversationId"] = json!(ids[n % ids.len()]);
        }
        let answer = client.post(format!("{}/api/chat/stream", server.url)).json(&body).send().await?;
        let text = answer.error_for_status()?.text().await?;
        anyhow::ensure!(
            text.contains("\"message_end\"") && text.contains("\"tool_call_end\""),
            "a turn failed: {text}"
        );
        let first = text.strip_prefix("data: ").and_then(|text| text.lines().next()).context("an event")?;
        let first: Value = serde_json::from_str(first)?;
        Ok(first["conversationId"].as_str().context("its id")?.to_owned())
    };
    stream::iter((0..n_turns).map(turn)).buffered(AT_ONCE).try_collect().await
}
