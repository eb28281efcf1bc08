//! A double of a model server of one family: its paths, its formats, its errors, and a script of replies.
//!
//! It counts tokens like the original (four characters each, or the ratio that a test sets) and refuses a prompt over
//! its context with the family's own message. Its replies are the script: steps in the order of the requests, or
//! scenarios, whose position is found from the request alone, as a real model would. A reply that was cut off by the
//! death of a server is continued with the rest of the text.

mod body;
mod families;
mod frames;
mod scenario;
mod server;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    Json, Router,
    body::Body,
    extract::State,
    http::{
        HeaderMap, StatusCode, Uri,
        header::{AUTHORIZATION, CONTENT_TYPE},
    },
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::{Value, json};
use tokio::{sync::watch, time::sleep};

pub use self::families::Family;
use self::{
    body::Open,
    server::{Outcome, Server},
};
pub use crate::script::{Call, Fault, Pieces, Scenario, Script, Step};

#[derive(Clone)]
pub struct ModelDouble {
    family: Family,
    state: Arc<Mutex<Server>>,
    n_open: watch::Sender<usize>,
}

impl ModelDouble {
    pub fn new(family: Family, model: &str) -> Self {
        let state = Arc::new(Mutex::new(Server::new(model)));
        Self { family, state, n_open: watch::Sender::new(0) }
    }

    pub fn context(self, tokens: usize, chars_per_token: f64) -> Self {
        {
            let mut state = self.lock();
            state.context_tokens = tokens;
            state.chars_per_token = chars_per_token;
        }
        self
    }

    /// Adds a fault that the server always has, independent of the script.
    pub fn always(self, habit: Fault) -> Self {
        self.lock().habits.push(habit);
        self
    }

    /// Keeps no requests, for a run of many thousand.
    pub fn forgetful(self) -> Self {
        self.lock().is_forgetful = true;
        self
    }

    /// Sets the fault of every reply from now on; `None` removes it.
    pub fn set_fault(&self, fault: Option<Fault>) {
        self.lock().habits = fault.into_iter().collect();
    }

    /// Sets the time before each piece of the text of every reply from now on, in place of the script's.
    pub fn set_pace(&self, pace: Duration) {
        self.lock().pace = Some(pace);
    }

    /// Appends replies to the script.
    pub fn play(&self, steps: impl IntoIterator<Item = Step>) {
        self.lock().script.extend(crate::script::repeated(steps));
    }

    /// Replies to each question with the first scenario that is meant for it.
    pub fn play_scenarios(&self, scenarios: Vec<Scenario>) {
        self.lock().scenarios = scenarios;
    }

    pub fn play_script(&self, script: Script) {
        match script {
            Script::Steps(steps) => self.play(steps),
            Script::Scenarios(scenarios) => self.play_scenarios(scenarios),
        }
    }

    pub fn asked(&self) -> Vec<Value> {
        self.lock().asked.clone()
    }

    pub fn paths(&self) -> Vec<String> {
        self.lock().paths.clone()
    }

    /// How many replies are being sent.
    pub fn n_open(&self) -> usize {
        *self.n_open.borrow()
    }

    /// Waits until every reply was sent to its end or its client has disconnected.
    pub async fn all_closed(&self) {
        // It fails if the sender is dropped, and this is a sender.
        let _ = self.n_open.subscribe().wait_for(|n| *n == 0).await;
    }

    pub fn router(&self) -> Router {
        let reply = match self.family {
            Family::Anthropic => Router::new().route("/v1/messages", post(chat)),
            _ => Router::new().route("/v1/chat/completions", post(chat)),
        };
        let routes = reply.route("/api/show", post(show)).fallback(get(document));
        routes.with_state(self.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Server> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn chat(State(double): State<ModelDouble>, uri: Uri, headers: HeaderMap, Json(request): Json<Value>) -> Response {
    let open = Open::new(&double.n_open);
    let (delay, outcome) = {
        let mut server = double.lock();
        server.note(&uri, &request);
        server.outcome(double.family, &key(&headers), &request)
    };
    if !delay.is_zero() {
        sleep(delay).await;
    }
    match outcome {
        Outcome::Silence => std::future::pending().await,
        Outcome::Whole(response) => response,
        Outcome::Stream(reply) => {
            let frames = frames::stream(&reply, &request);
            let body = body::body(frames, reply.text.timing, reply.has(Fault::Break), open);
            answer(StatusCode::OK, "text/event-stream", body)
        }
    }
}

/// The key of a request, in the headers of both formats.
fn key(headers: &HeaderMap) -> String {
    let given = ["x-api-key", AUTHORIZATION.as_str()].map(|name| headers.get(name).and_then(|key| key.to_str().ok()));
    given.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

async fn show(State(double): State<ModelDouble>, uri: Uri) -> Response {
    let mut server = double.lock();
    server.paths.push(uri.path().to_owned());
    match double.family {
        Family::Ollama => Json(families::ollama_show(server.context_tokens)).into_response(),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn document(State(double): State<ModelDouble>, uri: Uri) -> Response {
    let mut server = double.lock();
    server.paths.push(uri.path().to_owned());
    match double.family.document(uri.path(), &server.model, server.context_tokens) {
        Some(document) => Json(document).into_response(),
        // LM Studio returns this error with status 200.
        None if double.family == Family::LmStudio => {
            Json(json!({"error": format!("Unexpected endpoint or method. (GET {})", uri.path())})).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

fn answer(status: StatusCode, content_type: &str, body: impl Into<Body>) -> Response {
    let response = Response::builder().status(status).header(CONTENT_TYPE, content_type);
    response.body(body.into()).unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}
