//! Callers that disconnect at any moment of a transaction.

use std::{
    future::{Future, poll_fn},
    task::Poll,
    time::{Duration, Instant},
};

use engine::UserId;
use store::{NewTask, NewTurn, Store, TurnLimits};

/// Each cancels callers at other moments. A later transaction on the same connection would commit what was swallowed, so that
/// each round looks for it.
const ROUNDS: u64 = 60;
const N_CANCELLED: u64 = 6;
const N_WRITES: u64 = 6;

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

fn first_message() -> NewTurn<'static> {
    NewTurn {
        conversation: None,
        new_conversation_id: None,
        again: None,
        agent: "tasks",
        text: "water the plants",
        client_message_id: None,
        model: None,
        decides: None,
        node: "here",
        limits: TurnLimits::default(),
        opening: None,
    }
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
        let another_node = Store::open(&url, 1).await.expect("the database opens");
        for round in 0..ROUNDS {
            for n in 0..N_CANCELLED {
                let task = NewTask { title: "water the plants", ..NewTask::default() };
                let time = Duration::from_micros((round * N_CANCELLED + n) * 3);
                // A transaction, and a message that SQLite stores in one command with its `BEGIN` and `COMMIT`.
                if n % 2 == 0 {
                    cancelled_after(time, store.add_task(&ann, task, None)).await;
                } else {
                    cancelled_after(time, store.start_turn(&ann, &first_message())).await;
                }
            }
            // Single statements, on every connection of the pool.
            let write = async |n: u64| store.put_connection(&format!("service {round} {n}"), b"sealed").await;
            for kept in futures::future::join_all((0..N_WRITES).map(write)).await {
                kept.expect("the write is confirmed");
            }
            let n_seen = another_node.connections().await.expect("the connections are listed").len() as u64;
            assert_eq!(n_seen, (round + 1) * N_WRITES, "{}: confirmed writes are committed", store.kind());
        }
    }
}
