//! AG-UI's door, as far as it can be told without the package; `clients/` tries it with the package itself.

use engine::script::says;
use expect_test::expect;
use reqwest::Method;
use serde_json::json;

use crate::support::{TestApp, frames, redacted};

#[tokio::test]
async fn a_turn_is_a_run() {
    let app = TestApp::scripted([
        says("Let me see.").calls("list_tasks", json!({})).calls("add_task", json!({"title": ""})),
        says("Nothing there."),
    ])
    .await;
    let input =
        json!({"threadId": "t", "runId": "r", "messages": [{"id": "m", "role": "user", "content": "what is on?"}]});
    let body = app.post("/ag-ui?agent=tasks", input).await.text().await.unwrap();
    expect![[r#""#]].assert_eq(&redacted(frames(&body)));
}

#[tokio::test]
async fn what_cannot_be_answered_is_refused_before_the_run() {
    let app = TestApp::scripted([]).await;
    let image = json!([{"type": "image", "source": {}}]);
    for message in [
        json!({"id": "m", "role": "assistant", "content": "x"}),
        json!({"id": "m", "role": "user"}),
        json!({"id": "m", "role": "user", "content": image}),
        json!({"id": "m", "role": "user", "content": " "}),
    ] {
        let input = json!({"threadId": "t", "runId": "r", "messages": [message]});
        let (status, body) = app.answer(Method::POST, "/ag-ui", Some(input)).await;
        assert_eq!((status, body["error"]["code"].as_str()), (400, Some("VALIDATION_ERROR")), "{message}");
    }
}
