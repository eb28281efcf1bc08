//! The log of a turn: saved by the holder of the lease, once, in order, and closed by its end.

use chrono::TimeDelta;
use engine::TurnId;
use store::{Durability, Ended, FIRST_TOKEN, Save, Saved, TRASH_KEPT};

use crate::subject::{LEASE, SECOND_TOKEN, message, on_every_store, user};

#[tokio::test]
async fn saved_events_are_read_in_order_and_in_parts() {
    on_every_store(async |subject| {
        let first = subject.start(&user("ana"), message("n1")).await.turn;
        let second = subject.start(&user("ana"), message("n1")).await.turn;
        assert_eq!(subject.save(first, FIRST_TOKEN, 0, &[1, 2, 3]).await, Saved::Done, "on {}", subject.name);
        let save = |turn, first, n_events, events: &str| Save {
            turn,
            token: FIRST_TOKEN,
            first,
            n_events,
            events: events.into(),
        };
        let batch = [save(second, 0, 1, "[9]"), save(first, 3, 1, "[4]")];
        let saved = subject.store.save_events(&batch, Durability::Power).await.unwrap();
        assert_eq!(saved, [Saved::Done, Saved::Done]);
        assert_eq!(subject.log(first).await, ["[1,2,3]", "[4]"]);
        assert_eq!(subject.log(second).await, ["[9]"]);
        assert_eq!(subject.store.events_from(first, 0, 1).await.unwrap(), ["[1,2,3]"]);
        assert_eq!(subject.store.events_from(first, 1, 10).await.unwrap(), ["[4]"]);
        assert_eq!(subject.log(TurnId::new()).await, [""; 0]);
    })
    .await;
}

#[tokio::test]
async fn a_save_whose_reply_was_lost_is_recognised() {
    on_every_store(async |subject| {
        let turn = subject.start(&user("ana"), message("n1")).await.turn;
        assert_eq!(subject.save(turn, FIRST_TOKEN, 0, &[1, 2]).await, Saved::Done);
        assert_eq!(subject.save(turn, FIRST_TOKEN, 0, &[1, 2, 3]).await, Saved::Holds(2), "on {}", subject.name);
        assert_eq!(subject.save(turn, FIRST_TOKEN, 2, &[3]).await, Saved::Done);
        assert_eq!(subject.save(turn, FIRST_TOKEN, 9, &[9]).await, Saved::Holds(3), "no gap is saved");
        assert_eq!(subject.log(turn).await, ["[1,2]", "[3]"]);
    })
    .await;
}

#[tokio::test]
async fn a_turn_that_cannot_be_saved_does_not_keep_others_from_it() {
    on_every_store(async |subject| {
        let turn = subject.start(&user("ana"), message("n1")).await.turn;
        let gone = TurnId::new();
        let save = |turn, first| Save { turn, token: FIRST_TOKEN, first, n_events: 1, events: "[1]".into() };
        let saved = subject.store.save_events(&[save(gone, 0), save(turn, 0)], Durability::Process).await.unwrap();
        assert_eq!(saved, [Saved::Lost, Saved::Done], "on {}", subject.name);
        assert_eq!(subject.log(turn).await, ["[1]"]);
    })
    .await;
}

#[tokio::test]
async fn a_node_that_lost_its_lease_saves_and_ends_nothing() {
    on_every_store(async |subject| {
        let started = subject.start(&user("ana"), message("n1")).await;
        assert_eq!(subject.save(started.turn, FIRST_TOKEN, 0, &[1]).await, Saved::Done);
        subject.advance(LEASE * 2);
        let dead = subject.dead(None).await;
        assert_eq!(dead[0].n_events, 1);
        assert_eq!(subject.take_over(&dead[0], "n2").await, Some(SECOND_TOKEN), "on {}", subject.name);
        assert_eq!(subject.save(started.turn, FIRST_TOKEN, 1, &[2]).await, Saved::Lost);
        assert_eq!(subject.end_with(&started, FIRST_TOKEN, 1, &[2], None).await, Ended::Lost);
        assert_eq!(subject.save(started.turn, SECOND_TOKEN, 1, &[3]).await, Saved::Done);
        assert_eq!(subject.end_with(&started, SECOND_TOKEN, 2, &[4], None).await, Ended::Stored);
        assert_eq!(subject.save(started.turn, SECOND_TOKEN, 3, &[5]).await, Saved::Lost, "it has ended");
        assert_eq!(subject.log(started.turn).await, ["[1]", "[3]", "[4]"]);
    })
    .await;
}

#[tokio::test]
async fn a_turn_ends_once_and_its_last_events_with_it() {
    on_every_store(async |subject| {
        let ana = user("ana");
        let started = subject.start(&ana, message("n1")).await;
        assert_eq!(subject.save(started.turn, FIRST_TOKEN, 0, &[1]).await, Saved::Done);
        assert_eq!(subject.end_with(&started, FIRST_TOKEN, 0, &[1, 2], None).await, Ended::Holds(1));
        assert_eq!(subject.end_with(&started, FIRST_TOKEN, 1, &[2], None).await, Ended::Stored);
        assert_eq!(
            subject.end_with(&started, FIRST_TOKEN, 1, &[3], None).await,
            Ended::Stored,
            "its node may say it twice"
        );
        assert_eq!(subject.log(started.turn).await, ["[1]", "[2]"], "the first end is the one on {}", subject.name);
        let row = subject.store.turn(&ana, started.turn).await.unwrap();
        assert!(!row.is_running() && row.ended_at.is_some());
        assert!(!subject.store.is_running(started.turn).await.unwrap());
        assert_eq!(subject.store.running_turn(&ana, started.conversation).await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn the_log_of_a_turn_goes_with_its_conversation() {
    on_every_store(async |subject| {
        let Some(database) = &subject.database else { return };
        let ana = user("ana");
        let (gone, kept) = (subject.start(&ana, message("n1")).await, subject.start(&ana, message("n1")).await);
        for started in [&gone, &kept] {
            assert_eq!(subject.save(started.turn, FIRST_TOKEN, 0, &[1]).await, Saved::Done);
            assert_eq!(subject.end_with(started, FIRST_TOKEN, 1, &[2], None).await, Ended::Stored);
        }
        database.delete_conversation(&ana, gone.conversation).await.unwrap();
        subject.advance(TRASH_KEPT + TimeDelta::days(1));
        database.erase_expired().await.unwrap();
        assert_eq!(subject.log(gone.turn).await, [""; 0], "on {}", subject.name);
        assert_eq!(subject.log(kept.turn).await, ["[1]", "[2]"]);
    })
    .await;
}
