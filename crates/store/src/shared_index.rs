//! An external index: the installation it belongs to, and the node that fills it. Only one node writes at a time,
//! because otherwise an older write could follow a newer one.

use chrono::TimeDelta;
use uuid::Uuid;

use super::{Store, StoreError};

/// After this time another node takes over from a node that died while it filled the index. The node that fills it renews
/// the lease meanwhile.
pub const INDEX_LEASE: TimeDelta = TimeDelta::seconds(20);

impl Store {
    /// The id of this installation. It distinguishes this database from others whose index is on the same server.
    pub async fn installation_id(&self) -> Result<String, StoreError> {
        const NEW: &str = "INSERT INTO installation (one, name) VALUES (1, $1) ON CONFLICT (one) DO NOTHING";
        const SQL: &str = "SELECT name FROM installation";
        let name = Uuid::new_v4().simple().to_string()[..8].to_owned();
        self.write(NEW).bind(name).execute().await?;
        let (name,): (String,) = self.read(SQL).fetch_one().await?;
        Ok(name)
    }

    /// Whether this node may write now. Called before every batch.
    pub async fn claim_index(&self, name: &str, node: &str) -> Result<bool, StoreError> {
        const SQL: &str = "INSERT INTO index_writers (name, node, lease_until) VALUES ($1, $2, $3)
            ON CONFLICT (name) DO UPDATE SET node = excluded.node, lease_until = excluded.lease_until
            WHERE index_writers.node = excluded.node OR index_writers.lease_until < $4";
        let now = self.clock.now();
        let claimed = self.write(SQL).bind(name).bind(node).bind(now + INDEX_LEASE).bind(now).execute().await?;
        Ok(claimed == 1)
    }

    /// Releases the lease, so that the next node need not wait for its expiry.
    pub async fn release_index(&self, name: &str, node: &str) -> Result<(), StoreError> {
        const SQL: &str = "DELETE FROM index_writers WHERE name = $1 AND node = $2";
        self.write(SQL).bind(name).bind(node).execute().await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn another_node_fills_the_index_within_twenty_seconds_after_a_node_died() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&format!("sqlite:{}", folder.path().join("t.db").display()), 2).await.unwrap();
        let claim = async |node: &str| store.claim_index("tracks", node).await.unwrap();
        assert!(claim("one").await && claim("one").await, "the node that fills the index renews its lease");
        assert!(!claim("two").await, "only one node fills the index");
        let (until,): (chrono::DateTime<chrono::Utc>,) =
            store.read("SELECT lease_until FROM index_writers").fetch_one().await.unwrap();
        let left = until - store.clock.now();
        assert!(left <= TimeDelta::seconds(20) && left > TimeDelta::seconds(15), "{left}");
        store.release_index("tracks", "one").await.unwrap();
        assert!(claim("two").await);
    }
}
