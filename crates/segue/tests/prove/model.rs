//! A model server that follows scripts and knows where it is from the prompt alone, as a real model does.

use std::time::Duration;

use axum::{Json, Router, body::Body, response::IntoResponse, routing::post};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// What the model says in each step: words, then calls with a title each.
pub(crate) type Script = &'static [(&'static str, &'static [(&'static str, &'static str)])];

/// By the first word of the question.
const SCRIPTS: &[(&str, Script)] = &[
    ("plain", &[("A plain answer of a few words. ", &[])]),
    ("write", &[("I add it. ", &[("add_task", "one")]), ("It is there. ", &[])]),
    ("writes", &[("I add three. ", &[("add_task", "a"), ("add_task", "b"), ("add_task", "c")]), ("All there. ", &[])]),
    ("reads", &[("I look. ", &[("list_tasks", ""), ("list_tasks", "")]), ("Nothing there. ", &[])]),
    (
        "steps",
        &[
            ("First one. ", &[("add_task", "x")]),
            ("Then a look. ", &[("list_tasks", ""), ("add_task", "y")]),
            ("Done with both. ", &[]),
        ],
    ),
    ("slow", &[("This takes a while and then some more and a little more after that, word by word by word. ", &[])]),
];

pub(crate) fn script(question: &str) -> Script {
    let word = question.split_whitespace().next().unwrap_or_default();
    SCRIPTS.iter().find(|(name, _)| *name == word).map_or(SCRIPTS[0].1, |(_, script)| script)
}

/// Starts the server and returns the settings that point at it.
pub(crate) async fn start() -> Vec<(&'static str, String)> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new().route("/v1/messages", post(answer));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    vec![
        ("SEGUE_MODEL", "anthropic:scripted".into()),
        ("ANTHROPIC_API_KEY", "test-key".into()),
        ("ANTHROPIC_BASE_URL", url),
    ]
}

/// Which step is asked for, and which words of it were said before a server died.
fn place(request: &Value) -> (Script, usize, String) {
    let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let text_of = |message: &Value| message["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    let (messages, said) = match messages {
        [before @ .., answer, last] if text_of(last).starts_with("Your answer above was cut off") => {
            let last_block = answer["content"].as_array().and_then(|blocks| blocks.last()).cloned().unwrap_or_default();
            (before, last_block["text"].as_str().unwrap_or_default().to_owned())
        }
        all => (all, String::new()),
    };
    let is_question = |message: &&Value| message["role"] == "user" && !text_of(message).is_empty();
    let question = messages.iter().rfind(is_question).map(text_of).unwrap_or_default();
    let after = messages.iter().rev().take_while(|message| !is_question(message));
    let blocks = after.flat_map(|message| message["content"].as_array().cloned().unwrap_or_default());
    let n_results = blocks.filter(|block| block["type"] == "tool_result").count();
    let script = script(&question);
    let mut n_calls = 0;
    let n_steps = script.iter().take_while(|(_, calls)| {
        n_calls += calls.len();
        n_calls <= n_results && !calls.is_empty()
    });
    (script, n_steps.count(), said)
}

async fn answer(Json(request): Json<Value>) -> axum::response::Response {
    let (script, step, said) = place(&request);
    let (text, calls) = script[step];
    let rest = text.strip_prefix(said.as_str()).unwrap_or_else(|| panic!("'{said}' is not how '{text}' begins"));
    let words: Vec<_> = rest.split_inclusive(' ').map(str::to_owned).collect();
    let frames = async_stream::stream! {
        yield frame(json!({"type": "message_start", "message": {"usage": {"input_tokens": 10, "output_tokens": 1}}}));
        yield frame(json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}));
        for word in words {
            tokio::time::sleep(Duration::from_millis(12)).await;
            let delta = json!({"type": "text_delta", "text": word});
            yield frame(json!({"type": "content_block_delta", "index": 0, "delta": delta}));
        }
        yield frame(json!({"type": "content_block_stop", "index": 0}));
        for (n, (name, title)) in calls.iter().enumerate() {
            let index = n + 1;
            let call = json!({"type": "tool_use", "id": format!("toolu_{n}"), "name": name, "input": {}});
            yield frame(json!({"type": "content_block_start", "index": index, "content_block": call}));
            let input = if *name == "add_task" { json!({"title": title}) } else { json!({}) };
            let delta = json!({"type": "input_json_delta", "partial_json": input.to_string()});
            yield frame(json!({"type": "content_block_delta", "index": index, "delta": delta}));
            yield frame(json!({"type": "content_block_stop", "index": index}));
        }
        let stop = if calls.is_empty() { "end_turn" } else { "tool_use" };
        yield frame(json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 20}}));
        yield frame(json!({"type": "message_stop"}));
    };
    ([("content-type", "text/event-stream")], Body::from_stream(frames)).into_response()
}

fn frame(event: Value) -> Result<String, std::convert::Infallible> {
    Ok(format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default()))
}
