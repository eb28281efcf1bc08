//! An index outside: whose it is, and who fills it. One node at a time, or an older write could come after a newer one.

use chrono::TimeDelta;
use uuid::Uuid;

use super::{Store, StoreError, reading, writing};

/// Longer than any batch takes to be embedded and written.
const LEASE: TimeDelta = TimeDelta::seconds(120);

impl Store {
    /// What tells this database from any other that uses the same server for its index.
    pub(crate) async fn house(&self) -> Result<String, StoreError> {
        const NEW: &str = "INSERT INTO house (one, name) VALUES (1, $1) ON CONFLICT (one) DO NOTHING";
        const SQL: &str = "SELECT name FROM house";
        let name = Uuid::new_v4().simple().to_string()[..8].to_owned();
        writing!(self, |db| sqlx::query(NEW).bind(name).execute(db).await.map(drop))?;
        let (name,): (String,) = reading!(self, |db| sqlx::query_as(SQL).fetch_one(db).await)?;
        Ok(name)
    }

    /// Whether this node may write now; asked before every batch.
    pub(crate) async fn claim_index(&self, name: &str, node: &str) -> Result<bool, StoreError> {
        const SQL: &str = "INSERT INTO index_writers (name, node, lease_until) VALUES ($1, $2, $3)
            ON CONFLICT (name) DO UPDATE SET node = excluded.node, lease_until = excluded.lease_until
            WHERE index_writers.node = excluded.node OR index_writers.lease_until < $4";
        let now = self.clock.now();
        let claimed = writing!(self, |db| sqlx::query(SQL)
            .bind(name)
            .bind(node)
            .bind(now + LEASE)
            .bind(now)
            .execute(db)
            .await
            .map(|done| done.rows_affected()))?;
        Ok(claimed == 1)
    }

    /// The next one need not wait until the lease has run out.
    pub(crate) async fn release_index(&self, name: &str, node: &str) -> Result<(), StoreError> {
        const SQL: &str = "DELETE FROM index_writers WHERE name = $1 AND node = $2";
        writing!(self, |db| sqlx::query(SQL).bind(name).bind(node).execute(db).await.map(drop))?;
        Ok(())
    }
}
