//! The state of a model double, and what it sends for a request.

use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

use axum::{
    http::{StatusCode, Uri, header::RETRY_AFTER},
    response::Response,
};
use serde_json::Value;

use super::{
    answer,
    body::Text,
    families::Family,
    frames::{self, Reply, Usage},
    scenario::Question,
};
use crate::script::{Fault, Scenario, Step};

/// What a model server knows and has been told.
pub(super) struct Server {
    pub(super) model: String,
    pub(super) context_tokens: usize,
    pub(super) chars_per_token: f64,
    /// Faults that this server always has, beside the script.
    pub(super) habits: Vec<Fault>,
    /// In place of the pace of every step.
    pub(super) pace: Option<Duration>,
    pub(super) script: VecDeque<Step>,
    pub(super) scenarios: Vec<Scenario>,
    /// How many streams were broken off, by question.
    pub(super) n_broken: HashMap<String, u32>,
    pub(super) n_asked: usize,
    /// The bodies of the chat requests, in order, unless the server is forgetful.
    pub(super) asked: Vec<Value>,
    pub(super) is_forgetful: bool,
    /// Every requested path.
    pub(super) paths: Vec<String>,
}

/// What is sent for a request.
pub(super) enum Outcome {
    Silence,
    /// A response, without waiting for anything.
    Whole(Response),
    Stream(Box<Reply>),
}

impl Server {
    pub(super) fn new(model: &str) -> Self {
        Self {
            model: model.to_owned(),
            context_tokens: 4_096,
            chars_per_token: 4.0,
            habits: Vec::new(),
            pace: None,
            script: VecDeque::new(),
            scenarios: Vec::new(),
            n_broken: HashMap::new(),
            n_asked: 0,
            asked: Vec::new(),
            is_forgetful: false,
            paths: Vec::new(),
        }
    }

    /// Records a chat request.
    pub(super) fn note(&mut self, uri: &Uri, request: &Value) {
        self.n_asked += 1;
        if !self.is_forgetful {
            self.paths.push(uri.path().to_owned());
            self.asked.push(request.clone());
        }
    }

    /// The next step, and the part of it that was sent before.
    fn next_step(&mut self, request: &Value) -> (Step, Option<String>) {
        let question = Question::of(request);
        let Some(scenario) = question.scenario(&self.scenarios) else {
            return (self.script.pop_front().unwrap_or_else(|| Step::says("The script is over.")), None);
        };
        let n_broken = self.n_broken.entry(question.text.clone()).or_default();
        if *n_broken < scenario.breaks {
            *n_broken += 1;
            return (Step { pace_ms: 25.0, ..Step::says("I was about to tell you ").fault(Fault::Break) }, None);
        }
        (question.step(scenario), question.said)
    }

    /// The delay of the response, and the response.
    pub(super) fn outcome(&mut self, family: Family, key: &str, request: &Value) -> (Duration, Outcome) {
        let n_prompt = ["system", "messages", "tools"].iter().map(|field| n_chars(&request[*field])).sum::<usize>();
        let n_prompt = self.tokens(n_prompt);
        if self.habits.contains(&Fault::Silent) {
            return (Duration::ZERO, Outcome::Silence);
        }
        let refused = |this: &Self, fault: Fault| {
            let (status, body) = family.refusal(fault, &this.model, this.context_tokens, n_prompt, key)?;
            Some(Outcome::Whole(answer(status, "application/json", body.to_string())))
        };
        if let Some(refused) = self.fault_before(request, n_prompt).and_then(|fault| refused(self, fault)) {
            return (Duration::ZERO, refused);
        }
        let (mut step, said) = self.next_step(request);
        let delay = Duration::from_millis(step.delay_ms);
        if step.fault == Some(Fault::Silent) {
            return (delay, Outcome::Silence);
        }
        if let Some(body) = step.body {
            let status = if let Some(Fault::Status(status)) = step.fault { status } else { 200 };
            return (delay, Outcome::Whole(answer(status_of(status), "text/html", body)));
        }
        if let Some(Outcome::Whole(mut refused)) = step.fault.and_then(|fault| refused(self, fault)) {
            if let Some(Ok(after)) = step.retry_after.map(|after| after.parse()) {
                refused.headers_mut().insert(RETRY_AFTER, after);
            }
            return (delay, Outcome::Whole(refused));
        }
        step.text = step.text.repeat(step.repeat.unwrap_or(1));
        let Some(text) = Text::of(&step, said.as_deref(), self.n_asked - 1, self.pace) else {
            let said = format!("'{}' does not begin with '{}'", step.text, said.unwrap_or_default());
            let error = family.error(400, Fault::Status(400), said, 0, 0);
            return (delay, Outcome::Whole(answer(StatusCode::BAD_REQUEST, "application/json", error.to_string())));
        };
        let usage = Usage { n_prompt, n_answer: step.output_tokens.unwrap_or_else(|| self.tokens(step.n_chars())) };
        let faults = self.habits.iter().copied().chain(step.fault).collect();
        let reply = Reply { family, model: self.model.clone(), step, text, usage, faults };
        if reply.has(Fault::Whole) || request["stream"] != true {
            return (
                delay,
                Outcome::Whole(answer(StatusCode::OK, "application/json", frames::whole(&reply).to_string())),
            );
        }
        (delay, Outcome::Stream(Box::new(reply)))
    }

    /// The fault of the server that refuses this request before the script is read.
    fn fault_before(&self, request: &Value, n_prompt: usize) -> Option<Fault> {
        let has_tools = request["tools"].as_array().is_some_and(|tools| !tools.is_empty());
        let mut roles =
            request["messages"].as_array().into_iter().flatten().filter_map(|message| message["role"].as_str());
        let has_system = roles.any(|role| role == "system");
        let refuses = |fault: &&Fault| match fault {
            Fault::NoTools => has_tools,
            Fault::NoStreamOptions => request.get("stream_options").is_some(),
            Fault::NoStream => request["stream"] == true,
            Fault::NoSystem => has_system,
            Fault::NoModel | Fault::Unauthorized | Fault::Status(_) => true,
            _ => false,
        };
        let overflow = (n_prompt > self.context_tokens).then_some(Fault::Overflow);
        self.habits.iter().find(refuses).copied().or(overflow)
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a count")]
    pub(super) fn tokens(&self, n_chars: usize) -> usize {
        (n_chars as f64 / self.chars_per_token).ceil() as usize
    }
}

fn status_of(status: u16) -> StatusCode {
    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

fn n_chars(value: &Value) -> usize {
    if value.is_null() { 0 } else { value.to_string().chars().count() }
}
