//! Model servers on this machine: found on their usual ports, and selected by an operator.

use std::sync::PoisonError;

use providers::{Capabilities, FoundServer, Http, LOCAL, discover};
use tracing::{info, instrument, warn};

use super::{Active, ChosenBy, Models, Selected, choose::connect};
use crate::{
    Error, Operator,
    config::{Config, Endpoint},
};

impl Models {
    /// The model servers on the usual ports of this machine. They only get requests about themselves.
    #[instrument(name = "models.look", skip_all)]
    pub async fn look(&self) -> Vec<FoundServer> {
        discover(&self.0.http, &self.0.ports, Some(self.0.own_port)).await
    }

    /// Logs one line if no model is configured and a server was found.
    #[instrument(name = "models.announce", skip_all)]
    pub async fn announce(&self) {
        if self.chosen_by() != ChosenBy::Default {
            return;
        }
        for found in self.look().await {
            info!("{}", said_of(&found));
        }
    }

    pub fn capabilities(&self, server: &str, model: &str) -> Option<Capabilities> {
        self.0.kept.capabilities(server, model)
    }

    /// Uses a found server from now on. Only servers of this machine can be selected, and only while no setting names a
    /// model, because a selection must not override a setting silently. `None` selects the built-in model. The selected
    /// model is probed in the background.
    #[instrument(name = "models.select", skip_all)]
    pub async fn select(&self, _: &Operator, choice: Option<Selected>) -> Result<(), Error> {
        if self.0.is_set {
            return Err(Error::Conflict(
                "the settings name the model; remove SEGUE_MODEL and the keys to choose one here",
            ));
        }
        let Some(selected) = choice else {
            self.keep_selection(None)?;
            let mut active = self.0.active.write().unwrap_or_else(PoisonError::into_inner);
            *active = Active { model: self.fallback().model, selected: None };
            return Ok(());
        };
        let invalid = |field, problem: String| Error::Invalid { field, problem };
        let found = self.look().await;
        let Some(server) = found.iter().find(|found| found.base_url == selected.server) else {
            return Err(invalid("server", format!("no model server answers at {}", selected.server)));
        };
        if !server.models.contains(&selected.model) {
            return Err(invalid("model", format!("{} has no model '{}'", selected.server, selected.model)));
        }
        self.keep_selection(Some(selected.clone()))?;
        self.activate(selected).map_err(|error| invalid("server", error.to_string()))?;
        let models = self.clone();
        self.0.spawned.spawn(async move { models.probe_selected().await });
        Ok(())
    }

    /// Probes the selected model. The result is stored and used from then on.
    async fn probe_selected(&self) {
        let Some(selected) = self.selected() else { return };
        let server = Endpoint { url: selected.server.clone(), key: None };
        let Ok(model) = connect(LOCAL, self.0.http.clone(), &server, &selected.model, &self.0.kept) else { return };
        match providers::probe(model.as_ref()).await {
            Ok(found) => {
                info!("{found}");
                if let Err(error) = self.0.kept.keep(&selected.server, &found) {
                    warn!("The result of the probe cannot be stored: {error}");
                }
            }
            Err(error) => warn!("{} cannot be probed: {error}", selected.model),
        }
    }

    pub(super) fn keep_selection(&self, selected: Option<Selected>) -> Result<(), Error> {
        self.0.kept.select(selected).map_err(|error| {
            warn!("The selected model cannot be stored: {error}");
            Error::Conflict("the selection cannot be stored: the data directory is not writable")
        })
    }
}

/// Servers on the ports of the settings, for a command that starts no application.
#[instrument(name = "models.servers", skip_all)]
pub async fn servers(config: &Config) -> Vec<FoundServer> {
    match Http::new() {
        Ok(http) => discover(&http, &config.model_ports, Some(config.listen.port())).await,
        Err(_) => Vec::new(),
    }
}

/// How many models of a server one line names.
const MOST_NAMED: usize = 8;

/// "Found Ollama on 11434 with 2 models (qwen2.5:7b, llama3.2); choose one in the page, with segue chat --choose MODEL, or
/// set OPENAI_BASE_URL=…".
pub fn said_of(found: &FoundServer) -> String {
    let port = found.base_url.trim_end_matches("/v1").rsplit(':').next().unwrap_or_default();
    let models = match found.models.len() {
        1 => "1 model".to_owned(),
        n => format!("{n} models"),
    };
    let more = if found.models.len() > MOST_NAMED { ", …" } else { "" };
    let names = found.models.iter().take(MOST_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    format!(
        "Found {} on {port} with {models} ({names}{more}); choose one in the page, with segue chat --choose MODEL, or set \
         OPENAI_BASE_URL={}",
        found.family, found.base_url
    )
}
