//! A server gets marked secrets in every place that takes one. The test searches everything that it writes for them.

use std::{
    fmt::Write as _,
    path::Path,
    process::Stdio,
    sync::{Arc, Mutex},
};

use doubles::model::{Family, Fault, ModelDouble};
use reqwest::Method;
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, BufReader},
    process::Command,
};

use crate::support::{Upstream, World, claims};

const CANARY: &str = "canary-7f3a9c";
const JWT_SECRET: &str = "canary-7f3a9c-jwt-secret-of-32-bytes-and-more";

/// Everything that the server wrote: responses, logs, output and files.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<String>>);

impl Written {
    fn add(&self, what: &str, text: &str) {
        writeln!(self.0.lock().unwrap(), "[{what}] {text}").unwrap();
    }

    fn follow(&self, what: &'static str, pipe: impl AsyncRead + Unpin + Send + 'static) {
        let written = self.clone();
        tokio::spawn(async move {
            let mut lines = BufReader::new(pipe).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                written.add(what, &line);
            }
        });
    }

    async fn until(&self, words: &str) -> String {
        loop {
            let text = self.0.lock().unwrap().clone();
            if let Some((_, rest)) = text.split_once(words) {
                return rest.split_whitespace().next().unwrap().to_owned();
            }
            tokio::task::yield_now().await;
        }
    }
}

/// A provider that rejects the key and repeats it in its error, as some providers do.
async fn provider_that_repeats_keys() -> Upstream {
    Upstream::of(ModelDouble::new(Family::Anthropic, "test").always(Fault::Unauthorized)).await
}

fn segue(command: &str, settings: &[(&str, String)]) -> Command {
    let mut process = Command::new(env!("CARGO_BIN_EXE_segue"));
    process.args(command.split(' ')).envs(settings.iter().map(|(name, value)| (*name, value)));
    process.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    process
}

#[tokio::test]
#[allow(clippy::too_many_lines, reason = "one test for every place that gets a secret")]
async fn no_secret_is_written_to_a_response_a_log_or_a_file() {
    let world = World::new().await;
    let provider = provider_that_repeats_keys().await;
    let token = {
        let key = jsonwebtoken::EncodingKey::from_secret(JWT_SECRET.as_bytes());
        jsonwebtoken::encode(&jsonwebtoken::Header::default(), &claims("ann"), &key).unwrap()
    };
    let mut settings: Vec<(&str, String)> = world.settings().into_iter().collect();
    settings.extend([
        ("SEGUE_LISTEN", "127.0.0.1:0".to_owned()),
        ("SEGUE_LOG", "trace".to_owned()),
        ("SEGUE_AUTH", "jwt".to_owned()),
        ("SEGUE_JWT_SECRET", JWT_SECRET.to_owned()),
        ("SEGUE_MODEL", "anthropic:test".to_owned()),
        ("ANTHROPIC_API_KEY", format!("{CANARY}-anthropic")),
        ("ANTHROPIC_BASE_URL", provider.url.clone()),
        ("OPENAI_API_KEY", format!("{CANARY}-openai")),
        ("QDRANT_API_KEY", format!("{CANARY}-qdrant")),
        ("TIDAL_CLIENT_ID", "an id".to_owned()),
        ("TIDAL_CLIENT_SECRET", format!("{CANARY}-tidal")),
        ("SEGUE_METRICS_TOKEN", format!("{CANARY}-metrics")),
        ("LANGFUSE_PUBLIC_KEY", "pk-lf-public".to_owned()),
        ("LANGFUSE_SECRET_KEY", format!("{CANARY}-langfuse")),
        ("LANGFUSE_BASE_URL", provider.url.replace("://", &format!("://user:{CANARY}-collector@"))),
    ]);
    let written = Written::default();
    let mut server = segue("serve", &settings).spawn().unwrap();
    written.follow("stdout", server.stdout.take().unwrap());
    written.follow("stderr", server.stderr.take().unwrap());
    let url = written.until("ready on ").await.trim_end_matches('"').to_owned();

    let client = reqwest::Client::new();
    let say = json!({"message": "hello", "agent": "tasks"});
    let calls = [
        (Method::GET, "/api/me".to_owned(), None),
        (Method::GET, "/api/about".to_owned(), None),
        (Method::GET, "/readyz".to_owned(), None),
        (Method::GET, "/openapi.json".to_owned(), None),
        (Method::POST, "/api/chat/stream".to_owned(), Some(say)),
        (Method::GET, format!("/api/me?token={CANARY}-in-a-url"), None),
        (Method::GET, "/api/conversations".to_owned(), None),
    ];
    for (method, path, body) in calls {
        for bearer in [token.clone(), format!("{CANARY}-bad-token"), format!("{token}{CANARY}")] {
            let mut request = client.request(method.clone(), format!("{url}{path}")).bearer_auth(bearer);
            if let Some(body) = &body {
                request = request.json(body);
            }
            let response = request.send().await.unwrap();
            let heads = format!("{:?}", response.headers());
            written.add("answer", &format!("{} {heads} {}", response.status(), response.text().await.unwrap()));
        }
    }
    server.kill().await.unwrap();
    for command in ["export --user ann", "doctor", "doctor --json", "serve --help", "serve --listen nonsense"] {
        let output = segue(command, &settings).output().await.unwrap();
        written.add(command, &String::from_utf8_lossy(&[output.stdout, output.stderr].concat()));
    }
    for (name, bytes) in files_in(Path::new(&world.settings()["SEGUE_DATA_DIR"])) {
        written.add(&name, &String::from_utf8_lossy(&bytes));
    }
    let written = written.0.lock().unwrap();
    assert!(written.contains("[stderr]") && written.contains("[answer]") && written.contains("[export"), "{written}");
    assert!(written.contains("AI_SERVICE_UNAVAILABLE"), "the provider was called and rejected the key");
    let signature = token.rsplit('.').next().unwrap();
    let leaks: Vec<_> = written.lines().filter(|line| line.contains(CANARY) || line.contains(signature)).collect();
    assert!(leaks.is_empty(), "{leaks:#?}");
    println!("searched {} bytes that the server wrote; no secret found", written.len());
}

/// The value of the cookie that a response sets.
fn cookie_of(response: &reqwest::Response) -> String {
    let set = response.headers()["set-cookie"].to_str().unwrap();
    set.split(';').next().unwrap().to_owned()
}

#[tokio::test]
async fn no_secret_of_an_account_is_written_to_a_log_a_table_or_a_file() {
    let world = World::new().await;
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("segue.toml");
    std::fs::write(&config, "[mcp.house]\nurl = 'http://127.0.0.1:9/mcp'\ntoken_env = 'HOUSE_TOKEN'\n").unwrap();
    let mut settings: Vec<(&str, String)> = world.settings().into_iter().collect();
    settings.extend([
        ("SEGUE_LISTEN", "127.0.0.1:0".to_owned()),
        ("SEGUE_LOG", "trace".to_owned()),
        ("SEGUE_AUTH", "accounts".to_owned()),
        ("SEGUE_CONFIG", config.display().to_string()),
        ("HOUSE_TOKEN", format!("{CANARY}-mcp")),
    ]);
    let written = Written::default();
    let mut server = segue("serve", &settings).spawn().unwrap();
    written.follow("stdout", server.stdout.take().unwrap());
    written.follow("stderr", server.stderr.take().unwrap());
    let url = written.until("ready on ").await.trim_end_matches('"').to_owned();
    let printed = async |command: &str| {
        let output = segue(command, &settings).output().await.unwrap();
        written.add(command, &String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let client = reqwest::Client::new();
    let post = async |path: &str, cookie: &str, body: serde_json::Value, expected: u16| {
        let request = client.post(format!("{url}/api/auth/{path}")).header("origin", &url).header("cookie", cookie);
        let response = request.json(&body).send().await.unwrap();
        assert_eq!(response.status(), expected, "{path}");
        response
    };
    let invitation = printed("user invite").await;
    let (password, next) = (format!("{CANARY}-password"), format!("{CANARY}-next"));
    let form = json!({"invitation": invitation, "name": "Ann", "password": password});
    let first = cookie_of(&post("sign-up", "", form, 201).await);
    let refused = post("sign-in", "", json!({"name": "Ann", "password": format!("{CANARY}-wrong")}), 401).await;
    written.add("answer", &refused.text().await.unwrap());
    let second = cookie_of(&post("sign-in", "", json!({"name": "Ann", "password": password}), 200).await);
    post("password", &second, json!({"current": password, "next": next}), 204).await;
    let token = printed("token Ann").await;
    for bearer in [&token, &format!("{token}x")] {
        let me = client.get(format!("{url}/api/me")).bearer_auth(bearer).send().await.unwrap();
        written.add("answer", &me.text().await.unwrap());
    }
    printed("doctor").await;
    server.kill().await.unwrap();
    for (name, bytes) in files_in(Path::new(&world.settings()["SEGUE_DATA_DIR"])) {
        written.add(&name, &String::from_utf8_lossy(&bytes));
    }
    for (table, row) in world.dump().await {
        written.add(&table, &row);
    }
    let written = written.0.lock().unwrap();
    assert!(written.contains("[stderr]") && written.contains("$argon2id$"), "the log and the tables are searched");
    let value = |cookie: &str| cookie.split_once('=').unwrap().1.to_owned();
    for secret in [CANARY.to_owned(), invitation, token, value(&first), value(&second)] {
        assert_eq!(leaks(&written, &secret), Vec::<&str>::new(), "{secret}");
    }
}

/// The lines with a part of the secret: a part would be enough for a thief. A column of bytes is dumped as hexadecimal digits.
fn leaks<'w>(written: &'w str, secret: &str) -> Vec<&'w str> {
    assert!(secret.len() > 10, "{secret}");
    let part: String = secret.chars().take(20).collect();
    let hex: String = part.bytes().map(|byte| format!("{byte:02x}")).collect();
    let forms = [part, hex.to_uppercase(), hex];
    written.lines().filter(|line| forms.iter().any(|form| line.contains(form))).collect()
}

fn files_in(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_in(&path));
        } else {
            files.push((path.display().to_string(), std::fs::read(&path).unwrap()));
        }
    }
    files
}
