//! Which settings are there? One list: flags, variables of the environment, keys of the file and `--help` follow from it.

use providers::{PROVIDERS, Variable};
use sources::{deezer, lrclib, musicbrainz, reccobeats};

/// One setting, as the reference (`--help`) shows it.
#[derive(Clone, Copy)]
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
pub const SETTINGS: &[Setting] = &ALL;

/// The key and the base URL of each provider come from the list of providers.
const ALL: [Setting; N_SETTINGS] = {
    let mut all = [BEFORE_PROVIDERS[0]; N_SETTINGS];
    let mut n = 0;
    while n < BEFORE_PROVIDERS.len() {
        all[n] = BEFORE_PROVIDERS[n];
        n += 1;
    }
    let mut at = 0;
    while at < PROVIDERS.len() {
        all[n] = of_provider(PROVIDERS[at].key);
        all[n + 1] = of_provider(PROVIDERS[at].base_url);
        (n, at) = (n + 2, at + 1);
    }
    let mut at = 0;
    while at < AFTER_PROVIDERS.len() {
        all[n] = AFTER_PROVIDERS[at];
        (n, at) = (n + 1, at + 1);
    }
    all
};

const N_SETTINGS: usize = BEFORE_PROVIDERS.len() + 2 * PROVIDERS.len() + AFTER_PROVIDERS.len();

const fn of_provider(variable: Variable) -> Setting {
    setting(variable.name, variable.default, variable.help)
}

const BEFORE_PROVIDERS: &[Setting] = &[
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
        "offline or provider:model, such as anthropic:<model> or openai:<model>; when empty, chosen by the keys that are set",
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
];

const AFTER_PROVIDERS: &[Setting] = &[
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
        "Folders of audio files that Segue watches: DIR, or with accounts NAME=DIR pairs separated by ;",
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

/// The flag that sets a setting: `SEGUE_DATA_DIR` → `data-dir`.
pub fn flag_of(name: &str) -> String {
    name.strip_prefix("SEGUE_").unwrap_or(name).to_ascii_lowercase().replace('_', "-")
}

pub(super) fn key_of(name: &str) -> String {
    flag_of(name).replace('-', "_")
}
