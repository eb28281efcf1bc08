//! Servers of version 0.1 that still use a PostgreSQL database that is to be upgraded.

use sqlx::PgPool;

use super::StoreError;

/// The migration that gave leases their tokens. A server of an earlier version cannot be fenced.
const FENCED_FROM: i64 = 7;

/// The name of our connections. Those of version 0.1 are called `segue`.
pub(crate) const APPLICATION_NAME: &str = "segue 0.2";

/// Refuses the upgrade while such a server is connected or holds a lease. Its statements would fail in the middle of its
/// turns.
pub(crate) async fn refuse_old_nodes(pool: &PgPool) -> Result<(), StoreError> {
    const IS_NEW: &str = "SELECT to_regclass('_sqlx_migrations') IS NULL";
    const SCHEMA: &str = "SELECT COALESCE(MAX(version), 0) FROM _sqlx_migrations WHERE success";
    const CONNECTED: &str = "SELECT COUNT(*) FROM pg_stat_activity
        WHERE application_name = 'segue' AND datname = current_database()";
    const HELD: &str = "SELECT node, CEIL(EXTRACT(EPOCH FROM lease_until - now()))::BIGINT FROM turns
        WHERE status = 'running' AND lease_until > now() ORDER BY lease_until DESC LIMIT 1";
    if sqlx::query_scalar(IS_NEW).fetch_one(pool).await? {
        return Ok(());
    }
    let schema: i64 = sqlx::query_scalar(SCHEMA).fetch_one(pool).await?;
    if !(1..FENCED_FROM).contains(&schema) {
        return Ok(());
    }
    let n_connections: i64 = sqlx::query_scalar(CONNECTED).fetch_one(pool).await?;
    if n_connections > 0 {
        return Err(refusal(format!("it has {n_connections} connections")));
    }
    let held: Option<(String, i64)> = sqlx::query_as(HELD).fetch_optional(pool).await?;
    let Some((node, n_seconds)) = held else { return Ok(()) };
    Err(refusal(format!("'{node}' is answering, and its lease ends in {n_seconds} s")))
}

fn refusal(what: String) -> StoreError {
    let text = format!(
        "a server of version 0.1 uses this database ({what}), and both versions cannot run together. Stop that server, \
         then start this version again."
    );
    sqlx::Error::Configuration(text.into()).into()
}
