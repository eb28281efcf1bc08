//! Snapshots of the request bodies that providers receive.

use std::sync::Arc;

use engine::{Block, CallId, Effect, Message, Prompt, ToolSpec};
use expect_test::{Expect, expect};
use providers::{Http, OpenAiModel};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::provider::{Answer, Provider, Received, VENDORS, Vendor, hello, transcript};

fn tool(name: &'static str) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        title: "Not for models".into(),
        description: format!("What {name} does."),
        effect: Effect::Reads,
        input_schema: json!({"type": "object"}),
        output_schema: json!({"not": "for models"}),
    }
}

/// A second turn: the first turn called two tools, one of which failed, and the second turn called one.
fn conversation() -> Prompt {
    let [a, b, c] = [1, 2, 3].map(|n| CallId(Uuid::from_u128(n)));
    let call = |id, name: &str, input| Block::ToolUse { id, name: name.into(), input };
    let result = |id, content, is_error| Block::ToolResult { tool_use_id: id, content: Arc::new(content), is_error };
    let text = |text: &str| Block::Text { text: text.into() };
    let first_answer = vec![
        text("Let me look."),
        call(a, "list_tasks", json!({"filter": "all"})),
        call(b, "add_task", json!({"title": "Milk"})),
        result(a, json!({"tasks": []}), false),
        result(b, json!("Interrupted"), true),
        text("Only half of it worked."),
    ];
    let second_answer = vec![call(c, "list_tasks", json!({})), result(c, json!("nothing"), false)];
    Prompt {
        system: "Be kind.".into(),
        tools: Arc::new([tool("list_tasks"), tool("add_task")]),
        messages: vec![
            Message::user("Add milk"),
            Message::assistant(first_answer),
            Message::user("Try again"),
            Message::assistant(second_answer),
        ],
        may_call_tools: true,
    }
}

async fn received(vendor: Vendor, prompt: &Prompt, path: &str) -> Received {
    let provider = Provider::start([Answer::stream(vendor.recorded("text"))]).await;
    transcript(&*vendor.model(&format!("{}{path}", provider.url)), prompt).await;
    provider.received().remove(0)
}

async fn check(vendor: Vendor, prompt: &Prompt, expected: Expect) {
    let body: Value = serde_json::from_slice(&received(vendor, prompt, "").await.body).expect("JSON");
    let fields = body.as_object().expect("an object").iter();
    // One line for each message and tool, so that a change affects one line.
    let lines = fields.map(|(name, value)| match value {
        Value::Array(items) => items.iter().map(|item| format!("{name}[] {item}\n")).collect(),
        other => format!("{name} {other}\n"),
    });
    expected.assert_eq(&lines.collect::<String>());
}

#[tokio::test]
async fn anthropic_is_sent_results_in_user_messages_and_three_marks_for_its_cache() {
    check(Vendor::Anthropic, &conversation(), expect![[r#"
        max_tokens 16384
        messages[] {"content":[{"text":"Add milk","type":"text"}],"role":"user"}
        messages[] {"content":[{"text":"Let me look.","type":"text"},{"id":"00000000-0000-0000-0000-000000000001","input":{"filter":"all"},"name":"list_tasks","type":"tool_use"},{"id":"00000000-0000-0000-0000-000000000002","input":{"title":"Milk"},"name":"add_task","type":"tool_use"}],"role":"assistant"}
        messages[] {"content":[{"content":"{\"tasks\":[]}","tool_use_id":"00000000-0000-0000-0000-000000000001","type":"tool_result"},{"content":"Interrupted","is_error":true,"tool_use_id":"00000000-0000-0000-0000-000000000002","type":"tool_result"}],"role":"user"}
        messages[] {"content":[{"text":"Only half of it worked.","type":"text"}],"role":"assistant"}
        messages[] {"content":[{"text":"Try again","type":"text"}],"role":"user"}
        messages[] {"content":[{"id":"00000000-0000-0000-0000-000000000003","input":{},"name":"list_tasks","type":"tool_use"}],"role":"assistant"}
        messages[] {"content":[{"cache_control":{"type":"ephemeral"},"content":"nothing","tool_use_id":"00000000-0000-0000-0000-000000000003","type":"tool_result"}],"role":"user"}
        model "m"
        stream true
        system[] {"cache_control":{"type":"ephemeral"},"text":"Be kind.","type":"text"}
        tools[] {"description":"What list_tasks does.","input_schema":{"type":"object"},"name":"list_tasks"}
        tools[] {"cache_control":{"type":"ephemeral"},"description":"What add_task does.","input_schema":{"type":"object"},"name":"add_task"}
    "#]]).await;
}

#[tokio::test]
async fn openai_is_sent_results_as_messages_of_their_own() {
    check(Vendor::OpenAi, &conversation(), expect![[r#"
        messages[] {"content":"Be kind.","role":"system"}
        messages[] {"content":"Add milk","role":"user"}
        messages[] {"content":"Let me look.","role":"assistant","tool_calls":[{"function":{"arguments":"{\"filter\":\"all\"}","name":"list_tasks"},"id":"00000000-0000-0000-0000-000000000001","type":"function"},{"function":{"arguments":"{\"title\":\"Milk\"}","name":"add_task"},"id":"00000000-0000-0000-0000-000000000002","type":"function"}]}
        messages[] {"content":"{\"tasks\":[]}","role":"tool","tool_call_id":"00000000-0000-0000-0000-000000000001"}
        messages[] {"content":"Error: Interrupted","role":"tool","tool_call_id":"00000000-0000-0000-0000-000000000002"}
        messages[] {"content":"Only half of it worked.","role":"assistant"}
        messages[] {"content":"Try again","role":"user"}
        messages[] {"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"list_tasks"},"id":"00000000-0000-0000-0000-000000000003","type":"function"}]}
        messages[] {"content":"nothing","role":"tool","tool_call_id":"00000000-0000-0000-0000-000000000003"}
        model "m"
        stream true
        stream_options {"include_usage":true}
        tools[] {"function":{"description":"What list_tasks does.","name":"list_tasks","parameters":{"type":"object"}},"type":"function"}
        tools[] {"function":{"description":"What add_task does.","name":"add_task","parameters":{"type":"object"}},"type":"function"}
    "#]]).await;
}

#[tokio::test]
async fn a_model_that_may_not_call_tools_still_receives_them() {
    let prompt = Prompt { may_call_tools: false, messages: vec![Message::user("Hi")], ..conversation() };
    check(Vendor::Anthropic, &prompt, expect![[r#"
        max_tokens 16384
        messages[] {"content":[{"cache_control":{"type":"ephemeral"},"text":"Hi","type":"text"}],"role":"user"}
        model "m"
        stream true
        system[] {"cache_control":{"type":"ephemeral"},"text":"Be kind.","type":"text"}
        tool_choice {"type":"none"}
        tools[] {"description":"What list_tasks does.","input_schema":{"type":"object"},"name":"list_tasks"}
        tools[] {"cache_control":{"type":"ephemeral"},"description":"What add_task does.","input_schema":{"type":"object"},"name":"add_task"}
    "#]]).await;
    check(Vendor::OpenAi, &prompt, expect![[r#"
        messages[] {"content":"Be kind.","role":"system"}
        messages[] {"content":"Hi","role":"user"}
        model "m"
        stream true
        stream_options {"include_usage":true}
        tool_choice "none"
        tools[] {"function":{"description":"What list_tasks does.","name":"list_tasks","parameters":{"type":"object"}},"type":"function"}
        tools[] {"function":{"description":"What add_task does.","name":"add_task","parameters":{"type":"object"}},"type":"function"}
    "#]]).await;
}

#[tokio::test]
async fn without_tools_or_instructions_the_fields_are_omitted() {
    let prompt = Prompt { system: " ".into(), may_call_tools: false, ..hello() };
    check(
        Vendor::Anthropic,
        &prompt,
        expect![[r#"
        max_tokens 16384
        messages[] {"content":[{"cache_control":{"type":"ephemeral"},"text":"Hello","type":"text"}],"role":"user"}
        model "m"
        stream true
    "#]],
    )
    .await;
    check(
        Vendor::OpenAi,
        &prompt,
        expect![[r#"
        messages[] {"content":"Hello","role":"user"}
        model "m"
        stream true
        stream_options {"include_usage":true}
    "#]],
    )
    .await;
}

#[tokio::test]
async fn each_provider_receives_its_key_in_its_own_header() {
    let mut heads = String::new();
    for vendor in VENDORS {
        let head = received(vendor, &hello(), "").await.head;
        let varies = |line: &str| ["host", "content-length", "user-agent"].iter().any(|name| line.starts_with(name));
        let lines = head.lines().filter(|line| !varies(line));
        heads.extend(lines.flat_map(|line| [line, "\n"]));
    }
    expect![[r#"
        post /v1/messages http/1.1
        content-type: application/json
        accept: text/event-stream
        anthropic-version: 2023-06-01
        x-api-key: sk-test-0123456789
        post /v1/chat/completions http/1.1
        content-type: application/json
        accept: text/event-stream
        authorization: bearer sk-test-0123456789
    "#]]
    .assert_eq(&heads);

    let provider = Provider::start([Answer::stream(Vendor::OpenAi.recorded("text"))]).await;
    let keyless = OpenAiModel::new(Http::new().expect("a client"), &provider.url, None, "m").expect("good settings");
    transcript(&keyless, &hello()).await;
    assert!(!provider.received()[0].head.contains("authorization"));
}

#[tokio::test]
async fn a_base_url_is_accepted_in_its_common_spellings() {
    let cases = [
        (Vendor::Anthropic, "", "/v1/messages"),
        (Vendor::Anthropic, "/", "/v1/messages"),
        (Vendor::Anthropic, "/v1/", "/v1/messages"),
        (Vendor::Anthropic, "/gateway", "/gateway/v1/messages"),
        (Vendor::OpenAi, "", "/v1/chat/completions"),
        (Vendor::OpenAi, "/v1", "/v1/chat/completions"),
        (Vendor::OpenAi, "/v1/", "/v1/chat/completions"),
        (Vendor::OpenAi, "/api/v3", "/api/v3/chat/completions"),
    ];
    for (vendor, base_path, expected) in cases {
        let head = received(vendor, &hello(), base_path).await.head;
        assert_eq!(head.split(' ').nth(1), Some(expected), "{vendor:?} {base_path:?}");
    }
}
