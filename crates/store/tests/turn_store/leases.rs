//! Leases: who runs a turn, who may take it over, who stops it.

use chrono::TimeDelta;

use store::{Ended, FIRST_TOKEN, Saved, Takeover};

use crate::subject::{LEASE, SECOND_TOKEN, message, on_every_store, user};

const MOMENT: TimeDelta = TimeDelta::seconds(1);

#[tokio::test]
async fn a_turn_is_taken_over_when_its_lease_has_run_out_and_not_before() {
    on_every_store(async |subject| {
        let started = subject.start(&user("ana"), message("n1")).await;
        subject.advance(LEASE - MOMENT);
        assert!(subject.dead(None).await.is_empty(), "on {}", subject.name);
        subject.advance(MOMENT * 2);
        let dead = subject.dead(None).await;
        assert_eq!(dead.len(), 1);
        assert_eq!((dead[0].id, dead[0].holder.as_str()), (started.turn.0, "n1"));
        assert_eq!((dead[0].user_id.as_str(), dead[0].agent.as_str()), ("ana", "music"));
        assert_eq!(subject.take_over(&dead[0], "n2").await, Some(SECOND_TOKEN));
        assert_eq!(subject.take_over(&dead[0], "n3").await, None, "another node was faster");
        assert!(subject.dead(None).await.is_empty(), "the new lease begins now");
        assert_eq!(subject.end(&started, FIRST_TOKEN).await, Ended::Lost, "it is no longer the first node's to end");
        assert_eq!(subject.end(&started, SECOND_TOKEN).await, Ended::Stored);
        assert_eq!(subject.end(&started, FIRST_TOKEN).await, Ended::Lost);
    })
    .await;
}

#[tokio::test]
async fn a_lease_that_is_renewed_does_not_run_out() {
    on_every_store(async |subject| {
        let kept = subject.start(&user("ana"), message("n1")).await;
        let lost = subject.start(&user("ana"), message("n1")).await;
        subject.advance(LEASE - MOMENT);
        let held = [(kept.turn, FIRST_TOKEN), (lost.turn, SECOND_TOKEN)];
        assert_eq!(subject.store.renew_leases(&held).await.unwrap(), [lost.turn], "on {}", subject.name);
        subject.advance(MOMENT * 2);
        let dead = subject.dead(None).await;
        let ids: Vec<_> = dead.iter().map(|dead| dead.id).collect();
        assert_eq!(ids, [lost.turn.0], "a node renews only what it holds, on {}", subject.name);
        assert_eq!(subject.store.renew_leases(&[(lost.turn, FIRST_TOKEN)]).await.unwrap(), []);
        assert_eq!(subject.take_over(&dead[0], "n2").await, None, "its node lives after all");
    })
    .await;
}

#[tokio::test]
async fn a_turn_that_has_gone_on_since_it_was_found_is_not_taken_over() {
    on_every_store(async |subject| {
        let started = subject.start(&user("ana"), message("n1")).await;
        subject.advance(LEASE + MOMENT);
        let found = subject.dead(None).await.remove(0);
        assert_eq!(subject.save(started.turn, FIRST_TOKEN, 0, &[1, 2]).await, Saved::Done, "its node was only slow");
        assert_eq!(subject.take_over(&found, "n2").await, None, "on {}", subject.name);
        let found = subject.dead(None).await.remove(0);
        assert_eq!(found.n_events, 2);
        assert_eq!(subject.take_over(&found, "n2").await, Some(SECOND_TOKEN), "it says no more");
    })
    .await;
}

#[tokio::test]
async fn a_node_that_restarted_takes_its_own_turns_back_at_once() {
    on_every_store(async |subject| {
        let started = subject.start(&user("ana"), message("n1")).await;
        subject.start(&user("ana"), message("n2")).await;
        let dead = subject.dead(Some("n1")).await;
        assert_eq!(dead.iter().map(|dead| dead.id).collect::<Vec<_>>(), [started.turn.0]);
        assert_eq!(subject.take_over(&dead[0], "n2").await, None, "no other node may, on {}", subject.name);
        assert_eq!(subject.take_over(&dead[0], "n1").await, Some(SECOND_TOKEN));
    })
    .await;
}

#[tokio::test]
async fn a_turn_that_ended_is_never_dead() {
    on_every_store(async |subject| {
        let started = subject.start(&user("ana"), message("n1")).await;
        subject.advance(LEASE + MOMENT);
        let dead = subject.dead(None).await;
        assert_eq!(
            subject.end(&started, FIRST_TOKEN).await,
            Ended::Stored,
            "a late end counts while no other node took over"
        );
        assert!(subject.dead(Some("n1")).await.is_empty(), "on {}", subject.name);
        assert_eq!(subject.take_over(&dead[0], "n2").await, None);
    })
    .await;
}

#[tokio::test]
async fn only_the_owner_stops_a_turn_and_its_node_hears_of_it() {
    on_every_store(async |subject| {
        let (ana, ben) = (user("ana"), user("ben"));
        let started = subject.start(&ana, message("n1")).await;
        assert!(!subject.store.request_stop(&ben, started.turn).await.unwrap());
        assert_eq!(subject.store.stop_requests("n1").await.unwrap(), [], "on {}", subject.name);
        assert!(subject.store.request_stop(&ana, started.turn).await.unwrap());
        assert_eq!(subject.store.stop_requests("n1").await.unwrap(), [started.turn]);
        assert_eq!(subject.store.stop_requests("n2").await.unwrap(), []);
        assert_eq!(subject.end(&started, FIRST_TOKEN).await, Ended::Stored);
        assert_eq!(subject.store.stop_requests("n1").await.unwrap(), []);
        assert!(!subject.store.request_stop(&ana, started.turn).await.unwrap(), "it does not run any more");
    })
    .await;
}

#[tokio::test]
async fn takeovers_are_counted_and_a_released_turn_is_free_at_once() {
    on_every_store(async |subject| {
        let started = subject.start(&user("ana"), message("n1")).await;
        subject.store.release(started.turn, SECOND_TOKEN).await.unwrap();
        assert!(subject.dead(None).await.is_empty(), "only the holder releases it, on {}", subject.name);
        subject.store.release(started.turn, FIRST_TOKEN).await.unwrap();
        let dead = subject.dead(None).await;
        assert_eq!(dead[0].n_takeovers, 0);
        assert_eq!(subject.take_over(&dead[0], "n2").await, Some(SECOND_TOKEN));
        subject.store.release(started.turn, SECOND_TOKEN).await.unwrap();
        let dead = subject.dead(None).await;
        assert_eq!(dead[0].n_takeovers, 1);
        let token = subject.store.take_over(&dead[0], "n3", Takeover::Close).await.unwrap();
        assert_eq!(token, Some(SECOND_TOKEN + 1));
        subject.store.release(started.turn, SECOND_TOKEN + 1).await.unwrap();
        assert_eq!(subject.dead(None).await[0].n_takeovers, 1, "closing is no takeover");
    })
    .await;
}

#[tokio::test]
async fn a_takeover_that_could_not_begin_is_not_counted() {
    on_every_store(async |subject| {
        let started = subject.start(&user("ana"), message("n1")).await;
        subject.store.release(started.turn, FIRST_TOKEN).await.unwrap();
        let dead = subject.dead(None).await;
        assert_eq!(subject.take_over(&dead[0], "n2").await, Some(SECOND_TOKEN));
        subject.store.release_unbegun(started.turn, FIRST_TOKEN).await.unwrap();
        assert!(subject.dead(None).await.is_empty(), "only the holder gives it back, on {}", subject.name);
        subject.store.release_unbegun(started.turn, SECOND_TOKEN).await.unwrap();
        let dead = subject.dead(None).await;
        assert_eq!((dead[0].n_takeovers, dead[0].lease_token), (0, SECOND_TOKEN), "on {}", subject.name);
    })
    .await;
}
