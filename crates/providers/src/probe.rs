//! Probe: finds out what a model can do, with one tiny request with one tool and with the server's description of
//! itself.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use engine::{Delta, Effect, Message, Model, ModelError, Prompt, ToolSpec, estimated_usage};
use futures::StreamExt;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    Http,
    failure::STREAM_WAS_CUT,
    http::Endpoint,
    quirks::Learned,
    servers::{self, Family},
};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Capabilities {
    pub model: String,
    pub family: Family,
    pub streams: bool,
    pub tools: ToolCalling,
    /// Prompt and answer together; `None` if the server does not report it.
    pub context_tokens: Option<u32>,
    pub tokens_per_second: Option<f64>,
    /// Whether it sends its reasoning before the answer.
    pub reasons: bool,
    /// Whether its streams end without an end mark.
    #[serde(default)]
    pub ends_unmarked: bool,
    /// Whether the server refuses tools, so that they are described in the prompt.
    #[serde(default)]
    pub tools_in_prompt: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolCalling {
    Native,
    /// Written into the answer, in a spelling that Segue reads.
    Text,
    /// It made no call although it was asked to.
    None,
}

impl fmt::Display for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let streams = if self.streams { "streams" } else { "does not stream" };
        let tools = match self.tools {
            ToolCalling::Native => "calls tools natively",
            ToolCalling::Text => "calls tools as text",
            ToolCalling::None => "calls no tools",
        };
        let context = self.context_tokens.map_or("context size unknown".into(), |n| format!("context {n} tokens"));
        write!(f, "{} on {}: {streams}, {tools}, {context}", self.model, self.family)?;
        if let Some(speed) = self.tokens_per_second {
            write!(f, ", {speed:.0} tokens/s")?;
        }
        if self.reasons {
            f.write_str(", sends its reasoning")?;
        }
        Ok(())
    }
}

/// A model that can be probed.
pub trait Probed: Model {
    #[doc(hidden)]
    fn probed(&self) -> Target<'_>;
}

#[doc(hidden)]
pub struct Target<'m> {
    pub(crate) http: &'m Http,
    pub(crate) endpoint: &'m Endpoint,
    pub(crate) learned: &'m Learned,
    pub(crate) model: &'m str,
    /// What the server is, if it is no known server of this API.
    pub(crate) family: Family,
    /// Whether servers of this API differ and describe themselves.
    pub(crate) is_described: bool,
}

/// Timeout for requests about the server itself.
const ABOUT_ITSELF: Duration = Duration::from_secs(3);

/// Asks the model for one call of one tool, and asks its server about itself. Later requests use the result.
pub async fn probe(model: &dyn Probed) -> Result<Capabilities, ModelError> {
    let Target { http, endpoint, learned, model: name, family, is_described } = model.probed();
    learned.update(|facts| {
        facts.called_natively = false;
        facts.wrote_calls_as_text = false;
        facts.reasons = false;
        facts.answered_whole = false;
    });
    let tokens_per_second = match one_call(model).await {
        // A reply this short that is "cut" twice is complete: this server never marks the end of a stream.
        Err(ModelError::Unavailable(why)) if is_described && why == STREAM_WAS_CUT => {
            learned.update(|facts| facts.ends_unmarked = true);
            let again = one_call(model).await;
            learned.update(|facts| facts.ends_unmarked = again.is_ok());
            again?
        }
        asked => asked?,
    };
    let root = servers::root_of(endpoint.url());
    let server = match is_described {
        true => servers::look(http, &root, endpoint.headers(), ABOUT_ITSELF).await,
        false => None,
    };
    let context_tokens = match &server {
        Some(server) => server.context_tokens(http, &root, name, ABOUT_ITSELF).await,
        None => None,
    };
    learned.update(|facts| {
        facts.context_tokens = context_tokens.or(facts.context_tokens);
        facts.form.with_progress = server.as_ref().is_some_and(|server| server.family.reports_progress());
    });
    let facts = learned.facts();
    Ok(Capabilities {
        model: name.to_owned(),
        family: server.map_or(family, |server| server.family),
        streams: !facts.answered_whole,
        tools: match (facts.called_natively, facts.wrote_calls_as_text) {
            (true, _) => ToolCalling::Native,
            (false, true) => ToolCalling::Text,
            (false, false) => ToolCalling::None,
        },
        context_tokens: facts.context_tokens,
        tokens_per_second,
        reasons: facts.reasons,
        ends_unmarked: facts.ends_unmarked,
        tools_in_prompt: facts.form.tools_as_text,
    })
}

/// Restores the result of an earlier probe, so that a restart does not probe again.
pub fn remember(model: &dyn Probed, known: &Capabilities) {
    model.probed().learned.update(|facts| {
        facts.context_tokens = known.context_tokens;
        facts.ends_unmarked = known.ends_unmarked;
        facts.form.tools_as_text = known.tools_in_prompt;
        facts.form.with_progress = known.family.reports_progress();
    });
}

/// Requests the call. Returns the model's speed in tokens per second, if it can be measured.
async fn one_call(model: &dyn Probed) -> Result<Option<f64>, ModelError> {
    let number = json!({"type": "integer", "description": "The number to report."});
    let tool = ToolSpec {
        name: "report_number".into(),
        title: "Report a number".into(),
        description: "Report a number.".into(),
        effect: Effect::Reads,
        input_schema: json!({"type": "object", "properties": {"number": number}, "required": ["number"]}),
        output_schema: json!({"type": "object"}),
    };
    let prompt = Prompt {
        system: "You test whether tools work. Call the tool you are asked for, and say nothing else.".into(),
        tools: Arc::new([tool]),
        messages: vec![Message::user("Call the tool report_number with the number 7.")],
        may_call_tools: true,
    };
    let timeout = Duration::from_secs(if model.is_local() { 180 } else { 30 });
    tokio::time::timeout(timeout, measured(model, &prompt)).await.unwrap_or(Err(ModelError::TimedOut))
}

async fn measured(model: &dyn Probed, prompt: &Prompt) -> Result<Option<f64>, ModelError> {
    let mut deltas = model.reply(prompt);
    let (mut first, mut n_chars) = (None, 0);
    while let Some(delta) = deltas.next().await {
        match delta? {
            Delta::Text(text) if text.is_empty() => {}
            Delta::Text(text) | Delta::Reasoning(text) => {
                first.get_or_insert_with(Instant::now);
                n_chars += text.chars().count();
            }
            Delta::ToolCall { input, .. } => n_chars += input.chars().count(),
            Delta::Reading { .. } | Delta::Progress { .. } => {}
            Delta::End { usage } => {
                let estimated = estimated_usage(0, n_chars, 3.0).output_tokens;
                let n_tokens = if usage.output_tokens > 0 { usage.output_tokens } else { estimated };
                return Ok(first.and_then(|first: Instant| per_second(n_tokens, first.elapsed())));
            }
        }
    }
    Err(ModelError::Unavailable(STREAM_WAS_CUT.into()))
}

/// Too few tokens, or tokens that arrive all at once, are not enough to measure a speed.
fn per_second(n_tokens: u64, took: Duration) -> Option<f64> {
    #[allow(clippy::cast_precision_loss, reason = "a rate")]
    (n_tokens >= 4 && took >= Duration::from_millis(5)).then(|| n_tokens as f64 / took.as_secs_f64())
}
