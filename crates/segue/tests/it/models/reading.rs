//! How much of its prompt a local server has read.

use doubles::model::{Family, Step};
use serde_json::{Value, json};

use super::{Server, started};
use crate::support::{World, command};

/// The frames of one answer, after the doctor has found out what the server is, and whether it was asked for progress.
async fn answered_by(family: Family) -> (Vec<Value>, Value) {
    let (server, world) = (Server::start(family).await, World::new().await);
    server.double.play([Step::calls("report_number", json!({"number": 7})), Step::says("Hello.")]);
    let (code, said, _) = command(&world, &[("OPENAI_BASE_URL", server.url())], &["doctor"]).await;
    assert_eq!(code, 0, "{said}");
    let app = started(&world, &[("OPENAI_BASE_URL", &server.url())]).await;
    let frames = app.say("hello").await;
    (frames, server.double.asked().pop().unwrap()["return_progress"].clone())
}

#[tokio::test]
async fn a_server_that_reports_its_progress_is_asked_for_it_and_others_are_not() {
    let (frames, is_asked) = answered_by(Family::LlamaCpp).await;
    let read: Vec<_> = frames.iter().filter(|frame| frame["type"] == "reading").collect();
    assert_eq!((is_asked, read.len()), (json!(true), 2), "{frames:?}");
    let n_tokens = |field: &str| read.iter().map(|frame| frame[field].as_u64().unwrap()).collect::<Vec<_>>();
    let total = n_tokens("tokensTotal")[0];
    assert_eq!((n_tokens("tokensRead"), n_tokens("tokensTotal")), (vec![total / 2, total], vec![total, total]));
    assert_eq!(frames.last().unwrap()["type"], "message_end");

    let (frames, is_asked) = answered_by(Family::Ollama).await;
    assert_eq!((is_asked, frames.iter().any(|frame| frame["type"] == "reading")), (Value::Null, false), "{frames:?}");
}
