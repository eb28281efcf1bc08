//! The journal: a call has one effect and one outcome, however often it is tried.

use std::sync::Arc;

use engine::{Call, CallId, Done, Failure, MessageId, Outcome};
use serde_json::{Value, json};
use store::{Settled, StoreError};

use crate::subject::{Subject, message, on_every_store, user};

async fn begun(subject: &Subject) -> (MessageId, CallId) {
    let started = subject.start(&user("ana"), message("n1")).await;
    let call = Call {
        id: CallId::new(),
        owner: user("ana"),
        message: Some(started.message),
        name: "add_task".into(),
        input: Arc::new(json!({"title": "Water the plants"})),
    };
    subject.store.begin_call(&call).await.expect("the call begins");
    subject.store.begin_call(&call).await.expect("the call begins");
    (started.message, call.id)
}

fn done(output: Value) -> Outcome {
    let (timings, was_retried) = (Default::default(), false);
    Outcome::Done(Arc::new(Done { summary: "Added".into(), count: 1, duration_ms: 7, output, timings, was_retried }))
}

fn failed(error: &str) -> Outcome {
    Outcome::Failed(Failure { error: error.into(), retryable: true, was_retried: false, duration_ms: 7 })
}

async fn journal(subject: &Subject, message: MessageId) -> Vec<(CallId, Option<Outcome>)> {
    let rows = subject.store.calls_of(message).await.expect("the journal is read");
    rows.into_iter().map(|row| (row.id, row.settled.map(Settled::into_outcome))).collect()
}

#[tokio::test]
async fn a_call_is_open_until_it_is_finished_and_then_keeps_its_outcome() {
    on_every_store(async |subject| {
        let (message, call) = begun(subject).await;
        assert_eq!(journal(subject, message).await, [(call, None)], "on {}", subject.name);
        assert_eq!(subject.store.finish_call(call, failed("first")).await.unwrap(), failed("first"));
        assert_eq!(subject.store.finish_call(call, failed("second")).await.unwrap(), failed("first"));
        assert_eq!(subject.store.finish_call(call, done(json!({}))).await.unwrap(), failed("first"));
        assert_eq!(journal(subject, message).await, [(call, Some(failed("first")))]);
        assert_eq!(journal(subject, MessageId::new()).await, []);
    })
    .await;
}

#[tokio::test]
async fn an_effect_is_committed_once_and_a_second_attempt_gets_the_first_output() {
    on_every_store(async |subject| {
        let (_, call) = begun(subject).await;
        assert_eq!(subject.store.settle_call(call, json!({"id": 1})).await.unwrap(), json!({"id": 1}));
        let second = subject.store.settle_call(call, json!({"id": 2})).await.unwrap();
        assert_eq!(second, json!({"id": 1}), "on {}", subject.name);
    })
    .await;
}

#[tokio::test]
async fn a_committed_effect_wins_over_a_failure_and_takes_its_report() {
    on_every_store(async |subject| {
        let (message, call) = begun(subject).await;
        subject.store.settle_call(call, json!({"id": 1})).await.unwrap();
        let kept = subject.store.finish_call(call, failed("cut off")).await.unwrap();
        let Outcome::Done(effect) = &kept else { panic!("the effect was lost on {}", subject.name) };
        assert_eq!(effect.output["id"], 1);
        let report = done(json!({"id": 1, "summary": "Added"}));
        assert_eq!(subject.store.finish_call(call, report.clone()).await.unwrap(), report);
        assert_eq!(subject.store.finish_call(call, failed("cut off")).await.unwrap(), report);
        assert_eq!(journal(subject, message).await, [(call, Some(report))]);
    })
    .await;
}

#[tokio::test]
async fn a_closed_or_unknown_call_has_no_effect() {
    on_every_store(async |subject| {
        let (message, call) = begun(subject).await;
        subject.store.finish_call(call, failed("too late")).await.unwrap();
        for call in [call, CallId::new()] {
            let settled = subject.store.settle_call(call, json!({"id": 1})).await;
            assert!(matches!(settled, Err(StoreError::Conflict(_))), "on {}", subject.name);
        }
        assert_eq!(journal(subject, message).await, [(call, Some(failed("too late")))]);
    })
    .await;
}
