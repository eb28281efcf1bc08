//! A consent and the turn that carries it out: one commit, and a node that takes the turn over finds the call.

use std::sync::Arc;

use engine::{Call, CallId, Recorded, UserId};
use serde_json::json;
use store::{ConsentScope, FIRST_TOKEN, NewConsent, NewTurn, Start, StartedTurn, Store, StoreError, Takeover};
use uuid::Uuid;

use crate::subject::{message, message_in, on_every_database, user};

async fn start(store: &Store, owner: &UserId, new: NewTurn<'_>) -> Result<StartedTurn, StoreError> {
    match store.start_turn(owner, &new).await? {
        Start::New(started) => Ok(started),
        Start::Existing(_) | Start::Limited(_) => panic!("the turn is new"),
    }
}

async fn begin(store: &Store, owner: &UserId, turn: &StartedTurn, id: CallId) -> bool {
    let (owner, message, name) = (owner.clone(), Some(turn.message), "other__add".into());
    let call = Call { id, owner, message, name, input: Arc::new(json!({"title": "x"})) };
    store.begin_call(&call, "Add", FIRST_TOKEN).await.unwrap()
}

/// A question about a call in a conversation, and the turn that asked it.
async fn asked(store: &Store, owner: &UserId) -> (StartedTurn, Uuid) {
    let turn = start(store, owner, message("n1")).await.unwrap();
    let (call, input) = (CallId::new(), json!({"title": "x"}));
    let new = NewConsent { owner, answer: turn.message, call, tool_name: "other__add", input: &input };
    begin(store, owner, &turn, call).await;
    let id = store.ask_consent(&new).await.unwrap();
    (turn, id)
}

#[tokio::test]
async fn a_decision_whose_turn_cannot_start_is_not_made() {
    on_every_database(async |store| {
        let ann = user("ann");
        let (turn, id) = asked(store, &ann).await;
        let decides = Some((id, ConsentScope::Once));
        let allowed = NewTurn { decides, ..message_in(turn.conversation, "n1") };
        assert!(matches!(start(store, &ann, allowed).await, Err(StoreError::Conflict(_))), "a turn runs there");
        store.open_consent(&ann, id).await.expect("the question is open as before");
        let allowed = NewTurn { decides, ..message("n1") };
        start(store, &ann, allowed).await.unwrap();
        assert!(matches!(store.open_consent(&ann, id).await, Err(StoreError::Conflict(_))), "decided");
        let again = NewTurn { decides, ..message("n1") };
        assert!(matches!(start(store, &ann, again).await, Err(StoreError::Conflict(_))), "once");
        assert_eq!(store.n_running_turns(&ann).await.unwrap(), 2, "a decision that comes too late starts nothing");
    })
    .await;
}

#[tokio::test]
async fn the_call_of_a_decision_is_known_to_a_node_that_takes_its_turn_over_until_it_is_used() {
    on_every_database(async |store| {
        let (ann, bob) = (user("ann"), user("bob"));
        let (first, id) = asked(store, &ann).await;
        assert_eq!(store.decided_call(&ann, first.turn).await.unwrap(), None, "this turn decides nothing");
        let name = store.open_consent(&ann, id).await.unwrap().client_message_id();
        let decides = Some((id, ConsentScope::Once));
        let allowed = NewTurn { decides, client_message_id: Some(&name), ..message("n1") };
        let turn = start(store, &ann, allowed).await.unwrap();
        let call = Some(("other__add".to_owned(), json!({"title": "x"})));
        assert_eq!(store.decided_call(&ann, turn.turn).await.unwrap(), call);
        assert_eq!(store.decided_call(&bob, turn.turn).await.unwrap(), None, "not another user's");
        let (call, input) = (CallId::new(), json!({"title": "x"}));
        begin(store, &ann, &first, call).await;
        let asked = NewConsent { owner: &ann, answer: first.message, call, tool_name: "other__add", input: &input };
        assert!(store.use_consent(&asked).await.unwrap());
        assert_eq!(store.decided_call(&ann, turn.turn).await.unwrap(), None, "a consent is for one call");
    })
    .await;
}

#[tokio::test]
async fn a_call_that_has_only_asked_has_not_run() {
    on_every_database(async |store| {
        let ann = user("ann");
        let (turn, _) = asked(store, &ann).await;
        let under_way = CallId::new();
        assert!(begin(store, &ann, &turn, under_way).await);
        let dead = store.dead_turns(Some("n1")).await.unwrap().remove(0);
        store.take_over(&dead, "n1", Takeover::Continue).await.unwrap().expect("it is this node's");
        let known: Vec<_> = store.calls_of(turn.message).await.unwrap();
        let known: Vec<_> = known.into_iter().map(|row| (row.id, row.recorded)).collect();
        assert_eq!(
            known,
            [(under_way, Recorded::Begun)],
            "the question is asked again, the other call is not made again"
        );
    })
    .await;
}

#[tokio::test]
async fn a_node_that_lost_the_turn_asks_for_no_consent_and_uses_none() {
    on_every_database(async |store| {
        let ann = user("ann");
        let (first, id) = asked(store, &ann).await;
        let decides = Some((id, ConsentScope::Once));
        start(store, &ann, NewTurn { decides, ..message("n1") }).await.unwrap();
        let (call, input) = (CallId::new(), json!({"title": "x"}));
        assert!(begin(store, &ann, &first, call).await);
        let asked = NewConsent { owner: &ann, answer: first.message, call, tool_name: "other__add", input: &input };
        for dead in store.dead_turns(Some("n1")).await.unwrap() {
            store.take_over(&dead, "n1", Takeover::Continue).await.unwrap().expect("it is free");
        }
        assert!(!store.use_consent(&asked).await.unwrap(), "the other node makes the call");
        assert!(matches!(store.ask_consent(&asked).await, Err(StoreError::NotFound)));
        assert!(!begin(store, &ann, &first, CallId::new()).await, "it must not make a call");
        assert_eq!(store.consents(&ann, first.conversation).await.unwrap().len(), 1, "no question is added");
    })
    .await;
}
