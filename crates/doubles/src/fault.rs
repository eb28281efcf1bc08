//! The faults of the services that are not model servers, and the plan of the next ones.

use std::{collections::VecDeque, io, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use futures::{StreamExt, stream};

use crate::{
    script::{self, Script, Step},
    tidal::Refusal,
};

/// The start of a body that is not completed.
const HALF: Bytes = Bytes::from_static(b"{\"data\":[");

/// A fault of a service.
#[derive(Clone, Debug)]
pub enum Fault {
    TooMany {
        /// As sent: seconds or a date. Usually absent.
        retry_after: Option<String>,
        empty_body: bool,
    },
    /// The token is no longer valid.
    Unauthorized,
    Status {
        code: u16,
    },
    /// A status with a time to wait.
    Later {
        code: u16,
        retry_after: String,
    },
    /// A valid response after a delay.
    Slow {
        ms: u64,
    },
    /// Never answers.
    Silence,
    /// Starts a body and never ends it.
    HalfABody,
    /// Starts a body and breaks the connection off.
    Break,
    /// Status 200 with an HTML page.
    Garbage,
    /// Status 200 with an empty body.
    EmptyBody,
    Body {
        code: u16,
        text: String,
    },
}

impl Fault {
    /// The fault's response; `None` if the real response follows.
    pub(crate) async fn play(self) -> Option<Response> {
        let start = stream::iter([Ok::<_, io::Error>(HALF)]);
        Some(match self {
            Self::TooMany { retry_after, empty_body } => too_many(retry_after.as_deref(), empty_body),
            Self::Unauthorized => {
                Refusal::new(StatusCode::UNAUTHORIZED, "UNAUTHORIZED", "The token has expired").into_response()
            }
            Self::Status { code } => Refusal::new(status(code), "DOUBLE_FAULT", "as asked").into_response(),
            Self::Later { code, retry_after } => {
                let refused = Refusal::new(status(code), "DOUBLE_FAULT", "as asked").into_response();
                with_retry_after(refused, Some(&retry_after))
            }
            Self::Slow { ms } => {
                tokio::time::sleep(Duration::from_millis(ms)).await;
                return None;
            }
            Self::Silence => std::future::pending().await,
            Self::HalfABody => Body::from_stream(start.chain(stream::pending())).into_response(),
            Self::Break => {
                let end = stream::iter([Err(io::Error::other("the script breaks the body off"))]);
                Body::from_stream(start.chain(end)).into_response()
            }
            Self::Garbage => "<!doctype html><title>Sign in to the hotel network</title>".into_response(),
            Self::EmptyBody => StatusCode::OK.into_response(),
            Self::Body { code, text } => (status(code), text).into_response(),
        })
    }
}

fn status(code: u16) -> StatusCode {
    StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

pub(crate) fn too_many(retry_after: Option<&str>, empty_body: bool) -> Response {
    let status = StatusCode::TOO_MANY_REQUESTS;
    let response = match empty_body {
        true => status.into_response(),
        false => Refusal::new(status, "TOO_MANY_REQUESTS", "Too many requests").into_response(),
    };
    with_retry_after(response, retry_after)
}

fn with_retry_after(mut response: Response, retry_after: Option<&str>) -> Response {
    if let Some(value) = retry_after.and_then(|value| HeaderValue::from_str(value).ok()) {
        response.headers_mut().insert(header::RETRY_AFTER, value);
    }
    response
}

/// The faults of one request, one after the other until one of them has a response.
pub(crate) type Planned = Vec<Fault>;

/// The response of the first fault that has one; `None` if the real response follows.
pub(crate) async fn play(planned: Planned) -> Option<Response> {
    for fault in planned {
        if let Some(response) = fault.play().await {
            return Some(response);
        }
    }
    None
}

/// Which faults the next requests have.
#[derive(Default)]
pub(crate) struct Plan {
    /// One item for each request.
    next: VecDeque<Planned>,
    /// The texts of which one is in the path or the query, and one item for each such request.
    scenarios: Vec<(Vec<String>, VecDeque<Planned>)>,
    /// The faults after all others.
    standing: Planned,
}

impl Plan {
    /// Plans the next requests, one each; `None` means no fault.
    pub(crate) fn add(&mut self, faults: impl IntoIterator<Item = Option<Fault>>) {
        self.next.extend(faults.into_iter().map(|fault| fault.into_iter().collect()));
    }

    /// Sets the faults of every request from now on.
    pub(crate) fn always(&mut self, faults: impl IntoIterator<Item = Fault>) {
        *self = Self { standing: faults.into_iter().collect(), ..Self::default() };
    }

    pub(crate) fn play_script(&mut self, script: Script) {
        match script {
            Script::Steps(steps) => self.add_steps(steps),
            Script::Scenarios(scenarios) => {
                self.scenarios.extend(scenarios.into_iter().map(|scenario| {
                    let words = scenario.when.iter().map(|word| word.to_lowercase()).collect();
                    (words, script::repeated(scenario.steps).map(|step| planned(&step)).collect())
                }));
            }
        }
    }

    pub(crate) fn add_steps(&mut self, steps: impl IntoIterator<Item = Step>) {
        self.next.extend(script::repeated(steps).map(|step| planned(&step)));
    }

    /// The faults of the request for this path and query.
    pub(crate) fn next(&mut self, path: &str) -> Planned {
        if let Some(planned) = self.next.pop_front() {
            return planned;
        }
        let path = path.to_lowercase();
        let is_for = |words: &[String]| words.is_empty() || words.iter().any(|word| path.contains(word));
        let scenario = self.scenarios.iter_mut().find(|(words, steps)| !steps.is_empty() && is_for(words));
        scenario.and_then(|(_, steps)| steps.pop_front()).unwrap_or_else(|| self.standing.clone())
    }
}

/// What a service does for a step of a script.
pub(crate) fn planned(step: &Step) -> Planned {
    let slow = (step.delay_ms > 0).then_some(Fault::Slow { ms: step.delay_ms });
    let code = if let Some(script::Fault::Status(code)) = step.fault { Some(code) } else { None };
    let fault = match (&step.body, code, step.retry_after.clone()) {
        (Some(text), code, _) => Some(Fault::Body { code: code.unwrap_or(200), text: text.clone() }),
        (None, Some(429), retry_after) => Some(Fault::TooMany { retry_after, empty_body: false }),
        (None, Some(code), Some(retry_after)) => Some(Fault::Later { code, retry_after }),
        (None, Some(code), None) => Some(Fault::Status { code }),
        (None, None, _) => match step.fault {
            Some(script::Fault::Silent) => Some(Fault::Silence),
            Some(script::Fault::Break) => Some(Fault::Break),
            _ => None,
        },
    };
    slow.into_iter().chain(fault).collect()
}
