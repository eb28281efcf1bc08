//! A double of each family that makes every correct call. It shows what Segue loses of a perfect model, by server and
//! by spelling.

use doubles::{
    Running,
    model::{Family, ModelDouble, Step},
};
use serde_json::{Value, json};

use crate::{
    product::Product,
    utterance::{Check, Utterance},
};

/// How the double spells its calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Spelling {
    Native,
    /// `<tool_call>{…}</tool_call>` in the text.
    Text,
}

pub(crate) struct Rehearsal {
    double: ModelDouble,
    running: Running,
    family: Family,
    spelling: Spelling,
}

impl Rehearsal {
    pub(crate) async fn start(family: Family, spelling: Spelling) -> anyhow::Result<Self> {
        let double = ModelDouble::new(family, "perfect").context(8_192, 3.5);
        let running = doubles::serve(double.router()).await?;
        Ok(Self { double, running, family, spelling })
    }

    pub(crate) fn settings(&self) -> Vec<(&'static str, String)> {
        let addr = self.running.addr;
        match self.family {
            Family::Anthropic => vec![
                ("SEGUE_MODEL", "anthropic:perfect".into()),
                ("ANTHROPIC_API_KEY", "none".into()),
                ("ANTHROPIC_BASE_URL", format!("http://{addr}")),
            ],
            _ => vec![("OPENAI_BASE_URL", format!("http://{addr}/v1"))],
        }
    }

    /// Scripts the double with the correct calls.
    pub(crate) async fn prepare(&self, product: &Product, utterance: &Utterance) -> anyhow::Result<()> {
        let calls = self.calls(product, utterance).await?;
        let steps = calls.into_iter().map(|(name, input)| match self.spelling {
            Spelling::Native => Step::calls(name, input),
            Spelling::Text => {
                Step::says(&format!("<tool_call>\n{}\n</tool_call>", json!({"name": name, "arguments": input})))
            }
        });
        self.double.play(steps.chain([Step::says("Here you are.")]));
        Ok(())
    }

    async fn calls(&self, product: &Product, utterance: &Utterance) -> anyhow::Result<Vec<(&'static str, Value)>> {
        let Some(tool) = utterance.tool else { return Ok(Vec::new()) };
        let titles = utterance.checks.iter().filter_map(|check| match check {
            Check::Open(title) | Check::Done(title) | Check::Gone(title) => Some(*title),
            Check::Same | Check::Playlist | Check::Found => None,
        });
        let first = utterance.checks.first();
        Ok(match (tool, first) {
            ("add_task", _) => titles.map(|title| ("add_task", json!({"title": title}))).collect(),
            ("list_tasks", _) => vec![("list_tasks", json!({}))],
            ("update_task", Some(Check::Open(title))) => {
                let id = handle(product, utterance.tasks.first().copied().unwrap_or_default()).await?;
                vec![("list_tasks", json!({})), ("update_task", json!({"task_id": id, "title": title}))]
            }
            ("complete_task" | "delete_task", Some(Check::Done(title) | Check::Gone(title))) => {
                vec![("list_tasks", json!({})), (tool, json!({"task_id": handle(product, title).await?}))]
            }
            ("semanticSearch", _) => vec![("semanticSearch", json!({"query": utterance.words}))],
            (other, _) => {
                let found = product.get("/api/search?q=home&limit=1").await?;
                let isrc = &found["tracks"][0]["isrc"];
                let input = match other {
                    "suggestPlaylist" => json!({"title": "Mine", "tracks": [{"isrc": isrc, "reasoning": "It fits."}]}),
                    _ => json!({"isrcs": [isrc]}),
                };
                vec![("semanticSearch", json!({"query": "home", "limit": 1})), (other, input)]
            }
        })
    }
}

/// The handle by which a model refers to a task: the last five digits of its id.
async fn handle(product: &Product, title: &str) -> anyhow::Result<String> {
    let tasks = product.get("/api/tasks").await?;
    let task = tasks["tasks"].as_array().into_iter().flatten().find(|task| task["title"] == title);
    let id = task.and_then(|task| task["id"].as_str()).unwrap_or_default().to_owned();
    Ok(format!("t{}", &id[id.len().saturating_sub(5)..]))
}
