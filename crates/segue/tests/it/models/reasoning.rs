//! Reasoning: every protocol shows it in a place of its own, and it is no part of the answer.

use engine::script::{Reply, says};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{TestApp, frames};

fn thinking() -> Reply {
    Reply::default().thinks("The user ").thinks("wants rain.\n").thinks("So I look.").says("Here.")
}

#[tokio::test]
async fn reasoning_is_streamed_by_lines_and_neither_stored_nor_sent_to_the_model_again() {
    let app = TestApp::scripted([thinking(), says("Again.")]).await;
    let first = app.chat(json!({"message": "go", "agent": "tasks"})).await;
    let thoughts: Vec<_> =
        first.iter().filter(|frame| frame["type"] == "reasoning").map(|frame| &frame["content"]).collect();
    assert_eq!(thoughts, ["The user wants rain.\n", "So I look."], "{first:?}");
    let numbers: Vec<_> = first.iter().map(|frame| frame["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=first.len() as u64).collect::<Vec<_>>());

    let conversation = first[0]["conversationId"].as_str().unwrap();
    let stored = app.get(&format!("/api/conversations/{conversation}")).await;
    assert_eq!(stored["messages"][1]["content"], json!([{"type": "text", "text": "Here."}]));
    app.chat(json!({"message": "again", "conversationId": conversation})).await;
    let sent = format!("{:?}", app.model.asked()[1].messages);
    assert!(sent.contains("Here.") && !sent.contains("wants rain"), "{sent}");
}

#[tokio::test]
async fn every_protocol_has_a_place_for_reasoning() {
    let app = TestApp::scripted([thinking(), thinking(), thinking(), thinking()]).await;
    let parsed = |body: &str| -> Vec<Value> {
        frames(body).into_iter().filter_map(|frame| serde_json::from_str(frame).ok()).collect()
    };
    let types = |events: &[Value], part: &str| -> Vec<String> {
        let types = events.iter().filter_map(|event| event["type"].as_str());
        types.filter(|kind| kind.to_lowercase().contains(part)).map(str::to_owned).collect()
    };

    let message = json!({"id": "m", "role": "user", "parts": [{"type": "text", "text": "go"}]});
    let ask = json!({"id": "a chat", "agent": "tasks", "messages": [message]});
    let events = parsed(&app.post("/api/ai/chat", ask).await.text().await.unwrap());
    let one = ["reasoning-start", "reasoning-delta", "reasoning-end"];
    assert_eq!(types(&events, "reasoning"), [one, one].concat(), "{events:?}");
    let deltas: Vec<_> = events.iter().filter(|event| event["type"] == "reasoning-delta").collect();
    assert!(deltas[0]["id"] != deltas[1]["id"] && deltas[1]["delta"] == "So I look.", "{deltas:?}");

    let run = json!({"threadId": "t", "runId": "r", "messages": [{"id": "m", "role": "user", "content": "go"}]});
    let events = parsed(&app.post("/ag-ui?agent=tasks", run).await.text().await.unwrap());
    let one = [
        "REASONING_START",
        "REASONING_MESSAGE_START",
        "REASONING_MESSAGE_CONTENT",
        "REASONING_MESSAGE_END",
        "REASONING_END",
    ];
    assert_eq!(types(&events, "reasoning"), [one, one].concat(), "{events:?}");

    let input = json!({"content": [{"type": "input_text", "text": "go"}], "attachments": [], "inference_options": {}});
    let create = json!({"type": "threads.create", "params": {"input": input}});
    let events = parsed(&app.post("/chatkit?agent=tasks", create).await.text().await.unwrap());
    let is_told = |event: &Value| event["type"] == "progress_update" && event["text"] == "Thinking";
    assert!(events.iter().any(is_told), "{events:?}");
    assert!(!format!("{events:?}").contains("wants rain"), "an item that is not stored is not shown: {events:?}");

    let (status, answer) = app.answer(Method::POST, "/api/local/chat", Some(json!({"message": "go"}))).await;
    assert_eq!((status, &answer["response"]), (200, &json!("Here.")), "{answer}");
}
