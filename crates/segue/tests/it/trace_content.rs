//! The content of a trace: the prompt as it was sent, long content with its length and hash, every model call, counts.

use std::time::Duration;

use engine::{
    UserId,
    script::{calls, says},
};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Collector, Span, TestApp, World};

fn text<'a>(span: &'a Span, name: &str) -> &'a str {
    let name = format!("langfuse.observation.{name}");
    span.attributes.get(&name).and_then(Value::as_str).unwrap_or_else(|| panic!("{name}: {span:#?}"))
}

fn named<'a>(spans: &'a [Span], name: &str) -> Vec<&'a Span> {
    spans.iter().filter(|span| span.name == name).collect()
}

async fn with_sample(app: &TestApp) {
    app.app.library().load_sample(&app::Operator::of_this_machine(), &UserId::new("local")).await.unwrap();
    app.app.catch_up().await.unwrap();
}

#[tokio::test]
async fn a_generation_contains_the_prompt_as_it_was_sent() {
    let collector = Collector::start().await;
    let settings = [("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str())];
    let replies = [says("First."), calls("add_task", json!({"title": "strings"})), says("Done.")];
    let app = TestApp::start(World::new().await, replies, &settings).await;
    let first = app.say("hello").await;
    let again = json!({"message": "add it", "conversationId": first[0]["conversationId"]});
    let second = app.chat(again).await;
    let spans = collector.trace(second[0]["turnId"].as_str().unwrap()).await;
    let mut generations = named(&spans, "generation");
    generations.sort_by_key(|span| span.start);
    let sent: Vec<Value> = generations.iter().map(|span| serde_json::from_str(text(span, "input")).unwrap()).collect();
    let asked = app.model.asked();
    assert_eq!((sent.len(), asked.len()), (2, 3));
    for (sent, asked) in sent.iter().zip(&asked[1..]) {
        assert_eq!(sent["messages"][0], json!({"role": "system", "content": &*asked.system}));
        let names: Vec<_> = sent["tools"].as_array().unwrap().iter().map(|tool| &tool["function"]["name"]).collect();
        assert_eq!(names, asked.tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>());
        assert_eq!(sent["tools"][0]["function"]["parameters"], asked.tools[0].input_schema);
    }
    let said: Vec<_> = sent[0]["messages"].as_array().unwrap()[1..].iter().map(|message| &message["content"]).collect();
    assert_eq!(said, ["hello", "First.", "add it"], "the prompt contains earlier turns");
    let last = sent[1]["messages"].as_array().unwrap();
    assert_eq!(last[last.len() - 2]["tool_calls"][0]["function"]["name"], "add_task");
    let result = last[last.len() - 1]["content"].as_str().unwrap();
    let read = format!("{:?}", asked[2].messages.last().unwrap());
    assert!(result.contains("strings") && read.contains(&format!("{result:?}")), "{result} {read}");
}

#[tokio::test]
async fn content_over_64_kib_is_cut_with_its_length_and_its_hash() {
    let collector = Collector::start().await;
    let settings = [("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str())];
    let long = "x".repeat(70_000);
    let app = TestApp::start(World::new().await, [says(&long)], &settings).await;
    let frames = app.say("go on").await;
    let spans = collector.trace(frames[0]["turnId"].as_str().unwrap()).await;
    let turn = named(&spans, "turn-tasks")[0];
    assert_eq!(text(turn, "metadata.outputBytes"), "70000");
    let hash = text(turn, "metadata.outputSha256");
    assert_eq!(hash, "bca09f4a757d5571c7d9f3341d4301f3c391c090826acc1a3013c6bcb7c01722");
    assert!(
        text(turn, "output").contains(&format!("4464 of 70000 bytes are left out here; sha256 of the whole: {hash}"))
    );
    assert_eq!(text(turn, "input"), "go on", "short content is complete");
    assert!(!turn.attributes.contains_key("langfuse.observation.metadata.inputBytes"));
}

#[tokio::test]
async fn a_rewording_is_a_generation_under_its_tool_call() {
    let collector = Collector::start().await;
    let settings = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str()),
        ("SEGUE_MODEL", "anthropic:some"),
        ("ANTHROPIC_API_KEY", "k"),
    ];
    let search = calls("semanticSearch", json!({"query": "qxzv wqpl zzkj"}));
    let replies = [search, says("1. rainy night drive"), says("Here.")];
    let app = TestApp::start(World::new().await, replies, &settings).await;
    with_sample(&app).await;
    let frames = app.chat(json!({"message": "qxzv wqpl zzkj"})).await;
    let spans = collector.trace(frames[0]["turnId"].as_str().unwrap()).await;
    let (tool, rewording) = (named(&spans, "tool-semanticSearch")[0], named(&spans, "rewording")[0]);
    assert_eq!((&rewording.parent, text(rewording, "type")), (&tool.id, "generation"));
    assert!(text(rewording, "input").contains("qxzv wqpl zzkj") && text(rewording, "input").contains("found nothing"));
    assert_eq!(text(rewording, "output"), "1. rainy night drive");
    let usage: Value = serde_json::from_str(text(rewording, "usage_details")).unwrap();
    assert!(usage["input"].as_u64().unwrap() > 0 && usage["output"].as_u64().unwrap() > 0, "{usage}");
    assert_eq!(rewording.attributes["session.id"], frames[0]["conversationId"]);
}

#[tokio::test]
async fn a_description_is_a_separate_generation() {
    let collector = Collector::start().await;
    let music = doubles::crowd::crowd(1);
    let sources = crate::support::Sources::start(&music).await;
    let settings = vec![("SEGUE_MODEL", "openai:scripted"), ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str())];
    let described = json!({"shortDescription": "A song", "interpretation": "About rain.", "tags": ["rain"]});
    let replies = [says(&described.to_string())];
    let app = TestApp::start(World::new().await, replies, &[sources.borrowed(), settings].concat()).await;
    app.app.start_ingestion().await.unwrap();
    let (status, report) = app.import("all.csv", doubles::crowd::table(&music).into()).await;
    assert_eq!(status, 201, "{report}");
    crate::support::Stream::new(app.request(Method::GET, "/api/index/stream", None).await).rest().await;
    app.app.stop().await;
    let spans = collector.spans();
    let traces = named(&spans, "description");
    assert_eq!((traces.len(), text(traces[0], "type"), traces[0].parent.as_str()), (1, "generation", ""));
    assert_eq!(text(traces[0], "output"), described.to_string());
    assert_eq!(traces[0].attributes["user.id"], "local");
    assert!(traces[0].attributes.contains_key("langfuse.observation.usage_details"));
}

#[tokio::test]
async fn the_span_of_a_batch_has_its_counts_and_timings() {
    let collector = Collector::start().await;
    let settings = [("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str())];
    let app = TestApp::start(World::new().await, [], &settings).await;
    with_sample(&app).await;
    let asked = json!({"isrcs": ["XSGUE2600001", "XSGUE2600002", "XSGUE2600003", "XSGUE2699999", "not a code"]});
    assert_eq!(app.answer(Method::POST, "/api/tools/batchMetadata", Some(asked)).await.0, 200);
    app.app.stop().await;
    let spans = collector.spans();
    let batch = named(&spans, "tool-batchMetadata")[0];
    let counts = ["isrcCount", "foundCount", "notFoundCount"].map(|name| text(batch, &format!("metadata.{name}")));
    assert_eq!(counts, ["5", "3", "2"]);
    for name in ["durationMs", "qdrantDurationMs", "libraryCheckDurationMs"] {
        assert!(text(batch, &format!("metadata.{name}")).parse::<u64>().is_ok(), "{name}");
    }
    assert_eq!(text(batch, "metadata.invalidIsrcs"), r#"["not a code"]"#);
}

#[tokio::test]
async fn langfuse_and_another_collector_get_the_same_spans() {
    let (langfuse, other) = (Collector::start().await, Collector::start().await);
    let settings = [
        ("LANGFUSE_PUBLIC_KEY", "pk"),
        ("LANGFUSE_SECRET_KEY", "sk"),
        ("LANGFUSE_BASE_URL", langfuse.url.as_str()),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", other.url.as_str()),
    ];
    let app = TestApp::start(World::new().await, [says("Hi.")], &settings).await;
    let frames = app.say("hello").await;
    let turn = frames[0]["turnId"].as_str().unwrap();
    let traces = async { [langfuse.trace(turn).await, other.trace(turn).await] };
    let traces = tokio::time::timeout(Duration::from_secs(30), traces).await.expect("both collectors get the trace");
    let ids = traces.each_ref().map(|spans| spans.iter().map(|span| span.id.clone()).collect::<Vec<_>>());
    assert_eq!((ids[0].len(), &ids[0]), (2, &ids[1]));
    assert!(langfuse.headers()[0].contains_key("authorization") && !other.headers()[0].contains_key("authorization"));
}
