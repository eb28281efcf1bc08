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
    setting("SEGUE_DATABASE_POOL", "10", "Maximum number of connections to the database"),
    setting("QDRANT_URL", "", "URL of a Qdrant server (gRPC, port 6334); when empty, the embedded index"),
    setting("QDRANT_API_KEY", "", "API key of the Qdrant server"),
    setting(
        "SEGUE_MODEL",
        "",
        "offline or provider:model, such as anthropic:<model> or openai:<model>; when empty, chosen by the keys that are set",
    ),
    setting(
        "SEGUE_MODELS",
        "",
        "More models to choose from: name=provider:model @input/output, separated by commas; the prices are US dollars per million tokens and may be left out",
    ),
    setting(
        "SEGUE_SMALL_MODEL",
        "",
        "provider:model that writes descriptions of tracks and rewords searches; when empty, the main model does so, unless it runs on this machine",
    ),
    setting("SEGUE_MODEL_PORTS", "11434,8080,1234,8000", "Loopback ports where Segue looks for model servers, or off"),
    setting(
        "SEGUE_OPERATORS",
        "",
        "Accounts or token subjects that may change the settings, separated by commas; `segue user add --operator` adds such an account",
    ),
    setting(
        "SEGUE_SECRET_KEY",
        "",
        "Key of at least 32 characters that encrypts the secrets of the settings page; when empty with SQLite, Segue creates a key file in the data directory",
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
        "Key for the embeddings server; when empty, OPENAI_API_KEY is used if both servers have the same origin",
    ),
    setting("TIDAL_CLIENT_ID", "", "Client id for the Tidal API; when empty, the catalogue is off"),
    setting("TIDAL_CLIENT_SECRET", "", "Client secret for the Tidal API"),
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
    setting("SEGUE_TRACE_CONTENT", "on", "Whether traces contain the texts of users and tools: on or off"),
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
    setting("SEGUE_JWT_ISSUER", "", "Issuer (iss) that a token must have; required with SEGUE_JWKS_URL"),
    setting("SEGUE_JWT_AUDIENCE", "", "Audience (aud) that a token must have; required with SEGUE_JWKS_URL"),
    setting("SEGUE_TOKEN_URL", "", "URL from which the page gets a token of the issuer, for SEGUE_AUTH=jwt"),
    setting(
        "SEGUE_SIGN_IN_URL",
        "",
        "URL of the issuer's sign-in page; {return} in it stands for the address to return to",
    ),
    setting("SEGUE_SAMPLE", "on", "Whether the sample library is loaded into an empty installation: on or off"),
    setting(
        "SEGUE_MUSIC_DIR",
        "",
        "Folders of audio files that Segue watches: DIR, or with accounts NAME=DIR pairs separated by ;",
    ),
    setting(
        "SEGUE_FINGERPRINTS",
        "on",
        "Whether files of music folders are decoded to recognise the same recording in several files: on or off",
    ),
    setting(
        "SEGUE_SHARED_COLLECTION",
        "off",
        "Whether users find each other's catalogued tracks: on or off; data that only a file or an export contains is never shared",
    ),
    setting("SEGUE_MAX_STEPS", "5", "Maximum number of tool-calling rounds in a turn"),
    setting("SEGUE_RATE_PER_MINUTE", "20", "Turns that a user may start per minute; 0 = no limit"),
    setting("SEGUE_CONCURRENT_TURNS", "3", "Turns that a user may run at the same time; 0 = no limit"),
    setting("SEGUE_MAX_CONVERSATIONS", "50000", "Conversations that a user may have, with the trash; 0 = no limit"),
    setting(
        "SEGUE_OPEN_REQUESTS",
        "64",
        "Requests and streams that a user may have open at the same time; 0 = no limit; SEGUE_AUTH=local has no limit",
    ),
    setting(
        "SEGUE_REQUESTS_PER_SECOND",
        "50",
        "Requests that a user may send to a node per second, after a burst of six times as many; 0 = no limit; SEGUE_AUTH=local has no limit",
    ),
    setting("SEGUE_TOKENS_PER_DAY", "0", "Model tokens that a user may use per day; 0 = no limit"),
    setting(
        "SEGUE_BACKGROUND_TOKENS_PER_DAY",
        "5000000",
        "Model tokens that descriptions of tracks and rewording of searches may use per user and day; 0 = no limit",
    ),
    setting("SEGUE_MAX_CONNECTIONS", "4096", "Maximum number of open connections"),
    setting(
        "SEGUE_CONNECTIONS_PER_ADDRESS",
        "1024",
        "Maximum number of open connections from one address (IPv6: one /64); trusted proxies have no such limit; 0 = no limit",
    ),
    setting(
        "SEGUE_TRUSTED_PROXIES",
        "",
        "Addresses or networks (10.0.0.0/8) of reverse proxies, separated by commas; X-Forwarded-For is read only from them",
    ),
    setting(
        "SEGUE_TAKEOVER",
        "on",
        "Whether another node finishes a turn whose node died: on or off; off closes the turn as interrupted",
    ),
    setting(
        "SEGUE_LEASE_MS",
        "10000",
        "Milliseconds without a renewal of its lease after which the turns of a node are taken over by another node; at least 200",
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
    setting(
        "SEGUE_METRICS_TOKEN",
        "",
        "Bearer token for /metrics; when empty, only requests from this machine may read it",
    ),
    setting("SEGUE_LOG", "info", "Log level (error, warn, info, debug), or a filter such as app=debug"),
];

/// The flag that sets a setting: `SEGUE_DATA_DIR` → `data-dir`.
pub fn flag_of(name: &str) -> String {
    name.strip_prefix("SEGUE_").unwrap_or(name).to_ascii_lowercase().replace('_', "-")
}

pub(super) fn key_of(name: &str) -> String {
    flag_of(name).replace('-', "_")
}
