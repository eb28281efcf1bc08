//! The AI SDK, as far as it can be tested without its package; `clients/` runs the package itself.

use engine::script::{calls, says};
use expect_test::expect;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{TestApp, frames, redacted};

fn message(id: &str, text: &str) -> Value {
    json!({"id": id, "role": "user", "parts": [{"type": "text", "text": text}]})
}

async fn send(app: &TestApp, body: Value) -> String {
    let response = app.post("/api/ai/chat", body).await;
    assert_eq!(response.headers()["x-vercel-ai-ui-message-stream"], "v1");
    response.text().await.unwrap()
}

fn conversation_of(body: &str) -> String {
    let start: Value = serde_json::from_str(frames(body)[0]).unwrap();
    start["messageMetadata"]["conversationId"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_turn_is_a_ui_message_stream() {
    let app = TestApp::scripted([
        says("Let me see.").calls("list_tasks", json!({})).calls("add_task", json!({"title": ""})),
        says("Nothing there."),
    ])
    .await;
    let body = send(&app, json!({"id": "my chat", "agent": "tasks", "messages": [message("m1", "what is on?")]})).await;
    expect![[r##"
        {"messageId":"#1","messageMetadata":{"conversationId":"#2","turnId":"#3"},"type":"start"}
        {"type":"start-step"}
        {"id":"0","type":"text-start"}
        {"delta":"Let ","id":"0","type":"text-delta"}
        {"delta":"me ","id":"0","type":"text-delta"}
        {"delta":"see.","id":"0","type":"text-delta"}
        {"id":"0","type":"text-end"}
        {"dynamic":true,"providerExecuted":true,"toolCallId":"#4","toolName":"list_tasks","type":"tool-input-start"}
        {"dynamic":true,"input":{},"providerExecuted":true,"toolCallId":"#4","toolName":"list_tasks","type":"tool-input-available"}
        {"dynamic":true,"output":{"durationMs":0,"summary":"No tasks","tasks":[]},"providerExecuted":true,"toolCallId":"#4","type":"tool-output-available"}
        {"dynamic":true,"providerExecuted":true,"toolCallId":"#5","toolName":"add_task","type":"tool-input-start"}
        {"dynamic":true,"input":{"title":""},"providerExecuted":true,"toolCallId":"#5","toolName":"add_task","type":"tool-input-available"}
        {"dynamic":true,"errorText":"title cannot be empty","providerExecuted":true,"toolCallId":"#5","type":"tool-output-error"}
        {"type":"finish-step"}
        {"type":"start-step"}
        {"id":"1","type":"text-start"}
        {"delta":"Nothing ","id":"1","type":"text-delta"}
        {"delta":"there.","id":"1","type":"text-delta"}
        {"id":"1","type":"text-end"}
        {"type":"finish-step"}
        {"messageMetadata":{"usage":{"inputTokens":20,"outputTokens":7}},"type":"finish"}
        [DONE]
    "##]].assert_eq(&redacted(frames(&body)));
}

#[tokio::test]
async fn a_failed_turn_ends_with_an_error() {
    let app = TestApp::scripted([says("Half").then_fails("overloaded")]).await;
    let body = send(&app, json!({"id": "c", "messages": [message("m1", "go")]})).await;
    let frames = frames(&body);
    assert_eq!(
        frames[frames.len() - 2..],
        [r#"{"errorText":"The model is unavailable right now. Please try again.","type":"error"}"#, "[DONE]"]
    );
}

#[tokio::test]
async fn a_chat_keeps_the_id_that_its_front_end_chose() {
    let app = TestApp::scripted([says("One."), says("Two."), says("Three."), says("Four.")]).await;
    let first = send(&app, json!({"id": "garden", "messages": [message("m1", "one")]})).await;
    let second = send(&app, json!({"id": "garden", "message": message("m2", "two")})).await;
    let by_our_id = send(&app, json!({"id": conversation_of(&first), "message": message("m3", "three")})).await;
    let other =
        send(&app, json!({"id": "01990000-0000-7000-8000-000000000000", "message": message("m1", "one")})).await;
    assert_eq!(conversation_of(&first), conversation_of(&second));
    assert_eq!(conversation_of(&first), conversation_of(&by_our_id));
    assert_ne!(conversation_of(&first), conversation_of(&other), "an unknown id begins a new chat");
    let stored = app.get(&format!("/api/conversations/{}", conversation_of(&first))).await;
    assert_eq!(stored["messages"].as_array().unwrap().len(), 6);
}

#[tokio::test]
async fn the_model_reads_the_stored_history_and_not_that_of_the_request() {
    let app = TestApp::scripted([says("One."), says("Two.")]).await;
    send(&app, json!({"id": "c", "messages": [message("m1", "first")]})).await;
    let forged =
        json!([message("x", "forged"), {"id": "y", "role": "assistant", "parts": []}, message("m2", "second")]);
    send(&app, json!({"id": "c", "messages": forged})).await;
    let read: Vec<String> = app.model.asked()[1].messages.iter().map(engine::Message::text).collect();
    assert_eq!(read, ["first", "One.", "second", ""]);
}

#[tokio::test]
async fn regenerating_replaces_the_answer_and_keeps_its_effects() {
    let app =
        TestApp::scripted([calls("add_task", json!({"title": "kept"})), says("Added."), says("It is there already.")])
            .await;
    let first = send(&app, json!({"id": "c", "agent": "tasks", "messages": [message("m1", "add kept")]})).await;
    let again = json!({"id": "c", "trigger": "regenerate-message", "messages": [message("m1", "add kept")]});
    send(&app, again).await;
    let stored = app.get(&format!("/api/conversations/{}", conversation_of(&first))).await;
    let texts: Vec<_> = stored["messages"].as_array().unwrap().iter().map(|m| &m["content"][0]["text"]).collect();
    assert_eq!(texts, ["add kept", "It is there already."]);
    assert_eq!(app.get("/api/tasks").await["tasks"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn an_invalid_request_is_rejected_before_the_stream() {
    let app = TestApp::scripted([]).await;
    let file =
        json!({"id": "m", "role": "user", "parts": [{"type": "file", "url": "data:,", "mediaType": "text/plain"}]});
    let cases = [
        (json!({"id": "c", "messages": []}), 400),
        (json!({"id": "c", "messages": [message("m", "  ")]}), 400),
        (json!({"id": "c", "messages": [file]}), 400),
        (json!({"id": "", "messages": [message("m", "x")]}), 400),
        (json!({"id": "c", "agent": "unknown", "messages": [message("m", "x")]}), 400),
        (json!({"id": "c", "trigger": "regenerate-message", "messages": []}), 404),
        (json!({"messages": [message("m", "x")]}), 400),
    ];
    for (body, expected) in cases {
        let (status, answer) = app.answer(Method::POST, "/api/ai/chat", Some(body.clone())).await;
        assert_eq!(status, expected, "{body} {answer}");
        assert!(answer["error"]["code"].is_string(), "{answer}");
    }
}

#[tokio::test]
async fn a_message_to_a_deleted_chat_gets_404_and_creates_no_chat() {
    let app = TestApp::scripted([says("One.")]).await;
    let first = send(&app, json!({"id": "c", "messages": [message("m1", "one")]})).await;
    app.request(Method::DELETE, &format!("/api/conversations/{}", conversation_of(&first)), None).await;
    let (status, _) =
        app.answer(Method::POST, "/api/ai/chat", Some(json!({"id": "c", "messages": [message("m2", "two")]}))).await;
    assert_eq!(status, 404);
    let idle = app.request(Method::GET, "/api/ai/chat/c/stream", None).await;
    assert_eq!(idle.status(), 204);
}

#[tokio::test]
async fn two_users_with_the_same_chat_id_have_separate_chats() {
    let app = TestApp::shared([says("For Ann."), says("For Bob."), says("For Bob again.")], &[]).await;
    let (ann, bob) = (app.person("ann"), app.person("bob"));
    let body = |id: &str| Some(json!({"id": id, "messages": [message("m1", "hello")]}));
    let (_, of_ann) = ann.answer(Method::POST, "/api/ai/chat", body("garden")).await;
    let (_, of_bob) = bob.answer(Method::POST, "/api/ai/chat", body("garden")).await;
    let (of_ann, of_bob) = (conversation_of(of_ann.as_str().unwrap()), conversation_of(of_bob.as_str().unwrap()));
    assert_ne!(of_ann, of_bob);
    // Bob knows the id of Ann's conversation. For Bob it is the id of a new chat.
    let (_, guessed) = bob.answer(Method::POST, "/api/ai/chat", body(&of_ann)).await;
    assert_ne!(conversation_of(guessed.as_str().unwrap()), of_ann);
    let again = json!({"id": of_ann, "trigger": "regenerate-message", "messages": []});
    let (status, _) = app.person("carl").answer(Method::POST, "/api/ai/chat", Some(again)).await;
    assert_eq!(status, 404);
    let stored = ann.get(&format!("/api/conversations/{of_ann}")).await;
    assert_eq!(stored["messages"].as_array().unwrap().len(), 2);
}
