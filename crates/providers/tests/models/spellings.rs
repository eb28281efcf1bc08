//! Calls as text: a corpus of replies in every documented spelling, sent whole, in pieces of seven characters and one
//! character at a time.

use std::sync::Arc;

use engine::{Delta, Effect, Model, Prompt, ToolSpec};
use futures::StreamExt;
use serde_json::{Value, json};

use crate::provider::{Answer, Provider, VENDORS, Vendor, hello};

fn tool(name: &'static str, properties: Value, required: &[&str]) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        title: "Not for models".into(),
        description: format!("What {name} does."),
        effect: Effect::Reads,
        input_schema: json!({"type": "object", "properties": properties, "required": required}),
        output_schema: json!({}),
    }
}

pub(crate) fn offered() -> Arc<[ToolSpec]> {
    let text = json!({"type": "string"});
    Arc::new([
        tool("add_task", json!({"title": text, "description": text}), &["title"]),
        tool("list_tasks", json!({"filter": text}), &[]),
        tool("semanticSearch", json!({"query": text, "limit": {"type": "integer"}}), &["query"]),
        tool("get-weather", json!({"city": text}), &["city"]),
    ])
}

/// `content` as a stream of this vendor, `n_chars` characters per frame.
fn stream(vendor: Vendor, content: &str, n_chars: usize) -> String {
    let letters: Vec<char> = content.chars().collect();
    let pieces = letters.chunks(n_chars).map(|piece| piece.iter().collect::<String>());
    match vendor {
        Vendor::OpenAi => {
            let frame = |choice: Value| format!("data: {}\n\n", json!({"choices": [choice]}));
            let frames = pieces.map(|text| frame(json!({"index": 0, "delta": {"content": text}})));
            let end = frame(json!({"index": 0, "delta": {}, "finish_reason": "stop"}));
            frames.chain([end, "data: [DONE]\n\n".into()]).collect()
        }
        Vendor::Anthropic => {
            let delta = |text| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}});
            let frames = pieces.map(|text| format!("data: {}\n\n", delta(text)));
            frames.chain(["data: {\"type\":\"message_stop\"}\n\n".into()]).collect()
        }
    }
}

/// The texts joined, one line per call.
pub(crate) async fn summed_up(model: &dyn Model, prompt: &Prompt) -> String {
    let deltas: Vec<_> = model.reply(prompt).collect().await;
    let (mut text, mut lines) = (String::new(), Vec::new());
    for delta in deltas {
        match delta {
            Ok(Delta::Text(more)) => text.push_str(&more),
            Ok(Delta::ToolCall { name, input }) => lines.push(format!("call {name} {input}")),
            Ok(Delta::Reasoning(_) | Delta::Reading { .. } | Delta::Progress { .. } | Delta::End { .. }) => {}
            Err(error) => lines.push(format!("{error:?}")),
        }
    }
    let said = (!text.trim().is_empty()).then(|| format!("text {text:?}"));
    said.into_iter().chain(lines).collect::<Vec<_>>().join("\n")
}

fn corpus() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let cases = include_str!("spellings.txt").split("\n## ").skip(1);
    cases.map(|case| {
        let (what, rest) = case.split_once('\n').expect("a title");
        let (reply, expected) = rest.split_once("\n=>\n").expect("a case has a transcript");
        (what, reply, expected.trim_end())
    })
}

#[tokio::test]
async fn every_documented_spelling_is_read_and_prose_stays_prose() {
    assert!(corpus().count() > 50);
    let prompt = Prompt { tools: offered(), ..hello() };
    let mut wrong = Vec::new();
    for (what, reply, expected) in corpus() {
        for vendor in VENDORS {
            for n_chars in [1, 7, 100_000] {
                let provider = Provider::start([Answer::stream(stream(vendor, reply, n_chars))]).await;
                let transcript = summed_up(&*vendor.model(&provider.url), &prompt).await;
                // Missing arguments and `{}` mean the same.
                let transcript = transcript.replace("call list_tasks \n", "call list_tasks {}\n");
                if transcript != expected {
                    wrong.push(format!("{what} ({vendor:?}, {n_chars} letters a frame):\n{transcript}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[tokio::test]
async fn without_tools_no_text_is_taken_for_a_call() {
    let reply = r#"{"name": "add_task", "arguments": {"title": "buy milk"}}"#;
    let reply_to = async |prompt: Prompt| {
        let provider = Provider::start([Answer::stream(stream(Vendor::OpenAi, reply, 5))]).await;
        summed_up(&*Vendor::OpenAi.model(&provider.url), &prompt).await
    };
    assert_eq!(reply_to(hello()).await, format!("text {reply:?}"));
    // If calls are not allowed, the turn drops them. As text they would become the answer.
    let over = Prompt { tools: offered(), may_call_tools: false, ..hello() };
    assert_eq!(reply_to(over).await, r#"call add_task {"title":"buy milk"}"#);
}

#[tokio::test]
async fn text_before_a_possible_call_is_passed_on_at_once() {
    let reply = "Let me add it. <tool_call>{\"name\": \"add_task\"";
    let frames = stream(Vendor::OpenAi, reply, 4);
    let unfinished = frames.split("data: {\"choices\":[{\"delta\":{},").next().expect("frames");
    let provider = Provider::start([Answer::stream(unfinished).then(crate::provider::Then::Hang)]).await;
    let prompt = Prompt { tools: offered(), ..hello() };
    let mut deltas = Vendor::OpenAi.model(&provider.url).reply(&prompt);
    let mut text = String::new();
    while text != "Let me add it. " {
        match deltas.next().await.expect("a delta").expect("no failure") {
            Delta::Text(more) => text.push_str(&more),
            other => panic!("{other:?}"),
        }
        assert!("Let me add it. ".starts_with(&text), "{text:?} is more than is surely prose");
    }
}

#[tokio::test]
async fn text_that_turns_out_to_be_prose_is_passed_on_before_the_reply_ends() {
    let openings = [
        "[The list](https://example.com) has more",
        "{\"tasks\": [1, 2]} is the data",
        "```rust\nfn main() {}\n",
        "<tool_call>{\"name\": \"unknown\", \"arguments\": {}}",
        "{\"name\": \"Alice\", \"age\": 5}",
    ];
    for reply in openings {
        let frames = stream(Vendor::OpenAi, reply, 3);
        let unfinished = frames.split("data: {\"choices\":[{\"delta\":{},").next().expect("frames");
        let provider = Provider::start([Answer::stream(unfinished).then(crate::provider::Then::Hang)]).await;
        let prompt = Prompt { tools: offered(), ..hello() };
        let mut deltas = Vendor::OpenAi.model(&provider.url).reply(&prompt);
        let mut text = String::new();
        let all = async {
            while text != reply {
                match deltas.next().await.expect("a delta").expect("no failure") {
                    Delta::Text(more) => text.push_str(&more),
                    other => panic!("{other:?}"),
                }
            }
        };
        // The server sends nothing more, so without a release this would wait forever.
        let transcript = tokio::time::timeout(std::time::Duration::from_secs(5), all).await;
        assert!(transcript.is_ok(), "{reply:?} was held back: {text:?}");
    }
}
