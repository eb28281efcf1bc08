//! AG-UI, as far as it can be tested without its package; `clients/` runs the package itself.

use engine::script::says;
use expect_test::expect;
use reqwest::Method;
use serde_json::json;

use crate::support::{TestApp, frames, redacted};

#[tokio::test]
async fn a_turn_is_streamed_as_one_run() {
    let app = TestApp::scripted([
        says("Let me see.").calls("list_tasks", json!({})).calls("add_task", json!({"title": ""})),
        says("Nothing there."),
    ])
    .await;
    let input =
        json!({"threadId": "t", "runId": "r", "messages": [{"id": "m", "role": "user", "content": "what is on?"}]});
    let body = app.post("/ag-ui?agent=tasks", input).await.text().await.unwrap();
    expect![[r##"
        {"metadata":{"conversationId":"#1","turnId":"#2"},"runId":"r","threadId":"t","type":"RUN_STARTED"}
        {"stepName":"step-0","type":"STEP_STARTED"}
        {"messageId":"r.0","role":"assistant","type":"TEXT_MESSAGE_START"}
        {"delta":"Let ","messageId":"r.0","type":"TEXT_MESSAGE_CONTENT"}
        {"delta":"me ","messageId":"r.0","type":"TEXT_MESSAGE_CONTENT"}
        {"delta":"see.","messageId":"r.0","type":"TEXT_MESSAGE_CONTENT"}
        {"messageId":"r.0","type":"TEXT_MESSAGE_END"}
        {"toolCallId":"#3","toolCallName":"list_tasks","type":"TOOL_CALL_START"}
        {"delta":"{}","toolCallId":"#3","type":"TOOL_CALL_ARGS"}
        {"toolCallId":"#3","type":"TOOL_CALL_END"}
        {"content":"{\"durationMs\":0,\"summary\":\"No tasks\",\"tasks\":[]}","messageId":"#3.result","role":"tool","toolCallId":"#3","type":"TOOL_CALL_RESULT"}
        {"toolCallId":"#4","toolCallName":"add_task","type":"TOOL_CALL_START"}
        {"delta":"{\"title\":\"\"}","toolCallId":"#4","type":"TOOL_CALL_ARGS"}
        {"toolCallId":"#4","type":"TOOL_CALL_END"}
        {"content":"title cannot be empty","messageId":"#4.result","metadata":{"isError":true,"retryable":false},"role":"tool","toolCallId":"#4","type":"TOOL_CALL_RESULT"}
        {"stepName":"step-0","type":"STEP_FINISHED"}
        {"stepName":"step-1","type":"STEP_STARTED"}
        {"messageId":"r.1","role":"assistant","type":"TEXT_MESSAGE_START"}
        {"delta":"Nothing ","messageId":"r.1","type":"TEXT_MESSAGE_CONTENT"}
        {"delta":"there.","messageId":"r.1","type":"TEXT_MESSAGE_CONTENT"}
        {"messageId":"r.1","type":"TEXT_MESSAGE_END"}
        {"stepName":"step-1","type":"STEP_FINISHED"}
        {"outcome":{"type":"success"},"runId":"r","threadId":"t","type":"RUN_FINISHED","usage":[{"inputTokens":20,"outputTokens":7}]}
    "##]].assert_eq(&redacted(frames(&body)));
}

#[tokio::test]
async fn an_invalid_request_is_rejected_before_the_run() {
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
