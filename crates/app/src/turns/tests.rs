//! Running turns over the store in memory.

use engine::Kind;
use store::{MemoryTurnStore, NewTurn, Start, Takeover, TurnLimits};

use super::*;

async fn start(store: &MemoryTurnStore, owner: &UserId) -> StartedTurn {
    let new = NewTurn {
        conversation: None,
        new_conversation_id: None,
        again: None,
        agent: "tasks",
        text: "hello",
        client_message_id: None,
        model: None,
        decides: None,
        node: "here",
        limits: TurnLimits::default(),
        opening: Some(&|started: &StartedTurn| first_row(started, 1)),
    };
    let Start::New(started) = store.start_turn(owner, &new).await.unwrap() else { panic!("it is new") };
    started
}

fn says(text: &str) -> Kind {
    Kind::TextDelta { block: 0, text: text.to_owned() }
}

#[tokio::test]
async fn the_end_of_an_answer_that_came_at_once_saves_one_short_row() {
    let store = Arc::new(MemoryTurnStore::default());
    let turns = Turns::new(store.clone(), "here".to_owned(), CancellationToken::new());
    let started = start(&store, &UserId::new("ann")).await;
    let live = turns.begin(started.clone(), 1);
    (0..400).for_each(|_| live.publish(says(&"x".repeat(2_000))));
    live.save_full_rows(&*store).await.unwrap();
    let last = live.last_events(says("the end")).await;
    let rows = store.events_from(started.turn, 0, i64::MAX).await.unwrap();
    assert!(rows.iter().chain([&last.row]).all(|row| row.len() < 40_000), "a reader holds a few rows in memory");
    let n_last = serde_json::from_str::<Vec<Event>>(&last.row).unwrap().len();
    assert_eq!(read(&*store, started.turn, 0, i64::MAX).await.unwrap().0.len() + n_last, 402);
}

#[tokio::test]
async fn the_output_of_a_call_is_stored_once_and_every_reader_gets_it() {
    let store = Arc::new(MemoryTurnStore::default());
    let turns = Turns::new(store.clone(), "here".to_owned(), CancellationToken::new());
    let owner = UserId::new("ann");
    let started = start(&store, &owner).await;
    let live = turns.begin(started.clone(), 1);
    let (id, input) = (engine::CallId::new(), Arc::new(serde_json::json!({})));
    let call = engine::Call { id, owner: owner.clone(), message: Some(started.message), name: "search".into(), input };
    live.begin_call(&*store, &call, "Search").await.unwrap();
    let done: engine::Done = serde_json::from_value(serde_json::json!({
        "summary": "Found 1", "count": 1, "duration_ms": 1, "output": {"tracks": ["x".repeat(1_000)]}
    }))
    .unwrap();
    let done = Arc::new(done);
    store.finish_call(id, live.token, engine::Outcome::Done(done.clone())).await.unwrap();
    live.publish(Kind::ToolDone { call: id, name: "search".into(), done });
    live.save(&*store).await.unwrap();

    let rows = store.events_from(started.turn, 0, i64::MAX).await.unwrap();
    assert!(rows.concat().contains("Found 1") && rows.concat().len() < 1_000, "{rows:?}");
    let here = live.events();
    let elsewhere = read(&*store, started.turn, 0, i64::MAX).await.unwrap().0;
    assert_eq!(elsewhere, here);
}

#[tokio::test]
async fn a_reader_takes_one_output_at_a_time() {
    let store = Arc::new(MemoryTurnStore::default());
    let turns = Turns::new(store.clone(), "here".to_owned(), CancellationToken::new());
    let owner = UserId::new("ann");
    let started = start(&store, &owner).await;
    let live = turns.begin(started.clone(), 1);
    for _ in 0..3 {
        let (id, input, name) = (engine::CallId::new(), Arc::new(serde_json::json!({})), "search".to_owned());
        let call = engine::Call { id, owner: owner.clone(), message: Some(started.message), name, input };
        live.begin_call(&*store, &call, "Search").await.unwrap();
        let done = serde_json::json!({"summary": "s", "count": 1, "duration_ms": 1, "output": {"all": "x"}});
        let done: Arc<engine::Done> = Arc::new(serde_json::from_value(done).unwrap());
        store.finish_call(id, live.token, engine::Outcome::Done(done.clone())).await.unwrap();
        live.publish(Kind::ToolDone { call: id, name: "search".into(), done });
    }
    live.save(&*store).await.unwrap();
    let n_outputs = |batch: &Vec<Arc<Event>>| {
        batch
            .iter()
            .filter(|event| matches!(&event.kind, Kind::ToolDone { done, .. } if !done.output.is_null()))
            .count()
    };
    let here: Vec<_> = live.follow(0).take(3).collect().await;
    let saved = follow_saved(store, started.turn, false, 0, CancellationToken::new());
    let elsewhere: Vec<_> = saved.collect().await;
    assert_eq!(here.iter().map(n_outputs).collect::<Vec<_>>(), [1, 1, 1], "of a live turn");
    assert_eq!(elsewhere.iter().map(n_outputs).collect::<Vec<_>>(), [1, 1, 1], "of a saved one");
}

/// The effect of a call to another server cannot be fenced, so the call must not be made.
#[tokio::test]
async fn a_node_that_lost_a_turn_begins_no_call_although_its_events_are_saved() {
    let store = Arc::new(MemoryTurnStore::default());
    let turns = Turns::new(store.clone(), "here".to_owned(), CancellationToken::new());
    let owner = UserId::new("ann");
    let started = start(&store, &owner).await;
    let live = turns.begin(started.clone(), 1);
    let dead = store.dead_turns(Some("here")).await.unwrap().remove(0);
    store.take_over(&dead, "here", Takeover::Continue).await.unwrap().unwrap();
    let (message, input) = (Some(started.message), Arc::new(serde_json::json!({})));
    let call = engine::Call { id: engine::CallId::new(), owner, message, name: "other__add".into(), input };
    assert!(matches!(live.begin_call(&*store, &call, "Add").await, Err(SaveError::LeaseLost)));
}

/// Between releasing a turn and forgetting it a node may wait for the database. A reader that comes back meanwhile gets
/// what another node has saved.
#[tokio::test]
async fn a_reader_of_a_released_turn_gets_the_rest_from_the_database() {
    let store = Arc::new(MemoryTurnStore::default());
    let node = |name: &str| Turns::new(store.clone(), name.to_owned(), CancellationToken::new());
    let (here, there, owner) = (node("here"), node("there"), UserId::new("ann"));
    let started = start(&store, &owner).await;
    let live = here.begin(started.clone(), 1);
    live.publish(says("one "));
    live.save(&*store).await.unwrap();
    live.leave();
    store.release(started.turn, live.token).await.unwrap();
    let dead = store.dead_turns(None).await.unwrap().remove(0);
    let token = store.take_over(&dead, "there", Takeover::Continue).await.unwrap().unwrap();
    let taken = there.resume(started.clone(), token, live.events(), 0);
    taken.publish(says("two"));
    taken.save(&*store).await.unwrap();

    let mut stream = here.follow(&owner, started.turn, 0).await.unwrap();
    let mut read = Vec::new();
    while let Some(new) = stream.next().await {
        read.extend(new.iter().map(|event| event.kind.clone()));
        if read.len() == 3 {
            break;
        }
    }
    assert_eq!(read, [first_event(&started, 1).kind, says("one "), says("two")]);
}
