//! The state that survives a restart: the model that the operator selected, and the results of probes. It is a file in
//! the data directory, because only this node can reach servers of this machine.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use providers::Capabilities;
use serde::{Deserialize, Serialize};
use tracing::warn;

const FILE: &str = "models.json";

/// A model of a server on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Selected {
    /// In the form of `OPENAI_BASE_URL`.
    pub server: String,
    pub model: String,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Contents {
    selected: Option<Selected>,
    /// By server and model, separated by a blank.
    capabilities: BTreeMap<String, Capabilities>,
}

#[derive(Clone)]
pub struct Kept {
    path: PathBuf,
    contents: Arc<Mutex<Contents>>,
}

impl Kept {
    /// A file that cannot be read is replaced: its content can be determined again.
    pub fn open(data_dir: &Path) -> Self {
        let path = data_dir.join(FILE);
        let contents = match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_else(|error| {
                warn!("{} cannot be read and is replaced: {error}", path.display());
                Contents::default()
            }),
            Err(_) => Contents::default(),
        };
        Self { path, contents: Arc::new(Mutex::new(contents)) }
    }

    pub fn selected(&self) -> Option<Selected> {
        self.lock().selected.clone()
    }

    pub fn select(&self, selected: Option<Selected>) -> std::io::Result<()> {
        self.change(|contents| contents.selected = selected)
    }

    pub fn capabilities(&self, server: &str, model: &str) -> Option<Capabilities> {
        self.lock().capabilities.get(&key(server, model)).cloned()
    }

    pub fn keep(&self, server: &str, found: &Capabilities) -> std::io::Result<()> {
        self.change(|contents| {
            contents.capabilities.insert(key(server, &found.model), found.clone());
        })
    }

    fn change(&self, change: impl FnOnce(&mut Contents)) -> std::io::Result<()> {
        let mut contents = self.lock();
        change(&mut contents);
        let text = serde_json::to_vec_pretty(&*contents)?;
        // Written to a temporary file and renamed, so that a crash leaves the old file or the new one.
        let draft = self.path.with_extension("json.new");
        std::fs::write(&draft, text)?;
        std::fs::rename(draft, &self.path)
    }

    fn lock(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(server: &str, model: &str) -> String {
    format!("{} {model}", server.trim_end_matches('/'))
}
