//! A server for tests: the real router on a real port, on the database of this test run.

mod collector;
mod empty;
mod mp3;
mod people;
mod process;
mod redact;
mod sources;
mod sse;
mod upstream;

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use app::{App, config::Config};
use engine::{
    Model,
    script::{Reply, ScriptedModel},
};
use reqwest::{Method, Response, StatusCode};
use segue::server::ConnectionLimits;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;

pub(crate) use self::{
    collector::{Collector, Span, SpanKind, tree},
    mp3::{mp3, mp3_with_picture},
    people::{JWT_SECRET, Person, claims, signed},
    process::{Process, command, command_with_input},
    redact::{frames, redacted},
    sources::Sources,
    sse::{Stream, read_until_cut},
    upstream::{Upstream, words_and_call},
};

pub(crate) struct TestApp {
    pub(crate) app: Arc<App>,
    pub(crate) model: ScriptedModel,
    pub(crate) url: String,
    client: reqwest::Client,
    pub(crate) world: Arc<World>,
}

const SOURCES: [&str; 4] = ["LRCLIB_URL", "RECCOBEATS_URL", "MUSICBRAINZ_URL", "DEEZER_URL"];

/// The data directory and the database. They outlive a server.
pub(crate) struct World {
    data_dir: TempDir,
    database_url: Option<String>,
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(url) = &self.database_url {
            empty::delete(url);
        }
    }
}

impl World {
    pub(crate) async fn new() -> Arc<Self> {
        // The first test of the process installs it; later calls fail, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let data_dir = TempDir::new().expect("a temporary folder");
        let database_url = empty::postgres().await;
        if database_url.is_none() {
            empty::sqlite(data_dir.path()).await;
        }
        Arc::new(Self { data_dir, database_url })
    }

    /// Without a database, for tests that make one of an earlier version.
    #[allow(dead_code, reason = "the fault tests and the proof do not use it")]
    pub(crate) async fn without_database() -> Arc<Self> {
        let data_dir = TempDir::new().expect("a temporary folder");
        Arc::new(Self { data_dir, database_url: empty::postgres_without_tables().await })
    }

    /// `None`: SQLite.
    pub(crate) fn database_url(&self) -> Option<&str> {
        self.database_url.as_deref()
    }

    pub(crate) fn sqlite(&self) -> std::path::PathBuf {
        self.data_dir.path().join("segue.db")
    }

    pub(crate) fn settings(&self) -> HashMap<&'static str, String> {
        let mut settings = HashMap::from([
            ("SEGUE_DATA_DIR", self.data_dir.path().display().to_string()),
            // Tests of the limits set their own.
            ("SEGUE_RATE_PER_MINUTE", "0".to_owned()),
            ("SEGUE_CONCURRENT_TURNS", "0".to_owned()),
            ("SEGUE_REQUESTS_PER_SECOND", "0".to_owned()),
            // Tests of the sample library load it.
            ("SEGUE_SAMPLE", "off".to_owned()),
        ]);
        // No external service is called; tests of the sources configure doubles.
        settings.extend(SOURCES.map(|name| (name, "off".to_owned())));
        settings.extend(self.database_url.clone().map(|url| ("DATABASE_URL", url)));
        if std::env::var("SEGUE_TEST_INDEX").is_ok_and(|engine| engine == "qdrant") {
            settings.insert("QDRANT_URL", std::env::var("QDRANT_URL").expect("QDRANT_URL is set"));
        }
        settings
    }
}

impl World {
    /// Changes rows without the server's knowledge. `RANDOM_UUID` is replaced by the function of the database.
    pub(crate) async fn execute(&self, sql: &str) {
        self.try_execute(sql).await.expect("the statement runs");
    }

    pub(crate) async fn try_execute(&self, sql: &str) -> Result<(), sqlx::Error> {
        use sqlx::{Connection, Executor};
        let sql = |uuid| sqlx::AssertSqlSafe(sql.replace("RANDOM_UUID", uuid));
        match &self.database_url {
            Some(url) => {
                let mut connection = sqlx::PgConnection::connect(url).await.expect("the database answers");
                connection.execute(sql("gen_random_uuid()")).await.map(drop)
            }
            None => {
                let url = format!("sqlite:{}", self.data_dir.path().join("segue.db").display());
                let mut connection = sqlx::SqliteConnection::connect(&url).await.expect("the database opens");
                connection.execute(sql("randomblob(16)")).await.map(drop)
            }
        }
    }

    /// Every row of every table as text, with the name of its table.
    pub(crate) async fn dump(&self) -> Vec<(String, String)> {
        use sqlx::{AssertSqlSafe, Connection, query_scalar};
        let mut rows = vec![];
        if let Some(url) = &self.database_url {
            let mut connection = sqlx::PgConnection::connect(url).await.expect("the database answers");
            let tables = "SELECT table_name::text FROM information_schema.tables WHERE table_schema = current_schema()";
            let tables: Vec<String> = query_scalar(tables).fetch_all(&mut connection).await.expect("tables");
            for table in tables {
                let sql = AssertSqlSafe(format!("SELECT t::text FROM {table} t"));
                let texts: Vec<String> = query_scalar(sql).fetch_all(&mut connection).await.expect("rows");
                rows.extend(texts.into_iter().map(|text| (table.clone(), text)));
            }
            return rows;
        }
        let url = format!("sqlite:{}", self.sqlite().display());
        let mut connection = sqlx::SqliteConnection::connect(&url).await.expect("the database opens");
        let tables = "SELECT name FROM sqlite_master WHERE type = 'table'";
        let tables: Vec<String> = query_scalar(tables).fetch_all(&mut connection).await.expect("tables");
        for table in tables {
            let columns = AssertSqlSafe(format!("SELECT name FROM pragma_table_info('{table}')"));
            let columns: Vec<String> = query_scalar(columns).fetch_all(&mut connection).await.expect("columns");
            let text =
                columns.iter().map(|column| format!("quote(\"{column}\")")).collect::<Vec<_>>().join(" || ' ' || ");
            let sql = AssertSqlSafe(format!("SELECT {text} FROM \"{table}\""));
            let texts: Vec<String> = query_scalar(sql).fetch_all(&mut connection).await.expect("rows");
            rows.extend(texts.into_iter().map(|text| (table.clone(), text)));
        }
        rows
    }

    /// Runs a statement that the database must reject, and returns the error.
    pub(crate) async fn refusal(&self, sql: &str) -> String {
        self.query(sql).await.expect_err("it is refused").to_string()
    }

    /// The first column of the rows of a query.
    pub(crate) async fn texts(&self, sql: &str) -> Vec<String> {
        self.query(sql).await.expect("the query runs").into_iter().map(Option::unwrap_or_default).collect()
    }

    async fn query(&self, sql: &str) -> Result<Vec<Option<String>>, sqlx::Error> {
        use sqlx::Connection;
        let sql = sqlx::AssertSqlSafe(sql.to_owned());
        match &self.database_url {
            Some(url) => {
                let mut connection = sqlx::PgConnection::connect(url).await?;
                sqlx::query_scalar(sql).fetch_all(&mut connection).await
            }
            None => {
                let url = format!("sqlite:{}", self.data_dir.path().join("segue.db").display());
                let mut connection = sqlx::SqliteConnection::connect(&url).await?;
                sqlx::query_scalar(sql).fetch_all(&mut connection).await
            }
        }
    }

    /// An id as a literal of the database.
    pub(crate) fn id(&self, id: &str) -> String {
        let id: uuid::Uuid = id.parse().expect("an id");
        if self.database_url.is_some() { format!("'{id}'::uuid") } else { format!("x'{}'", id.simple()) }
    }

    /// Enrichment steps with a stored result, by code. They must never run again.
    pub(crate) async fn kept_steps(&self) -> BTreeSet<(String, String)> {
        const SQL: &str = "SELECT s.step, COALESCE(l.isrc, '') FROM ingest_steps s
            JOIN ingested_tracks i ON i.id = s.document_id JOIN library_tracks l ON l.recording_id = i.recording_id
            WHERE s.state = 'done'";
        use sqlx::Connection;
        let rows: Vec<(String, String)> = match &self.database_url {
            Some(url) => {
                let mut connection = sqlx::PgConnection::connect(url).await.expect("the database answers");
                sqlx::query_as(SQL).fetch_all(&mut connection).await.expect("steps")
            }
            None => {
                let url = format!("sqlite:{}", self.data_dir.path().join("segue.db").display());
                let mut connection = sqlx::SqliteConnection::connect(&url).await.expect("the database opens");
                sqlx::query_as(SQL).fetch_all(&mut connection).await.expect("steps")
            }
        };
        rows.into_iter().collect()
    }
}

/// A client for servers on this machine. It reads no certificates, which takes longer than a request.
pub(crate) fn http() -> reqwest::Client {
    // The first test of the process installs it; later calls fail, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().tls_certs_only([]).build().expect("a client")
}

impl TestApp {
    /// A new server whose model plays `replies`.
    pub(crate) async fn scripted(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::start(World::new().await, replies, &[]).await
    }

    pub(crate) async fn start(
        world: Arc<World>,
        replies: impl IntoIterator<Item = Reply>,
        settings: &[(&'static str, &str)],
    ) -> Self {
        let mut all = world.settings();
        all.extend(settings.iter().map(|(name, value)| (*name, (*value).to_owned())));
        let config = Config::from_lookup(|name| all.get(name).cloned()).expect("the settings are valid");
        Self::configured(world, replies, config).await
    }

    pub(crate) async fn configured(
        world: Arc<World>,
        replies: impl IntoIterator<Item = Reply>,
        config: Config,
    ) -> Self {
        let model = ScriptedModel::new(replies);
        let answers = Arc::new(model.clone()) as Arc<dyn Model>;
        Self { model, ..Self::answered_by(world, answers, config).await }
    }

    /// A server with this model; `model` of the result is never called.
    pub(crate) async fn answered_by(world: Arc<World>, model: Arc<dyn Model>, config: Config) -> Self {
        let app = Box::pin(App::start(config, model)).await.expect("the app starts");
        let model = ScriptedModel::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let router = segue::router::router(app.clone());
        let limits = ConnectionLimits::of(&app.config);
        let serving = segue::server::serve(listener, router, limits, std::future::pending());
        tokio::spawn(async move { serving.await.expect("the server serves") });
        Self { app, model, url, client: http(), world }
    }

    pub(crate) async fn request(&self, method: Method, path: &str, body: Option<Value>) -> Response {
        let mut request = self.client.request(method, format!("{}{path}", self.url));
        if let Some(body) = body {
            request = request.json(&body);
        }
        request.send().await.expect("the server answers")
    }

    /// Sends a file as the request body.
    pub(crate) async fn import(&self, name: &str, bytes: Vec<u8>) -> (u16, Value) {
        let url = format!("{}/api/library/import", self.url);
        let sent = self.client.post(url).query(&[("name", name)]).body(bytes).send().await;
        let response = sent.expect("the server answers");
        (response.status().as_u16(), response.json().await.expect("JSON"))
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let response = self.request(Method::GET, path, None).await;
        assert_eq!(response.status(), StatusCode::OK, "GET {path}");
        response.json().await.expect("JSON")
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Response {
        self.request(Method::POST, path, Some(body)).await
    }

    /// Status and body of a call, for tables of cases.
    pub(crate) async fn answer(&self, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
        let response = self.request(method, path, body).await;
        let status = response.status().as_u16();
        let text = response.text().await.expect("a body");
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    /// Sends a message and reads the complete answer.
    pub(crate) async fn chat(&self, request: Value) -> Vec<Value> {
        self.open_chat(request).await.rest().await
    }

    /// Sends a message to the Tasks agent in a new conversation.
    pub(crate) async fn say(&self, message: &str) -> Vec<Value> {
        self.chat(json!({"message": message, "agent": "tasks"})).await
    }

    pub(crate) async fn open_chat(&self, request: Value) -> Stream {
        let response = self.post("/api/chat/stream", request).await;
        assert_eq!(response.status(), StatusCode::OK, "{}", response.text().await.unwrap_or_default());
        Stream::new(response)
    }

    pub(crate) async fn follow(&self, turn: &str, after: usize) -> Stream {
        let response = self.request(Method::GET, &format!("/api/turns/{turn}/stream?after={after}"), None).await;
        assert_eq!(response.status(), StatusCode::OK);
        Stream::new(response)
    }
}

/// `frames` as readable lines, without ids and times.
pub(crate) fn story(frames: &[Value]) -> String {
    let mut lines = Vec::new();
    let mut text = String::new();
    for frame in frames {
        let kind = frame["type"].as_str().unwrap_or_default();
        if kind == "text_delta" {
            text.push_str(frame["content"].as_str().unwrap_or_default());
            continue;
        }
        if !text.is_empty() {
            lines.push(format!("says {}", std::mem::take(&mut text)));
        }
        lines.push(match kind {
            "tool_call_start" => format!("calls {} {}", frame["toolName"].as_str().unwrap_or_default(), frame["input"]),
            "tool_call_end" => {
                format!("gets {} [{}]", frame["summary"].as_str().unwrap_or_default(), frame["resultCount"])
            }
            "tool_call_error" => {
                let error = frame["error"].to_string();
                // Task handles are random.
                let error = error
                    .split_once("not instructions): {")
                    .map_or(error.clone(), |(said, _)| format!("{said}not instructions): …\""));
                format!("fails {error} retryable={} wasRetried={}", frame["retryable"], frame["wasRetried"])
            }
            "message_end" => format!("ends {} {}", frame["stopReason"], frame["usage"]),
            "error" => format!("error {} retryable={}", frame["code"], frame["retryable"]),
            other => other.to_owned(),
        });
    }
    lines.join("\n") + "\n"
}
