//! Connections are pooled: many queries at once share the few connections that the setting allows.

use futures::future::join_all;

use crate::subject::{POOL_SIZE, on_every_database, user};

#[tokio::test]
async fn many_queries_at_once_share_the_connections_of_the_pool() {
    on_every_database(async |store| {
        let ann = user("ann");
        let asked = join_all((0..50).map(|_| store.n_running_turns(&ann))).await;
        assert!(asked.into_iter().all(|answer| answer.is_ok()), "a query waits for a connection and does not fail");
        let sizes: Vec<_> = store.pools().into_iter().map(|pool| pool.idle + pool.used).collect();
        let most = usize::try_from(POOL_SIZE).unwrap();
        assert!(sizes.iter().all(|size| *size <= most) && sizes.contains(&most), "{sizes:?}");
    })
    .await;
}
