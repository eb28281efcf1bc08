//! Models: which one answers, which others there are, which servers run on this machine.

mod choose;
mod connected;
mod kept;
mod late;
mod list;

use std::sync::{
    Arc, PoisonError, RwLock,
    atomic::{AtomicUsize, Ordering},
};

use engine::{Model, Usage};
use providers::{Found, Http, discover};
use tracing::{info, warn};

use self::choose::{build, open_ai};
pub use self::{
    choose::{Chosen, choose, choose_probed},
    kept::{Kept, Selected},
    list::{NamedModel, Price, parse_choice, parse_list},
};
use crate::{
    Error,
    config::{Config, Endpoint, ModelChoice},
};
pub use providers::{Capabilities, Found as FoundServer};

/// Every model of a process. Clones share one state.
#[derive(Clone)]
pub struct Models(Arc<Inner>);

struct Inner {
    http: Http,
    kept: Kept,
    active: RwLock<Active>,
    /// What answers while nothing is chosen: the model of the settings, or the one that the operator connected.
    fallback: RwLock<Fallback>,
    /// The model of the settings.
    of_settings: Fallback,
    named: Vec<(NamedModel, Arc<dyn Model>)>,
    small: Option<Arc<dyn Model>>,
    is_set: bool,
    ports: Vec<u16>,
    own_port: u16,
    n_running: AtomicUsize,
}

#[derive(Clone)]
struct Fallback {
    model: Arc<dyn Model>,
    is_real: bool,
    /// Its server, when the operator connected it.
    connected_to: Option<String>,
}

#[derive(Clone)]
struct Active {
    model: Arc<dyn Model>,
    selected: Option<Selected>,
}

/// Who decided which model answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChosenBy {
    /// A setting: a flag, the environment or the file.
    Settings,
    Operator,
    /// The connection of the settings page.
    Connection,
    /// No one has chosen: the built-in model answers.
    Default,
}

impl ChosenBy {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Settings => "settings",
            Self::Operator => "operator",
            Self::Connection => "connection",
            Self::Default => "default",
        }
    }
}

impl Models {
    /// `model` is the one of the settings; what the operator chose takes its place only while no setting names one.
    pub(crate) fn new(config: &Config, model: Arc<dyn Model>) -> anyhow::Result<Self> {
        let kept = Kept::open(&config.data_dir);
        let http = Http::new()?;
        let build =
            |choice: &ModelChoice| anyhow::Ok(build(choice, &config.anthropic, &config.openai, &kept)?.into_model());
        let named = config.models.iter().map(|named| Ok((named.clone(), build(&named.choice)?)));
        let named = named.collect::<anyhow::Result<Vec<_>>>()?;
        let small = config.small_model.as_ref().map(build).transpose()?;
        let is_real = config.model != ModelChoice::Offline;
        let of_settings = Fallback { model, is_real, connected_to: None };
        let inner = Inner {
            named,
            small,
            active: RwLock::new(Active { model: of_settings.model.clone(), selected: None }),
            fallback: RwLock::new(of_settings.clone()),
            of_settings,
            is_set: config.is_model_set,
            ports: config.model_ports.clone(),
            own_port: config.listen.port(),
            n_running: AtomicUsize::new(0),
            kept,
            http,
        };
        let models = Self(Arc::new(inner));
        if let Some(selected) = models.0.kept.selected().filter(|_| !config.is_model_set) {
            models.activate(selected)?;
        }
        Ok(models)
    }

    pub fn active(&self) -> Arc<dyn Model> {
        self.read().model
    }

    pub fn selected(&self) -> Option<Selected> {
        self.read().selected
    }

    pub fn chosen_by(&self) -> ChosenBy {
        match (self.0.is_set, self.selected(), self.fallback().connected_to) {
            (true, _, _) => ChosenBy::Settings,
            (false, Some(_), _) => ChosenBy::Operator,
            (false, None, Some(_)) => ChosenBy::Connection,
            (false, None, None) => ChosenBy::Default,
        }
    }

    /// The server that answers, where an operator chose or connected it.
    pub fn server(&self) -> Option<String> {
        self.selected().map(|selected| selected.server).or_else(|| self.fallback().connected_to)
    }

    pub fn named(&self) -> impl Iterator<Item = &NamedModel> {
        self.0.named.iter().map(|(named, _)| named)
    }

    /// The name in the list of the model that answers where none is chosen; none: it is not in the list.
    pub fn active_name(&self) -> Option<&str> {
        let active = self.active();
        let same = |(_, model): &&(NamedModel, Arc<dyn Model>)| model.id() == active.id();
        self.0.named.iter().find(same).map(|(named, _)| named.name.as_str())
    }

    /// The model of this name in the list; the active one without a name. A name that is gone from the list falls back
    /// to the active one: a conversation outlives the settings it was begun with.
    pub(crate) fn of(&self, name: Option<&str>) -> Arc<dyn Model> {
        let named = name.and_then(|name| self.0.named.iter().find(|(named, _)| named.name == name));
        named.map_or_else(|| self.active(), |(_, model)| model.clone())
    }

    pub(crate) fn checked_name(&self, name: &str) -> Result<(), Error> {
        if self.named().any(|named| named.name == name) {
            return Ok(());
        }
        let names: Vec<_> = self.named().map(|named| named.name.as_str()).collect();
        let known = if names.is_empty() { "SEGUE_MODELS lists none".to_owned() } else { names.join(", ") };
        let problem = format!("there is no model '{name}'; choose one of: {known}");
        Err(Error::Invalid { field: "model", problem })
    }

    /// What these tokens cost in US dollars, where the list has a price for the model.
    pub(crate) fn cost(&self, model: &dyn Model, usage: &Usage) -> Option<f64> {
        let mut listed = self.0.named.iter();
        let price = listed.find_map(|(named, known)| named.price.filter(|_| known.id() == model.id()))?;
        Some(price.of(usage))
    }

    /// For descriptions and rewording: the small model, or the configured one unless it runs on this machine. A local
    /// model has one slot, and the chat needs it: there background work is opt-in.
    pub(crate) fn background(&self) -> Option<Arc<dyn Model>> {
        let fallback = self.fallback();
        let main = || Some(fallback.model).filter(|model| fallback.is_real && !model.is_local());
        self.0.small.clone().or_else(main)
    }

    /// While this is held, a turn runs and background work waits.
    pub(crate) fn run_turn(&self) -> Running {
        self.0.n_running.fetch_add(1, Ordering::SeqCst);
        Running(self.0.clone())
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.0.n_running.load(Ordering::SeqCst) == 0
    }

    fn read(&self) -> Active {
        self.0.active.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn fallback(&self) -> Fallback {
        self.0.fallback.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn activate(&self, selected: Selected) -> anyhow::Result<()> {
        let server = Endpoint { url: selected.server.clone(), key: None };
        let model = Arc::new(open_ai(self.0.http.clone(), &server, &selected.model, &self.0.kept)?);
        let mut active = self.0.active.write().unwrap_or_else(PoisonError::into_inner);
        *active = Active { model, selected: Some(selected) };
        Ok(())
    }
}

/// Servers on this machine.
impl Models {
    /// The servers that run on the usual ports of this machine now. They are only asked about themselves.
    pub async fn look(&self) -> Vec<Found> {
        discover(&self.0.http, &self.0.ports, Some(self.0.own_port)).await
    }

    /// One line for the log, when nothing is configured and something is there.
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

    /// Lets a found server answer from now on. Only servers of this machine can be chosen, and only while no setting
    /// names a model: a setting that is silently overruled cannot be trusted.
    pub async fn select(&self, choice: Option<Selected>) -> Result<(), Error> {
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
        self.activate(selected).map_err(|error| invalid("server", error.to_string()))
    }

    /// What the chosen model can do; what is found is kept and used from then on.
    pub(crate) async fn probe_selected(&self) {
        let Some(selected) = self.selected() else { return };
        let server = Endpoint { url: selected.server.clone(), key: None };
        let Ok(model) = open_ai(self.0.http.clone(), &server, &selected.model, &self.0.kept) else { return };
        match providers::probe(&model).await {
            Ok(found) => {
                info!("{found}");
                if let Err(error) = self.0.kept.keep(&selected.server, &found) {
                    warn!("What the probe has found cannot be kept: {error}");
                }
            }
            Err(error) => warn!("{} cannot be probed: {error}", selected.model),
        }
    }

    fn keep_selection(&self, selected: Option<Selected>) -> Result<(), Error> {
        self.0.kept.select(selected).map_err(|error| {
            warn!("The choice of a model cannot be kept: {error}");
            Error::Conflict("the choice cannot be kept: the data directory cannot be written")
        })
    }
}

/// Servers on the ports of the settings, for a command that starts no application.
pub async fn servers(config: &Config) -> Vec<Found> {
    match Http::new() {
        Ok(http) => discover(&http, &config.model_ports, Some(config.listen.port())).await,
        Err(_) => Vec::new(),
    }
}

/// A turn that is running.
pub(crate) struct Running(Arc<Inner>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.n_running.fetch_sub(1, Ordering::SeqCst);
    }
}

/// How many models of a server one line names.
const MOST_NAMED: usize = 8;

/// "Found Ollama on 11434 with 2 models (qwen2.5:7b, llama3.2); choose one in the page, with segue chat --choose MODEL, or
/// set OPENAI_BASE_URL=…".
pub fn said_of(found: &Found) -> String {
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
