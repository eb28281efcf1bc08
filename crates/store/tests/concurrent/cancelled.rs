//! Callers that disconnect at any moment of a transaction.

use std::{
    future::{Future, poll_fn},
    task::Poll,
    time::{Duration, Instant},
};

use engine::UserId;
use store::{NewTask, Store};

const N_CANCELLED: u64 = 1000;
const N_WRITES: usize = 24;

/// Drops the future after this time. Timers of tokio are too coarse: a statement takes a tenth of a millisecond.
async fn cancelled_after(time: Duration, future: impl Future) {
    let end = Instant::now() + time;
    tokio::pin!(future);
    poll_fn(|context| {
        if future.as_mut().poll(context).is_ready() || Instant::now() >= end {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// A connection that returns to the pool with an open transaction would swallow the next write: the server confirms it, holds its
/// locks, and never commits it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_caller_that_disconnects_while_its_transaction_begins_costs_no_other_caller_a_write() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut urls = vec![format!("sqlite:{}", folder.path().join("cancelled.db").display())];
    if let Ok(cluster) = std::env::var("SEGUE_TEST_POSTGRES") {
        urls.push(super::fresh_schema(&cluster).await);
    }
    for url in urls {
        let store = Store::open(&url, 6).await.expect("the database opens");
        let ann = UserId::new("ann");
        for n in 0..N_CANCELLED {
            let task = NewTask { title: "water the plants", ..NewTask::default() };
            cancelled_after(Duration::from_micros(n % 250 * 4), store.add_task(&ann, task, None)).await;
        }
        // Single statements, on every connection of the pool.
        let write = async |n: usize| store.put_connection(&format!("service {n}"), b"sealed").await;
        for kept in futures::future::join_all((0..N_WRITES).map(write)).await {
            kept.expect("the write is confirmed");
        }
        let another_node = Store::open(&url, 1).await.expect("the database opens");
        let seen = another_node.connections().await.expect("the connections are listed");
        assert_eq!(seen.len(), N_WRITES, "{}: writes that were confirmed are committed", store.kind());
    }
}
