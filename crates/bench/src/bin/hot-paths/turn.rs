//! The events of a turn: encoded, decoded, folded, stored; its calls in the journal; its history for a model.

use std::{collections::HashMap, hint::black_box, sync::Arc};

use engine::{Block, Call, CallId, Done, Event, Kind, Message, Outcome, Progress, Prompt, UserId};
use providers::{AnthropicModel, Http};
use serde_json::{Value, json};
use store::{Durability, FIRST_TOKEN, NewTurn, Save, Saved, Start, StartedTurn, Store, TurnLimits, TurnStore};

const N_DELTAS: u32 = 80;
/// A result of about ten kilobytes.
const N_TASKS: usize = 60;
/// Questions with an answer each.
const N_ANSWERS: u32 = 20;
const TOOL: &str = "list_tasks";

pub(crate) fn encode(times: u32) -> anyhow::Result<()> {
    let events = events();
    for _ in 0..times {
        black_box(serde_json::to_string(black_box(&events))?);
    }
    Ok(())
}

pub(crate) fn decode(times: u32) -> anyhow::Result<()> {
    let text = serde_json::to_string(&events())?;
    for _ in 0..times {
        black_box(serde_json::from_str::<Vec<Event>>(black_box(&text))?);
    }
    Ok(())
}

pub(crate) fn fold(times: u32) -> anyhow::Result<()> {
    let events = events();
    for _ in 0..times {
        black_box(Progress::of(black_box(&events), HashMap::new()).content());
    }
    Ok(())
}

pub(crate) async fn append(times: u32) -> anyhow::Result<()> {
    let (store, _folder) = opened().await?;
    let events = events();
    let (turn, row, n_events) = (started(&store).await?.turn, serde_json::to_string(&events)?, events.len() as i64);
    for n in 0..i64::from(times) {
        let save = Save { turn, token: FIRST_TOKEN, first: n * n_events, n_events, events: row.clone() };
        let saved = TurnStore::save_events(&store, &[save], Durability::Process).await?;
        anyhow::ensure!(saved == [Saved::Done], "the events were not saved");
    }
    Ok(())
}

pub(crate) async fn journal(times: u32) -> anyhow::Result<()> {
    let (store, _folder) = opened().await?;
    let message = started(&store).await?.message;
    for n in 0..times {
        let call = Call {
            id: call_id(n),
            owner: UserId::new("ana"),
            message: Some(message),
            name: TOOL.into(),
            input: Arc::new(json!({"filter": "all"})),
        };
        TurnStore::begin_call(&store, &call, "List tasks", FIRST_TOKEN).await?;
        TurnStore::finish_call(&store, call.id, FIRST_TOKEN, Outcome::Done(outcome())).await?;
    }
    Ok(())
}

/// The request body for a conversation in which each answer made a call.
pub(crate) fn unfold(times: u32) -> anyhow::Result<()> {
    let model = AnthropicModel::new(Http::new()?, "https://api.anthropic.com", "not-a-key", "any")?;
    let answer = |n: u32| {
        let content = vec![
            Block::ToolUse { id: call_id(n), name: TOOL.into(), input: json!({"filter": "all"}) },
            Block::ToolResult { tool_use_id: call_id(n), content: Arc::new(output()), is_error: false },
            Block::Text { text: "word of an answer ".repeat(80) },
        ];
        [Message::user(format!("What is on my list, for the {n}th time?")), Message::assistant(content)]
    };
    let mut messages: Vec<Message> = (0..N_ANSWERS).flat_map(answer).collect();
    messages.push(Message::user("And now?"));
    let prompt =
        Prompt { system: "You keep a list of tasks.".into(), tools: Arc::new([]), messages, may_call_tools: true };
    for _ in 0..times {
        black_box(model.request(black_box(&prompt)));
    }
    Ok(())
}

fn call_id(n: u32) -> CallId {
    CallId(uuid::Uuid::from_u128(u128::from(n) + 1))
}

fn output() -> Value {
    let task = |n| json!({"id": n, "title": format!("task {n}"), "description": "something to be done ".repeat(6)});
    json!({"tasks": (0..N_TASKS).map(task).collect::<Vec<_>>(), "summary": "60 tasks", "durationMs": 3})
}

fn outcome() -> Arc<Done> {
    Arc::new(Done {
        summary: "60 tasks".into(),
        count: N_TASKS,
        duration_ms: 3,
        output: Arc::new(output()),
        timings: Default::default(),
        was_retried: false,
    })
}

/// A turn with a text, a call and its result.
fn events() -> Vec<Event> {
    let call = call_id(7);
    let mut kinds = vec![Kind::TextStarted { block: 0 }];
    kinds.extend((0..N_DELTAS).map(|n| Kind::TextDelta { block: 0, text: format!("word {n} of an answer ") }));
    let input = Arc::new(json!({"filter": "all"}));
    kinds.push(Kind::ToolStarted { call, name: TOOL.into(), title: "List tasks".into(), input });
    kinds.push(Kind::ToolDone { call, name: TOOL.into(), done: outcome() });
    (1..).zip(kinds).map(|(seq, kind)| Event { seq, at_ms: 1_700_000_000_000, kind }).collect()
}

async fn opened() -> anyhow::Result<(Store, tempfile::TempDir)> {
    let folder = tempfile::tempdir()?;
    let store = Store::open(&format!("sqlite:{}", folder.path().join("hot.db").display()), 1).await?;
    Ok((store, folder))
}

async fn started(store: &Store) -> anyhow::Result<StartedTurn> {
    let new = NewTurn {
        conversation: None,
        new_conversation_id: None,
        again: None,
        agent: "tasks",
        text: "What is on my list?",
        client_message_id: None,
        model: None,
        decides: None,
        node: "n1",
        limits: TurnLimits::default(),
        opening: None,
    };
    match TurnStore::start_turn(store, &UserId::new("ana"), &new).await? {
        Start::New(started) => Ok(started),
        Start::Existing(_) | Start::Limited(_) => anyhow::bail!("the turn is not new"),
    }
}
