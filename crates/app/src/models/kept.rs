//! What outlives a restart: the model that the operator chose, and what probes have found. A file in the data directory,
//! because servers on this machine are known to this node only.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use providers::Capabilities;
use serde::{Deserialize, Serialize};
use tracing::warn;

const FILE: &str = "models.json";

/// A model of a server that was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Selected {
    /// As `OPENAI_BASE_URL` spells it.
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
    /// A file that cannot be read is as good as none: everything in it can be asked again.
    pub fn open(data_dir: &Path) -> Self {
        let path = data_dir.join(FILE);
        let contents = match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_else(|error| {
                warn!("{} cannot be read and is made anew: {error}", path.display());
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
        // Renamed into place: a crash leaves the old file or the new one.
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
