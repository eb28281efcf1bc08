//! A model server that follows scripts. It finds its position in the script from the prompt alone, like a real model.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use axum::{Json, Router, body::Body, response::IntoResponse, routing::post};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::plan::Plan;

/// The output tokens of a step.
pub(crate) const TOKENS_PER_STEP: u64 = 20;

/// The reply of the model in each step: a text, then tool calls with a title each.
pub(crate) type Script = &'static [(&'static str, &'static [(&'static str, &'static str)])];

/// Forty words, each 150 ms after the one before: longer than two leases.
const LONG: &str = "one two three four five six seven eight nine ten one two three four five six seven eight nine ten \
    one two three four five six seven eight nine ten one two three four five six seven eight nine ten. ";

/// Eighty words: the model still speaks when a long answer has come to its end.
const LONGEST: &str = "one two three four five six seven eight nine ten one two three four five six seven eight nine ten \
    one two three four five six seven eight nine ten one two three four five six seven eight nine ten \
    one two three four five six seven eight nine ten one two three four five six seven eight nine ten \
    one two three four five six seven eight nine ten one two three four five six seven eight nine ten. ";

/// After the first word the model sends nothing for longer than any reader waits.
const SILENT: &str = "One and then a silence. ";
const SILENCE: Duration = Duration::from_secs(40);

/// The reply of the model to a request that the user's decision should have answered.
const UNDECIDED: &str = "I do something else. ";

/// The number of requests to the model.
static N_ASKED: AtomicUsize = AtomicUsize::new(0);

/// A track in the library of the user who asks for a playlist.
pub(crate) const ISRC: &str = "QZAAA2400001";

/// The scripts, by the first word of the question.
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
    ("again", &[("An answer that is asked for twice. ", &[])]),
    ("playlist", &[("I make it. ", &[("suggestPlaylist", "Proof")]), ("It is saved. ", &[])]),
    ("consent", &[("I ask. ", &[("othermcp__add_task", "outside")]), ("It cannot be known. ", &[])]),
    // The first call is the user's decision, not the model's.
    ("Allow", &[("", &[("othermcp__add_task", "outside")]), ("It is outside. ", &[])]),
    ("outside", &[("I call it. ", &[("othermcp__add_task", "outside")]), ("It is outside. ", &[])]),
    ("long", &[(LONG, &[])]),
    ("longest", &[(LONGEST, &[])]),
    ("silent", &[(SILENT, &[])]),
    ("slow", &[("This takes a while and then some more and a little more after that, word by word by word. ", &[])]),
];

pub(crate) fn script(question: &str) -> Script {
    if let Some(mark) = question.strip_prefix("history ") {
        return marked(mark);
    }
    let word = question.split_whitespace().next().unwrap_or_default();
    SCRIPTS.iter().find(|(name, _)| *name == word).map_or(SCRIPTS[0].1, |(_, script)| script)
}

/// A turn whose text and task contain the mark of the client.
fn marked(mark: &str) -> Script {
    // The process leaks a few hundred short texts, which is acceptable for a test program.
    let leaked = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
    let calls: &'static [_] = Box::leak(Box::new([("add_task", leaked(mark.to_owned()))]));
    let (before, after) = (format!("{mark} asks for something. "), format!("{mark} has it now, as was asked for. "));
    Box::leak(Box::new([(leaked(before), calls), (leaked(after), &[])]))
}

/// Starts the server and returns the settings of the Segue servers that call it.
pub(crate) async fn start(plan: Plan) -> Vec<(&'static str, String)> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new().route("/v1/messages", post(answer));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    let own = [
        ("SEGUE_MODEL", "anthropic:scripted".into()),
        ("ANTHROPIC_API_KEY", "test-key".into()),
        ("ANTHROPIC_BASE_URL", url),
        // Each connection is a process of PostgreSQL, and a server that lives for a second needs few.
        ("SEGUE_DATABASE_POOL", "4".into()),
    ];
    own.into_iter().chain(plan.settings()).collect()
}

/// The script, the step that is requested, and the part of its text that was sent before a server died.
fn place(request: &Value) -> (Script, usize, String) {
    let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    // One message may contain the results of the previous turn and then a question.
    let text_of = |message: &Value| {
        let blocks = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        blocks.iter().rev().find_map(|block| block["text"].as_str()).unwrap_or_default().to_owned()
    };
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
    let (text, calls) = match script[step] {
        ("", _) => (UNDECIDED, &[][..]),
        asked => asked,
    };
    let rest = text.strip_prefix(said.as_str()).unwrap_or_else(|| panic!("'{text}' does not begin with '{said}'"));
    let pace = Duration::from_millis(if [LONG, LONGEST].contains(&text) { 150 } else { 12 });
    // Every second reply is divided into other pieces. This shows whether a reader saw text that the log does not
    // contain.
    let is_in_letters = N_ASKED.fetch_add(1, Ordering::Relaxed) % 2 == 1;
    let has_silence = text == SILENT && said.is_empty();
    let (words, pace) = pieces(rest, pace, is_in_letters);
    let frames = async_stream::stream! {
        yield frame(json!({"type": "message_start", "message": {"usage": {"input_tokens": 10, "output_tokens": 1}}}));
        yield frame(json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}));
        for word in words {
            tokio::time::sleep(pace).await;
            let delta = json!({"type": "text_delta", "text": word});
            yield frame(json!({"type": "content_block_delta", "index": 0, "delta": delta}));
            if has_silence {
                tokio::time::sleep(SILENCE).await;
            }
        }
        yield frame(json!({"type": "content_block_stop", "index": 0}));
        for (n, (name, title)) in calls.iter().enumerate() {
            let index = n + 1;
            let call = json!({"type": "tool_use", "id": format!("toolu_{n}"), "name": name, "input": {}});
            yield frame(json!({"type": "content_block_start", "index": index, "content_block": call}));
            let input = input(name, title);
            let delta = json!({"type": "input_json_delta", "partial_json": input.to_string()});
            yield frame(json!({"type": "content_block_delta", "index": index, "delta": delta}));
            yield frame(json!({"type": "content_block_stop", "index": index}));
        }
        let stop = if calls.is_empty() { "end_turn" } else { "tool_use" };
        yield frame(json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": TOKENS_PER_STEP}}));
        yield frame(json!({"type": "message_stop"}));
    };
    ([("content-type", "text/event-stream")], Body::from_stream(frames)).into_response()
}

fn pieces(text: &str, pace: Duration, is_in_letters: bool) -> (Vec<String>, Duration) {
    if !is_in_letters {
        return (text.split_inclusive(' ').map(str::to_owned).collect(), pace);
    }
    let letters: Vec<_> = text.chars().collect();
    // The pace of a long answer is the same in both divisions.
    let (n_letters, pace) = if pace > Duration::from_millis(100) { (5, pace) } else { (3, pace / 3) };
    (letters.chunks(n_letters).map(String::from_iter).collect(), pace)
}

fn input(tool: &str, title: &str) -> Value {
    match tool {
        "add_task" | "othermcp__add_task" => json!({"title": title}),
        "suggestPlaylist" => json!({"title": title, "tracks": [{"isrc": ISRC, "reasoning": "It is the only one."}]}),
        _ => json!({}),
    }
}

fn frame(event: Value) -> Result<String, std::convert::Infallible> {
    Ok(format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default()))
}
