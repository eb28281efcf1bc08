//! Anthropic's Messages API: the endpoint and the request body.

mod reader;

use std::{borrow::Cow, sync::Arc};

use bytes::Bytes;
use engine::{CallId, Delta, Model, ModelError, Prompt, Window};
use futures::stream::BoxStream;
use serde::Serialize;
use serde_json::Value;

pub(crate) use self::reader::AnthropicReader;
use super::{
    answer::ask,
    connected::Connected,
    http::{Endpoint, Http, SetupError, url_under},
    probe::{Probed, Target},
    provider::{Provider, Variable},
    servers::Family,
    unfold::{CallWithResult, Entry, unfold},
};

#[derive(Debug)]
pub struct AnthropicModel {
    at: Connected,
}

const VENDOR: &str = "anthropic";
pub(crate) const PROVIDER: Provider = Provider {
    name: VENDOR,
    title: "Anthropic",
    key: Variable { name: "ANTHROPIC_API_KEY", default: "", help: "Key for the Anthropic Messages API" },
    base_url: Variable {
        name: "ANTHROPIC_BASE_URL",
        default: "https://api.anthropic.com",
        help: "Base URL of the Anthropic Messages API",
    },
    default_model: "claude-sonnet-5-5",
    has_other_servers: false,
    connect: |http, base_url, key, model| {
        Ok(Arc::new(AnthropicModel::new(http, base_url, key.unwrap_or_default(), model)?))
    },
};
/// The version that every compatible server knows. Our request uses nothing that version 2026-10-21 removed.
const VERSION: &str = "2023-06-01";
/// Twice the length of a playlist of fifty songs with a reason for each.
const MAX_TOKENS: u32 = 16_384;

impl AnthropicModel {
    pub fn new(http: Http, base_url: &str, api_key: &str, model: &str) -> Result<Self, SetupError> {
        let url =
            url_under(base_url, VENDOR, |base| format!("{}/v1/messages", base.strip_suffix("/v1").unwrap_or(base)))?;
        let is_the_vendor = url.host_str() == Some("api.anthropic.com");
        let endpoint =
            Endpoint::new(url).with_header("anthropic-version", VERSION).with_key(VENDOR, "x-api-key", "", api_key)?;
        Ok(Self { at: Connected::new(http, endpoint, VENDOR, model, is_the_vendor) })
    }

    /// The request body for this prompt.
    pub fn request(&self, prompt: &Prompt) -> Bytes {
        let may_cache = |is_last: bool| is_last.then_some(CacheControl::Ephemeral);
        let n_tools = prompt.tools.len();
        let tools = prompt.tools.iter().enumerate().map(|(at, tool)| Cached {
            it: WireTool { name: &tool.name, description: &tool.description, input_schema: &tool.input_schema },
            cache_control: may_cache(at + 1 == n_tools),
        });
        let system = (!prompt.system.trim().is_empty())
            .then(|| Cached { it: Part::Text { text: &prompt.system }, cache_control: may_cache(true) });
        // The tools are sent even if calls are not allowed: without them the cached prefix would change.
        let must_answer = !prompt.may_call_tools && n_tools > 0;
        let request = Request {
            model: self.at.model(),
            max_tokens: MAX_TOKENS,
            stream: true,
            system: system.into_iter().collect(),
            tools: tools.collect(),
            tool_choice: must_answer.then_some(ToolChoice::None),
            messages: messages(prompt),
        };
        serde_json::to_vec(&request).expect("a request is plain data").into()
    }
}

impl Model for AnthropicModel {
    fn id(&self) -> &str {
        self.at.id()
    }

    fn window(&self) -> Option<Window> {
        Some(self.at.window())
    }

    fn is_local(&self) -> bool {
        self.at.is_local()
    }

    fn reply(&self, prompt: &Prompt) -> BoxStream<'static, Result<Delta, ModelError>> {
        let body = self.request(prompt);
        // The Messages API has no options that servers implement differently.
        ask::<AnthropicReader>(self.at.question(prompt, move |_| body.clone()))
    }
}

impl Probed for AnthropicModel {
    fn probed(&self) -> Target<'_> {
        self.at.target(Family::Anthropic, false)
    }
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Cached<Part<'a>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Cached<WireTool<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<ToolChoice>,
    messages: Vec<WireMessage<'a>>,
}

/// A block after which the provider may cache the prefix.
#[derive(Serialize)]
struct Cached<T> {
    #[serde(flatten)]
    it: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum CacheControl {
    Ephemeral,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ToolChoice {
    None,
}

#[derive(Serialize)]
struct WireTool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
}

#[derive(Serialize)]
struct WireMessage<'a> {
    role: &'static str,
    content: Vec<Cached<Part<'a>>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    Text {
        text: &'a str,
    },
    ToolUse {
        id: CallId,
        name: Cow<'a, str>,
        input: Cow<'a, Value>,
    },
    ToolResult {
        tool_use_id: CallId,
        content: Cow<'a, str>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

/// Results are the first blocks of the user message after their calls; the user's text follows them.
fn messages(prompt: &Prompt) -> Vec<WireMessage<'_>> {
    let mut messages = Vec::new();
    for entry in unfold(&prompt.messages) {
        match entry {
            Entry::User(texts) => push(&mut messages, "user", texts.into_iter().map(Part::text)),
            Entry::Reply { texts, calls } => {
                let (uses, results): (Vec<_>, Vec<_>) = calls.into_iter().map(Part::call_and_result).unzip();
                push(&mut messages, "assistant", texts.into_iter().map(Part::text).chain(uses));
                push(&mut messages, "user", results.into_iter());
            }
        }
    }
    // Marks the end of the prefix: the next request of this conversation begins with everything up to here.
    if let Some(last) = messages.last_mut().and_then(|message| message.content.last_mut()) {
        last.cache_control = Some(CacheControl::Ephemeral);
    }
    messages
}

fn push<'a>(messages: &mut Vec<WireMessage<'a>>, role: &'static str, parts: impl Iterator<Item = Part<'a>>) {
    let mut content = parts.map(|it| Cached { it, cache_control: None }).collect::<Vec<_>>();
    match messages.last_mut() {
        Some(last) if last.role == role => last.content.append(&mut content),
        _ if content.is_empty() => {}
        _ => messages.push(WireMessage { role, content }),
    }
}

impl<'a> Part<'a> {
    fn text(text: &'a str) -> Self {
        Part::Text { text }
    }

    fn call_and_result(call: CallWithResult<'a>) -> (Self, Self) {
        let CallWithResult { id, name, input, result, is_error } = call;
        (Part::ToolUse { id, name, input }, Part::ToolResult { tool_use_id: id, content: result, is_error })
    }
}
