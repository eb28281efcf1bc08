//! OpenAI's Chat Completions, as the vendor and everyone who imitates it speak them (Ollama, vLLM, llama.cpp): where,
//! and what we send.

mod reader;

use std::{borrow::Cow, sync::Arc};

use bytes::Bytes;
use engine::{CallId, Delta, Model, ModelError, Prompt};
use futures::stream::BoxStream;
use serde::{Serialize, Serializer};
use serde_json::Value;

pub(crate) use self::reader::OpenAiReader;
use super::{
    answer::ask,
    http::{Endpoint, Http, SetupError, url_under},
    unfold::{CallWithResult, Entry, unfold},
};

#[derive(Debug)]
pub struct OpenAiModel {
    http: Http,
    endpoint: Arc<Endpoint>,
    /// `openai:` and the model's name.
    id: String,
    is_the_vendor: bool,
}

const VENDOR: &str = "openai";

impl OpenAiModel {
    pub const DEFAULT_BASE_URL: &'static str = "https://api.openai.com/v1";
    pub const DEFAULT_MODEL: &'static str = "gpt-5.5";

    /// Local servers need no key.
    pub fn new(http: Http, base_url: &str, api_key: Option<&str>, model: &str) -> Result<Self, SetupError> {
        // The vendor's own base URL ends in /v1; a bare host and port is what people copy from a local server.
        let url = url_under(base_url, VENDOR, |base| {
            format!("{}/chat/completions", if base.is_empty() { "/v1" } else { base })
        })?;
        let is_the_vendor = url.host_str() == Some("api.openai.com");
        let mut endpoint = Endpoint::new(url);
        if let Some(key) = api_key.filter(|key| !key.trim().is_empty()) {
            endpoint = endpoint.with_key(VENDOR, "authorization", "Bearer ", key)?;
        }
        Ok(Self { http, endpoint: Arc::new(endpoint), id: format!("{VENDOR}:{model}"), is_the_vendor })
    }

    /// The body of the call for this prompt.
    pub fn request(&self, prompt: &Prompt) -> Bytes {
        let tools = prompt.tools.iter().map(|tool| WireTool {
            kind: "function",
            function: WireFunction { name: tool.name, description: &tool.description, parameters: &tool.input_schema },
        });
        let must_answer = !prompt.may_call_tools && !prompt.tools.is_empty();
        let request = Request {
            model: self.id.strip_prefix("openai:").unwrap_or(&self.id),
            stream: true,
            stream_options: StreamOptions { include_usage: true },
            tools: tools.collect(),
            tool_choice: must_answer.then_some("none"),
            messages: messages(prompt),
        };
        serde_json::to_vec(&request).expect("a request is plain data").into()
    }
}

impl Model for OpenAiModel {
    fn id(&self) -> &str {
        &self.id
    }

    /// Local servers are mostly run with a small window, and cut what is over it without a word.
    fn history_tokens(&self) -> usize {
        if self.is_the_vendor { 100_000 } else { 12_000 }
    }

    fn reply(&self, prompt: &Prompt) -> BoxStream<'static, Result<Delta, ModelError>> {
        ask::<OpenAiReader>(self.http.clone(), self.endpoint.clone(), self.request(prompt))
    }
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    stream: bool,
    stream_options: StreamOptions,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    messages: Vec<WireMessage<'a>>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct WireTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: WireFunction<'a>,
}

#[derive(Serialize)]
struct WireFunction<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
enum WireMessage<'a> {
    System {
        content: &'a str,
    },
    User {
        content: String,
    },
    Assistant {
        /// Null beside calls when nothing was said.
        content: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<WireCall<'a>>,
    },
    Tool {
        tool_call_id: CallId,
        content: Cow<'a, str>,
    },
}

#[derive(Serialize)]
struct WireCall<'a> {
    id: CallId,
    #[serde(rename = "type")]
    kind: &'static str,
    function: CalledFunction<'a>,
}

#[derive(Serialize)]
struct CalledFunction<'a> {
    name: Cow<'a, str>,
    #[serde(serialize_with = "as_json_text")]
    arguments: Cow<'a, Value>,
}

fn as_json_text<S: Serializer>(value: &Value, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

fn messages(prompt: &Prompt) -> Vec<WireMessage<'_>> {
    let mut messages = Vec::new();
    if !prompt.system.trim().is_empty() {
        messages.push(WireMessage::System { content: &prompt.system });
    }
    for entry in unfold(&prompt.messages) {
        match entry {
            Entry::User(texts) => messages.push(WireMessage::User { content: texts.join("\n\n") }),
            Entry::Reply { texts, calls } => {
                let content = Some(texts.join("\n\n")).filter(|text| !text.is_empty());
                let (tool_calls, results): (Vec<_>, Vec<_>) = calls.into_iter().map(call_and_result).unzip();
                messages.push(WireMessage::Assistant { content, tool_calls });
                messages.extend(results);
            }
        }
    }
    messages
}

fn call_and_result(call: CallWithResult<'_>) -> (WireCall<'_>, WireMessage<'_>) {
    let CallWithResult { id, name, input, result, is_error } = call;
    // There is no flag for failures here, so the text says it.
    let content = if is_error { Cow::Owned(format!("Error: {result}")) } else { result };
    let function = CalledFunction { name, arguments: input };
    (WireCall { id, kind: "function", function }, WireMessage::Tool { tool_call_id: id, content })
}
