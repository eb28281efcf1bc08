//! Which node watches a folder? The one with its lease: several nodes would import the same file several times.

use std::time::Duration;

use uuid::Uuid;

use super::{Store, StoreError};

/// After this time another node takes over the folders of a node that died. The node renews the lease while it works.
pub const FOLDER_LEASE: Duration = Duration::from_secs(150);

impl Store {
    /// Whether this node watches the folder from now on. A node that has the lease renews it.
    pub async fn claim_folder(&self, source: Uuid, node: &str) -> Result<bool, StoreError> {
        const SQL: &str = "UPDATE library_sources SET node = $2, lease_until = $3
            WHERE id = $1 AND (node = $2 OR lease_until IS NULL OR lease_until < $4)";
        let query = self.write(SQL).bind(source).bind(node).bind_in(FOLDER_LEASE).bind_now();
        Ok(query.execute().await? == 1)
    }

    /// Releases every folder of this node, so that the next node need not wait.
    pub async fn release_folders(&self, node: &str) -> Result<(), StoreError> {
        const SQL: &str = "UPDATE library_sources SET node = NULL, lease_until = NULL WHERE node = $1";
        self.write(SQL).bind(node).execute().await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use engine::UserId;

    use super::*;

    #[tokio::test]
    async fn a_folder_has_one_node_until_it_is_released_or_the_node_dies() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&format!("sqlite:{}", folder.path().join("t.db").display()), 2).await.unwrap();
        let source = store.add_folder(&UserId::new("ann"), "/music").await.unwrap();
        let claim = async |node: &str| store.claim_folder(source.id, node).await.unwrap();
        assert!(claim("one").await && claim("one").await, "the node that has it renews");
        assert!(!claim("two").await, "one at a time");
        store.release_folders("two").await.unwrap();
        assert!(!claim("two").await, "a node releases what it has");
        store.release_folders("one").await.unwrap();
        assert!(claim("two").await);
        // Node two dies.
        let (until,): (chrono::DateTime<chrono::Utc>,) =
            store.read("SELECT lease_until FROM library_sources").fetch_one().await.unwrap();
        let left = until - store.clock.now();
        assert!(left <= TimeDelta::seconds(150) && left > TimeDelta::seconds(100), "{left}");
        store
            .write("UPDATE library_sources SET lease_until = $1")
            .bind(store.clock.now() - left)
            .execute()
            .await
            .unwrap();
        assert!(claim("one").await);
    }
}
