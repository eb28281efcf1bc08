//! Metrics for the operator: totals, current state, and no user text.

use std::time::Duration;

use engine::script::says;
use reqwest::Method;
use serde_json::json;

use crate::support::{Process, TestApp, Upstream, World};

async fn metrics(app: &TestApp) -> String {
    let response = app.request(Method::GET, "/metrics", None).await;
    assert_eq!(response.status(), 200);
    assert!(response.headers()["content-type"].to_str().unwrap().starts_with("application/openmetrics-text"));
    response.text().await.unwrap()
}

#[tokio::test]
async fn finished_work_is_counted() {
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
async fn only_the_operator_may_read_metrics() {
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

/// The dashboard uses only existing metrics. A metric that was never counted is not exported, so the names are looked
/// up in the source code.
#[test]
fn every_metric_of_the_dashboard_exists() {
    let dashboard = include_str!("../../../../deploy/grafana/segue.json");
    let given = include_str!("../../../app/src/observe/metrics.rs");
    let words = dashboard.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let mut asked: Vec<_> = words.filter_map(|word| word.strip_prefix("segue_")).collect();
    asked.sort_unstable();
    asked.dedup();
    assert!(asked.len() > 20, "{asked:?}");
    for name in asked {
        let endings = ["_bucket", "_total", "_seconds", "_bytes"];
        let plain = endings.iter().fold(name, |name, ending| name.strip_suffix(ending).unwrap_or(name));
        assert!(given.contains(&format!("\"{plain}\"")), "{name}");
    }
}

#[tokio::test]
async fn logs_contain_ids_and_no_user_text() {
    let (upstream, world) = (Upstream::start(Duration::from_millis(1), 3).await, World::new().await);
    let settings = [&upstream.settings()[..], &[("SEGUE_LOG", "debug".to_owned())]].concat();
    let server = Process::start(&world, &settings).await;
    let frames = server.chat(json!({"message": "canary of a task", "agent": "tasks"})).await.rest().await;
    server.post("/api/tools/complete_task", json!({"task_id": "canary"})).await;
    server.post("/api/tools/semanticSearch", json!({"query": "canary", "limit": 0})).await;
    let turn = frames[0]["turnId"].as_str().unwrap();
    let line = loop {
        let said = server.log().into_iter().find(|line| line.contains("A turn has ended"));
        if let Some(line) = said {
            break line;
        }
        tokio::task::yield_now().await;
    };
    let line: serde_json::Value = serde_json::from_str(&line).expect("without a terminal, the log is JSON");
    assert_eq!(line["fields"]["turn.id"], turn);
    assert_eq!(line["fields"]["trace.id"], turn.replace('-', ""));
    assert_eq!(line["fields"]["conversation.id"], frames[0]["conversationId"]);
    assert_eq!((&line["fields"]["end"], &line["fields"]["user.id"]), (&json!("complete"), &json!("local")));
    for said in server.log() {
        assert!(!said.contains("canary") && !said.contains("word0"), "{said}");
    }
}
