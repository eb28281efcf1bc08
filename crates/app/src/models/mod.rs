//! Models: the one that answers, the others of the list, and model servers on this machine.

mod choose;
mod connected;
mod kept;
mod late;
mod local;

use std::sync::{
    Arc, PoisonError, RwLock,
    atomic::{AtomicUsize, Ordering},
};

use engine::{Model, Usage};
use offline::OfflineModel;
use providers::{Http, LOCAL};
use tokio_util::task::TaskTracker;

pub(crate) use self::choose::in_use;
use self::choose::{build, connect};
pub use self::{
    choose::{Chosen, choose, choose_probed, others},
    kept::{Kept, Selected},
    local::{said_of, servers},
};
pub use crate::config::{NamedModel, settings_for_a_model};
use crate::{
    Error,
    config::{Config, Endpoint, ModelChoice},
};
pub use providers::{Capabilities, FoundServer};

/// All models of a process. Clones share one state.
#[derive(Clone)]
pub struct Models(Arc<Inner>);

struct Inner {
    http: Http,
    kept: Kept,
    active: RwLock<Active>,
    /// The model that is used if none is selected: the one of the settings, or the one that the operator connected.
    fallback: RwLock<Fallback>,
    /// The model of the settings.
    of_settings: Fallback,
    named: Vec<(NamedModel, Arc<dyn Model>)>,
    small: Option<Arc<dyn Model>>,
    is_set: bool,
    ports: Vec<u16>,
    own_port: u16,
    n_running: AtomicUsize,
    /// The shutdown waits for what runs here.
    spawned: TaskTracker,
}

#[derive(Clone)]
struct Fallback {
    model: Arc<dyn Model>,
    is_real: bool,
    /// Its server, if the operator connected it.
    connected_to: Option<String>,
}

#[derive(Clone)]
struct Active {
    model: Arc<dyn Model>,
    selected: Option<Selected>,
}

/// Who selected the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChosenBy {
    /// A setting: a flag, the environment or the file.
    Settings,
    Operator,
    /// The connection of the settings page.
    Connection,
    /// No selection: the built-in model is used.
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
    /// `model` is the one of the settings. The operator's selection replaces it only if no setting names a model.
    pub(crate) fn new(config: &Config, model: Arc<dyn Model>, spawned: TaskTracker) -> anyhow::Result<Self> {
        let kept = Kept::open(&config.data_dir);
        let http = Http::new()?;
        let build = |choice: &ModelChoice| anyhow::Ok(build(choice, &config.providers, &kept)?.into_model());
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
            spawned,
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

    /// How to connect a model; `None` if one is connected.
    pub fn hint(&self) -> Option<String> {
        let hint = || {
            let settings = settings_for_a_model();
            format!("Choose a model server of this machine in the settings, or set {settings} and start Segue again.")
        };
        (self.active().id() == OfflineModel::ID).then(hint)
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

    /// The server of the model, if an operator selected or connected it.
    pub fn server(&self) -> Option<String> {
        self.selected().map(|selected| selected.server).or_else(|| self.fallback().connected_to)
    }

    pub fn named(&self) -> impl Iterator<Item = &NamedModel> {
        self.0.named.iter().map(|(named, _)| named)
    }

    /// The name in the list of the model that is used by default; `None`: it is not in the list.
    pub fn active_name(&self) -> Option<&str> {
        let active = self.active();
        let same = |(_, model): &&(NamedModel, Arc<dyn Model>)| model.id() == active.id();
        self.0.named.iter().find(same).map(|(named, _)| named.name.as_str())
    }

    /// The model with this name in the list; without a name the active one. If the list no longer has the name, the
    /// active one is used, because a conversation may be older than the settings.
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

    /// The cost of these tokens in US dollars, if the list has a price for the model.
    pub(crate) fn cost(&self, model: &dyn Model, usage: &Usage) -> Option<f64> {
        let mut listed = self.0.named.iter();
        let price = listed.find_map(|(named, known)| named.price.filter(|_| known.id() == model.id()))?;
        Some(price.of(usage))
    }

    /// The model for descriptions and rewording: the small model, or the configured one unless it runs on this machine.
    /// A local model serves one request at a time, and the chat needs it, so background work must be enabled there.
    pub(crate) fn background(&self) -> Option<Arc<dyn Model>> {
        let fallback = self.fallback();
        let main = || Some(fallback.model).filter(|model| fallback.is_real && !model.is_local());
        self.0.small.clone().or_else(main)
    }

    /// While this value exists, a turn runs and background work waits.
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
        let model = connect(LOCAL, self.0.http.clone(), &server, &selected.model, &self.0.kept)?;
        let mut active = self.0.active.write().unwrap_or_else(PoisonError::into_inner);
        *active = Active { model, selected: Some(selected) };
        Ok(())
    }
}

/// A running turn.
pub(crate) struct Running(Arc<Inner>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.n_running.fetch_sub(1, Ordering::SeqCst);
    }
}
