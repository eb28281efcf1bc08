//! The journal: a call has one effect and one outcome, however often it is tried.

use std::sync::Arc;

use engine::{Call, CallId, Done, Failure, MessageId, Outcome, Recorded};
use serde_json::{Value, json};
use store::{Ended, FIRST_TOKEN, NewTask, Save, Saved, StartedTurn, StoreError};

use crate::subject::{LEASE, SECOND_TOKEN, Subject, message, on_every_store, user};

async fn begun(subject: &Subject) -> (MessageId, CallId) {
    let started = subject.start(&user("ana"), message("n1")).await;
    let call = call_of(&started);
    subject.store.begin_call(&call, "Add a task", FIRST_TOKEN).await.expect("the call begins");
    subject.store.begin_call(&call, "Add a task", FIRST_TOKEN).await.expect("the call begins");
    (started.message, call.id)
}

fn call_of(started: &StartedTurn) -> Call {
    Call {
        id: CallId::new(),
        owner: user("ana"),
        message: Some(started.message),
        name: "add_task".into(),
        input: Arc::new(json!({"title": "Water the plants"})),
    }
}

fn done(output: Value) -> Outcome {
    let (timings, was_retried) = (Default::default(), false);
    Outcome::Done(Arc::new(Done {
        summary: "Added".into(),
        count: 1,
        duration_ms: 7,
        output: output.into(),
        timings,
        was_retried,
    }))
}

fn failed(error: &str) -> Outcome {
    Outcome::Failed(Failure { duration_ms: 7, ..Failure::new(error, true) })
}

async fn journal(subject: &Subject, message: MessageId) -> Vec<(CallId, Option<Outcome>)> {
    let rows = subject.store.calls_of(message).await.expect("the journal is read");
    let outcome = |recorded| match recorded {
        Recorded::Begun => None,
        Recorded::Effect(outcome) | Recorded::Closed(outcome) => Some(outcome),
    };
    rows.into_iter().map(|row| (row.id, outcome(row.recorded))).collect()
}

#[tokio::test]
async fn the_events_before_a_call_and_its_row_are_stored_together_or_not_at_all() {
    on_every_store(async |subject| {
        let started = subject.start(&user("ana"), message("n1")).await;
        let call = call_of(&started);
        let save =
            |token, first, events: &str| Save { turn: started.turn, token, first, n_events: 1, events: events.into() };
        let begin = async |save: Save| subject.store.begin_call_after(&save, &call, "Add a task").await.unwrap();
        assert_eq!(begin(save(FIRST_TOKEN, 3, "[9]")).await, Saved::Holds(0), "on {}", subject.name);
        assert_eq!(begin(save(SECOND_TOKEN, 0, "[9]")).await, Saved::Lost);
        assert_eq!(journal(subject, started.message).await, []);
        assert_eq!(begin(save(FIRST_TOKEN, 0, "[1]")).await, Saved::Done);
        assert_eq!(begin(save(FIRST_TOKEN, 0, "[1]")).await, Saved::Holds(1), "the reply to the first was lost");
        assert_eq!(subject.log(started.turn).await, ["[1]"]);
        assert_eq!(journal(subject, started.message).await, [(call.id, None)]);
        let settled = subject.store.settle_call(call.id, FIRST_TOKEN, json!({"id": 1})).await;
        assert_eq!(settled.unwrap(), json!({"id": 1}), "its effect commits under the same token");
    })
    .await;
}

#[tokio::test]
async fn a_call_is_open_until_it_is_finished_and_then_keeps_its_outcome() {
    on_every_store(async |subject| {
        let (message, call) = begun(subject).await;
        assert_eq!(journal(subject, message).await, [(call, None)], "on {}", subject.name);
        assert_eq!(subject.store.finish_call(call, FIRST_TOKEN, failed("first")).await.unwrap(), failed("first"));
        assert_eq!(subject.store.finish_call(call, FIRST_TOKEN, failed("second")).await.unwrap(), failed("first"));
        assert_eq!(subject.store.finish_call(call, FIRST_TOKEN, done(json!({}))).await.unwrap(), failed("first"));
        assert_eq!(journal(subject, message).await, [(call, Some(failed("first")))]);
        assert_eq!(journal(subject, MessageId::new()).await, []);
    })
    .await;
}

#[tokio::test]
async fn an_effect_is_committed_once_and_a_second_attempt_gets_the_first_output() {
    on_every_store(async |subject| {
        let (_, call) = begun(subject).await;
        assert_eq!(subject.store.settle_call(call, FIRST_TOKEN, json!({"id": 1})).await.unwrap(), json!({"id": 1}));
        let second = subject.store.settle_call(call, FIRST_TOKEN, json!({"id": 2})).await.unwrap();
        assert_eq!(second, json!({"id": 1}), "on {}", subject.name);
    })
    .await;
}

#[tokio::test]
async fn a_committed_effect_takes_its_report_and_wins_over_a_failure() {
    on_every_store(async |subject| {
        let (message, call) = begun(subject).await;
        subject.store.settle_call(call, FIRST_TOKEN, json!({"id": 1})).await.unwrap();
        let report = done(json!({"id": 1, "summary": "Added"}));
        assert_eq!(subject.store.finish_call(call, FIRST_TOKEN, report.clone()).await.unwrap(), report);
        assert_eq!(subject.store.finish_call(call, FIRST_TOKEN, failed("cut off")).await.unwrap(), report);
        assert_eq!(journal(subject, message).await, [(call, Some(report))], "on {}", subject.name);
    })
    .await;
}

#[tokio::test]
async fn a_failure_after_an_effect_closes_the_call_with_the_effect() {
    on_every_store(async |subject| {
        let (message, call) = begun(subject).await;
        subject.store.settle_call(call, FIRST_TOKEN, json!({"id": 1})).await.unwrap();
        let kept = subject.store.finish_call(call, FIRST_TOKEN, failed("cut off")).await.unwrap();
        let Outcome::Done(effect) = &kept else { panic!("the effect was lost on {}", subject.name) };
        assert_eq!(effect.output["id"], 1);
        let report = done(json!({"id": 1, "summary": "Added"}));
        assert_eq!(subject.store.finish_call(call, FIRST_TOKEN, report).await.unwrap(), kept, "on {}", subject.name);
        assert_eq!(journal(subject, message).await, [(call, Some(kept.clone()))]);
        let output = subject.store.output_of(call).await.unwrap();
        assert_eq!(output.as_ref(), Some(&*effect.output), "the log refers to it, on {}", subject.name);
    })
    .await;
}

#[tokio::test]
async fn only_a_closed_call_that_did_not_fail_has_an_output() {
    on_every_store(async |subject| {
        let (_, call) = begun(subject).await;
        assert_eq!(subject.store.output_of(call).await.unwrap(), None, "on {}", subject.name);
        subject.store.finish_call(call, FIRST_TOKEN, done(json!({"id": 1}))).await.unwrap();
        assert_eq!(subject.store.output_of(call).await.unwrap(), Some(json!({"id": 1})), "on {}", subject.name);
        let (_, call) = begun(subject).await;
        subject.store.finish_call(call, FIRST_TOKEN, failed("too late")).await.unwrap();
        assert_eq!(subject.store.output_of(call).await.unwrap(), None, "on {}", subject.name);
    })
    .await;
}

#[tokio::test]
async fn a_closed_or_unknown_call_has_no_effect() {
    on_every_store(async |subject| {
        let (message, call) = begun(subject).await;
        subject.store.finish_call(call, FIRST_TOKEN, failed("too late")).await.unwrap();
        for call in [call, CallId::new()] {
            let settled = subject.store.settle_call(call, FIRST_TOKEN, json!({"id": 1})).await;
            assert!(matches!(settled, Err(StoreError::Conflict(_))), "on {}", subject.name);
        }
        assert_eq!(journal(subject, message).await, [(call, Some(failed("too late")))]);
    })
    .await;
}

#[tokio::test]
async fn a_node_that_lost_the_turn_commits_no_effect_and_no_outcome() {
    on_every_store(async |subject| {
        let (message, call) = begun(subject).await;
        subject.advance(LEASE * 2);
        let dead = subject.dead(None).await;
        assert_eq!(subject.take_over(&dead[0], "n2").await, Some(SECOND_TOKEN));
        let settled = subject.store.settle_call(call, FIRST_TOKEN, json!({"id": 1})).await;
        assert!(matches!(settled, Err(StoreError::Conflict(_))), "on {}", subject.name);
        subject.store.finish_call(call, FIRST_TOKEN, failed("too late")).await.unwrap();
        assert_eq!(journal(subject, message).await, [(call, None)]);
        assert_eq!(subject.store.settle_call(call, SECOND_TOKEN, json!({"id": 2})).await.unwrap(), json!({"id": 2}));
        let report = done(json!({"id": 2}));
        assert_eq!(subject.store.finish_call(call, SECOND_TOKEN, report.clone()).await.unwrap(), report);
        assert_eq!(journal(subject, message).await, [(call, Some(report))]);
    })
    .await;
}

#[tokio::test]
async fn a_late_outcome_under_an_old_lease_does_not_release_the_call_that_was_begun_again() {
    on_every_store(async |subject| {
        let (message, call) = begun(subject).await;
        subject.advance(LEASE * 2);
        let dead = subject.dead(None).await;
        // The same process takes the turn over, and begins the call under the next lease.
        assert_eq!(subject.take_over(&dead[0], "n1").await, Some(SECOND_TOKEN));
        let (name, input) = ("add_task".into(), Arc::new(json!({"title": "Water the plants"})));
        let again = Call { id: call, owner: user("ana"), message: Some(message), name, input };
        subject.store.begin_call(&again, "Add a task", SECOND_TOKEN).await.expect("the call begins");
        subject.store.finish_call(call, FIRST_TOKEN, failed("too late")).await.expect("the store answers");
        assert_eq!(journal(subject, message).await, [(call, None)], "on {}", subject.name);
        match &subject.database {
            Some(database) => {
                let task = NewTask { title: "Water the plants", ..NewTask::default() };
                let added = database.add_task(&user("ana"), task, Some(call)).await;
                assert!(added.is_ok(), "{added:?} on {}", subject.name);
            }
            None => _ = subject.store.settle_call(call, SECOND_TOKEN, json!({"id": 1})).await.expect("settled"),
        }
    })
    .await;
}

#[tokio::test]
async fn the_end_of_a_turn_closes_its_calls() {
    on_every_store(async |subject| {
        let started = subject.start(&user("ana"), crate::subject::message("n1")).await;
        let ids = [CallId::new(), CallId::new()];
        for id in ids {
            let (owner, name) = (user("ana"), "add_task".into());
            let call = Call { id, owner, message: Some(started.message), name, input: Arc::new(json!({})) };
            subject.store.begin_call(&call, "Add a task", FIRST_TOKEN).await.unwrap();
        }
        subject.store.settle_call(ids[1], FIRST_TOKEN, json!({"id": 1})).await.unwrap();
        assert_eq!(subject.end(&started, FIRST_TOKEN).await, Ended::Stored);
        let late = subject.store.settle_call(ids[0], FIRST_TOKEN, json!({"id": 2})).await;
        assert!(matches!(late, Err(StoreError::Conflict(_))), "no effect follows the end, on {}", subject.name);
        let rows = subject.store.calls_of(started.message).await.unwrap();
        let recorded = |id| rows.iter().find(|row| row.id == id).map(|row| row.recorded.clone()).unwrap();
        assert_eq!(recorded(ids[0]), Recorded::Closed(failed_as_interrupted()));
        assert!(matches!(recorded(ids[1]), Recorded::Closed(Outcome::Done(done)) if done.output["id"] == 1));
    })
    .await;
}

fn failed_as_interrupted() -> Outcome {
    Outcome::Failed(Failure::interrupted())
}

#[tokio::test]
async fn a_node_that_lost_the_turn_opens_no_call() {
    on_every_store(async |subject| {
        let started = subject.start(&user("ana"), message("n1")).await;
        subject.advance(LEASE * 2);
        let dead = subject.dead(None).await;
        assert_eq!(subject.take_over(&dead[0], "n2").await, Some(SECOND_TOKEN));
        let (id, owner, message) = (CallId::new(), user("ana"), Some(started.message));
        let call = Call { id, owner, message, name: "add_task".into(), input: Arc::new(json!({})) };
        assert!(!subject.store.begin_call(&call, "Add a task", FIRST_TOKEN).await.unwrap(), "on {}", subject.name);
        let refusal = Failure::interrupted();
        subject.store.refuse_call(&call, "Add a task", &refusal, FIRST_TOKEN).await.expect("the store answers");
        let settled = subject.store.settle_call(call.id, FIRST_TOKEN, json!({})).await;
        assert!(matches!(settled, Err(StoreError::Conflict(_))), "{settled:?} on {}", subject.name);
        assert_eq!(journal(subject, started.message).await, [], "on {}", subject.name);
    })
    .await;
}
