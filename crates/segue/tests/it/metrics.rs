//! Numbers for the operator: what was done, what is going on, and nothing that anyone said.

use engine::script::says;
use reqwest::Method;
use serde_json::json;

use crate::support::TestApp;

async fn metrics(app: &TestApp) -> String {
    let response = app.request(Method::GET, "/metrics", None).await;
    assert_eq!(response.status(), 200);
    assert!(response.headers()["content-type"].to_str().unwrap().starts_with("application/openmetrics-text"));
    response.text().await.unwrap()
}

#[tokio::test]
async fn what_was_done_is_counted() {
    let app = TestApp::scripted([
        says("Adding.").calls("add_task", json!({"title": "canary"})).calls("made_up_canary", json!({})),
        says("Done."),
        says("hm").then_fails("away"),
    ])
    .await;
    app.say("canary please").await;
    app.say("again").await;
    app.answer(Method::POST, "/api/tools/list_tasks", Some(json!({}))).await;
    let text = loop {
        let text = metrics(&app).await;
        if text.contains("AI_SERVICE_UNAVAILABLE") {
            break text;
        }
        tokio::task::yield_now().await;
    };
    for line in [
        "segue_turns_total{agent=\"tasks\",end=\"complete\"} 1",
        "segue_turns_total{agent=\"tasks\",end=\"AI_SERVICE_UNAVAILABLE\"} 1",
        "segue_turn_duration_seconds_count{agent=\"tasks\"} 2",
        "segue_tool_calls_total{tool=\"add_task\",outcome=\"done\"} 1",
        "segue_tool_calls_total{tool=\"unknown\",outcome=\"failed\"} 1",
        "segue_tool_calls_total{tool=\"list_tasks\",outcome=\"done\"} 1",
        "segue_model_calls_total{model=\"script\",outcome=\"done\"} 2",
        "segue_model_calls_total{model=\"script\",outcome=\"cut\"} 1",
        "segue_model_tokens_total{model=\"script\",kind=\"input\"} 20",
        "segue_http_requests_total{route=\"POST /api/chat/stream\",status=\"200\"} 2",
        "segue_http_requests_total{route=\"POST /api/tools/{name}\",status=\"200\"} 1",
        "segue_turns_running 0",
        "segue_turn_log_unsaved_events 0",
        "segue_index_lag 0",
        "# EOF",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
    }
    for name in ["segue_database_connections{", "segue_memory_bytes ", "segue_tasks ", "segue_open_files "] {
        assert!(text.contains(name), "{name}");
    }
    assert!(!text.contains("canary"), "{text}");
}

#[tokio::test]
async fn numbers_are_for_the_operator_alone() {
    let app = TestApp::shared([], &[("SEGUE_METRICS_TOKEN", "the operator's own")]).await;
    let url = format!("{}/metrics", app.url);
    let from_elsewhere = |token: &str| {
        let request = reqwest::Client::new().get(&url).header("x-forwarded-for", "192.0.2.7").bearer_auth(token);
        async move { request.send().await.unwrap().status().as_u16() }
    };
    assert_eq!(from_elsewhere("the operator's own").await, 200);
    assert_eq!(from_elsewhere("a guess").await, 404);
    assert_eq!(from_elsewhere(&crate::support::signed(&crate::support::claims("ann"))).await, 404);
}
