//! Servers of version 0.1 that still run turns on a PostgreSQL database that is to be upgraded.

use sqlx::PgPool;

use super::StoreError;

/// The migration that gave leases their tokens. A server of an earlier version cannot be fenced.
const FENCED_FROM: i64 = 7;

/// Refuses the upgrade while such a server holds a lease. Its statements would fail in the middle of its turns.
pub(crate) async fn refuse_old_nodes(pool: &PgPool) -> Result<(), StoreError> {
    const IS_NEW: &str = "SELECT to_regclass('_sqlx_migrations') IS NULL";
    const SCHEMA: &str = "SELECT COALESCE(MAX(version), 0) FROM _sqlx_migrations WHERE success";
    const HELD: &str = "SELECT node, CEIL(EXTRACT(EPOCH FROM lease_until - now()))::BIGINT FROM turns
        WHERE status = 'running' AND lease_until > now() ORDER BY lease_until DESC LIMIT 1";
    if sqlx::query_scalar(IS_NEW).fetch_one(pool).await? {
        return Ok(());
    }
    let schema: i64 = sqlx::query_scalar(SCHEMA).fetch_one(pool).await?;
    if !(1..FENCED_FROM).contains(&schema) {
        return Ok(());
    }
    let held: Option<(String, i64)> = sqlx::query_as(HELD).fetch_optional(pool).await?;
    let Some((node, n_seconds)) = held else { return Ok(()) };
    let text = format!(
        "a server of version 0.1 ('{node}') is answering on this database, and both versions cannot run together. Stop \
         it and start this version again; its lease ends in {n_seconds} s."
    );
    Err(sqlx::Error::Configuration(text.into()).into())
}
