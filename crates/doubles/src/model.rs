//! A double of a model server of one family: its paths, its formats, its errors, and a script of replies.
//!
//! It counts tokens like the original (four characters each, or the ratio that a test sets) and refuses a prompt over
//! its context with the family's own message. Its replies are the script.

mod families;
mod frames;
mod scenario;
mod script;

use std::{
    collections::{HashMap, VecDeque},
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    Json, Router,
    body::Body,
    extract::State,
    http::{StatusCode, Uri, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, sleep_until};

use self::scenario::Question;
pub use self::{
    families::Family,
    script::{Call, Fault, Scenario, Script, Step, parse_script},
};

/// From the last frame of a stream that breaks off to its break.
const BREAK_AFTER: Duration = Duration::from_millis(50);

#[derive(Clone)]
pub struct ModelDouble {
    family: Family,
    state: Arc<Mutex<Server>>,
}

struct Server {
    model: String,
    context_tokens: usize,
    chars_per_token: f64,
    /// Faults that this server always has, beside the script.
    habits: Vec<Fault>,
    script: VecDeque<Step>,
    scenarios: Vec<Scenario>,
    /// How many streams were broken off, by question.
    n_broken: HashMap<String, u32>,
    /// The bodies of the chat requests, in order.
    asked: Vec<Value>,
    /// Every requested path.
    paths: Vec<String>,
}

impl ModelDouble {
    pub fn new(family: Family, model: &str) -> Self {
        let state = Server {
            model: model.to_owned(),
            context_tokens: 4_096,
            chars_per_token: 4.0,
            habits: Vec::new(),
            script: VecDeque::new(),
            scenarios: Vec::new(),
            n_broken: HashMap::new(),
            asked: Vec::new(),
            paths: Vec::new(),
        };
        Self { family, state: Arc::new(Mutex::new(state)) }
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

    /// Appends replies to the script.
    pub fn play(&self, steps: impl IntoIterator<Item = Step>) {
        self.lock().script.extend(steps);
    }

    /// Replies to each question with the first scenario that is meant for it.
    pub fn play_scenarios(&self, scenarios: Vec<Scenario>) {
        self.lock().scenarios = scenarios;
    }

    pub fn asked(&self) -> Vec<Value> {
        self.lock().asked.clone()
    }

    pub fn paths(&self) -> Vec<String> {
        self.lock().paths.clone()
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

impl Server {
    fn has(&self, step: &Step, fault: Fault) -> bool {
        step.fault == Some(fault) || self.habits.contains(&fault)
    }

    /// The next step, and whether its stream breaks off.
    fn next_step(&mut self, request: &Value) -> (Step, bool) {
        let question = Question::of(request);
        let Some(scenario) = question.scenario(&self.scenarios) else {
            return (self.script.pop_front().unwrap_or_else(|| Step::says("The script is over.")), false);
        };
        let n_broken = self.n_broken.entry(question.text.clone()).or_default();
        if *n_broken < scenario.breaks {
            *n_broken += 1;
            let step = Step { pace_ms: 25.0, ..Step::says("I was about to tell you ").fault(Fault::Cut) };
            return (step, true);
        }
        (question.step(scenario), false)
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a count")]
    fn tokens(&self, n_chars: usize) -> usize {
        (n_chars as f64 / self.chars_per_token).ceil() as usize
    }
}

async fn chat(State(double): State<ModelDouble>, uri: Uri, Json(request): Json<Value>) -> Response {
    let family = double.family;
    let mut server = double.lock();
    server.paths.push(uri.path().to_owned());
    server.asked.push(request.clone());
    let n_prompt = ["system", "messages", "tools"].iter().map(|field| n_chars(&request[*field])).sum::<usize>();
    let n_prompt = server.tokens(n_prompt);
    let refusal = refusal(family, &server, &request, n_prompt);
    if let Some((status, body)) = refusal {
        return answer(status, "application/json", body.to_string());
    }
    let (step, breaks) = server.next_step(&request);
    if let Some((status, body)) =
        step.fault.and_then(|fault| family.refusal(fault, &server.model, server.context_tokens, n_prompt))
    {
        return answer(status, "application/json", body.to_string());
    }
    let usage = frames::Usage { n_prompt, n_answer: server.tokens(step.n_chars()) };
    let is_whole = server.has(&step, Fault::Whole) || request["stream"] != true;
    let faults = frames::Faults::of(|fault| server.has(&step, fault));
    let model = server.model.clone();
    drop(server);
    if is_whole {
        let body = frames::whole(family, &model, &step, usage, &faults);
        return answer(StatusCode::OK, "application/json", body.to_string());
    }
    let frames = frames::stream(family, &model, &step, usage, &faults, &request);
    if step.pace_ms > 0.0 {
        return answer(StatusCode::OK, "text/event-stream", paced(frames, step.pace_ms, breaks));
    }
    answer(StatusCode::OK, "text/event-stream", frames.concat())
}

/// A body that sends each frame at its time. Times count from the start, so that a slow timer does not add up.
fn paced(frames: Vec<String>, pace_ms: f64, breaks: bool) -> Body {
    let (start, pace) = (Instant::now(), Duration::from_secs_f64(pace_ms / 1000.0));
    let times = (0..).map(move |n: u32| start + pace * n);
    let frames = stream::iter(frames.into_iter().zip(times)).then(async |(frame, at)| {
        sleep_until(at).await;
        Ok(frame)
    });
    let end = stream::iter(breaks.then_some(())).then(async |()| {
        // The server sends its frames before it waits. Without the wait, a broken body could drop them.
        sleep(BREAK_AFTER).await;
        Err(io::Error::other("the script breaks the stream off"))
    });
    Body::from_stream(frames.chain(end))
}

/// The error that the server returns before it reads the script.
fn refusal(family: Family, server: &Server, request: &Value, n_prompt: usize) -> Option<(StatusCode, Value)> {
    let refuses = |fault: Fault| server.habits.contains(&fault);
    let has_tools = request["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let roles = || request["messages"].as_array().into_iter().flatten().filter_map(|message| message["role"].as_str());
    let fault = if refuses(Fault::NoTools) && has_tools {
        Fault::NoTools
    } else if refuses(Fault::NoStreamOptions) && request.get("stream_options").is_some() {
        Fault::NoStreamOptions
    } else if refuses(Fault::NoStream) && request["stream"] == true {
        Fault::NoStream
    } else if refuses(Fault::NoSystem) && roles().any(|role| role == "system") {
        Fault::NoSystem
    } else if n_prompt > server.context_tokens {
        Fault::Overflow
    } else {
        return None;
    };
    family.refusal(fault, &server.model, server.context_tokens, n_prompt)
}

fn n_chars(value: &Value) -> usize {
    if value.is_null() { 0 } else { value.to_string().chars().count() }
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
