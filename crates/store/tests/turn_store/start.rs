//! How turns start.

use engine::{ConversationId, MessageId, TurnId};
use store::{Again, Ended, FIRST_TOKEN, NewTurn, Saved, Start, StartedTurn, StoreError, TurnLimits};

use crate::subject::{message, message_in, on_every_store, user};

#[tokio::test]
async fn a_started_turn_runs_and_only_its_owner_sees_it() {
    on_every_store(async |subject| {
        let (ana, ben) = (user("ana"), user("ben"));
        let started = subject.start(&ana, message("n1")).await;
        let row = subject.store.turn(&ana, started.turn).await.unwrap();
        assert!(row.is_running());
        assert_eq!((row.conversation_id, row.message_id), (started.conversation.0, started.message.0));
        assert!(subject.store.is_running(started.turn).await.unwrap());
        assert_eq!(subject.store.running_turn(&ana, started.conversation).await.unwrap(), Some(started.turn));
        assert!(matches!(subject.store.turn(&ben, started.turn).await, Err(StoreError::NotFound)));
        assert!(matches!(subject.store.turn(&ana, TurnId::new()).await, Err(StoreError::NotFound)));
        assert_eq!(subject.store.running_turn(&ben, started.conversation).await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn a_conversation_of_another_owner_is_not_found() {
    on_every_store(async |subject| {
        let started = subject.start(&user("ana"), message("n1")).await;
        assert_eq!(subject.end(&started, FIRST_TOKEN).await, Ended::Stored);
        for new in [
            message_in(started.conversation, "n1"),
            message_in(ConversationId::new(), "n1"),
            NewTurn { new_conversation_id: Some(started.conversation), ..message("n1") },
        ] {
            let refused = subject.store.start_turn(&user("ben"), &new).await;
            assert!(matches!(refused, Err(StoreError::NotFound)), "on {}", subject.name);
        }
    })
    .await;
}

#[tokio::test]
async fn the_same_client_message_is_the_turn_that_exists() {
    on_every_store(async |subject| {
        let sent = || NewTurn { client_message_id: Some("m1"), ..message("n1") };
        let first = subject.start(&user("ana"), sent()).await;
        let again = subject.store.start_turn(&user("ana"), &sent()).await.unwrap();
        let Start::Existing(again) = again else { panic!("a second turn on {}", subject.name) };
        assert_eq!((again.turn, again.message), (first.turn, first.message));
        let other = subject.start(&user("ben"), sent()).await;
        assert_ne!(other.turn, first.turn, "ids of clients are each owner's own");
    })
    .await;
}

#[tokio::test]
async fn one_turn_runs_in_a_conversation_at_a_time() {
    on_every_store(async |subject| {
        let ana = user("ana");
        let first = subject.start(&ana, message("n1")).await;
        let second = subject.store.start_turn(&ana, &message_in(first.conversation, "n2")).await;
        assert!(matches!(second, Err(StoreError::Conflict(_))), "on {}", subject.name);
        let same_id = NewTurn { new_conversation_id: Some(first.conversation), ..message("n1") };
        assert!(matches!(subject.store.start_turn(&ana, &same_id).await, Err(StoreError::Conflict(_))));
        assert_eq!(subject.end(&first, FIRST_TOKEN).await, Ended::Stored);
        subject.start(&ana, message_in(first.conversation, "n2")).await;
    })
    .await;
}

fn again(question: MessageId) -> Again {
    Again { question, moves_client_id: false }
}

#[tokio::test]
async fn only_a_question_of_the_conversation_is_asked_again() {
    on_every_store(async |subject| {
        let (ana, question) = (user("ana"), MessageId::new());
        let first = subject.start(&ana, message("n1")).await;
        assert_eq!(subject.end_with(&first, FIRST_TOKEN, 0, &[1], None).await, Ended::Stored);
        let unknown = NewTurn { again: Some(again(question)), ..message_in(first.conversation, "n1") };
        assert!(matches!(subject.store.start_turn(&ana, &unknown).await, Err(StoreError::NotFound)));
        let answer = NewTurn { again: Some(again(first.message)), ..message_in(first.conversation, "n1") };
        let refused = subject.store.start_turn(&ana, &answer).await;
        assert!(matches!(refused, Err(StoreError::NotFound)), "an answer is no question");
        assert_eq!(subject.log(first.turn).await, ["[1]"], "what was refused changed nothing");
    })
    .await;
}

#[tokio::test]
async fn limits_count_running_and_recent_turns() {
    on_every_store(async |subject| {
        let ana = user("ana");
        let limited = |limits| NewTurn { limits, ..message("n1") };
        let at_once = TurnLimits { at_once: 1, per_minute: 9, ..TurnLimits::default() };
        let first = subject.start(&ana, limited(at_once)).await;
        let second = subject.store.start_turn(&ana, &limited(at_once)).await.unwrap();
        assert!(matches!(second, Start::Limited(_)), "one runs already on {}", subject.name);
        subject.start(&user("ben"), limited(at_once)).await;
        assert_eq!(subject.end(&first, FIRST_TOKEN).await, Ended::Stored);

        let per_minute = TurnLimits { per_minute: 1, ..TurnLimits::default() };
        let third = subject.store.start_turn(&ana, &limited(per_minute)).await.unwrap();
        assert!(matches!(third, Start::Limited(_)), "one began within this minute on {}", subject.name);
        subject.advance(chrono::TimeDelta::seconds(61));
        let later = subject.start(&ana, limited(per_minute)).await;
        assert_eq!(subject.end(&later, FIRST_TOKEN).await, Ended::Stored);
    })
    .await;
}

#[tokio::test]
async fn the_first_event_of_a_turn_is_stored_with_its_start() {
    on_every_store(async |subject| {
        let ana = user("ana");
        let row = |started: &StartedTurn| format!("[\"{}\"]", started.turn);
        let opened = |new| NewTurn { opening: Some(&row), ..new };
        let limits = TurnLimits { per_minute: 9, ..TurnLimits::default() };
        let first = subject.start(&ana, opened(message("n1"))).await;
        assert_eq!(subject.log(first.turn).await, [row(&first)], "on {}", subject.name);
        assert_eq!(subject.save(first.turn, FIRST_TOKEN, 0, &[1]).await, Saved::Holds(1), "it is counted");
        assert_eq!(subject.save(first.turn, FIRST_TOKEN, 1, &[1]).await, Saved::Done);
        assert_eq!(subject.end_with(&first, FIRST_TOKEN, 2, &[2], None).await, Ended::Stored);
        for new in [message_in(first.conversation, "n1"), NewTurn { limits, ..message("n1") }] {
            let turn = subject.start(&ana, opened(new)).await;
            assert_eq!(subject.log(turn.turn).await, [row(&turn)], "on {}", subject.name);
            assert_eq!(subject.end_with(&turn, FIRST_TOKEN, 1, &[2], None).await, Ended::Stored);
        }
    })
    .await;
}
