//! A model server for the real binary: Anthropic's stream, scripted, at the pace that the test sets.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    Json, Router,
    body::Body,
    extract::State,
    response::{IntoResponse, Response},
    routing::post,
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::Notify};

/// First reply: some words and one `add_task`; second reply: more words. Each word takes `pace`.
#[derive(Clone)]
pub(crate) struct Upstream {
    pub(crate) url: String,
    state: Arc<Shared>,
}

struct Shared {
    pace: Duration,
    n_words: usize,
    tool: &'static str,
    n_open: AtomicUsize,
    closed: Notify,
    models: Mutex<Vec<String>>,
}

impl Upstream {
    pub(crate) async fn start(pace: Duration, n_words: usize) -> Self {
        Self::calling("add_task", pace, n_words).await
    }

    pub(crate) async fn calling(tool: &'static str, pace: Duration, n_words: usize) -> Self {
        let state = Arc::new(Shared {
            pace,
            n_words,
            tool,
            n_open: AtomicUsize::new(0),
            closed: Notify::new(),
            models: Mutex::default(),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let router = Router::new().route("/v1/messages", post(answer)).with_state(state.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.expect("the upstream serves") });
        Self { url, state }
    }

    pub(crate) fn settings(&self) -> [(&'static str, String); 3] {
        [
            ("SEGUE_MODEL", "anthropic:test".into()),
            ("ANTHROPIC_API_KEY", "test-key".into()),
            ("ANTHROPIC_BASE_URL", self.url.clone()),
        ]
    }

    /// The model of each call.
    pub(crate) fn models(&self) -> Vec<String> {
        self.state.models.lock().unwrap().clone()
    }

    /// Waits until all calls are closed by their clients.
    pub(crate) async fn all_closed(&self) {
        loop {
            let closed = self.state.closed.notified();
            if self.state.n_open.load(Ordering::SeqCst) == 0 {
                return;
            }
            closed.await;
        }
    }

    pub(crate) fn n_open(&self) -> usize {
        self.state.n_open.load(Ordering::SeqCst)
    }
}

/// Counts a call as open until its response is dropped.
struct Open(Arc<Shared>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.n_open.fetch_sub(1, Ordering::SeqCst);
        self.0.closed.notify_waiters();
    }
}

/// The position in the script at which the model was called.
pub(crate) struct Asked {
    pub(crate) title: String,
    pub(crate) has_result: bool,
    /// How many words of this reply were visible before a server died.
    pub(crate) n_said: usize,
}

impl Asked {
    pub(crate) fn of(request: &Value) -> Self {
        let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let text_of = |message: &Value| message["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        let (messages, n_said) = match messages {
            [before @ .., answer, last] if text_of(last).starts_with("Your answer above was cut off") => {
                let said = answer["content"].as_array().and_then(|blocks| blocks.last()).cloned().unwrap_or_default();
                (before, said["text"].as_str().unwrap_or_default().split_whitespace().count())
            }
            all => (all, 0),
        };
        let last = messages.last().cloned().unwrap_or_default();
        let is_result = |block: &Value| block["type"] == "tool_result";
        let has_result = last["content"].as_array().is_some_and(|blocks| blocks.iter().any(is_result));
        Self { title: text_of(&last), has_result, n_said }
    }
}

async fn answer(State(state): State<Arc<Shared>>, Json(request): Json<Value>) -> Response {
    let asked = Asked::of(&request);
    state.models.lock().unwrap().push(request["model"].as_str().unwrap_or_default().to_owned());
    state.n_open.fetch_add(1, Ordering::SeqCst);
    let open = Open(state.clone());
    let frames = async_stream::stream! {
        let _open = open;
        yield frame(json!({"type": "message_start", "message": {"usage": {"input_tokens": 10, "output_tokens": 1}}}));
        yield frame(json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}));
        for n in asked.n_said..state.n_words {
            tokio::time::sleep(state.pace).await;
            let delta = json!({"type": "text_delta", "text": format!("word{n} ")});
            yield frame(json!({"type": "content_block_delta", "index": 0, "delta": delta}));
        }
        yield frame(json!({"type": "content_block_stop", "index": 0}));
        if !asked.has_result {
            let call = json!({"type": "tool_use", "id": "toolu_1", "name": state.tool, "input": {}});
            yield frame(json!({"type": "content_block_start", "index": 1, "content_block": call}));
            let input = json!({"title": asked.title}).to_string();
            let delta = json!({"type": "input_json_delta", "partial_json": input});
            yield frame(json!({"type": "content_block_delta", "index": 1, "delta": delta}));
            yield frame(json!({"type": "content_block_stop", "index": 1}));
        }
        let stop = if asked.has_result { "end_turn" } else { "tool_use" };
        yield frame(json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 20}}));
        yield frame(json!({"type": "message_stop"}));
    };
    ([("content-type", "text/event-stream")], Body::from_stream(frames)).into_response()
}

fn frame(event: Value) -> Result<String, std::convert::Infallible> {
    Ok(format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default()))
}
