//! A statement over the steps of many documents waits for the documents before it changes a step, so that it cannot deadlock with
//! a transaction that has locked documents and goes on to their steps. Only PostgreSQL locks rows.

use std::{collections::BTreeSet, time::Duration};

use engine::UserId;
use futures::future::BoxFuture;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use store::{NewLibraryTrack, NewTurn, Resolution, Step, Store, StoreError, TurnLimits};
use uuid::Uuid;

use super::{N_ROWS, entries, fresh_schema, import, rows, track};

type Ask = for<'s> fn(&'s Store) -> BoxFuture<'s, Result<u64, StoreError>>;

/// A statement, and the state of the steps that it changes.
struct Case {
    name: &'static str,
    prepare: &'static str,
    ask: Ask,
}

const CASES: [Case; 7] = [
    Case {
        name: "release_steps",
        prepare: "state = 'running', node = 'dead'",
        ask: |store| Box::pin(store.release_steps(Some("dead"))),
    },
    Case {
        name: "give_back",
        prepare: "state = 'running', node = 'here'",
        ask: |store| Box::pin(async move { store.give_back(Step::Lyrics, "here").await.map(|()| N_ROWS as u64) }),
    },
    Case { name: "force_steps", prepare: "state = 'waiting'", ask: |store| Box::pin(store.force_steps()) },
    Case { name: "switch_on", prepare: "state = 'off'", ask: |store| Box::pin(store.switch_on(Step::Lyrics)) },
    Case { name: "retry_failed_steps", prepare: "state = 'failed'", ask: |store| Box::pin(store.retry_failed_steps()) },
    Case {
        name: "describe_again",
        prepare: "state = 'done', version = 'old'",
        ask: |store| Box::pin(store.describe_again("new", "old%")),
    },
    Case {
        name: "go_on_without",
        prepare: "state = 'waiting', settled_at = NULL",
        ask: |store| {
            let wait = Duration::from_secs(60);
            Box::pin(async move { store.go_on_without(Step::Lyrics, wait, "busy").await.map(|()| N_ROWS as u64) })
        },
    },
];

/// Documents in the order in which every transaction locks them.
const LOCK: &str = "SELECT id FROM ingested_tracks ORDER BY recording_id COLLATE \"C\", owner COLLATE \"C\" FOR UPDATE";
const WITH_STEPS: &str = "SELECT DISTINCT document_id FROM ingest_steps ORDER BY document_id";
const N_BLOCKED: &str = "SELECT COUNT(*) FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))";

/// A transaction that runs two groups of statements.
struct Meanwhile {
    before: Vec<String>,
    after: Vec<String>,
}

impl Meanwhile {
    /// As an import: locks all documents and changes the steps of one, then the steps of the others. The database chooses in
    /// which order `asked` would change them, so several are the first.
    async fn imports(url: &str) -> Vec<Self> {
        let mut connection = PgConnection::connect(url).await.expect("the database answers");
        let ids: Vec<String> = sqlx::query_scalar(WITH_STEPS).fetch_all(&mut connection).await.expect("documents");
        let touch = |id: &String| format!("UPDATE ingest_steps SET priority = priority WHERE document_id = '{id}'");
        let first = [0, ids.len() / 2, ids.len() - 1];
        let import = |first: usize| Self {
            before: vec![LOCK.to_owned(), touch(&ids[first])],
            after: ids.iter().map(touch).collect(),
        };
        first.into_iter().map(import).collect()
    }

    /// Runs the second group when `asked` waits for the first one. Returns what failed.
    async fn run(self, url: &str, asked: impl Future<Output = String> + Send + 'static) -> String {
        let mut connection = PgConnection::connect(url).await.expect("the database answers");
        // Within a transaction, PostgreSQL shows the activity as it was when it was first read.
        let mut watching = PgConnection::connect(url).await.expect("the database answers");
        let mut tx = connection.begin().await.expect("a transaction");
        let pid: i32 = sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&mut *tx).await.expect("a process");
        for sql in self.before {
            sqlx::query(AssertSqlSafe(sql)).execute(&mut *tx).await.expect("the statement runs");
        }
        let asked = tokio::spawn(asked);
        loop {
            let n_blocked = sqlx::query_scalar(N_BLOCKED).bind(pid).fetch_one(&mut watching).await;
            if n_blocked.is_ok_and(|n: i64| n > 0) || asked.is_finished() {
                break;
            }
        }
        for sql in self.after {
            if let Err(error) = sqlx::query(AssertSqlSafe(sql)).execute(&mut *tx).await {
                return format!("the other transaction failed: {error}");
            }
        }
        tx.commit().await.expect("the transaction is committed");
        asked.await.expect("the statement ends")
    }
}

fn told<T>(outcome: Result<T, StoreError>) -> String {
    outcome.err().map_or(String::new(), |error| error.to_string())
}

#[tokio::test]
async fn statements_over_many_steps_lock_their_documents_first() {
    let Ok(cluster) = std::env::var("SEGUE_TEST_POSTGRES") else { return };
    let url = fresh_schema(&cluster).await;
    let store = Store::open(&url, 4).await.expect("the database opens");
    import(&store, &UserId::new("ann"), &rows("Title"), vec![]).await.expect("the import is kept");
    let mut connection = PgConnection::connect(&url).await.expect("the database answers");
    for Case { name, prepare, ask } in CASES {
        for meanwhile in Meanwhile::imports(&url).await {
            let prepare = format!("UPDATE ingest_steps SET lease_until = NULL, {prepare}");
            connection.execute(AssertSqlSafe(prepare)).await.expect("the steps are prepared");
            let store = store.clone();
            let asked = async move {
                let done = ask(&store).await;
                if done.as_ref().is_ok_and(|n| *n == 0) { "it changed nothing".to_owned() } else { told(done) }
            };
            assert_eq!(meanwhile.run(&url, asked).await, "", "{name}");
        }
    }
}

#[tokio::test]
async fn the_removal_of_an_account_locks_the_documents_of_its_queue_first() {
    let Ok(cluster) = std::env::var("SEGUE_TEST_POSTGRES") else { return };
    for n in 0..3 {
        let url = fresh_schema(&cluster).await;
        let store = Store::open(&url, 4).await.expect("the database opens");
        import(&store, &UserId::new("bob"), &rows("Title"), vec![]).await.expect("the import is kept");
        let ann = store.add_account("Ann", "no password has this hash").await.expect("an account");
        let mut connection = PgConnection::connect(&url).await.expect("the database answers");
        // Ann had the same tracks, and removed them.
        let queue = AssertSqlSafe(format!("UPDATE ingest_steps SET for_user = '{}'", ann.id));
        connection.execute(queue).await.expect("the steps are prepared");
        let meanwhile = Meanwhile::imports(&url).await.remove(n);
        assert_eq!(meanwhile.run(&url, async move { told(store.remove_account(&ann).await) }).await, "");
    }
}

#[tokio::test]
async fn the_removal_of_an_account_locks_its_conversations_before_their_turns() {
    let Ok(cluster) = std::env::var("SEGUE_TEST_POSTGRES") else { return };
    let url = fresh_schema(&cluster).await;
    let store = Store::open(&url, 4).await.expect("the database opens");
    let ann = store.add_account("Ann", "no password has this hash").await.expect("an account");
    let new = NewTurn {
        conversation: None,
        new_conversation_id: None,
        again: None,
        agent: "tasks",
        text: "hello",
        client_message_id: None,
        model: None,
        decides: None,
        node: "here",
        limits: TurnLimits::default(),
        opening: None,
    };
    store.start_turn(&ann.owner(), &new).await.expect("the turn starts");
    // As the end of the turn.
    let meanwhile = Meanwhile {
        before: vec!["SELECT id FROM conversations FOR UPDATE".to_owned()],
        after: vec!["UPDATE turns SET n_events = n_events".to_owned()],
    };
    assert_eq!(meanwhile.run(&url, async move { told(store.remove_account(&ann).await) }).await, "");
}

#[tokio::test]
async fn a_match_of_an_open_entry_locks_the_library_first() {
    let Ok(cluster) = std::env::var("SEGUE_TEST_POSTGRES") else { return };
    let (url, ann, none) = (fresh_schema(&cluster).await, UserId::new("ann"), BTreeSet::new());
    let store = Store::open(&url, 4).await.expect("the database opens");
    let open = entries(&none).into_iter().take(1).collect();
    import(&store, &ann, &[], open).await.expect("the import is kept");
    // As the removal of an account.
    let meanwhile = Meanwhile {
        before: vec!["SELECT pg_advisory_xact_lock(17, hashtext('ann'))".into()],
        after: vec!["UPDATE open_entries SET tries = tries WHERE user_id = 'ann'".into()],
    };
    let asked = async move {
        let found = Resolution::Matched(Box::new(NewLibraryTrack::catalogued(track(1, "Title"))));
        told(store.resolve_entry(&ann, Uuid::from_u128(0), &found).await)
    };
    assert_eq!(meanwhile.run(&url, asked).await, "");
}

#[tokio::test]
async fn statements_over_many_open_entries_lock_them_by_id() {
    let Ok(cluster) = std::env::var("SEGUE_TEST_POSTGRES") else { return };
    for case in ["release_steps", "retry_entries", "remove_account"] {
        let (url, none) = (fresh_schema(&cluster).await, BTreeSet::new());
        let store = Store::open(&url, 4).await.expect("the database opens");
        let ann = store.add_account("Ann", "no password has this hash").await.expect("an account");
        import(&store, &ann.owner(), &[], entries(&none)).await.expect("the import is kept");
        let touch =
            |n: usize| format!("UPDATE open_entries SET tries = tries WHERE id = '{}'", Uuid::from_u128(n as u128));
        let mut connection = PgConnection::connect(&url).await.expect("the database answers");
        // PostgreSQL writes a changed row behind the others, so that the first one by id is the last one by place.
        for sql in ["UPDATE open_entries SET node = 'dead'".to_owned(), touch(0)] {
            connection.execute(AssertSqlSafe(sql)).await.expect("the entries are prepared");
        }
        // As an import, which writes entries in the order of their ids.
        let meanwhile = Meanwhile { before: vec![touch(0)], after: (1..N_ROWS).map(touch).collect() };
        let asked = async move {
            match case {
                "release_steps" => told(store.release_steps(Some("dead")).await),
                "retry_entries" => told(store.retry_entries(&ann.owner()).await),
                _ => told(store.remove_account(&ann).await),
            }
        };
        assert_eq!(meanwhile.run(&url, asked).await, "", "{case}");
    }
}
