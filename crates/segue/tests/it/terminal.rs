//! The commands for people and for scripts: results on stdout, everything else on stderr, exit codes, and no colours in
//! files.

use std::process::Stdio;

use doubles::{
    fiction,
    qdrant::{QdrantDouble, QdrantFault},
    serve,
    tidal::{CLIENT_ID, CLIENT_SECRET, Fault, Limits, TidalDouble},
};
use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt, process::Command};

use crate::support::{Collector, Process, World, command};

const COMMANDS: [&str; 14] = [
    "serve", "chat", "search", "import", "ingest", "library", "sample", "doctor", "export", "backup", "restore", "mcp",
    "user", "token",
];

fn offline() -> [(&'static str, String); 1] {
    [("SEGUE_MODEL", "offline".to_owned())]
}

/// Runs a command that must succeed. Checks that it writes no colour codes into a file.
async fn good(world: &World, args: &[&str]) -> (String, String) {
    let (code, out, said) = command(world, &offline(), args).await;
    assert_eq!(code, 0, "{args:?}: {said}");
    assert!(
        !out.contains('\x1b') && !said.contains('\x1b'),
        "{args:?} writes colour codes to a file: {out:?} {said:?}"
    );
    (out, said)
}

#[tokio::test]
async fn every_command_has_help_and_bad_usage_exits_with_2() {
    let world = World::new().await;
    for name in COMMANDS {
        let (out, said) = good(&world, &[name, "--help"]).await;
        assert!(out.contains(&format!("Usage: segue {name}")) && said.is_empty(), "{out} {said}");
        let (code, out, said) = command(&world, &[], &[name, "--no-such-flag"]).await;
        assert_eq!((code, out.as_str()), (2, ""), "{name}: {said}");
        assert!(said.contains("--no-such-flag"), "{name}: {said}");
    }
    let reference = good(&world, &["serve", "--help"]).await.0;
    for setting in app::config::SETTINGS {
        assert!(reference.contains(setting.name), "{} is missing in the help", setting.name);
    }
}

#[tokio::test]
async fn a_failure_exits_with_1_and_prints_its_cause_to_stderr() {
    let world = World::new().await;
    let away = [("DATABASE_URL", "sqlite:/proc/no/such/place.db".to_owned())];
    for args in [&["export"][..], &["search", "rain"], &["sample"]] {
        let (code, out, said) = command(&world, &away, args).await;
        assert_eq!((code, out.as_str()), (1, ""), "{args:?}: {said}");
        assert!(said.starts_with("segue: "), "{said}");
    }
}

#[tokio::test]
async fn a_chat_in_the_terminal_streams_text_to_stdout_and_tools_to_stderr() {
    let world = World::new().await;
    let (out, said) = good(&world, &["chat", "--agent", "tasks", "add a task: buy strings"]).await;
    assert!(out.ends_with("Added **buy strings**.\n"), "{out}");
    assert!(said.contains("Add a task {\"title\":\"buy strings\"}") && said.contains("Added 'buy strings'"), "{said}");

    let (out, said) = good(&world, &["chat", "--agent", "tasks", "--json", "what is on my list?"]).await;
    let events: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).expect("a JSON object")).collect();
    let numbers: Vec<_> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>());
    let done = events.iter().find(|event| event["type"] == "tool_call_end").expect("a call");
    assert_eq!(done["output"]["tasks"][0]["title"], "buy strings");
    assert_eq!((&events.last().unwrap()["stopReason"], said.as_str()), (&json!("complete"), ""));
}

#[tokio::test]
async fn a_message_can_be_read_from_stdin() {
    let world = World::new().await;
    let mut chat = Command::new(env!("CARGO_BIN_EXE_segue"));
    chat.args(["chat", "--agent", "tasks"]).envs(world.settings()).envs(offline());
    chat.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut chat = chat.spawn().unwrap();
    chat.stdin.take().unwrap().write_all(b"add a task: tune it\n").await.unwrap();
    let output = chat.wait_with_output().await.unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8(output.stdout).unwrap().contains("Added **tune it**."));
}

#[tokio::test]
async fn the_search_and_export_commands_print_complete_results() {
    let world = World::new().await;
    let (out, _) = good(&world, &["sample", "--json"]).await;
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["indexed"], 300);
    let (out, said) = good(&world, &["search", "--limit", "3", "rainy", "nights"]).await;
    assert_eq!(out.lines().filter(|line| line.starts_with("0.")).count(), 3, "{out}");
    assert_eq!(said, "Found 3 tracks matching 'rainy nights'\n");
    let (out, _) = good(&world, &["search", "--json", "rainy nights"]).await;
    let found: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&found["query"], found["tracks"].as_array().unwrap().len()), (&json!("rainy nights"), 10));

    good(&world, &["chat", "--agent", "tasks", "add a task: buy strings"]).await;
    let (out, _) = good(&world, &["export"]).await;
    let all: Value = serde_json::from_str(&out).expect("one JSON object");
    assert_eq!((&all["user"], &all["tasks"][0]["title"]), (&json!("local"), &json!("buy strings")));
    let n_messages = all["conversations"][0]["messages"].as_array().unwrap().len();
    let n_tracks = all["library"].as_array().unwrap().len();
    assert_eq!((n_messages, n_tracks), (2, 101), "the export contains the sample tracks of the library");
}

#[tokio::test]
async fn a_found_track_without_an_album_is_printed_without_brackets() {
    let (folder, world) = (tempfile::tempdir().unwrap(), World::new().await);
    let file = folder.path().join("list.csv");
    std::fs::write(&file, "title,artist\nPaper Harbour,The Tidewaiters\n").unwrap();
    good(&world, &["import", &file.display().to_string()]).await;
    let (out, _) = good(&world, &["search", "Paper Harbour"]).await;
    assert!(out.trim_end().ends_with("Paper Harbour — The Tidewaiters"), "{out}");
}

/// `make run` starts this on a fresh machine: only the address is set.
#[tokio::test]
async fn the_first_start_logs_its_address_and_loads_the_sample() {
    let (folder, world) = (tempfile::tempdir().unwrap(), World::new().await);
    let fresh = [("SEGUE_SAMPLE", "on".to_owned()), ("SEGUE_DATA_DIR", folder.path().display().to_string())];
    let server = Process::start(&world, &fresh).await;
    assert!(server.url.starts_with("http://127.0.0.1:"), "{}", server.url);
    let library = server.get("/api/library/tracks?limit=200").await;
    assert_eq!(library["tracks"].as_array().unwrap().len(), 101, "the sample tracks of the library");
}

#[tokio::test]
async fn flags_override_the_environment_and_the_environment_overrides_the_file() {
    use tokio::io::{AsyncBufReadExt, BufReader};
    let (world, folder) = (World::new().await, tempfile::tempdir().unwrap());
    let file = folder.path().join("segue.toml");
    std::fs::write(&file, "listen = '127.0.0.2:0'\n").unwrap();
    let listens_on = async |settings: &[(&str, &str)], args: &[&str]| {
        let mut serve = Command::new(env!("CARGO_BIN_EXE_segue"));
        serve.arg("serve").args(args).env_remove("SEGUE_LISTEN").envs(world.settings());
        serve.envs(settings.iter().copied());
        let mut serve = serve.stderr(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let mut lines = BufReader::new(serve.stderr.take().unwrap()).lines();
        loop {
            let line = lines.next_line().await.unwrap().expect("it starts");
            if let Some((_, rest)) = line.split_once("ready on http://") {
                serve.kill().await.unwrap();
                return rest.split(':').next().unwrap().to_owned();
            }
        }
    };
    let config = ["--config", file.to_str().unwrap()];
    let by_environment = [("SEGUE_LISTEN", "127.0.0.3:0")];
    assert_eq!(listens_on(&[], &config).await, "127.0.0.2", "the file alone");
    assert_eq!(listens_on(&by_environment, &config).await, "127.0.0.3", "the environment overrides the file");
    let by_flag = [&config[..], &["--listen", "127.0.0.4:0"]].concat();
    assert_eq!(listens_on(&by_environment, &by_flag).await, "127.0.0.4", "a flag overrides both");
}

#[tokio::test]
async fn a_retry_of_a_tool_is_logged_as_a_warning() {
    let world = World::new().await;
    let nowhere = "http://127.0.0.1:1".to_owned();
    let tidal = [
        ("TIDAL_CLIENT_ID", "id".to_owned()),
        ("TIDAL_CLIENT_SECRET", "secret".to_owned()),
        ("TIDAL_API_URL", nowhere.clone()),
        ("TIDAL_AUTH_URL", nowhere),
    ];
    let server = Process::start(&world, &tidal).await;
    let answer = server.post("/api/tools/tidalSearch", json!({"query": "Radiohead", "searchType": "tracks"})).await;
    assert_eq!(answer.status(), 503);
    let is_warning = |line: &String| line.contains("WARN") && line.contains("Tool tidalSearch will be retried");
    let warnings: Vec<_> = server.log().into_iter().filter(is_warning).collect();
    assert_eq!(warnings.len(), 1, "{:?}", server.log());
}

#[tokio::test]
async fn doctor_sends_a_request_to_tidal_and_to_the_collector() {
    let (world, collector) = (World::new().await, Collector::start().await);
    let tidal = TidalDouble::new(fiction::world(), Limits::GENEROUS);
    let running = serve(tidal.router()).await.unwrap();
    let settings = [
        ("SEGUE_MODEL", "offline".to_owned()),
        ("TIDAL_CLIENT_ID", CLIENT_ID.to_owned()),
        ("TIDAL_CLIENT_SECRET", CLIENT_SECRET.to_owned()),
        ("TIDAL_API_URL", format!("http://{}/v2", running.addr)),
        ("TIDAL_AUTH_URL", format!("http://{}/v1", running.addr)),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.clone()),
    ];
    let (code, said, _) = command(&world, &settings, &["doctor"]).await;
    assert!(code == 0 && said.contains("✓ tidal") && said.contains("✓ tracing"), "{said}");
    assert!(!tidal.requests().is_empty() && !collector.headers().is_empty(), "{said}");
    tidal.always(Some(Fault::Status { code: 404 }));
    collector.refuse([StatusCode::UNAUTHORIZED; 9]);
    let (code, said, _) = command(&world, &settings, &["doctor"]).await;
    assert!(code == 1 && said.contains("✗ tidal") && said.contains("✗ tracing"), "{said}");
}

#[tokio::test]
async fn doctor_names_only_the_setting_that_is_wrong() {
    let (world, qdrant) = (World::new().await, QdrantDouble::start().await.unwrap());
    qdrant.set_fault(Some(QdrantFault::KeyRejected));
    let nowhere = "http://127.0.0.1:9";
    let index_line = async |name: &'static str, value: &str| {
        let settings = [offline(), [(name, value.to_owned())]].concat();
        let (code, said, _) = command(&world, &settings, &["doctor"]).await;
        assert_eq!(code, 1, "{said}");
        said.lines().find(|line| line.contains("✗ index")).unwrap_or_default().to_owned()
    };
    let refused = index_line("QDRANT_URL", &qdrant.url).await;
    assert!(refused.ends_with("set QDRANT_API_KEY"), "{refused}");
    let absent = index_line("QDRANT_URL", nowhere).await;
    assert!(absent.ends_with("; check QDRANT_URL, or unset it to use the built-in index"), "{absent}");
    let embedder = index_line("SEGUE_EMBEDDINGS_URL", nowhere).await;
    assert!(embedder.ends_with("; check it, or unset it to use the built-in embedder"), "{embedder}");
    assert!(!embedder.contains("QDRANT_URL") && !absent.contains("SEGUE_EMBEDDINGS_URL"), "{embedder} {absent}");
}
