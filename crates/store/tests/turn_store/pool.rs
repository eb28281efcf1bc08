//! Connections are pooled: many queries at once share the few connections that the setting allows.

use engine::{Call, CallId, MessageId};
use futures::future::join_all;
use store::{FIRST_TOKEN, NewTask, Save, Saved};

use crate::subject::{POOL_SIZE, message, on_every_database, on_every_store, user};

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

#[tokio::test]
async fn a_transaction_gets_a_connection_while_single_statements_keep_all_of_them() {
    on_every_database(async |store| {
        let ann = user("ann");
        let task = NewTask { title: "water the plants", ..NewTask::default() };
        for round in 0..3 {
            let write = async |n: u32| store.put_connection(&format!("service {n}"), b"sealed").await;
            let written = join_all((0..POOL_SIZE).map(write)).await;
            assert!(written.iter().all(Result::is_ok), "{written:?}");
            let idle: Vec<_> = store.pools().into_iter().map(|pool| (pool.name, pool.idle)).collect();
            let added = join_all((0..2 * POOL_SIZE).map(|_| store.add_task(&ann, task, None))).await;
            assert!(added.iter().all(Result::is_ok), "round {round}, idle: {idle:?}, {added:?}");
        }
        store.close().await;
    })
    .await;
}

#[tokio::test]
async fn changes_that_fail_half_way_leave_nothing_and_do_not_block_the_next() {
    on_every_store(async |subject| {
        if subject.database.is_none() {
            return;
        }
        let started = subject.start(&user("ana"), message("n1")).await;
        // The events are the first change. The second one, the row of the call, is for an answer that does not exist.
        let call = Call {
            id: CallId::new(),
            owner: user("ana"),
            message: Some(MessageId::new()),
            name: "add_task".into(),
            input: serde_json::json!({}).into(),
        };
        let save = Save { turn: started.turn, token: FIRST_TOKEN, first: 0, n_events: 1, events: "[1]".into() };
        subject.store.begin_call_after(&save, &call, "Add a task").await.unwrap_err();
        assert_eq!(subject.log(started.turn).await, [""; 0], "on {}", subject.name);
        assert_eq!(subject.save(started.turn, FIRST_TOKEN, 0, &[2]).await, Saved::Done);
        assert_eq!(subject.log(started.turn).await, ["[2]"]);
    })
    .await;
}
