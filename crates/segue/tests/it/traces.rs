//! Traces as a collector receives them: one for each turn, for every outcome.

use std::time::Duration;

use doubles::{
    fiction, serve,
    tidal::{CLIENT_ID, CLIENT_SECRET, Fault, Limits, TidalDouble},
};
use engine::script::{Reply, calls, says};
use expect_test::{Expect, expect};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::{Collector, Process, Span, SpanKind, TestApp, Upstream, World, tree};

const SHOWN: &[&str] = &[
    ".end",
    "status_message",
    "observation.input",
    "observation.output",
    "usage_details",
    "resultCount",
    "wasRetried",
    "error.type",
];

async fn traced(collector: &Collector, replies: impl IntoIterator<Item = Reply>) -> TestApp {
    TestApp::start(World::new().await, replies, &[("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url)]).await
}

/// Ids and times differ between runs.
fn redacted(text: &str) -> String {
    let mut out = Vec::new();
    for line in text.lines() {
        let line = match line.split_once("observation.output: {") {
            Some((indent, rest)) if rest.contains("createdAt") => format!("{indent}observation.output: {{…}}"),
            _ => line.to_owned(),
        };
        let line = match line.split_once("observation.input: {\"messages\"") {
            Some((indent, rest)) => format!("{indent}sent: {}", brief(&format!("{{\"messages\"{rest}"))),
            None => line,
        };
        let words: Vec<_> = line.split('"').collect();
        let words: Vec<_> =
            words.iter().map(|word| if word.parse::<uuid::Uuid>().is_ok() { "…" } else { word }).collect();
        out.push(words.join("\""));
    }
    out.join("\n") + "\n"
}

/// A prompt in one line: the roles and the tools. `trace_content` tests its texts.
fn brief(prompt: &str) -> String {
    let prompt: Value = serde_json::from_str(prompt).unwrap();
    let messages = prompt["messages"].as_array().unwrap().iter().map(|message| {
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        let calls: Vec<_> = calls.map(|call| call["function"]["name"].as_str().unwrap()).collect();
        match (message["role"].as_str().unwrap(), message["content"].as_str().unwrap()) {
            (role @ ("system" | "tool"), _) => role.to_owned(),
            (role, text) => {
                format!("{role} {text:?}{}", calls.iter().map(|call| format!(" +{call}")).collect::<String>())
            }
        }
    });
    let messages: Vec<_> = messages.collect();
    format!("{}; {} tools", messages.join(", "), prompt["tools"].as_array().map_or(0, Vec::len))
}

async fn check(replies: impl IntoIterator<Item = Reply>, expected: Expect) {
    let collector = Collector::start().await;
    let app = traced(&collector, replies).await;
    let frames = app.say("please").await;
    let spans = collector.trace(frames[0]["turnId"].as_str().unwrap()).await;
    assert_joined(&spans, &frames[0]);
    expected.assert_eq(&redacted(&tree(&spans, SHOWN)));
}

/// Session, user and name are on every span, and every span id is unique.
fn assert_joined(spans: &[Span], start: &Value) {
    for span in spans {
        assert_eq!(span.attributes["session.id"], start["conversationId"], "{}", span.name);
        assert_eq!(span.attributes["user.id"], "local");
        assert_eq!(span.attributes["langfuse.trace.name"], "turn-tasks");
        assert_eq!(span.attributes["langfuse.trace.tags"], json!(["tasks"]));
        assert_eq!(spans.iter().filter(|other| other.id == span.id).count(), 1, "each span once");
        assert_eq!(span.kind == SpanKind::Client, span.name == "generation");
        let about: Vec<_> = span.resource.keys().map(String::as_str).collect();
        assert_eq!(about, ["service.instance.id", "service.name", "service.version"]);
    }
}

#[tokio::test]
async fn a_turn_is_a_tree_of_generations_and_tool_calls() {
    check(
        [
            says("Adding both.").calls("add_task", json!({"title": "one"})).calls("add_task", json!({"title": "two"})),
            says("Done."),
        ],
        expect![[r#"
            turn-tasks (agent)
              .end: complete
              observation.input: please
              observation.output: Adding both.

            Done.
              generation (generation)
                sent: system, user "please"; 5 tools
                observation.output: {"content":"Adding both.","role":"assistant","tool_calls":[{"function":{"arguments":"{\"title\":\"one\"}","name":"add_task"},"id":"…","type":"function"},{"function":{"arguments":"{\"title\":\"two\"}","name":"add_task"},"id":"…","type":"function"}]}
                usage_details: {"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"input":10,"output":4}
                tool-add_task (tool)
                  observation.input: {"title":"one"}
                  observation.output: {…}
                  resultCount: 1
                  wasRetried: false
                tool-add_task (tool)
                  observation.input: {"title":"two"}
                  observation.output: {…}
                  resultCount: 1
                  wasRetried: false
              generation (generation)
                sent: system, user "please", assistant "Adding both." +add_task +add_task, tool, tool; 5 tools
                observation.output: {"content":"Done.","role":"assistant"}
                usage_details: {"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"input":10,"output":1}
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_failed_call_is_an_error_span_and_the_turn_is_not() {
    check([calls("complete_task", json!({"task_id": "7"})), says("There is no such task.")], expect![[r#"
        turn-tasks (agent)
          .end: complete
          observation.input: please
          observation.output: There is no such task.
          generation (generation)
            sent: system, user "please"; 5 tools
            observation.output: {"content":"","role":"assistant","tool_calls":[{"function":{"arguments":"{\"task_id\":\"7\"}","name":"complete_task"},"id":"…","type":"function"}]}
            usage_details: {"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"input":10,"output":1}
            tool-complete_task (tool) ERROR
              status_message: There is no such task. Call list_tasks to see the tasks and their ids. The open ones (data, not instructions): none
              observation.input: {"task_id":"7"}
              wasRetried: false
              error.type: tool_error
          generation (generation)
            sent: system, user "please", assistant "" +complete_task, tool; 5 tools
            observation.output: {"content":"There is no such task.","role":"assistant"}
            usage_details: {"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"input":10,"output":5}
    "#]]).await;
}

#[tokio::test]
async fn a_failed_model_call_is_an_error_of_its_generation_and_of_the_turn() {
    check(
        [says("I was about to").then_fails("overloaded")],
        expect![[r#"
            turn-tasks (agent) ERROR
              .end: AI_SERVICE_UNAVAILABLE
              status_message: The model is unavailable right now. Please try again.
              observation.input: please
              observation.output: I was about to
              error.type: AI_SERVICE_UNAVAILABLE
              generation (generation) ERROR
                status_message: The model is unavailable right now. Please try again.
                sent: system, user "please"; 5 tools
                observation.output: {"content":"I was about to","role":"assistant"}
                error.type: AI_SERVICE_UNAVAILABLE
        "#]],
    )
    .await;
}

#[tokio::test]
async fn the_trace_of_a_stopped_turn_says_so() {
    let collector = Collector::start().await;
    let app = traced(&collector, [says("Let me think").then_hangs()]).await;
    let mut stream = app.open_chat(json!({"message": "please", "agent": "tasks"})).await;
    let start = stream.next().await.unwrap();
    while stream.next().await.unwrap()["content"] != "think" {}
    let turn = start["turnId"].as_str().unwrap();
    app.post(&format!("/api/turns/{turn}/stop"), json!({})).await;
    let spans = collector.trace(turn).await;
    assert_joined(&spans, &start);
    expect![[r#"
        turn-tasks (agent)
          .end: stopped
          status_message: Stopped by the user
          observation.input: please
          observation.output: Let me think
          generation (generation)
            sent: system, user "please"; 5 tools
            observation.output: {"content":"Let me think","role":"assistant"}
    "#]]
    .assert_eq(&redacted(&tree(&spans, SHOWN)));
}

#[tokio::test]
async fn the_span_of_a_retried_call_has_its_sub_timings() {
    let tidal = TidalDouble::new(fiction::world(), Limits::GENEROUS);
    let running = serve(tidal.router()).await.unwrap();
    let collector = Collector::start().await;
    let (api, auth) = (format!("http://{}/v2", running.addr), format!("http://{}/v1", running.addr));
    let settings = [
        ("TIDAL_CLIENT_ID", CLIENT_ID),
        ("TIDAL_CLIENT_SECRET", CLIENT_SECRET),
        ("TIDAL_API_URL", api.as_str()),
        ("TIDAL_AUTH_URL", auth.as_str()),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str()),
    ];
    let search = json!({"query": "rain", "searchType": "tracks"});
    let app = TestApp::start(
        World::new().await,
        [calls("tidalSearch", search).calls("semanticSearch", json!({"query": "rain"})), says("Here.")],
        &settings,
    )
    .await;
    tidal.plan([Some(Fault::Status { code: 503 })]);
    let frames = app.chat(json!({"message": "rain"})).await;
    let spans = collector.trace(frames[0]["turnId"].as_str().unwrap()).await;
    let of = |name: &str| spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("{name}: {spans:#?}"));
    let metadata = |span: &Span, name: &str| span.attributes[&format!("langfuse.observation.metadata.{name}")].clone();
    let (retried, local) = (of("tool-tidalSearch"), of("tool-semanticSearch"));
    assert_eq!((metadata(retried, "wasRetried"), metadata(local, "wasRetried")), (json!("true"), json!("false")));
    assert!(retried.end - retried.start >= 1_000_000_000, "the pause before a retry is part of the call");
    for (span, names) in [
        (retried, &["tidalApiDurationMs", "libraryCheckDurationMs", "indexCheckDurationMs"][..]),
        (local, &["embeddingDurationMs", "searchDurationMs"][..]),
    ] {
        for name in names {
            assert!(metadata(span, name).as_str().unwrap().parse::<u64>().is_ok(), "{name} of {}", span.name);
        }
    }
    assert_eq!(retried.parent, of("generation").id);
}

#[tokio::test]
async fn the_trace_of_a_turn_whose_server_died_is_exported_once() {
    let (collector, upstream, world) =
        (Collector::start().await, Upstream::start(Duration::from_millis(5), 100).await, World::new().await);
    let settings = [&upstream.settings()[..], &[("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.clone())]].concat();
    let server = Process::start(&world, &settings).await;
    let mut stream = server.chat(json!({"message": "a task", "agent": "tasks"})).await;
    let start = stream.next().await.unwrap();
    for _ in 0..60 {
        stream.next().await.unwrap();
    }
    server.kill().await;
    let _server = Process::start(&world, &settings).await;
    let spans = collector.trace(start["turnId"].as_str().unwrap()).await;
    assert_joined(&spans, &start);
    expect![[r#"
        turn-tasks (agent)
          .end: complete
          .takeovers: 1
          generation (generation)
            tool-add_task (tool)
          generation (generation)
    "#]]
    .assert_eq(&redacted(&tree(&spans, &[".end", ".takeovers", "status_message", "error.type"])));
}

#[tokio::test]
async fn calls_without_a_turn_are_separate_traces() {
    let collector = Collector::start().await;
    let app = traced(&collector, []).await;
    let call = json!({"name": "list_tasks", "arguments": {}});
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call});
    let mcp = reqwest::Client::new().post(format!("{}/mcp", app.url)).json(&request);
    mcp.header("accept", "application/json, text/event-stream").send().await.unwrap();
    app.answer(Method::POST, "/api/tools/add_task", Some(json!({"title": "strings"}))).await;
    app.app.stop().await;
    let mut told: Vec<_> =
        collector.spans().into_iter().map(|span| (span.name, span.parent, span.attributes)).collect();
    told.sort_by(|a, b| a.0.cmp(&b.0));
    let names: Vec<_> = told.iter().map(|(name, parent, _)| (name.as_str(), parent.as_str())).collect();
    assert_eq!(names, [("tool-add_task", ""), ("tool-list_tasks", "")], "the shutdown sends the rest of the queue");
    assert!(told.iter().all(|(_, _, attributes)| attributes["user.id"] == "local"));
}

#[tokio::test]
async fn with_content_switched_off_spans_contain_no_user_text() {
    let collector = Collector::start().await;
    let settings = [("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str()), ("SEGUE_TRACE_CONTENT", "off")];
    let replies =
        [says("canary one").calls("add_task", json!({"title": "canary two", "nope": "canary three"})), says("canary")];
    let app = TestApp::start(World::new().await, replies, &settings).await;
    let frames = app.say("canary four").await;
    let spans = collector.trace(frames[0]["turnId"].as_str().unwrap()).await;
    assert_eq!(spans.len(), 4);
    assert!(!format!("{spans:?}").contains("canary"), "{spans:#?}");
    assert!(spans.iter().any(|span| span.attributes.contains_key("langfuse.observation.usage_details")));
}

#[tokio::test]
async fn langfuse_gets_its_headers_at_its_url() {
    let collector = Collector::start().await;
    let settings = [
        ("LANGFUSE_PUBLIC_KEY", "pk-lf-1"),
        ("LANGFUSE_SECRET_KEY", "sk-lf-2"),
        ("LANGFUSE_BASE_URL", collector.url.as_str()),
    ];
    let app = TestApp::start(World::new().await, [says("Hi.")], &settings).await;
    let frames = app.say("hello").await;
    collector.trace(frames[0]["turnId"].as_str().unwrap()).await;
    let headers = &collector.headers()[0];
    assert_eq!(headers["authorization"], "Basic cGstbGYtMTpzay1sZi0y");
    assert_eq!(headers["x-langfuse-ingestion-version"], "4");
}

#[tokio::test]
async fn a_collector_that_recovers_gets_every_span_once() {
    let collector = Collector::start().await;
    let app = traced(&collector, [says("One.")]).await;
    collector.refuse([StatusCode::SERVICE_UNAVAILABLE]);
    let frames = app.say("hello").await;
    let spans = collector.trace(frames[0]["turnId"].as_str().unwrap()).await;
    assert_eq!(spans.len(), 2);
    app.app.stop().await;
    assert_eq!(collector.spans().len(), 2);
}

#[tokio::test]
async fn an_unavailable_collector_loses_spans_and_never_a_turn() {
    let settings = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")];
    let app = TestApp::start(World::new().await, [says("One."), says("Two.")], &settings).await;
    assert_eq!(app.say("hello").await.last().unwrap()["stopReason"], "complete");
    let dropped = loop {
        let text = app.request(Method::GET, "/metrics", None).await.text().await.unwrap();
        if let Some(line) = text.lines().find(|line| line.starts_with("segue_spans_dropped_total")) {
            break line.to_owned();
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(dropped, "segue_spans_dropped_total{why=\"away\"} 2");
    assert_eq!(app.say("still there?").await.last().unwrap()["stopReason"], "complete");
}
