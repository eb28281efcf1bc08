//! Settings: flags, environment or a settings file, in that order of strength. The only reader of the environment.

mod auth;
mod file;
mod mcp;
mod model_list;
mod models;
mod music;
#[cfg(debug_assertions)]
mod prove;
mod secret;
mod settings;
mod traces;
mod values;

use std::{
    collections::{BTreeSet, HashMap},
    net::SocketAddr,
    num::{NonZeroU32, NonZeroUsize},
    path::{Path, PathBuf},
    time::Duration,
};

use chrono::TimeDelta;
use engine::Limits;
use sources::tidal::TidalConfig;
use store::TurnLimits;

#[cfg(debug_assertions)]
pub(crate) use self::prove::{plant_mutant, point};
pub use self::{
    auth::{AuthMode, JwtConfig, JwtKeys, PageSignIn},
    mcp::McpServer,
    model_list::{NamedModel, Price, settings_for_a_model},
    models::{Embeddings, ModelChoice, ProviderEndpoints},
    music::{MusicDir, SourceUrls},
    secret::Secret,
    settings::{SETTINGS, Setting, flag_of},
    traces::{Content, TraceConfig},
    values::Endpoint,
};
use self::{
    file::{default_file, ignored_file, parse_file, parse_servers, read_file},
    values::Values,
};
pub(crate) use self::{
    mcp::STARTED_BY_SEGUE,
    model_list::{one_of, parse_choice, parse_list},
    models::model_settings,
};
pub use crate::networks::Networks;

/// A shorter lease could not be renewed in time by a busy node.
const MIN_LEASE_MS: i64 = 200;

#[derive(Clone, Debug)]
pub struct Config {
    pub listen: SocketAddr,
    pub data_dir: PathBuf,
    pub database_url: String,
    pub database_pool: u32,
    pub model: ModelChoice,
    /// Whether a setting names the model or its server. Otherwise the operator may choose one.
    pub is_model_set: bool,
    /// Models to choose from, for a conversation or a message.
    pub models: Vec<NamedModel>,
    /// For background work.
    pub small_model: Option<ModelChoice>,
    /// Where model servers are looked for.
    pub model_ports: Vec<u16>,
    /// Who may change settings beside the user of `local` mode: ids or names.
    pub operators: Vec<String>,
    /// Encrypts secrets that are stored. None: a file in the data directory, with SQLite only.
    pub secret_key: Option<Secret>,
    /// Names of the settings that have a value of their own.
    pub set: BTreeSet<&'static str>,
    pub providers: ProviderEndpoints,
    /// None: the embedded index.
    pub qdrant: Option<Endpoint>,
    /// None: the built-in embedder.
    pub embeddings: Option<Embeddings>,
    pub tidal: TidalConfig,
    /// Services that enrich and match tracks, without a key.
    pub sources: SourceUrls,
    /// Users find each other's catalogued tracks.
    pub shared_collection: bool,
    /// Folders whose files libraries follow.
    pub music_dirs: Vec<MusicDir>,
    /// Whether files of music folders are compared by their sound.
    pub fingerprints: bool,
    /// The sample library is loaded into an empty installation.
    pub sample: bool,
    pub auth: AuthMode,
    pub limits: Limits,
    pub jwt: Option<JwtConfig>,
    pub turn_limits: TurnLimits,
    /// Of one user, for descriptions and rewording. 0: no limit.
    pub background_tokens_per_day: u64,
    pub max_connections: usize,
    /// Of one address. None: no limit.
    pub connections_per_address: Option<NonZeroUsize>,
    pub trusted_proxies: Networks,
    /// Of one user, with the trash. 0: no limit.
    pub max_conversations: u32,
    /// Of one user. None: no limit, as for the one person of local mode.
    pub open_requests: Option<NonZeroUsize>,
    /// Of one user. None: no limit, as for the one person of local mode.
    pub requests_per_second: Option<NonZeroU32>,
    pub artwork_hosts: Vec<String>,
    pub metrics_token: Option<Secret>,
    /// Empty: no traces. Langfuse and another collector can be used together.
    pub traces: Vec<TraceConfig>,
    pub drain: Duration,
    /// Whether turns of dead nodes are finished; otherwise they are closed as interrupted.
    pub takeover: bool,
    /// How long a node may be silent before its turns are taken over.
    pub lease: TimeDelta,
    /// Whether this process takes over turns of dead nodes. A short command does not.
    pub takes_turns: bool,
    pub log: String,
    /// Other MCP servers; only from the file.
    pub mcp: Vec<McpServer>,
    /// What the operator should know about a settings file that was not read.
    pub ignored_file: Option<String>,
}

/// A setting that cannot be used, with what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("{name}: {problem}")]
pub struct ConfigError {
    pub name: String,
    pub problem: String,
}

impl Config {
    /// `flags` by setting name. A `segue.toml` in the current folder is not read: in a folder that another person wrote, it
    /// could start programs and send keys elsewhere.
    pub fn load(flags: HashMap<&'static str, String>) -> Result<Self, ConfigError> {
        let environment = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let named = flags.get("SEGUE_CONFIG").cloned().or_else(|| environment("SEGUE_CONFIG"));
        let path = named.as_ref().map(PathBuf::from).or_else(|| default_file(environment));
        let mut table = match &path {
            Some(path) => read_file(path, named.is_some())?,
            None => toml::Table::new(),
        };
        let mcp = parse_servers(table.remove("mcp"))?;
        let file = parse_file(table)?;
        let config = Self::from_lookup(|name| {
            flags.get(name).cloned().or_else(|| std::env::var(name).ok()).or_else(|| file.get(name).cloned())
        })?;
        let ignored_file = ignored_file(Path::new("segue.toml"), path.as_deref());
        Ok(Self { mcp, ignored_file, ..config })
    }

    /// Reads every setting through `lookup`. An empty value counts as absent.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let values = Values { lookup: &lookup };
        let data_dir: PathBuf = values.parsed("SEGUE_DATA_DIR")?;
        let sqlite = || format!("sqlite:{}", data_dir.join("segue.db").display());
        let config = Self {
            listen: values.parsed("SEGUE_LISTEN")?,
            database_url: values.text("DATABASE_URL").unwrap_or_else(sqlite),
            data_dir,
            database_pool: values.parsed("SEGUE_DATABASE_POOL")?,
            model: values.model()?,
            is_model_set: values.is_model_set(),
            models: parse_list(&values.or_default("SEGUE_MODELS")).map_err(|why| problem("SEGUE_MODELS", why))?,
            small_model: values.small_model()?,
            model_ports: values.model_ports()?,
            operators: values.names("SEGUE_OPERATORS"),
            secret_key: values.secret_key()?,
            set: values.set(),
            providers: values.providers(),
            qdrant: values.text("QDRANT_URL").map(|_| values.endpoint("QDRANT_URL", "QDRANT_API_KEY")),
            embeddings: values.embeddings(),
            tidal: values.tidal()?,
            sources: values.sources(),
            shared_collection: values.is_on("SEGUE_SHARED_COLLECTION")?,
            music_dirs: values.music_dirs(),
            fingerprints: values.is_on("SEGUE_FINGERPRINTS")?,
            sample: values.is_on("SEGUE_SAMPLE")?,
            auth: values.auth()?,
            limits: Limits { max_steps: values.parsed("SEGUE_MAX_STEPS")?, ..Limits::default() },
            jwt: values.jwt()?,
            turn_limits: TurnLimits {
                per_minute: values.parsed("SEGUE_RATE_PER_MINUTE")?,
                at_once: values.parsed("SEGUE_CONCURRENT_TURNS")?,
                tokens_per_day: values.parsed("SEGUE_TOKENS_PER_DAY")?,
            },
            max_conversations: values.parsed("SEGUE_MAX_CONVERSATIONS")?,
            open_requests: values.open_requests()?,
            requests_per_second: values.requests_per_second()?,
            background_tokens_per_day: values.parsed("SEGUE_BACKGROUND_TOKENS_PER_DAY")?,
            max_connections: values.parsed::<NonZeroUsize>("SEGUE_MAX_CONNECTIONS")?.get(),
            connections_per_address: NonZeroUsize::new(values.parsed("SEGUE_CONNECTIONS_PER_ADDRESS")?),
            trusted_proxies: values.parsed("SEGUE_TRUSTED_PROXIES")?,
            artwork_hosts: values.list("SEGUE_ARTWORK_HOSTS"),
            metrics_token: values.secret("SEGUE_METRICS_TOKEN"),
            traces: values.traces()?,
            drain: Duration::from_secs(values.parsed("SEGUE_DRAIN_SECONDS")?),
            takeover: values.is_on("SEGUE_TAKEOVER")?,
            lease: TimeDelta::milliseconds(values.parsed::<i64>("SEGUE_LEASE_MS")?.max(MIN_LEASE_MS)),
            takes_turns: true,
            log: values.text("SEGUE_LOG").unwrap_or_else(|| "info".into()),
            mcp: Vec::new(),
            ignored_file: None,
        };
        if config.auth == AuthMode::Local && !config.listen.ip().is_loopback() {
            let why =
                "only a loopback address is allowed while SEGUE_AUTH=local; set SEGUE_AUTH=accounts or jwt to open it";
            return Err(problem("SEGUE_LISTEN", why));
        }
        Ok(config)
    }
}

fn problem(name: &str, problem: impl std::fmt::Display) -> ConfigError {
    ConfigError { name: name.to_owned(), problem: problem.to_string() }
}
