//! OpenAI's Chat Completions API, as implemented by the vendor and by compatible servers (Ollama, vLLM, llama.cpp):
//! the endpoint and the request body.

mod reader;

use std::{borrow::Cow, sync::Arc};

use bytes::Bytes;
use engine::{CallId, Delta, Model, ModelError, Prompt, Window};
use futures::stream::BoxStream;
use serde::{Serialize, Serializer};
use serde_json::Value;

pub(crate) use self::reader::OpenAiReader;
use super::{
    answer::ask,
    connected::Connected,
    http::{Endpoint, Http, SetupError, url_under},
    probe::{Probed, Target},
    prompted_tools,
    provider::{Provider, Variable},
    quirks::Form,
    servers::Family,
    unfold::{CallWithResult, Entry, unfold},
};

#[derive(Debug)]
pub struct OpenAiModel {
    at: Connected,
}

const VENDOR: &str = "openai";
pub(crate) const PROVIDER: Provider = Provider {
    name: VENDOR,
    title: "OpenAI, or a server with the same API",
    key: Variable { name: "OPENAI_API_KEY", default: "", help: "Key for OpenAI, or for the server at OPENAI_BASE_URL" },
    base_url: Variable {
        name: "OPENAI_BASE_URL",
        default: "https://api.openai.com/v1",
        help: "Base URL of a Chat Completions API, also of Ollama, llama.cpp, LM Studio or vLLM",
    },
    default_model: "gpt-5.5",
    has_other_servers: true,
    connect: |http, base_url, key, model| Ok(Arc::new(OpenAiModel::new(http, base_url, key, model)?)),
};

impl OpenAiModel {
    /// Local servers need no key.
    pub fn new(http: Http, base_url: &str, api_key: Option<&str>, model: &str) -> Result<Self, SetupError> {
        // The vendor's base URL ends in /v1. For a local server, users often copy only the host and port.
        let url = url_under(base_url, VENDOR, |base| {
            format!("{}/chat/completions", if base.is_empty() { "/v1" } else { base })
        })?;
        let is_the_vendor = url.host_str() == Some("api.openai.com");
        let mut endpoint = Endpoint::new(url);
        if let Some(key) = api_key.filter(|key| !key.trim().is_empty()) {
            endpoint = endpoint.with_key(VENDOR, "authorization", "Bearer ", key)?;
        }
        Ok(Self { at: Connected::new(http, endpoint, VENDOR, model, is_the_vendor) })
    }

    /// The request body for this prompt, in the form that the server accepts.
    pub fn request(&self, prompt: &Prompt) -> Bytes {
        request(self.at.model(), prompt, self.at.learned.facts().form)
    }
}

fn request(model: &str, prompt: &Prompt, form: Form) -> Bytes {
    let with_tools = !form.tools_as_text && !prompt.tools.is_empty();
    let tools = prompt.tools.iter().filter(|_| with_tools).map(|tool| WireTool {
        kind: "function",
        function: WireFunction { name: &tool.name, description: &tool.description, parameters: &tool.input_schema },
    });
    let must_answer = !prompt.may_call_tools && with_tools && !form.without_tool_choice;
    let has_options = !form.without_stream_options && !form.without_stream;
    let request = Request {
        model,
        stream: !form.without_stream,
        stream_options: has_options.then_some(StreamOptions { include_usage: true }),
        return_progress: form.with_progress && !form.without_stream,
        tools: tools.collect(),
        tool_choice: must_answer.then_some("none"),
        messages: messages(prompt, form),
    };
    serde_json::to_vec(&request).expect("a request is plain data").into()
}

impl Model for OpenAiModel {
    fn id(&self) -> &str {
        self.at.id()
    }

    /// Local servers are usually run with a small context, and silently cut a longer prompt.
    fn history_tokens(&self) -> usize {
        match self.at.learned.facts().context_tokens {
            // The turn trims the history to this size.
            Some(context) => usize::try_from(context).unwrap_or(usize::MAX),
            None if self.at.is_the_vendor => 100_000,
            None => 12_000,
        }
    }

    fn window(&self) -> Option<Window> {
        Some(self.at.window())
    }

    fn is_local(&self) -> bool {
        self.at.is_local()
    }

    fn reply(&self, prompt: &Prompt) -> BoxStream<'static, Result<Delta, ModelError>> {
        let (model, asked) = (self.at.model().to_owned(), prompt.clone());
        ask::<OpenAiReader>(self.at.question(prompt, move |form| request(&model, &asked, form)))
    }
}

impl Probed for OpenAiModel {
    fn probed(&self) -> Target<'_> {
        self.at.target(Family::OpenAi, true)
    }
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    /// llama.cpp only.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    return_progress: bool,
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
        content: Cow<'a, str>,
    },
    User {
        content: String,
    },
    Assistant {
        /// Null beside calls if there is no text.
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

fn messages(prompt: &Prompt, form: Form) -> Vec<WireMessage<'_>> {
    let mut messages = Vec::new();
    let mut system = Cow::Borrowed(prompt.system.trim_end());
    if form.tools_as_text && !prompt.tools.is_empty() {
        system = Cow::Owned(prompted_tools::with_tools(&system, prompt));
    }
    let mut in_user = (form.system_in_user && !system.trim().is_empty()).then(|| system.clone());
    if !system.trim().is_empty() && in_user.is_none() {
        // Unchanged: a prefix that differs by one space misses the provider's cache.
        let content = if let Cow::Borrowed(_) = system { Cow::Borrowed(&*prompt.system) } else { system };
        messages.push(WireMessage::System { content });
    }
    for entry in unfold(&prompt.messages) {
        match entry {
            Entry::User(texts) => {
                let texts = in_user.take().into_iter().chain(texts.into_iter().map(Cow::Borrowed));
                push_user(&mut messages, texts.collect::<Vec<_>>().join("\n\n"));
            }
            Entry::Reply { texts, calls } if form.tools_as_text => {
                let (said, results) = prompted_tools::as_text(&texts, &calls);
                messages.push(WireMessage::Assistant { content: Some(said), tool_calls: Vec::new() });
                if !results.is_empty() {
                    push_user(&mut messages, results);
                }
            }
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

/// Joins two consecutive user messages, because many chat templates refuse them.
fn push_user(messages: &mut Vec<WireMessage<'_>>, text: String) {
    match messages.last_mut() {
        Some(WireMessage::User { content }) => {
            content.push_str("\n\n");
            content.push_str(&text);
        }
        _ => messages.push(WireMessage::User { content: text }),
    }
}

fn call_and_result(call: CallWithResult<'_>) -> (WireCall<'_>, WireMessage<'_>) {
    let CallWithResult { id, name, input, result, is_error } = call;
    // The API has no field for failed calls, so the text says it.
    let content = if is_error { Cow::Owned(format!("Error: {result}")) } else { result };
    let function = CalledFunction { name, arguments: input };
    (WireCall { id, kind: "function", function }, WireMessage::Tool { tool_call_id: id, content })
}
