//! A database of version 0.1 is upgraded with everything in it: on SQLite, and on PostgreSQL when there is a cluster.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;

use engine::{CallId, MessageId, Outcome, Recorded};
use sqlx::{Connection, Executor, migrate::Migrator};
use store::{Store, Takeover};
use uuid::Uuid;

/// The newest migration of version 0.1.
const OLD: i64 = 6;

async fn old(database: &str) -> Migrator {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations").join(database);
    let all = Migrator::new(folder).await.unwrap();
    Migrator::with_migrations(all.migrations.iter().filter(|migration| migration.version <= OLD).cloned().collect())
}

const CONVERSATION: &str = "00000000-0000-7000-8000-0000000000c0";
const QUESTION: &str = "00000000-0000-7000-8000-0000000000a1";
const ANSWER: &str = "00000000-0000-7000-8000-0000000000a2";
const TURN: &str = "00000000-0000-7000-8000-0000000000f1";
const CALLS: [&str; 4] = [
    "00000000-0000-7000-8000-0000000000e1",
    "00000000-0000-7000-8000-0000000000e2",
    "00000000-0000-7000-8000-0000000000e3",
    "00000000-0000-7000-8000-0000000000e4",
];

/// A turn that was running, with a call of every status. `id` writes an id as the database does.
fn rows(id: impl Fn(&str) -> String) -> String {
    let at = "'2026-01-01T00:00:00+00:00'";
    let (conversation, question, answer, turn) = (id(CONVERSATION), id(QUESTION), id(ANSWER), id(TURN));
    let mut sql = format!(
        "INSERT INTO conversations VALUES ({conversation}, 'ana', 'tasks', 'T', 'P', {at}, {at}, NULL);
         INSERT INTO messages VALUES ({question}, {conversation}, 1, 'user', '[{{\"type\":\"text\",\"text\":\"Hi\"}}]', 'complete', NULL, NULL, 'hi', {at});
         INSERT INTO messages VALUES ({answer}, {conversation}, 2, 'assistant', '[]', 'running', NULL, NULL, '', {at});
         INSERT INTO turns VALUES ({turn}, {conversation}, {answer}, 'ana', NULL, 'running', 'old', {at}, FALSE, {at}, NULL);
         INSERT INTO turn_events VALUES ({turn}, 0, '[1,2,3]');
         INSERT INTO turn_events VALUES ({turn}, 3, '[4,5]');"
    );
    let results = [
        ("done", r#"'{"done":{"summary":"Added","count":2,"duration_ms":7,"output":{"id":1}}}'"#),
        ("failed", r#"'{"failed":{"error":"no","retryable":true,"wasRetried":false,"durationMs":9}}'"#),
        ("settled", r#"'{"effect":{"id":3}}'"#),
        ("running", "NULL"),
    ];
    for (call, (status, result)) in CALLS.iter().zip(results) {
        let call = id(call);
        sql.push_str(&format!(
            "INSERT INTO tool_calls VALUES ({call}, {answer}, 'ana', 'add_task', '{{}}', '{status}', {result}, {at}, NULL);"
        ));
    }
    sql
}

/// The url of a database as version 0.1 left it.
async fn old_sqlite(folder: &std::path::Path) -> String {
    let url = format!("sqlite:{}?mode=rwc", folder.join("old.db").display());
    let mut connection = sqlx::SqliteConnection::connect(&url).await.unwrap();
    old("sqlite").await.run(&mut connection).await.unwrap();
    let blob = |id: &str| format!("X'{}'", id.replace('-', ""));
    connection.execute(sqlx::AssertSqlSafe(rows(blob))).await.unwrap();
    connection.close().await.unwrap();
    format!("sqlite:{}", folder.join("old.db").display())
}

async fn old_postgres() -> Option<String> {
    let cluster = std::env::var("SEGUE_TEST_POSTGRES").ok()?;
    let name = format!("t_{}", Uuid::new_v4().simple());
    let mut connection = sqlx::PgConnection::connect(&cluster).await.unwrap();
    connection.execute(sqlx::AssertSqlSafe(format!("CREATE SCHEMA {name}"))).await.unwrap();
    let separator = if cluster.contains('?') { '&' } else { '?' };
    let url = format!("{cluster}{separator}options=-csearch_path%3D{name}");
    let mut connection = sqlx::PgConnection::connect(&url).await.unwrap();
    old("postgres").await.run(&mut connection).await.unwrap();
    let text = |id: &str| format!("'{id}'");
    sqlx::raw_sql(sqlx::AssertSqlSafe(rows(text))).execute(&mut connection).await.unwrap();
    Some(url)
}

/// Both tests use one database of PostgreSQL, and one of them pretends to be a server of version 0.1 there.
static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

#[tokio::test]
async fn a_database_of_version_0_1_keeps_its_turns_calls_and_messages() {
    let _alone = ALONE.lock().await;
    let folder = tempfile::tempdir().unwrap();
    let urls = [Some(old_sqlite(folder.path()).await), old_postgres().await];
    for url in urls.into_iter().flatten() {
        let store = Store::open(&url, 2).await.expect("it is upgraded");
        let dead = store.dead_turns(Some("old")).await.unwrap();
        assert_eq!(dead.len(), 1, "{url}: the turn that was running is found");
        assert_eq!((dead[0].n_events, dead[0].n_takeovers), (5, 0), "{url}: its log goes on where it ends");
        assert_eq!(store.events_from(engine::TurnId(dead[0].id), 0, 10).await.unwrap(), ["[1,2,3]", "[4,5]"]);
        assert!(store.take_over(&dead[0], "new", Takeover::Continue).await.unwrap().is_some());

        let recorded = store.calls_of(MessageId(ANSWER.parse().unwrap())).await.unwrap();
        let of = |call: &str| {
            let id = CallId(call.parse().unwrap());
            recorded.iter().find(|row| row.id == id).unwrap().recorded.clone()
        };
        let Recorded::Closed(Outcome::Done(done)) = of(CALLS[0]) else { panic!("{:?}", of(CALLS[0])) };
        assert_eq!((done.summary.as_str(), done.count, done.duration_ms), ("Added", 2, 7), "{url}");
        assert_eq!(*done.output, serde_json::json!({"id": 1}), "{url}: the result is the bare output");
        let Recorded::Closed(Outcome::Failed(failure)) = of(CALLS[1]) else { panic!("{:?}", of(CALLS[1])) };
        assert_eq!((failure.error.as_str(), failure.retryable, failure.duration_ms), ("no", true, 9), "{url}");
        let Recorded::Effect(Outcome::Done(effect)) = of(CALLS[2]) else { panic!("{:?}", of(CALLS[2])) };
        assert_eq!(effect.output["id"], 3, "{url}");
        assert_eq!(of(CALLS[3]), Recorded::Begun, "{url}");
        store.close().await;

        assert_eq!(n_branches(&url).await, 1, "{url}: the answer follows the question and ends the conversation");
    }
}

#[tokio::test]
async fn a_database_is_not_upgraded_while_a_server_of_version_0_1_uses_it() {
    let _alone = ALONE.lock().await;
    let Some(url) = old_postgres().await else { return };
    let mut connection = sqlx::PgConnection::connect(&url).await.unwrap();
    // An idle server of 0.1 has only its connections.
    connection.execute("SET application_name = 'segue'").await.unwrap();
    let refused = Store::open(&url, 2).await.err().expect("it is refused").to_string();
    assert!(refused.contains("a server of version 0.1 uses this database (it has 1 connections)"), "{refused}");
    connection.execute("SET application_name = 'another'").await.unwrap();
    connection.execute("UPDATE turns SET lease_until = now() + INTERVAL '15 seconds'").await.unwrap();
    let refused = Store::open(&url, 2).await.err().expect("it is refused").to_string();
    assert!(refused.contains("a server of version 0.1 uses this database ('old' is answering"), "{refused}");
    connection.execute("UPDATE turns SET lease_until = now() - INTERVAL '1 second'").await.unwrap();
    Store::open(&url, 2).await.expect("the server has ended").close().await;
    Store::open(&url, 2).await.expect("an upgraded database has no such server").close().await;
}

async fn n_branches(url: &str) -> i64 {
    const SQL: &str = "SELECT COUNT(*) FROM messages a JOIN messages q ON q.id = a.parent_id
        JOIN conversations c ON c.active_leaf = a.id WHERE q.parent_id IS NULL";
    if url.starts_with("postgres") {
        let mut connection = sqlx::PgConnection::connect(url).await.unwrap();
        return sqlx::query_scalar(SQL).fetch_one(&mut connection).await.unwrap();
    }
    let mut connection = sqlx::SqliteConnection::connect(url).await.unwrap();
    sqlx::query_scalar(SQL).fetch_one(&mut connection).await.unwrap()
}
