//! Settings: flags, environment or a settings file, in that order of strength. The only reader of the environment.

use std::{
    collections::{BTreeSet, HashMap},
    net::SocketAddr,
    num::{NonZeroU32, NonZeroUsize},
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

use base64::{Engine, prelude::BASE64_STANDARD};
use chrono::TimeDelta;
use engine::Limits;

pub use crate::networks::Networks;
use crate::{
    enrich::SourceUrls,
    mcp_client::{self, OutsideServer},
    models::{self, NamedModel},
    observe::Content,
};
use sources::{
    deezer, lrclib, musicbrainz, reccobeats,
    tidal::{Credentials, TidalConfig},
};
use store::TurnLimits;

/// One setting, as the reference (`--help`) shows it.
pub struct Setting {
    pub name: &'static str,
    pub default: &'static str,
    pub help: &'static str,
}

const fn setting(name: &'static str, default: &'static str, help: &'static str) -> Setting {
    Setting { name, default, help }
}

/// Every setting there is. A flag and a key in `segue.toml` follow from the name: `SEGUE_DATA_DIR` is `--data-dir` and
/// `data_dir`, `QDRANT_URL` is `--qdrant-url` and `qdrant_url`.
pub const SETTINGS: &[Setting] = &[
    setting("SEGUE_CONFIG", "", "Settings file; $XDG_CONFIG_HOME/segue/segue.toml when empty"),
    setting("SEGUE_LISTEN", "127.0.0.1:8080", "Address to listen on; loopback only while SEGUE_AUTH=local"),
    setting("SEGUE_DATA_DIR", "./segue-data", "Folder of the SQLite file, the embedded index and model files"),
    setting("DATABASE_URL", "", "postgres://user:password@host/name; when empty, a SQLite file in the data directory"),
    setting("SEGUE_DATABASE_POOL", "10", "Most connections to the database"),
    setting("QDRANT_URL", "", "URL of a Qdrant server (gRPC, port 6334); when empty, the embedded index"),
    setting("QDRANT_API_KEY", "", "API key of the Qdrant server"),
    setting(
        "SEGUE_MODEL",
        "",
        "offline, anthropic:<model> or openai:<model>; when empty, chosen by the keys that are set",
    ),
    setting("SEGUE_MODELS", "", "More models to choose from: name=provider:model @input/output, separated by commas"),
    setting(
        "SEGUE_SMALL_MODEL",
        "",
        "provider:model for descriptions of tracks and rewording of searches; without it a local model does neither",
    ),
    setting("SEGUE_MODEL_PORTS", "11434,8080,1234,8000", "Loopback ports where Segue looks for model servers, or off"),
    setting("SEGUE_OPERATORS", "", "Accounts or token subjects that may change the settings, separated by commas"),
    setting(
        "SEGUE_SECRET_KEY",
        "",
        "At least 32 characters that encrypt secrets stored on the settings page; when empty with SQLite, a file in the data directory",
    ),
    setting("ANTHROPIC_API_KEY", "", "Key for the Anthropic Messages API"),
    setting("ANTHROPIC_BASE_URL", "https://api.anthropic.com", "Base URL of the Anthropic Messages API"),
    setting("OPENAI_API_KEY", "", "Key for OpenAI, or for the server at OPENAI_BASE_URL"),
    setting(
        "OPENAI_BASE_URL",
        "https://api.openai.com/v1",
        "Base URL of a Chat Completions API, also of Ollama, llama.cpp, LM Studio or vLLM",
    ),
    setting(
        "SEGUE_EMBEDDINGS_URL",
        "",
        "Base URL of a server with OpenAI's /v1/embeddings; when empty, the built-in embedder",
    ),
    setting("SEGUE_EMBEDDINGS_MODEL", "", "Model name for the embeddings server"),
    setting(
        "SEGUE_EMBEDDINGS_API_KEY",
        "",
        "Key for the embeddings server; when empty, OPENAI_API_KEY if both have the same origin, else none",
    ),
    setting("TIDAL_CLIENT_ID", "", "Tidal credentials; without them the catalogue is off"),
    setting("TIDAL_CLIENT_SECRET", "", "Tidal credentials"),
    setting("TIDAL_API_URL", "https://openapi.tidal.com/v2", "Base URL of the Tidal API"),
    setting("TIDAL_AUTH_URL", "https://auth.tidal.com/v1", "Base URL of Tidal's token service"),
    setting("TIDAL_COUNTRY", "US", "Country code of the Tidal catalogue"),
    setting("LRCLIB_URL", lrclib::DEFAULT_URL, "Base URL of the LRCLIB lyrics API, or off"),
    setting("RECCOBEATS_URL", reccobeats::DEFAULT_URL, "Base URL of the ReccoBeats audio features API, or off"),
    setting("MUSICBRAINZ_URL", musicbrainz::DEFAULT_URL, "Base URL of the MusicBrainz API, or off"),
    setting("DEEZER_URL", deezer::DEFAULT_URL, "Base URL of the Deezer API, or off"),
    setting("LANGFUSE_PUBLIC_KEY", "", "Public key of Langfuse; with the secret key, traces of turns are sent to it"),
    setting("LANGFUSE_SECRET_KEY", "", "Secret key of Langfuse"),
    setting("LANGFUSE_BASE_URL", "https://cloud.langfuse.com", "Base URL of Langfuse"),
    setting("OTEL_EXPORTER_OTLP_ENDPOINT", "", "Base URL of an OTLP/HTTP collector that gets the traces of turns"),
    setting("OTEL_EXPORTER_OTLP_HEADERS", "", "Headers for the collector: name=value, separated by commas"),
    setting("SEGUE_TRACE_CONTENT", "on", "on, or off: traces contain no text of users and tools"),
    setting(
        "SEGUE_AUTH",
        "local",
        "local (one person, loopback only), accounts (built-in sign-in) or jwt (another issuer's tokens)",
    ),
    setting("SEGUE_JWT_SECRET", "", "HS256 secret of at least 32 bytes, for SEGUE_AUTH=jwt"),
    setting(
        "SEGUE_JWKS_URL",
        "",
        "URL of the issuer's public keys (Better Auth, Clerk, Auth0, Keycloak), for SEGUE_AUTH=jwt",
    ),
    setting("SEGUE_JWT_ISSUER", "", "Expected issuer; required with SEGUE_JWKS_URL"),
    setting("SEGUE_JWT_AUDIENCE", "", "Expected audience; required with SEGUE_JWKS_URL"),
    setting("SEGUE_TOKEN_URL", "", "Where the page gets a token of the issuer, for SEGUE_AUTH=jwt"),
    setting("SEGUE_SIGN_IN_URL", "", "Where people sign in at the issuer; {return} in it is the way back"),
    setting("SEGUE_SAMPLE", "on", "on, or off: the sample library is not loaded into an empty installation"),
    setting(
        "SEGUE_MUSIC_DIR",
        "",
        "Folders of audio files that libraries are kept in step with: DIR, or with accounts NAME=DIR pairs separated by ;",
    ),
    setting(
        "SEGUE_FINGERPRINTS",
        "on",
        "on, or off: files of music folders are not decoded to recognise the same recording in several files",
    ),
    setting(
        "SEGUE_SHARED_COLLECTION",
        "off",
        "on, or off; on: users find each other's catalogued tracks, never what only a file or an export says",
    ),
    setting("SEGUE_MAX_STEPS", "5", "Tool-calling rounds per turn"),
    setting("SEGUE_RATE_PER_MINUTE", "20", "Turns a user may start per minute; 0 = no limit"),
    setting("SEGUE_CONCURRENT_TURNS", "3", "Turns a user may run at once; 0 = no limit"),
    setting(
        "SEGUE_OPEN_REQUESTS",
        "64",
        "Requests and streams a user may have open; 0, or while SEGUE_AUTH=local, no limit",
    ),
    setting(
        "SEGUE_REQUESTS_PER_SECOND",
        "50",
        "Requests a user may send per second and node, after a burst of six times as many; 0, or while SEGUE_AUTH=local, no limit",
    ),
    setting("SEGUE_TOKENS_PER_DAY", "0", "Model tokens a user may spend per day; 0 = no limit"),
    setting(
        "SEGUE_BACKGROUND_TOKENS_PER_DAY",
        "5000000",
        "Model tokens per user and day for descriptions of tracks and rewording of searches; 0 = no limit",
    ),
    setting("SEGUE_MAX_CONNECTIONS", "4096", "Connections open at once"),
    setting(
        "SEGUE_CONNECTIONS_PER_ADDRESS",
        "1024",
        "Connections open at once from one address (IPv6: one /64), except trusted proxies; 0 = no limit",
    ),
    setting(
        "SEGUE_TRUSTED_PROXIES",
        "",
        "Addresses or networks (10.0.0.0/8) of reverse proxies, separated by commas: only they may set X-Forwarded-For",
    ),
    setting(
        "SEGUE_TAKEOVER",
        "on",
        "on, or off: a turn whose server died is closed as interrupted instead of finished by another node",
    ),
    setting(
        "SEGUE_LEASE_MS",
        "10000",
        "Milliseconds without a sign of life after which another node takes over a node's turns; at least 200",
    ),
    setting(
        "SEGUE_DRAIN_SECONDS",
        "25",
        "Seconds that running turns may continue after SIGTERM, before they are handed over",
    ),
    setting(
        "SEGUE_ARTWORK_HOSTS",
        "resources.tidal.com",
        "Hosts from which cover images are fetched, separated by commas",
    ),
    setting("SEGUE_METRICS_TOKEN", "", "Bearer token for /metrics; when empty, only this machine can read it"),
    setting("SEGUE_LOG", "info", "Log level (error, warn, info, debug), or a filter such as app=debug"),
];

/// A shorter lease could not be renewed in time by a busy node.
const MIN_LEASE_MS: i64 = 200;

/// A folder of audio files, and whose library it is kept in step with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MusicDir {
    /// An account's name; none where there is one user.
    pub user: Option<String>,
    pub path: String,
}

impl MusicDir {
    fn parse(text: &str) -> Self {
        match text.split_once('=') {
            Some((user, path)) if !user.contains('/') => {
                Self { user: Some(user.trim().to_owned()), path: path.trim().to_owned() }
            }
            _ => Self { user: None, path: text.to_owned() },
        }
    }
}

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
    pub anthropic: Endpoint,
    pub openai: Endpoint,
    /// None: the embedded index.
    pub qdrant: Option<Endpoint>,
    /// None: the built-in embedder.
    pub embeddings: Option<Embeddings>,
    pub tidal: TidalConfig,
    /// Services that enrich and match tracks, without a key.
    pub sources: SourceUrls,
    /// Users find each other's catalogued tracks.
    pub shared_collection: bool,
    /// Folders that are kept in step with libraries.
    pub music_dirs: Vec<MusicDir>,
    /// Files of music folders are compared by their sound.
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
    pub mcp: Vec<OutsideServer>,
    /// What the operator should know about a settings file that was not read.
    pub ignored_file: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelChoice {
    Offline,
    /// None: the vendor's current model.
    Anthropic(Option<String>),
    OpenAi(Option<String>),
}

#[derive(Clone, Debug)]
pub struct Endpoint {
    pub url: String,
    pub key: Option<Secret>,
}

/// A remote embedder.
#[derive(Clone, Debug)]
pub struct Embeddings {
    pub url: String,
    pub model: String,
    pub key: Option<Secret>,
}

/// Where traces go.
#[derive(Clone, Debug)]
pub struct TraceConfig {
    /// The whole address, `/v1/traces` included.
    pub url: String,
    pub headers: Vec<(String, Secret)>,
    pub content: Content,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthMode {
    Local,
    Accounts,
    Jwt,
}

/// Whose tokens are believed, and what they must say.
#[derive(Clone, Debug)]
pub struct JwtConfig {
    pub keys: JwtKeys,
    pub issuer: Option<String>,
    pub audience: Option<String>,
    /// How the page signs in; none: only programs do.
    pub page: Option<PageSignIn>,
}

/// Where the page gets a token, and where people sign in.
#[derive(Clone, Debug)]
pub struct PageSignIn {
    pub token_url: reqwest::Url,
    /// As it was set: it may hold a placeholder.
    pub sign_in_url: String,
}

impl PageSignIn {
    /// What the page may ask beside this server: scheme, host and port.
    pub fn token_origin(&self) -> String {
        self.token_url.origin().ascii_serialization()
    }
}

#[derive(Clone, Debug)]
pub enum JwtKeys {
    /// One secret, shared with the issuer.
    Secret(Secret),
    /// Where the issuer publishes its keys.
    Jwks(reqwest::Url),
}

/// A shorter HS256 secret can be guessed from one token.
const MIN_SECRET_BYTES: usize = 32;

/// A value that must not be printed.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A setting that cannot be used, with what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("{name}: {problem}")]
pub struct ConfigError {
    pub name: String,
    pub problem: String,
}

impl Config {
    /// `flags` by setting name. A `segue.toml` in the current folder is not read: in a folder of someone else's it could
    /// start programs and send keys elsewhere.
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
        let values = Values { lookup };
        let data_dir: PathBuf = values.parsed("SEGUE_DATA_DIR")?;
        let sqlite = || format!("sqlite:{}", data_dir.join("segue.db").display());
        let config = Self {
            listen: values.parsed("SEGUE_LISTEN")?,
            database_url: values.text("DATABASE_URL").unwrap_or_else(sqlite),
            data_dir,
            database_pool: values.parsed("SEGUE_DATABASE_POOL")?,
            model: values.model()?,
            is_model_set: values.is_model_set(),
            models: models::parse_list(&values.or_default("SEGUE_MODELS"))
                .map_err(|why| problem("SEGUE_MODELS", why))?,
            small_model: values.small_model()?,
            model_ports: values.model_ports()?,
            operators: values.names("SEGUE_OPERATORS"),
            secret_key: values.secret_key()?,
            set: values.set(),
            anthropic: values.endpoint("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
            openai: values.endpoint("OPENAI_BASE_URL", "OPENAI_API_KEY"),
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

/// `$XDG_CONFIG_HOME/segue/segue.toml`; an absolute path, as the specification demands.
fn default_file(environment: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let absolute = |name| environment(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")))?;
    Some(folder.join("segue").join("segue.toml"))
}

fn read_file(path: &Path, must_exist: bool) -> Result<toml::Table, ConfigError> {
    let name = path.display().to_string();
    match std::fs::read_to_string(path) {
        Ok(text) => toml::from_str(&text).map_err(|error| problem(&name, error)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !must_exist => Ok(toml::Table::new()),
        Err(error) => Err(problem(&name, error)),
    }
}

/// What to say about a file in the current folder that earlier versions read.
fn ignored_file(here: &Path, read: Option<&Path>) -> Option<String> {
    let found = here.canonicalize().ok()?;
    if read.and_then(|read| read.canonicalize().ok()).is_some_and(|read| read == found) {
        return None;
    }
    let keep = read.map_or_else(String::new, |read| format!(", or move it to {}", read.display()));
    Some(format!(
        "{} is NOT read any more: a settings file of the current folder could start programs and send your keys \
         elsewhere. If it is yours, use it with --config segue.toml or SEGUE_CONFIG{keep}.",
        found.display()
    ))
}

/// Where the process is to abort or to stop, for `make prove`: at the n-th point from its start, or from when it is ready.
#[cfg(debug_assertions)]
pub(crate) fn point(name: &str) -> Option<i64> {
    std::env::var(name).ok()?.parse().ok()
}

/// The bug that this process is to have, for `make prove`.
#[cfg(debug_assertions)]
pub(crate) fn plant_mutant() -> anyhow::Result<()> {
    use anyhow::Context;
    if let Ok(name) = std::env::var("SEGUE_MUTANT") {
        engine::mutants::plant(name.parse().with_context(|| format!("SEGUE_MUTANT={name}"))?);
    }
    Ok(())
}

/// The flag that sets a setting: `SEGUE_DATA_DIR` → `data-dir`.
pub fn flag_of(name: &str) -> String {
    name.strip_prefix("SEGUE_").unwrap_or(name).to_ascii_lowercase().replace('_', "-")
}

fn key_of(name: &str) -> String {
    flag_of(name).replace('-', "_")
}

/// `[mcp.<name>]`: other servers whose tools agents may use.
fn parse_servers(tables: Option<toml::Value>) -> Result<Vec<OutsideServer>, ConfigError> {
    let Some(tables) = tables.filter(|_| std::env::var_os(mcp_client::STARTED_BY_SEGUE).is_none()) else {
        return Ok(Vec::new());
    };
    let toml::Value::Table(tables) = tables else {
        return Err(problem("segue.toml", "'mcp' holds one table for each server: [mcp.<name>]"));
    };
    let secret = |name: &str| std::env::var(name).ok().map(Secret::new);
    let servers = tables.into_iter().map(|(name, table)| {
        OutsideServer::parse(&name, table, secret).map_err(|why| problem("segue.toml", format!("[mcp.{name}]: {why}")))
    });
    servers.collect()
}

fn parse_file(table: toml::Table) -> Result<HashMap<&'static str, String>, ConfigError> {
    let mut values = HashMap::new();
    for (key, value) in table {
        let known = SETTINGS.iter().find(|setting| key_of(setting.name) == key && setting.name != "SEGUE_CONFIG");
        let Some(setting) = known else {
            return Err(problem("segue.toml", format!("there is no setting '{key}'; see segue serve --help")));
        };
        let text = match value {
            toml::Value::String(text) => text,
            toml::Value::Integer(_) | toml::Value::Float(_) | toml::Value::Boolean(_) => value.to_string(),
            _ => return Err(problem("segue.toml", format!("'{key}' must be a text or a number"))),
        };
        values.insert(setting.name, text);
    }
    Ok(values)
}

fn problem(name: &str, problem: impl std::fmt::Display) -> ConfigError {
    ConfigError { name: name.to_owned(), problem: problem.to_string() }
}

fn web_url(name: &'static str, text: &str) -> Result<reqwest::Url, ConfigError> {
    let url: reqwest::Url = text.parse().map_err(|error| problem(name, error))?;
    if !matches!(url.scheme(), "https" | "http") {
        return Err(problem(name, "must begin with https:// (or http:// inside a private network)"));
    }
    Ok(url)
}

/// Langfuse takes OTLP under its own path; the version asks for spans to show at once.
fn langfuse(base_url: &str, public: &str, secret: &str, content: Content) -> TraceConfig {
    let basic = BASE64_STANDARD.encode(format!("{public}:{secret}"));
    let headers = vec![
        ("authorization".to_owned(), Secret::new(format!("Basic {basic}"))),
        ("x-langfuse-ingestion-version".to_owned(), Secret::new("4")),
        ("x-langfuse-sdk-name".to_owned(), Secret::new("segue")),
        ("x-langfuse-sdk-version".to_owned(), Secret::new(env!("CARGO_PKG_VERSION"))),
        ("x-langfuse-public-key".to_owned(), Secret::new(public)),
    ];
    TraceConfig { url: format!("{}/api/public/otel/v1/traces", base_url.trim_end_matches('/')), headers, content }
}

fn collector_headers(list: &str) -> Result<Vec<(String, Secret)>, ConfigError> {
    let pairs = list.split(',').map(str::trim).filter(|pair| !pair.is_empty());
    let headers = pairs.map(|pair| match pair.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_ascii_lowercase(), Secret::new(value.trim())))
        }
        _ => Err(problem("OTEL_EXPORTER_OTLP_HEADERS", "must be name=value, separated by commas")),
    });
    headers.collect()
}

/// Whether a key for one address may be sent to the other.
fn is_same_origin(one: &str, other: &str) -> bool {
    match (one.parse::<reqwest::Url>(), other.parse::<reqwest::Url>()) {
        (Ok(one), Ok(other)) => one.origin() == other.origin(),
        _ => false,
    }
}

struct Values<F> {
    lookup: F,
}

impl<F: Fn(&str) -> Option<String>> Values<F> {
    fn text(&self, name: &str) -> Option<String> {
        let value = (self.lookup)(name).map(|value| value.trim().to_owned());
        value.filter(|value| !value.is_empty())
    }

    fn or_default(&self, name: &str) -> String {
        let default = SETTINGS.iter().find(|setting| setting.name == name).map_or("", |setting| setting.default);
        self.text(name).unwrap_or_else(|| default.to_owned())
    }

    fn parsed<T: FromStr<Err: std::fmt::Display>>(&self, name: &str) -> Result<T, ConfigError> {
        let value = self.or_default(name);
        value.parse().map_err(|error| problem(name, format!("'{value}' cannot be used: {error}")))
    }

    fn is_on(&self, name: &str) -> Result<bool, ConfigError> {
        match self.or_default(name).as_str() {
            "on" => Ok(true),
            "off" => Ok(false),
            other => Err(problem(name, format!("'{other}' is not on or off"))),
        }
    }

    fn secret(&self, name: &str) -> Option<Secret> {
        self.text(name).map(Secret)
    }

    fn endpoint(&self, url: &str, key: &str) -> Endpoint {
        Endpoint { url: self.or_default(url).trim_end_matches('/').to_owned(), key: self.secret(key) }
    }

    fn embeddings(&self) -> Option<Embeddings> {
        let url = self.text("SEGUE_EMBEDDINGS_URL")?;
        let model = self.text("SEGUE_EMBEDDINGS_MODEL").unwrap_or_default();
        let of_openai =
            || self.secret("OPENAI_API_KEY").filter(|_| is_same_origin(&url, &self.or_default("OPENAI_BASE_URL")));
        let key = self.secret("SEGUE_EMBEDDINGS_API_KEY").or_else(of_openai);
        Some(Embeddings { url, model, key })
    }

    fn music_dirs(&self) -> Vec<MusicDir> {
        let text = self.text("SEGUE_MUSIC_DIR").unwrap_or_default();
        let parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
        parts.map(MusicDir::parse).collect()
    }

    fn sources(&self) -> SourceUrls {
        let source = |name: &str| Some(self.or_default(name)).filter(|url| url != "off");
        SourceUrls {
            lrclib: source("LRCLIB_URL"),
            reccobeats: source("RECCOBEATS_URL"),
            musicbrainz: source("MUSICBRAINZ_URL"),
            deezer: source("DEEZER_URL"),
        }
    }

    fn tidal(&self) -> Result<TidalConfig, ConfigError> {
        let credentials = match (self.text("TIDAL_CLIENT_ID"), self.text("TIDAL_CLIENT_SECRET")) {
            (Some(client_id), Some(client_secret)) => Some(Credentials { client_id, client_secret }),
            (None, None) => None,
            (Some(_), None) => return Err(problem("TIDAL_CLIENT_SECRET", "is missing beside TIDAL_CLIENT_ID")),
            (None, Some(_)) => return Err(problem("TIDAL_CLIENT_ID", "is missing beside TIDAL_CLIENT_SECRET")),
        };
        Ok(TidalConfig {
            credentials,
            api_url: self.or_default("TIDAL_API_URL").trim_end_matches('/').to_owned(),
            auth_url: self.or_default("TIDAL_AUTH_URL").trim_end_matches('/').to_owned(),
            country: self.or_default("TIDAL_COUNTRY"),
        })
    }

    fn traces(&self) -> Result<Vec<TraceConfig>, ConfigError> {
        let content = match self.is_on("SEGUE_TRACE_CONTENT")? {
            true => Content::Included,
            false => Content::LeftOut,
        };
        let keys = match (self.text("LANGFUSE_PUBLIC_KEY"), self.text("LANGFUSE_SECRET_KEY")) {
            (Some(public), Some(secret)) => Some((public, secret)),
            (None, None) => None,
            (Some(_), None) => return Err(problem("LANGFUSE_SECRET_KEY", "is missing beside LANGFUSE_PUBLIC_KEY")),
            (None, Some(_)) => return Err(problem("LANGFUSE_PUBLIC_KEY", "is missing beside LANGFUSE_SECRET_KEY")),
        };
        let mut traces = Vec::new();
        if let Some((public, secret)) = keys {
            traces.push(langfuse(&self.or_default("LANGFUSE_BASE_URL"), &public, &secret, content));
        }
        if let Some(url) = self.text("OTEL_EXPORTER_OTLP_ENDPOINT") {
            let headers = collector_headers(&self.or_default("OTEL_EXPORTER_OTLP_HEADERS"))?;
            traces.push(TraceConfig { url: format!("{}/v1/traces", url.trim_end_matches('/')), headers, content });
        }
        Ok(traces)
    }

    fn model(&self) -> Result<ModelChoice, ConfigError> {
        let Some(choice) = self.text("SEGUE_MODEL") else {
            return Ok(if self.text("ANTHROPIC_API_KEY").is_some() {
                ModelChoice::Anthropic(None)
            } else if self.text("OPENAI_API_KEY").or_else(|| self.text("OPENAI_BASE_URL")).is_some() {
                ModelChoice::OpenAi(None)
            } else {
                ModelChoice::Offline
            });
        };
        models::parse_choice(&choice).map_err(|why| problem("SEGUE_MODEL", why))
    }

    fn secret_key(&self) -> Result<Option<Secret>, ConfigError> {
        let key = self.secret("SEGUE_SECRET_KEY");
        if key.as_ref().is_some_and(|key| key.expose().len() < MIN_SECRET_BYTES) {
            let why = format!("must have at least {MIN_SECRET_BYTES} characters; `openssl rand -base64 32` makes one");
            return Err(problem("SEGUE_SECRET_KEY", why));
        }
        Ok(key)
    }

    fn set(&self) -> BTreeSet<&'static str> {
        SETTINGS.iter().map(|setting| setting.name).filter(|name| self.text(name).is_some()).collect()
    }

    fn is_model_set(&self) -> bool {
        let names = ["SEGUE_MODEL", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"];
        names.iter().any(|name| self.text(name).is_some())
    }

    fn small_model(&self) -> Result<Option<ModelChoice>, ConfigError> {
        let Some(choice) = self.text("SEGUE_SMALL_MODEL") else { return Ok(None) };
        match models::parse_choice(&choice) {
            Ok(ModelChoice::Offline) => Err(problem("SEGUE_SMALL_MODEL", "the offline model cannot describe music")),
            Ok(ModelChoice::OpenAi(None) | ModelChoice::Anthropic(None)) => {
                Err(problem("SEGUE_SMALL_MODEL", format!("'{choice}' names no model")))
            }
            Ok(choice) => Ok(Some(choice)),
            Err(why) => Err(problem("SEGUE_SMALL_MODEL", why)),
        }
    }

    fn model_ports(&self) -> Result<Vec<u16>, ConfigError> {
        let ports = self.list("SEGUE_MODEL_PORTS").into_iter().filter(|port| port != "off");
        let wrong = |port: &str| problem("SEGUE_MODEL_PORTS", format!("'{port}' is not a port or off"));
        ports.map(|port| port.parse().map_err(|_| wrong(&port))).collect()
    }

    /// As they are written: ids of other issuers are case-sensitive.
    fn names(&self, name: &str) -> Vec<String> {
        let value = self.or_default(name);
        value.split(',').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
    }

    fn list(&self, name: &str) -> Vec<String> {
        let value = self.or_default(name);
        value.split(',').map(|part| part.trim().to_ascii_lowercase()).filter(|part| !part.is_empty()).collect()
    }

    /// Exactly one kind of key: with two, a token could choose by which it wants to be checked.
    fn jwt(&self) -> Result<Option<JwtConfig>, ConfigError> {
        if self.auth()? != AuthMode::Jwt {
            return Ok(None);
        }
        let keys = match (self.secret("SEGUE_JWT_SECRET"), self.text("SEGUE_JWKS_URL")) {
            (Some(secret), None) if secret.expose().len() < MIN_SECRET_BYTES => {
                return Err(problem("SEGUE_JWT_SECRET", format!("must have at least {MIN_SECRET_BYTES} bytes")));
            }
            (Some(secret), None) => JwtKeys::Secret(secret),
            (None, Some(url)) => JwtKeys::Jwks(web_url("SEGUE_JWKS_URL", &url)?),
            (Some(_), Some(_)) => {
                return Err(problem("SEGUE_JWT_SECRET", "cannot be used together with SEGUE_JWKS_URL"));
            }
            (None, None) => return Err(problem("SEGUE_AUTH", "jwt needs SEGUE_JWKS_URL or SEGUE_JWT_SECRET")),
        };
        let (issuer, audience) = (self.text("SEGUE_JWT_ISSUER"), self.text("SEGUE_JWT_AUDIENCE"));
        if matches!(keys, JwtKeys::Jwks(_)) {
            for (name, value) in [("SEGUE_JWT_ISSUER", &issuer), ("SEGUE_JWT_AUDIENCE", &audience)] {
                if value.is_none() {
                    return Err(problem(name, "is required with SEGUE_JWKS_URL"));
                }
            }
        }
        Ok(Some(JwtConfig { keys, issuer, audience, page: self.page_sign_in()? }))
    }

    /// One without the other would leave people on a page that they cannot use.
    fn page_sign_in(&self) -> Result<Option<PageSignIn>, ConfigError> {
        match (self.text("SEGUE_TOKEN_URL"), self.text("SEGUE_SIGN_IN_URL")) {
            (None, None) => Ok(None),
            (Some(_), None) => Err(problem("SEGUE_SIGN_IN_URL", "is missing beside SEGUE_TOKEN_URL")),
            (None, Some(_)) => Err(problem("SEGUE_TOKEN_URL", "is missing beside SEGUE_SIGN_IN_URL")),
            (Some(token), Some(sign_in)) => {
                web_url("SEGUE_SIGN_IN_URL", &sign_in)?;
                let token_url = web_url("SEGUE_TOKEN_URL", &token)?;
                Ok(Some(PageSignIn { token_url, sign_in_url: sign_in }))
            }
        }
    }

    fn open_requests(&self) -> Result<Option<NonZeroUsize>, ConfigError> {
        let most = NonZeroUsize::new(self.parsed("SEGUE_OPEN_REQUESTS")?);
        Ok(most.filter(|_| self.auth().is_ok_and(|mode| mode != AuthMode::Local)))
    }

    fn requests_per_second(&self) -> Result<Option<NonZeroU32>, ConfigError> {
        let most = NonZeroU32::new(self.parsed("SEGUE_REQUESTS_PER_SECOND")?);
        Ok(most.filter(|_| self.auth().is_ok_and(|mode| mode != AuthMode::Local)))
    }

    fn auth(&self) -> Result<AuthMode, ConfigError> {
        match self.or_default("SEGUE_AUTH").as_str() {
            "local" => Ok(AuthMode::Local),
            "accounts" => Ok(AuthMode::Accounts),
            "jwt" => Ok(AuthMode::Jwt),
            other => Err(problem("SEGUE_AUTH", format!("'{other}' is not local, accounts or jwt"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_picked_from_the_keys_that_are_there() {
        use ModelChoice::{Anthropic, Offline, OpenAi};
        let cases: [(&[(&str, &str)], ModelChoice); 6] = [
            (&[], Offline),
            (&[("OPENAI_API_KEY", "k")], OpenAi(None)),
            (&[("OPENAI_BASE_URL", "http://127.0.0.1:11434/v1")], OpenAi(None)),
            (&[("OPENAI_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k")], Anthropic(None)),
            (&[("ANTHROPIC_API_KEY", "k"), ("SEGUE_MODEL", "offline")], Offline),
            (&[("OPENAI_API_KEY", "k"), ("SEGUE_MODEL", "openai:small")], OpenAi(Some("small".into()))),
        ];
        for (settings, expected) in cases {
            let lookup =
                |name: &str| settings.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into());
            assert_eq!(Config::from_lookup(lookup).expect("the settings are right").model, expected, "{settings:?}");
        }
    }

    #[test]
    fn a_key_goes_only_to_the_service_it_belongs_to() {
        let key_for = |settings: &[(&str, &str)]| {
            let lookup =
                |name: &str| settings.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into());
            let config = Config::from_lookup(lookup).expect("the settings are right");
            config.embeddings.and_then(|embeddings| embeddings.key).map(|key| key.expose().to_owned())
        };
        let openai = ("OPENAI_API_KEY", "sk-openai");
        let elsewhere = ("SEGUE_EMBEDDINGS_URL", "http://tei.example:8080");
        assert_eq!(key_for(&[openai, elsewhere]), None);
        assert_eq!(key_for(&[openai, ("SEGUE_EMBEDDINGS_URL", "http://api.openai.com/v1")]), None, "another scheme");
        assert_eq!(key_for(&[openai, ("SEGUE_EMBEDDINGS_URL", "https://api.openai.com/v1")]), Some("sk-openai".into()));
        assert_eq!(key_for(&[openai, elsewhere, ("SEGUE_EMBEDDINGS_API_KEY", "own")]), Some("own".into()));
        let local = [openai, ("OPENAI_BASE_URL", "http://ollama:1/v1"), ("SEGUE_EMBEDDINGS_URL", "http://ollama:1")];
        assert_eq!(key_for(&local), Some("sk-openai".into()));
    }

    #[test]
    fn a_file_in_the_current_folder_is_reported_unless_it_is_the_one_that_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let (here, other) = (folder.path().join("segue.toml"), folder.path().join("other.toml"));
        assert_eq!(ignored_file(&here, None), None, "there is none");
        std::fs::write(&here, "").expect("it can be written");
        assert_eq!(ignored_file(&here, Some(&here)), None);
        let said = ignored_file(&here, Some(&other)).expect("a report");
        assert!(said.contains("--config segue.toml") && said.contains("other.toml"), "{said}");
    }

    #[test]
    fn the_default_file_is_in_the_users_own_folder() {
        let file = |xdg: Option<&str>, home: Option<&str>| {
            default_file(|name| if name == "HOME" { home } else { xdg }.map(str::to_owned))
        };
        assert_eq!(file(Some("/xdg"), Some("/ann")), Some("/xdg/segue/segue.toml".into()));
        assert_eq!(file(None, Some("/ann")), Some("/ann/.config/segue/segue.toml".into()));
        assert_eq!(file(Some("relative"), None), None);
    }
}
