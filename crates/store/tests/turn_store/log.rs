//! The log of a turn: saved once, read in order, closed by its end.

use engine::TurnId;
use store::StoreError;

use crate::subject::{message, on_every_store, user};

#[tokio::test]
async fn saved_events_are_read_in_order_and_in_parts() {
    on_every_store(async |subject| {
        let first = subject.start(&user("ana"), message("n1")).await.turn;
        let second = subject.start(&user("ana"), message("n1")).await.turn;
        let batch = [(first, 3, "[4]".to_owned()), (second, 0, "[9]".into()), (first, 0, "[1,2,3]".into())];
        subject.store.save_events(&batch).await.unwrap();
        assert_eq!(subject.log(first).await, ["[1,2,3]", "[4]"]);
        assert_eq!(subject.log(second).await, ["[9]"]);
        assert_eq!(subject.store.events_from(first, 0, 1).await.unwrap(), ["[1,2,3]"]);
        assert_eq!(subject.store.events_from(first, 1, 10).await.unwrap(), ["[4]"]);
        assert_eq!(subject.log(TurnId::new()).await, [""; 0]);
    })
    .await;
}

#[tokio::test]
async fn a_batch_that_cannot_be_saved_leaves_nothing_behind() {
    on_every_store(async |subject| {
        let turn = subject.start(&user("ana"), message("n1")).await.turn;
        subject.store.save_events(&[(turn, 0, "[1]".into())]).await.unwrap();
        for refused in [(turn, 0, "[2]".to_owned()), (TurnId::new(), 0, "[2]".into())] {
            let saved = subject.store.save_events(&[(turn, 1, "[1]".into()), refused]).await;
            assert!(matches!(saved, Err(StoreError::Database(_))), "on {}", subject.name);
        }
        assert_eq!(subject.log(turn).await, ["[1]"]);
    })
    .await;
}

#[tokio::test]
async fn a_turn_ends_once_and_its_last_events_with_it() {
    on_every_store(async |subject| {
        let ana = user("ana");
        let started = subject.start(&ana, message("n1")).await;
        subject.store.save_events(&[(started.turn, 0, "[1]".into())]).await.unwrap();
        assert!(subject.end(&started, "n1", vec![(1, "[2]".into())]).await);
        assert!(subject.end(&started, "n1", vec![(2, "[3]".into())]).await, "its node may say it twice");
        assert_eq!(subject.log(started.turn).await, ["[1]", "[2]"], "the first end is the one on {}", subject.name);
        let row = subject.store.turn(&ana, started.turn).await.unwrap();
        assert!(!row.is_running() && row.ended_at.is_some());
        assert!(!subject.store.is_running(started.turn).await.unwrap());
        assert_eq!(subject.store.running_turn(&ana, started.conversation).await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn only_the_node_that_holds_the_lease_ends_a_turn() {
    on_every_store(async |subject| {
        let started = subject.start(&user("ana"), message("n1")).await;
        assert!(!subject.end(&started, "n2", vec![(0, "[1]".into())]).await);
        assert!(subject.store.is_running(started.turn).await.unwrap());
        assert_eq!(subject.log(started.turn).await, [""; 0], "on {}", subject.name);
    })
    .await;
}
