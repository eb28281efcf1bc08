//! A model server with faults. It calls the tool that the user's message names first, then says that it is done.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Json, Router,
    body::Body,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::post,
};
use serde_json::{Value, json};
use tokio::net::TcpListener;

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum ModelFault {
    /// Ends its stream in the middle of a tool's input.
    Cut,
    /// Answers every request with 529.
    Overloaded,
    /// Accepts the request and sends nothing.
    Silent,
}

/// The current fault and the time per word.
type Shared = Arc<Mutex<(Option<ModelFault>, Duration)>>;

#[derive(Clone)]
pub(crate) struct FaultyModel {
    pub(crate) url: String,
    state: Shared,
}

const N_WORDS: usize = 8;

impl FaultyModel {
    pub(crate) async fn start() -> Self {
        let state = Arc::new(Mutex::new((None, Duration::from_millis(2))));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().route("/v1/messages", post(answer)).with_state(state.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, state }
    }

    /// Sets the fault of every reply from now on; `None` removes it.
    pub(crate) fn set_fault(&self, fault: Option<ModelFault>) {
        self.state.lock().unwrap().0 = fault;
    }

    /// Sets the time per word from now on.
    pub(crate) fn set_pace(&self, pace: Duration) {
        self.state.lock().unwrap().1 = pace;
    }

    pub(crate) fn settings(&self) -> Vec<(&'static str, String)> {
        vec![
            ("SEGUE_MODEL", "anthropic:faulty".into()),
            ("ANTHROPIC_API_KEY", "test-key".into()),
            ("ANTHROPIC_BASE_URL", self.url.clone()),
        ]
    }
}

/// "find rain" searches the collection, "tidal rain" the catalogue; any other message becomes a task.
fn call_for(text: &str) -> (&'static str, Value) {
    match text.split_once(' ') {
        Some(("find", words)) => ("semanticSearch", json!({"query": words})),
        Some(("tidal", words)) => ("tidalSearch", json!({"query": words, "searchType": "tracks"})),
        _ => ("add_task", json!({"title": text})),
    }
}

async fn answer(State(state): State<Shared>, Json(request): Json<Value>) -> Response {
    let (fault, pace) = *state.lock().unwrap();
    match fault {
        Some(ModelFault::Overloaded) => {
            let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
            return (StatusCode::from_u16(529).unwrap(), Json(error)).into_response();
        }
        Some(ModelFault::Silent) => std::future::pending().await,
        None | Some(ModelFault::Cut) => {}
    }
    let asked = crate::support::Asked::of(&request);
    let has_result = asked.has_result;
    let (name, input) = call_for(&asked.title);
    let frames = async_stream::stream! {
        yield frame(json!({"type": "message_start", "message": {"usage": {"input_tokens": 10, "output_tokens": 1}}}));
        yield frame(json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}));
        for n in asked.n_said..N_WORDS {
            tokio::time::sleep(pace).await;
            let delta = json!({"type": "text_delta", "text": format!("word{n} ")});
            yield frame(json!({"type": "content_block_delta", "index": 0, "delta": delta}));
        }
        yield frame(json!({"type": "content_block_stop", "index": 0}));
        if !has_result {
            let call = json!({"type": "tool_use", "id": "toolu_1", "name": name, "input": {}});
            yield frame(json!({"type": "content_block_start", "index": 1, "content_block": call}));
            let text = input.to_string();
            let partial = if fault == Some(ModelFault::Cut) { &text[..text.len() / 2] } else { &text };
            let delta = json!({"type": "input_json_delta", "partial_json": partial});
            yield frame(json!({"type": "content_block_delta", "index": 1, "delta": delta}));
            if fault == Some(ModelFault::Cut) {
                return;
            }
            yield frame(json!({"type": "content_block_stop", "index": 1}));
        }
        let stop = if has_result { "end_turn" } else { "tool_use" };
        yield frame(json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 20}}));
        yield frame(json!({"type": "message_stop"}));
    };
    ([("content-type", "text/event-stream")], Body::from_stream(frames)).into_response()
}

fn frame(event: Value) -> Result<String, std::convert::Infallible> {
    Ok(format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default()))
}
