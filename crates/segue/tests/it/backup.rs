//! Backups are made while the server writes and are restored completely. Databases of earlier versions can be opened.

use std::{
    collections::HashMap,
    path::Path,
    process::Output,
    sync::atomic::{AtomicBool, Ordering},
};

use app::config::Config;
use engine::script::{calls, says};
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{ConnectOptions, Connection, sqlite::SqliteConnectOptions};
use tempfile::TempDir;
use tokio::process::Command;

use crate::support::{TestApp, World};

/// These tests use SQLite, also when the other tests use PostgreSQL.
fn settings(data_dir: &Path) -> HashMap<&'static str, String> {
    HashMap::from([
        ("SEGUE_DATA_DIR", data_dir.display().to_string()),
        ("DATABASE_URL", format!("sqlite:{}", data_dir.join("segue.db").display())),
        ("SEGUE_RATE_PER_MINUTE", "0".to_owned()),
        ("SEGUE_CONCURRENT_TURNS", "0".to_owned()),
    ])
}

async fn start(data_dir: &Path, replies: impl IntoIterator<Item = engine::script::Reply>) -> TestApp {
    let settings = settings(data_dir);
    let config = Config::from_lookup(|name| settings.get(name).cloned()).unwrap();
    TestApp::configured(World::new().await, replies, config).await
}

async fn segue(data_dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_segue")).args(args).envs(settings(data_dir)).output().await.unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test]
async fn a_backup_made_during_writes_is_complete_and_can_be_restored() {
    let folder = TempDir::new().unwrap();
    let (data, other_dir) = (folder.path().join("data"), folder.path().join("other_dir"));
    let (copy, copy_name) = (folder.path().join("copy.db"), folder.path().join("copy.db").display().to_string());
    let app = start(&data, [says("Adding.").calls("add_task", json!({"title": "before"})), says("Done.")]).await;
    let frames = app.say("before the backup").await;
    let is_over = AtomicBool::new(false);
    let writing = async {
        let mut n_written = 0;
        while !is_over.load(Ordering::SeqCst) {
            app.answer(Method::POST, "/api/tasks", Some(json!({"title": format!("during {n_written}")}))).await;
            n_written += 1;
        }
        n_written
    };
    let backing_up = async {
        let output = segue(&data, &["backup", &copy_name, "--json"]).await;
        is_over.store(true, Ordering::SeqCst);
        output
    };
    let (n_written, output) = tokio::join!(writing, backing_up);
    assert!(output.status.success() && n_written > 0, "{}", said(&output));
    let holds: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&holds["conversations"], &holds["messages"]), (&json!(1), &json!(2)));
    let n_tasks = holds["tasks"].as_u64().unwrap();
    assert!((1..=n_written + 1).contains(&n_tasks), "{n_tasks} of {n_written}");
    let again = segue(&data, &["backup", &copy_name]).await;
    assert_eq!((again.status.code(), said(&again).contains("choose another name")), (Some(1), true));

    let refused = segue(&data, &["restore", &copy_name, "--force"]).await;
    assert_eq!(
        (refused.status.code(), said(&refused).contains("stop it first")),
        (Some(1), true),
        "{}",
        said(&refused)
    );
    let restored = segue(&other_dir, &["restore", &copy_name]).await;
    assert!(restored.status.success(), "{}", said(&restored));
    let refused = segue(&other_dir, &["restore", &copy_name]).await;
    assert_eq!((refused.status.code(), said(&refused).contains("--force")), (Some(1), true));
    assert!(segue(&other_dir, &["restore", &copy_name, "--force"]).await.status.success());

    let other = start(&other_dir, [says("Still here.")]).await;
    let conversation = frames[0]["conversationId"].as_str().unwrap();
    let path = format!("/api/conversations/{conversation}");
    assert_eq!(other.get(&path).await["messages"], app.get(&path).await["messages"]);
    assert_eq!(other.get("/api/tasks").await["tasks"].as_array().unwrap().len() as u64, n_tasks);
    let next = other.chat(json!({"message": "and now?", "conversationId": conversation})).await;
    assert_eq!(next.last().unwrap()["stopReason"], "complete");
    assert!(copy.exists());
}

#[tokio::test]
async fn restore_rejects_files_that_are_not_complete_segue_databases() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data");
    let file = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(file("notes.txt"), "not a database at all, but long enough to have a header".repeat(20)).unwrap();
    let mut other =
        SqliteConnectOptions::new().filename(file("other.db")).create_if_missing(true).connect().await.unwrap();
    sqlx::query("CREATE TABLE songs (name TEXT)").execute(&mut other).await.unwrap();
    other.close().await.unwrap();
    load(&folder.path().join("newer.db"), KEPT).await;
    load(&folder.path().join("newer.db"), LATER).await;
    for (name, why) in [
        ("missing.db", "missing.db"),
        ("notes.txt", "is not a Segue database"),
        ("other.db", "is not a Segue database"),
        ("newer.db", "was written by a newer version of Segue"),
    ] {
        let output = segue(&data, &["restore", &file(name)]).await;
        assert_eq!((output.status.code(), said(&output).contains(why)), (Some(1), true), "{name}: {}", said(&output));
        assert!(!data.join("segue.db").exists());
    }
}

#[tokio::test]
async fn backup_and_restore_refer_postgres_users_to_its_own_tools() {
    let folder = TempDir::new().unwrap();
    let mut settings = settings(folder.path());
    settings.insert("DATABASE_URL", "postgres://user@localhost/none".into());
    for (command, tool) in [("backup", "pg_dump"), ("restore", "pg_restore")] {
        let output =
            Command::new(env!("CARGO_BIN_EXE_segue")).args([command, "x"]).envs(&settings).output().await.unwrap();
        assert_eq!((output.status.code(), said(&output).contains(tool)), (Some(1), true), "{}", said(&output));
    }
}

/// A database of version 0.1.0: two conversations, one of which was cut in the middle of a turn, tasks, a library and a
/// playlist.
const KEPT: &str = include_str!("kept/0.1.0.sql");

const LATER: &str = "INSERT INTO _sqlx_migrations VALUES (9999, 'later', '', 1, X'00', 0)";

async fn load(path: &Path, sql: &'static str) {
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true).foreign_keys(false);
    let mut connection = options.connect().await.unwrap();
    sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn a_database_of_the_previous_version_opens_with_all_its_data() {
    let folder = TempDir::new().unwrap();
    load(&folder.path().join("segue.db"), KEPT).await;
    let app = start(folder.path(), [calls("list_tasks", json!({})), says("Two tasks.")]).await;
    app.app.catch_up().await.unwrap();
    let listed = app.get("/api/conversations").await;
    let of = |agent: &str| {
        let all = listed["conversations"].as_array().unwrap();
        all.iter().find(|one| one["agent"] == agent).unwrap()["id"].as_str().unwrap().to_owned()
    };
    let path = format!("/api/conversations/{}", of("discover"));
    app.request(Method::GET, &format!("{path}/stream"), None).await.bytes().await.unwrap();
    let cut = app.get(&path).await;
    assert_eq!(cut["messages"][1]["status"], "complete", "the interrupted turn is finished: {cut}");
    let blocks: Vec<_> = cut["messages"][1]["content"].as_array().unwrap().iter().map(|block| &block["type"]).collect();
    assert_eq!(blocks, ["text", "tool_use", "tool_result", "text"], "the text before the interruption is kept");
    assert_eq!(app.get("/api/tasks").await["tasks"].as_array().unwrap().len(), 2);
    assert_eq!(app.get("/api/playlists").await["playlists"][0]["title"], "Night drive");
    assert_eq!(app.get("/api/index").await["tracks"], 6, "the index is built from the database");
    assert!(!app.get("/api/search?q=rain").await["tracks"].as_array().unwrap().is_empty());
    let next = app.chat(json!({"message": "what is on my list?", "conversationId": of("tasks")})).await;
    assert_eq!(next.last().unwrap()["stopReason"], "complete", "{next:?}");
}

#[tokio::test]
async fn an_index_that_is_ahead_of_its_database_is_reported() {
    let folder = TempDir::new().unwrap();
    let app = start(folder.path(), []).await;
    app.app.library().load_sample(&app::Operator::of_this_machine(), &engine::UserId::new("local")).await.unwrap();
    app.app.catch_up().await.unwrap();
    app.app.stop().await;
    drop(app);
    // As if an older database had been copied back without `segue restore`.
    load(&folder.path().join("segue.db"), "UPDATE track_revision SET value = 1").await;
    let app = start(folder.path(), []).await;
    let why = app.app.catch_up().await.unwrap_err().to_string();
    assert!(why.contains("delete the folder 'index'"), "{why}");
}

#[tokio::test]
async fn only_their_owner_can_read_the_data_directory_the_database_and_a_backup() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let copy = folder.path().join("copy.db");
    for args in [vec!["sample"], vec!["backup", copy.to_str().unwrap()]] {
        let done = std::process::Command::new(env!("CARGO_BIN_EXE_segue"))
            .args(args)
            .env("SEGUE_DATA_DIR", &data)
            .env_remove("DATABASE_URL")
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    for (path, expected) in [(&data, 0o700), (&data.join("segue.db"), 0o600), (&copy, 0o600)] {
        assert_eq!(mode(path), expected, "{path:?}");
    }
}
