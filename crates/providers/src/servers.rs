//! Servers: what a local server reports about itself: its family, its models and their context sizes.
//!
//! | family | endpoints | documented at |
//! |---|---|---|
//! | Ollama | `/api/tags`, `/api/show`, `/api/ps` | github.com/ollama/ollama/blob/main/docs/api.md |
//! | llama.cpp | `/props`, `/v1/models` | github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md |
//! | LM Studio | `/api/v0/models` | lmstudio.ai/docs/api/rest-api |
//! | vLLM | `/v1/models` with `max_model_len` | docs.vllm.ai, `ModelCard` |
//!
//! None of these requests contains user text.

use std::{fmt, time::Duration};

use reqwest::{
    Url,
    header::{ACCEPT, HeaderMap, HeaderValue},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    Http, SetupError,
    http::{Endpoint, url_under},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    Ollama,
    LlamaCpp,
    LmStudio,
    Vllm,
    /// Any other server with a Chat Completions API, including the vendor.
    OpenAi,
    Anthropic,
}

impl Family {
    /// Whether its streams say how much of a prompt is read, if they are asked to: `return_progress` of llama.cpp.
    pub(crate) fn reports_progress(self) -> bool {
        self == Self::LlamaCpp
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Family::Ollama => "Ollama",
            Family::LlamaCpp => "llama.cpp",
            Family::LmStudio => "LM Studio",
            Family::Vllm => "vLLM",
            Family::OpenAi => "an OpenAI-compatible server",
            Family::Anthropic => "the Messages API",
        })
    }
}

/// A server as it describes itself.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Server {
    pub(crate) family: Family,
    pub(crate) models: Vec<String>,
    documents: Documents,
}

/// The documents that a server returned, by path.
#[derive(Clone, Debug, Default, PartialEq)]
struct Documents {
    props: Option<Value>,
    tags: Option<Value>,
    lm_studio: Option<Value>,
    models: Option<Value>,
}

/// The root of a server's own paths: the URL before `/v1`.
pub(crate) fn root_of(chat_url: &Url) -> Url {
    let path = chat_url.path();
    let path = path.strip_suffix("/chat/completions").unwrap_or(path);
    let path = path.strip_suffix("/v1").unwrap_or(path).trim_end_matches('/').to_owned();
    let mut root = chat_url.clone();
    root.set_path(&path);
    root
}

fn under(root: &Url, path: &str) -> Url {
    let mut url = root.clone();
    url.set_path(&format!("{}{path}", root.path().trim_end_matches('/')));
    url
}

/// The names of a server's models; the loaded one is first if the server reports it. Empty if the server does not
/// list them.
pub async fn list_models(http: &Http, base_url: &str, api_key: Option<&str>) -> Result<Vec<String>, SetupError> {
    let url = url_under(base_url, "openai", |base| format!("{base}/chat/completions"))?;
    let mut endpoint = Endpoint::new(url);
    if let Some(key) = api_key.filter(|key| !key.trim().is_empty()) {
        endpoint = endpoint.with_key("openai", "authorization", "Bearer ", key)?;
    }
    let server = look(http, &root_of(endpoint.url()), endpoint.headers(), Duration::from_secs(5)).await;
    Ok(server.map(|server| server.models).unwrap_or_default())
}

/// The server at `root`; `None` if it is not a model server.
pub(crate) async fn look(http: &Http, root: &Url, headers: &HeaderMap, within: Duration) -> Option<Server> {
    let get = |path: &str| {
        let mut headers = headers.clone();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        http.json(http.client().get(under(root, path)).headers(headers), within)
    };
    let (props, tags, lm_studio, models) =
        futures::join!(get("/props"), get("/api/tags"), get("/api/v0/models"), get("/v1/models"));
    Server::of(Documents { props, tags, lm_studio, models })
}

impl Server {
    fn of(documents: Documents) -> Option<Self> {
        // LM Studio answers unknown paths with 200 and an error in the body, so only the shape of the body counts.
        let is_list = |document: &Option<Value>, field: &str| {
            document.as_ref().is_some_and(|document| document.get(field).is_some_and(Value::is_array))
        };
        let has_state = list(documents.lm_studio.as_ref(), "data").any(|model| model.get("state").is_some());
        let is_owned_by = |owner: &str| list(documents.models.as_ref(), "data").any(|model| model["owned_by"] == owner);
        let family = if is_list(&documents.tags, "models") && !is_owned_by("llamacpp") {
            Family::Ollama
        } else if documents.props.as_ref().is_some_and(|props| props.get("default_generation_settings").is_some()) {
            Family::LlamaCpp
        } else if has_state {
            Family::LmStudio
        } else if is_owned_by("vllm") {
            Family::Vllm
        } else if is_list(&documents.models, "data") {
            Family::OpenAi
        } else {
            return None;
        };
        let models = documents.model_names(family);
        Some(Self { family, models, documents })
    }

    /// How many tokens the model can read and write together with its current settings.
    pub(crate) async fn context_tokens(&self, http: &Http, root: &Url, model: &str, within: Duration) -> Option<u32> {
        let model_card = || list(self.documents.models.as_ref(), "data").find(|card| card["id"] == model);
        match self.family {
            Family::LlamaCpp => {
                let settings = &self.documents.props.as_ref()?["default_generation_settings"];
                number(&settings["n_ctx"])
            }
            Family::LmStudio => {
                let card = list(self.documents.lm_studio.as_ref(), "data").find(|card| card["id"] == model)?;
                number(&card["loaded_context_length"]).or_else(|| number(&card["max_context_length"]))
            }
            Family::Vllm | Family::OpenAi => number(&model_card()?["max_model_len"]),
            Family::Ollama => ollama_context(http, root, model, within).await,
            Family::Anthropic => None,
        }
    }
}

impl Documents {
    fn model_names(&self, family: Family) -> Vec<String> {
        let names = |document: &Option<Value>, field: &str, name: &str| -> Vec<String> {
            list(document.as_ref(), field).filter_map(|model| Some(model.get(name)?.as_str()?.to_owned())).collect()
        };
        match family {
            Family::Ollama => names(&self.tags, "models", "name"),
            Family::LmStudio => {
                let of_state = |is_loaded: bool| {
                    list(self.lm_studio.as_ref(), "data")
                        .filter(move |model| (model["state"] == "loaded") == is_loaded && model["type"] != "embeddings")
                        .filter_map(|model| Some(model["id"].as_str()?.to_owned()))
                };
                of_state(true).chain(of_state(false)).collect()
            }
            _ => names(&self.models, "data", "id"),
        }
    }
}

/// The context size that Ollama uses by default, even if the model was trained for more.
const OLLAMA_DEFAULT: u32 = 4_096;

async fn ollama_context(http: &Http, root: &Url, model: &str, within: Duration) -> Option<u32> {
    // The context size of the loaded model is the one in use.
    let running = http.json(http.client().get(under(root, "/api/ps")), within).await;
    let loaded = list(running.as_ref(), "models").find(|card| card["name"] == model || card["model"] == model);
    if let Some(context) = loaded.and_then(|card| number(&card["context_length"])) {
        return Some(context);
    }
    let show = http.client().post(under(root, "/api/show")).json(&json!({"model": model}));
    let shown = http.json(show, within).await?;
    let parameters = shown["parameters"].as_str().unwrap_or_default();
    let set = parameters.lines().find_map(|line| line.trim().strip_prefix("num_ctx")?.trim().parse().ok());
    let info = shown["model_info"].as_object();
    let trained = info.into_iter().flatten().find(|(name, _)| name.ends_with(".context_length"));
    set.or_else(|| trained.and_then(|(_, n)| number(n)).map(|trained| trained.min(OLLAMA_DEFAULT)))
}

fn list<'v>(document: Option<&'v Value>, field: &str) -> impl Iterator<Item = &'v Value> {
    document.and_then(|document| document.get(field)?.as_array()).into_iter().flatten()
}

fn number(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0)
}
