//! ChatKit's door, as far as it can be told without the package; `clients/` tries it with the package itself.

use engine::script::says;
use expect_test::expect;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{TestApp, frames, redacted};

fn input(text: &str) -> Value {
    json!({"content": [{"type": "input_text", "text": text}], "attachments": [], "inference_options": {}})
}

async fn send(app: &TestApp, kind: &str, params: Value) -> String {
    let response = app.post("/chatkit?agent=tasks", json!({"type": kind, "params": params})).await;
    assert_eq!(response.status(), 200);
    response.text().await.unwrap()
}

#[tokio::test]
async fn a_turn_is_a_thread_with_items() {
    let app = TestApp::scripted([
        says("Let me see.").calls("list_tasks", json!({})).calls("add_task", json!({"title": ""})),
        says("Nothing there."),
    ])
    .await;
    let body = send(&app, "threads.create", json!({"input": input("what is on?")})).await;
    expect![[r#""#]].assert_eq(&redacted(frames(&body)));
}

#[tokio::test]
async fn what_was_streamed_is_what_is_stored() {
    let app = TestApp::scripted([says("Let me see.").calls("list_tasks", json!({})), says("Nothing.")]).await;
    let body = send(&app, "threads.create", json!({"input": input("what is on?")})).await;
    let events: Vec<Value> = frames(&body).into_iter().map(|frame| serde_json::from_str(frame).unwrap()).collect();
    let done: Vec<_> = events.iter().filter(|event| event["type"] == "thread.item.done").map(|e| &e["item"]).collect();
    let params = json!({"thread_id": events[0]["thread"]["id"], "order": "asc"});
    let stored: Value = serde_json::from_str(&send(&app, "items.list", params).await).unwrap();
    assert_eq!(stored["data"].as_array().unwrap().iter().collect::<Vec<_>>(), done);
}

#[tokio::test]
async fn a_quote_is_part_of_what_is_asked() {
    let app = TestApp::scripted([says("Yes.")]).await;
    let mut input = input("really?");
    input["quoted_text"] = "it rains".into();
    send(&app, "threads.create", json!({"input": input})).await;
    assert_eq!(app.model.asked()[0].messages[0].text(), "> it rains\n\nreally?");
}

#[tokio::test]
async fn a_second_message_while_the_first_is_answered_is_refused() {
    let app = TestApp::scripted([says("Hm").then_hangs()]).await;
    let mut stream = app.open_chat(json!({"message": "go", "agent": "tasks"})).await;
    let start = stream.next().await.unwrap();
    let thread = &start["conversationId"];
    let question =
        app.get(&format!("/api/conversations/{}", thread.as_str().unwrap())).await["messages"][0]["id"].clone();
    for (kind, params) in [
        ("threads.add_user_message", json!({"thread_id": thread, "input": input("me too")})),
        ("threads.retry_after_item", json!({"thread_id": thread, "item_id": question})),
    ] {
        let (status, _) = app.answer(Method::POST, "/chatkit", Some(json!({"type": kind, "params": params}))).await;
        assert_eq!(status, 409, "{kind}");
    }
    app.post(&format!("/api/turns/{}/stop", start["turnId"].as_str().unwrap()), json!({})).await;
    assert_eq!(stream.rest().await.last().unwrap()["stopReason"], "stopped", "the first was left alone");
}
