//! Model calls that are not part of an answer: rewordings of a search, descriptions of tracks. Each is a generation.

use std::sync::{Arc, OnceLock, Weak};

use chrono::Utc;
use engine::{CallId, Delta, Model, ModelError, Prompt, Usage, UserId};
use futures::StreamExt;

use super::{Observer, cut::Cut, sent};

/// Why a model is called, and for which user.
#[derive(Clone, Debug)]
pub(crate) struct Cause {
    /// The name of its generation.
    pub(crate) name: &'static str,
    pub(crate) owner: UserId,
    /// The tool call that waits for it, if any.
    pub(crate) call: Option<CallId>,
}

/// One reply of a model that is not part of an answer.
#[derive(Clone, Debug)]
pub(crate) struct BackgroundCall {
    pub(super) cause: Cause,
    pub(super) model: String,
    pub(super) input: Option<Cut>,
    pub(super) output: String,
    pub(super) usage: Usage,
    pub(super) started_ms: i64,
    pub(super) first_ms: Option<i64>,
    pub(super) ended_ms: i64,
    pub(super) error: Option<String>,
}

/// The observer of these replies. It is set later, because tools and workers exist before the observer.
#[derive(Clone, Default)]
pub(crate) struct BackgroundCalls(Arc<OnceLock<Weak<Observer>>>);

impl BackgroundCalls {
    pub(crate) fn tell(&self, observer: &Arc<Observer>) {
        // Set once, when the application starts.
        let _ = self.0.set(Arc::downgrade(observer));
    }

    /// The complete reply of `model`. A reply that fails, or that its caller no longer waits for, is reported too.
    pub(crate) async fn ask(&self, model: &dyn Model, prompt: &Prompt, cause: Cause) -> Result<String, ModelError> {
        let mut running = Running::begin(self.0.get().and_then(Weak::upgrade), model.id(), prompt, cause);
        let mut deltas = model.reply(prompt);
        while let Some(delta) = deltas.next().await {
            match delta {
                Ok(Delta::Text(text)) => running.says(&text),
                Ok(Delta::Progress { usage }) => running.background.usage = usage,
                Ok(Delta::End { usage }) => {
                    running.background.usage = usage;
                    running.background.error = None;
                    return Ok(running.background.output.clone());
                }
                Ok(Delta::ToolCall { .. } | Delta::Reasoning(_) | Delta::Reading { .. }) => {}
                Err(error) => {
                    running.background.error = Some(error.to_string());
                    return Err(error);
                }
            }
        }
        let error = ModelError::Unavailable("its stream was cut".into());
        running.background.error = Some(error.to_string());
        Err(error)
    }
}

/// Reports the reply when it is dropped, because a caller may stop waiting at any time.
struct Running {
    observer: Option<Arc<Observer>>,
    background: BackgroundCall,
}

impl Running {
    fn begin(observer: Option<Arc<Observer>>, model: &str, prompt: &Prompt, cause: Cause) -> Self {
        let is_shown = observer.as_ref().is_some_and(|observer| observer.tells_content());
        let now = Utc::now().timestamp_millis();
        let background = BackgroundCall {
            cause,
            model: model.to_owned(),
            input: is_shown.then(|| Cut::of(sent::input(prompt).to_string())),
            output: String::new(),
            usage: Usage::default(),
            started_ms: now,
            first_ms: None,
            ended_ms: now,
            error: Some("given up before the reply was complete".into()),
        };
        Self { observer, background }
    }

    fn says(&mut self, text: &str) {
        self.background.first_ms.get_or_insert_with(|| Utc::now().timestamp_millis());
        self.background.output.push_str(text);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(observer) = &self.observer {
            self.background.ended_ms = Utc::now().timestamp_millis();
            observer.background_call_ended(self.background.clone());
        }
    }
}
