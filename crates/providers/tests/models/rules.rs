//! The rules of each provider. No history violates them, wherever it was cut.

use std::collections::HashSet;

use engine::{Block, CallId, Message, Prompt, Role};
use proptest::prelude::*;
use providers::{AnthropicModel, Http, OpenAiModel};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::provider::{HTTP, KEY};

fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field].as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

fn is_blank(value: &Value, field: &str) -> bool {
    text(value, field).trim().is_empty()
}

fn is_legal_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// Requests that Anthropic refuses.
fn check_anthropic(request: &Value) -> Result<(), String> {
    let messages = list(request, "messages");
    let mut seen = HashSet::new();
    let mut awaited: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        ensure(message["role"] == role, || format!("message {at} is not of the {role}"))?;
        let parts = list(message, "content");
        ensure(!parts.is_empty(), || format!("message {at} is empty"))?;
        let mut has_text = false;
        for part in parts {
            match (text(part, "type"), role) {
                ("text", _) => {
                    has_text = true;
                    ensure(!is_blank(part, "text"), || format!("message {at} has a blank text"))?;
                }
                ("tool_use", "assistant") => {
                    let id = text(part, "id");
                    ensure(seen.insert(id), || format!("{id} is called twice"))?;
                    ensure(is_legal_name(text(part, "name")), || format!("{part} has an illegal name"))?;
                    ensure(part["input"].is_object(), || format!("the input of {part} is no object"))?;
                    awaited.push(id);
                }
                ("tool_result", "user") => {
                    let id = text(part, "tool_use_id");
                    let place = awaited.iter().position(|awaited| *awaited == id);
                    awaited.remove(place.ok_or(format!("the result of {id} has no call"))?);
                    ensure(!has_text, || format!("message {at} has a result after a text"))?;
                    ensure(!is_blank(part, "content"), || format!("the result of {id} is blank"))?;
                }
                other => return Err(format!("message {at} holds {other:?}")),
            }
        }
        ensure(role == "assistant" || awaited.is_empty(), || format!("message {at} leaves {awaited:?} unanswered"))?;
    }
    ensure(messages.len() % 2 == 1, || "the last message is not the user's".into())?;
    let n_marks = request.to_string().matches("cache_control").count();
    ensure(n_marks <= 4, || format!("{n_marks} cache marks"))
}

/// Requests that OpenAI and the strictest compatible servers refuse.
fn check_openai(request: &Value) -> Result<(), String> {
    let mut seen = HashSet::new();
    let mut awaited: HashSet<&str> = HashSet::new();
    let mut before = "system";
    for (at, message) in list(request, "messages").iter().enumerate() {
        let role = text(message, "role");
        ensure((at == 0) == (role == "system"), || format!("message {at} is of the {role}"))?;
        ensure(role == "tool" || awaited.is_empty(), || format!("{awaited:?} unanswered before message {at}"))?;
        let may_follow = match role {
            "user" => before != "user",
            "assistant" => matches!(before, "user" | "tool"),
            "tool" => matches!(before, "assistant" | "tool"),
            _ => before == "system",
        };
        ensure(may_follow, || format!("message {at}: {role} after {before}"))?;
        let calls = list(message, "tool_calls");
        ensure(!is_blank(message, "content") || !calls.is_empty(), || format!("message {at} is empty"))?;
        for call in calls {
            let (id, function) = (text(call, "id"), &call["function"]);
            ensure(seen.insert(id), || format!("{id} is called twice"))?;
            ensure(is_legal_name(text(function, "name")), || format!("{call} has an illegal name"))?;
            let arguments = serde_json::from_str::<Value>(text(function, "arguments"));
            ensure(arguments.is_ok_and(|value| value.is_object()), || format!("{call} has bad arguments"))?;
            awaited.insert(id);
        }
        if role == "tool" {
            let id = text(message, "tool_call_id");
            ensure(awaited.remove(id), || format!("the result of {id} has no call"))?;
        }
        before = role;
    }
    ensure(awaited.is_empty(), || format!("{awaited:?} unanswered at the end"))?;
    ensure(matches!(before, "user" | "tool"), || format!("the last message is of the {before}"))
}

fn ensure(holds: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why()) }
}

const THOUGHT: &str = "what the model thought";

/// Every text and every call reaches the provider, each call once. Reasoning does not.
fn check_nothing_is_lost(messages: &[Message], request: &Value) -> Result<(), String> {
    let sent = request["messages"].to_string();
    ensure(!sent.contains(THOUGHT), || "reasoning is sent".into())?;
    let mut calls = HashSet::new();
    for (role, block) in messages.iter().flat_map(|message| message.content.iter().map(|block| (message.role, block))) {
        match (role, block) {
            (_, Block::Text { text }) => ensure(sent.contains(text.trim()), || format!("{text:?} is lost"))?,
            (Role::Assistant, Block::ToolUse { id, .. }) => _ = calls.insert(*id),
            _ => {}
        }
    }
    let lost = calls.into_iter().find(|id| !sent.contains(&id.to_string()));
    ensure(lost.is_none(), || format!("the call {lost:?} is lost"))
}

/// Few ids, so that calls repeat and results come twice, too early or without a call.
fn any_block() -> impl Strategy<Value = Block> {
    let id = (0..6_u128).prop_map(|n| CallId(Uuid::from_u128(n)));
    let words = prop::sample::select(vec!["", " \n", "word", "grün", "[]"]).prop_map(str::to_owned);
    let name = prop::sample::select(vec!["list_tasks", "", "böse name", "x:y"]).prop_map(str::to_owned);
    let value =
        prop::sample::select(vec![json!({"a": 1}), json!({}), json!("{broken"), json!(""), json!(null), json!([1])]);
    prop_oneof![
        2 => words.prop_map(|text| Block::Text { text }),
        1 => Just(Block::Reasoning { text: THOUGHT.into() }),
        2 => (id.clone(), name, value.clone()).prop_map(|(id, name, input)| Block::ToolUse { id, name, input }),
        2 => (id, value, any::<bool>())
            .prop_map(|(id, content, is_error)| Block::ToolResult { tool_use_id: id, content: content.into(), is_error }),
    ]
}

fn any_message() -> impl Strategy<Value = Message> {
    let role = prop_oneof![Just(Role::User), Just(Role::Assistant)];
    (role, prop::collection::vec(any_block(), 0..8)).prop_map(|(role, content)| Message { role, content })
}

/// The messages up to the `n`th block.
fn cut(messages: &[Message], n_blocks: usize) -> Vec<Message> {
    let mut left = n_blocks;
    let mut kept = Vec::new();
    for message in messages {
        let n_here = left.min(message.content.len());
        kept.push(Message { role: message.role, content: message.content[..n_here].to_vec() });
        left -= n_here;
        if n_here < message.content.len() {
            break;
        }
    }
    kept
}

fn check_every_cut(messages: &[Message]) -> Result<(), String> {
    let http = HTTP.with(Http::clone);
    let anthropic = AnthropicModel::new(http.clone(), "https://api.anthropic.com", KEY, "m").expect("settings");
    let openai = OpenAiModel::new(http, "https://api.openai.com/v1", None, "m").expect("settings");
    let n_blocks = messages.iter().map(|message| message.content.len()).sum::<usize>();
    for n in 0..=n_blocks {
        let messages = cut(messages, n);
        let prompt = Prompt { messages, system: "Be kind.".into(), tools: Vec::new().into(), may_call_tools: true };
        let to_anthropic = serde_json::from_slice(&anthropic.request(&prompt)).expect("JSON");
        let to_openai = serde_json::from_slice(&openai.request(&prompt)).expect("JSON");
        check_anthropic(&to_anthropic).map_err(|why| format!("anthropic, cut at {n}: {why}\n{to_anthropic}"))?;
        check_openai(&to_openai).map_err(|why| format!("openai, cut at {n}: {why}\n{to_openai}"))?;
        for request in [&to_anthropic, &to_openai] {
            check_nothing_is_lost(&prompt.messages, request).map_err(|why| format!("cut at {n}: {why}\n{request}"))?;
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn any_history_cut_anywhere_is_accepted_by_each_provider(messages in prop::collection::vec(any_message(), 0..6)) {
        check_every_cut(&messages).map_err(TestCaseError::fail)?;
    }
}

/// A history as turns produce it: a user message, calls with results, and some long texts.
fn real_history() -> impl Strategy<Value = Vec<Message>> {
    let long = prop_oneof![Just(10_usize), Just(400), Just(5_000)];
    let exchange =
        (long.clone(), prop::collection::vec(long.clone(), 0..4), long).prop_map(|(asked, results, said)| {
            let mut content = Vec::new();
            for n_chars in results {
                let id = CallId::new();
                content.push(Block::ToolUse { id, name: "list_tasks".into(), input: json!({"q": "x"}) });
                content.push(Block::ToolResult {
                    tool_use_id: id,
                    content: json!("r".repeat(n_chars)).into(),
                    is_error: false,
                });
            }
            content.push(Block::Text { text: "a".repeat(said) });
            [Message::user("q".repeat(asked)), Message::assistant(content)]
        });
    // The last exchange is running: its calls have results, its text is not written yet.
    prop::collection::vec(exchange, 1..12).prop_map(|exchanges| {
        let mut messages: Vec<_> = exchanges.into_iter().flatten().collect();
        if let Some(last) = messages.last_mut() {
            last.content.pop();
        }
        messages
    })
}

fn check_trimmed(messages: &[Message], max_chars: usize) -> Result<(), String> {
    let prompt = Prompt {
        messages: messages.to_vec(),
        system: "Be kind.".into(),
        tools: Vec::new().into(),
        may_call_tools: true,
    };
    let Some(trimmed) = engine::fit(&prompt, max_chars) else {
        return ensure(engine::prompt_chars(&prompt) <= max_chars, || "left as it was, and too long".into());
    };
    let n_chars = engine::prompt_chars(&trimmed.prompt);
    ensure(trimmed.fits == (n_chars <= max_chars), || format!("{n_chars} of {max_chars}, said {}", trimmed.fits))?;
    // The running exchange alone, with everything in it at its shortest.
    let running = messages.iter().rposition(|message| message.role == Role::User).expect("a question");
    let least: usize = messages[running..].iter().flat_map(|message| &message.content).map(|block| match block {
        Block::Text { text } => text.len().min(240),
        Block::Reasoning { .. } => 0,
        Block::ToolUse { .. } => 30,
        Block::ToolResult { content, .. } => content.to_string().len().min(240),
    } + 32).sum();
    ensure(trimmed.fits || max_chars < least + 100, || format!("{n_chars} of {max_chars}, {least} would be possible"))?;
    for message in &trimmed.prompt.messages {
        let has = |id: &CallId, in_results: bool| {
            message.content.iter().any(|block| match block {
                Block::ToolUse { id: known, .. } => !in_results && known == id,
                Block::ToolResult { tool_use_id, .. } => in_results && tool_use_id == id,
                Block::Text { .. } | Block::Reasoning { .. } => false,
            })
        };
        for block in &message.content {
            match block {
                Block::ToolUse { id, .. } => ensure(has(id, true), || "a call without its result".into())?,
                Block::ToolResult { tool_use_id, .. } => {
                    ensure(has(tool_use_id, false), || "a result without its call".into())?
                }
                Block::Text { .. } | Block::Reasoning { .. } => {}
            }
        }
    }
    ensure(trimmed.prompt.messages.first().is_some_and(|first| first.role == Role::User), || {
        "begins with an answer".into()
    })?;
    let http = HTTP.with(Http::clone);
    let anthropic = AnthropicModel::new(http.clone(), "https://api.anthropic.com", KEY, "m").expect("settings");
    let openai = OpenAiModel::new(http, "https://api.openai.com/v1", None, "m").expect("settings");
    check_anthropic(&serde_json::from_slice(&anthropic.request(&trimmed.prompt)).expect("JSON"))?;
    check_openai(&serde_json::from_slice(&openai.request(&trimmed.prompt)).expect("JSON"))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn any_history_trimmed_to_any_length_is_accepted_and_fits(messages in real_history(), max_chars in 0_usize..30_000) {
        check_trimmed(&messages, max_chars).map_err(TestCaseError::fail)?;
    }
}

/// Tests of the checkers: each rule is violated once.
#[test]
fn the_checkers_detect_requests_that_a_provider_refuses() {
    let user = |content: Value| json!({"role": "user", "content": content});
    let assistant = |content: Value| json!({"role": "assistant", "content": content});
    let say = json!([{"type": "text", "text": "x"}]);
    let call = json!([{"type": "tool_use", "id": "1", "name": "t", "input": {}}]);
    let result = json!([{"type": "tool_result", "tool_use_id": "1", "content": "r"}]);
    let broken = [
        json!([]),
        json!([assistant(say.clone())]),
        json!([user(say.clone()), user(say.clone())]),
        json!([user(say.clone()), assistant(say.clone())]),
        json!([user(json!([]))]),
        json!([user(json!([{"type": "text", "text": " "}]))]),
        json!([user(say.clone()), assistant(call.clone()), user(say.clone())]),
        json!([user(result.clone())]),
        json!([user(say.clone()), assistant(call.clone()), user(result.clone()), assistant(call), user(result)]),
    ];
    for messages in broken {
        assert!(check_anthropic(&json!({"messages": messages})).is_err(), "{messages}");
    }
    let system = json!({"role": "system", "content": "x"});
    let (hi, answer) = (json!({"role": "user", "content": "x"}), json!({"role": "assistant", "content": "x"}));
    let function = json!({"name": "t", "arguments": "{}"});
    let call = json!({"role": "assistant", "content": null, "tool_calls": [{"id": "1", "function": function}]});
    let result = json!({"role": "tool", "tool_call_id": "1", "content": "r"});
    let broken = [
        json!([system]),
        json!([system, answer]),
        json!([system, hi, hi]),
        json!([system, hi, answer]),
        json!([system, hi, answer, answer, hi]),
        json!([system, {"role": "user", "content": ""}]),
        json!([system, hi, call]),
        json!([system, hi, call, hi]),
        json!([system, hi, result]),
        json!([system, hi, call, result, call, result]),
    ];
    for messages in broken {
        assert!(check_openai(&json!({"messages": messages})).is_err(), "{messages}");
    }
}
