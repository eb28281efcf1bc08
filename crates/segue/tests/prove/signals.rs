//! Paused processes, and the rows of the database meanwhile.

use std::time::Duration;

use sqlx::{AssertSqlSafe, Connection};
use tokio::process::Command;

use crate::support::World;

const LOOK_EVERY: Duration = Duration::from_millis(15);

/// `name`: `-STOP` or `-CONT`.
pub(crate) async fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args([name, &pid.to_string()]).status().await.unwrap();
    assert!(sent.success());
}

/// Waits until the process is paused.
pub(crate) async fn wait_until_paused(pid: u32) {
    loop {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        if stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('T')) {
            return;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Repeats a query until `is_good` accepts its rows. False if that takes too long.
pub(crate) async fn until(world: &World, sql: &str, is_good: impl Fn(&[String]) -> bool) -> bool {
    let asking = async {
        while !is_good(&rows(world, sql).await) {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(40), asking).await.is_ok()
}

/// The rows of a query that returns one text column.
pub(crate) async fn rows(world: &World, sql: &str) -> Vec<String> {
    let sql = AssertSqlSafe(sql.to_owned());
    let found: Vec<(String,)> = match world.database_url() {
        Some(url) => {
            let mut connection = sqlx::PgConnection::connect(url).await.unwrap();
            sqlx::query_as(sql).fetch_all(&mut connection).await.unwrap()
        }
        None => {
            let url = format!("sqlite:{}", world.sqlite().display());
            let mut connection = sqlx::SqliteConnection::connect(&url).await.unwrap();
            sqlx::query_as(sql).fetch_all(&mut connection).await.unwrap()
        }
    };
    found.into_iter().map(|(text,)| text).collect()
}

/// PostgreSQL ends the transactions of a paused node after five seconds; this does it at once. Only transactions with
/// locks on tables of this world are ended, because other points are tried at the same time.
pub(crate) async fn end_open_transactions(world: &World) {
    const SQL: &str = "SELECT pid::text FROM pg_stat_activity a, pg_terminate_backend(a.pid)
        WHERE state LIKE 'idle in transaction%' AND application_name LIKE 'segue%' AND datname = current_database()
            AND EXISTS (SELECT 1 FROM pg_locks l WHERE l.pid = a.pid AND l.relation IS NOT NULL)";
    rows(world, SQL).await;
}

/// Moves a turn and its open calls to a node that does nothing yet: the state right after a takeover.
pub(crate) async fn simulate_takeover(world: &World) {
    const TURNS: &str = "UPDATE turns SET lease_token = lease_token + 1, holder = 'another node',
        lease_until = '2999-01-01T00:00:00+00:00' WHERE status = 'running'";
    const CALLS: &str = "UPDATE tool_calls SET lease_token = lease_token + 1 WHERE status IN ('running', 'settled') AND lease_token > 0";
    world.execute(TURNS).await;
    world.execute(CALLS).await;
}

/// Expires the lease of that node.
pub(crate) async fn expire_simulated_lease(world: &World) {
    world.execute("UPDATE turns SET lease_until = '2000-01-01T00:00:00+00:00' WHERE holder = 'another node'").await;
}

/// Everything that a node without the lease must not change.
pub(crate) async fn stored(world: &World) -> Vec<String> {
    let mut all = Vec::new();
    for sql in [
        "SELECT status || ' turn with events ' || n_events FROM turns ORDER BY created_at",
        "SELECT 'row of the log at ' || position FROM turn_log ORDER BY position",
        "SELECT status || ' call ' || COALESCE(summary, '') FROM tool_calls ORDER BY created_at, id",
        "SELECT 'task ' || title FROM tasks ORDER BY created_at",
        "SELECT status || ' message' FROM messages ORDER BY position",
    ] {
        all.extend(rows(world, sql).await);
    }
    all
}
