//! What each family of model servers reports about itself, and its error messages.
//!
//! Where each shape is published (issues and pull requests quote recorded answers of the real server):
//!
//! | family | shape | published at |
//! |---|---|---|
//! | Ollama | `/api/tags`, `/api/show`, `/api/ps` | docs.ollama.com/api/tags, docs.ollama.com/api-reference/show-model-details |
//! | | "does not support tools", the error body | ollama/ollama issue 6027, FoundationAgents/OpenManus issue 220 |
//! | | thinking in `delta.reasoning` | dirac-run/dirac pull request 227 |
//! | llama.cpp | `/props`, `/v1/models` with `owned_by: llamacpp` | ggml-org/llama.cpp tools/server/README.md |
//! | | `exceed_context_size_error` with its counts | ggml-org/llama.cpp pull request 15780, issues 17284 and 19774 |
//! | | "tools param requires --jinja flag", status 500 | QwenLM/Qwen3.8 issue 44, defilantech/LLMKube issue 126 |
//! | | `prompt_progress` | ggml-org/llama.cpp pull request 15827 |
//! | LM Studio | `/api/v0/models` with `loaded_context_length` | lmstudio.ai/docs/api/rest-api, zed-industries/zed pull request 25606 |
//! | | "Trying to keep the first …", `{"error": "…"}` | lmstudio-ai/lmstudio-bug-tracker issues 237 and 546, dyad-sh/dyad issue 925 |
//! | | status 200 for an unknown path | lmstudio-ai/lmstudio-bug-tracker issues 618 and 2085 |
//! | vLLM | `/v1/models` with `max_model_len` | modal-labs/modal-examples issue 843 |
//! | | `--enable-auto-tool-choice`, the error body | langchain4j/langchain4j issue 3475, vllm-project/vllm issue 9986 |
//! | | the maximum context length | vllm-project/vllm issue 20409 |
//! | OpenAI | all | platform.openai.com/docs/api-reference |
//! | Anthropic | errors by status and type | platform.claude.com/docs/en/api/errors |
//!
//! No published record was found for the texts of `NoStream`, `NoStreamOptions` and `NoSystem`, and for the unknown model of
//! LM Studio: they are written after similar messages.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::script::Fault;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    Ollama,
    LlamaCpp,
    LmStudio,
    Vllm,
    OpenAi,
    Anthropic,
}

impl Family {
    pub const ALL: [(&'static str, Self); 6] = [
        ("ollama", Self::Ollama),
        ("llama.cpp", Self::LlamaCpp),
        ("lm-studio", Self::LmStudio),
        ("vllm", Self::Vllm),
        ("openai", Self::OpenAi),
        ("anthropic", Self::Anthropic),
    ];

    pub(super) fn document(self, path: &str, model: &str, n_ctx: usize) -> Option<Value> {
        let list = |card: Value| Some(json!({"object": "list", "data": [card]}));
        match (self, path) {
            (Self::Ollama, "/api/tags") => Some(json!({"models": [{"name": model, "model": model, "size": 1_000}]})),
            (Self::Ollama, "/api/ps") => Some(json!({"models": []})),
            (Self::Ollama, "/v1/models") => list(json!({"id": model, "object": "model", "owned_by": "library"})),
            (Self::LlamaCpp, "/props") => Some(json!({
                "default_generation_settings": {"id": 0, "n_ctx": n_ctx, "params": {"temperature": 0.8}},
                "total_slots": 1, "model_path": "models/x.gguf", "chat_template": "…",
            })),
            (Self::LlamaCpp, "/v1/models") => {
                list(json!({"id": model, "object": "model", "owned_by": "llamacpp", "meta": {"n_ctx_train": 32_768}}))
            }
            (Self::LmStudio, "/api/v0/models") => Some(json!({"object": "list", "data": [
                {"id": "nomic-embed", "object": "model", "type": "embeddings", "state": "not-loaded", "max_context_length": 2_048},
                {"id": "other-7b", "object": "model", "type": "llm", "state": "not-loaded", "max_context_length": 131_072},
                {"id": model, "object": "model", "type": "llm", "state": "loaded", "max_context_length": 131_072,
                 "loaded_context_length": n_ctx},
            ]})),
            (Self::LmStudio, "/v1/models") => {
                list(json!({"id": model, "object": "model", "owned_by": "organization_owner"}))
            }
            (Self::Vllm, "/v1/models") => {
                list(json!({"id": model, "object": "model", "owned_by": "vllm", "root": model, "max_model_len": n_ctx}))
            }
            (Self::OpenAi, "/v1/models") => list(json!({"id": model, "object": "model", "owned_by": "system"})),
            _ => None,
        }
    }

    /// The error for a request that the family does not accept. `None` if it accepts the request: Ollama cuts long
    /// prompts silently.
    pub(super) fn refusal(
        self,
        fault: Fault,
        model: &str,
        n_ctx: usize,
        n_prompt: usize,
        key: &str,
    ) -> Option<(StatusCode, Value)> {
        let (status, said) = match fault {
            Fault::Status(status) => (status, format!("the script answers with status {status}")),
            Fault::Overflow => self.overflow(n_ctx, n_prompt)?,
            Fault::NoTools => self.no_tools(model),
            Fault::NoStreamOptions => (422, "stream_options: Extra inputs are not permitted".into()),
            Fault::NoStream => (400, "Streaming is not supported by this model".into()),
            Fault::NoSystem => (500, "Only user and assistant roles are supported!".into()),
            Fault::NoModel => self.no_model(model),
            Fault::Unauthorized => (401, format!("Incorrect API key provided: {key}")),
            _ => return None,
        };
        let code = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
        Some((code, self.error(status, fault, said, n_ctx, n_prompt)))
    }

    pub(super) fn overflow(self, n_ctx: usize, n_prompt: usize) -> Option<(u16, String)> {
        Some(match self {
            Self::Ollama => return None,
            Self::LlamaCpp => (
                400,
                format!(
                    "request ({n_prompt} tokens) exceeds the available context size ({n_ctx} tokens), try increasing it"
                ),
            ),
            Self::LmStudio => (
                400,
                format!(
                    "Trying to keep the first {n_prompt} tokens when context the overflows. However, the model is loaded \
                     with context length of only {n_ctx} tokens, which is not enough."
                ),
            ),
            Self::Vllm | Self::OpenAi => (
                400,
                format!(
                    "This model's maximum context length is {n_ctx} tokens. However, you requested {n_prompt} tokens."
                ),
            ),
            Self::Anthropic => (400, format!("prompt is too long: {n_prompt} tokens > {n_ctx} maximum")),
        })
    }

    fn no_tools(self, model: &str) -> (u16, String) {
        match self {
            Self::Ollama => (400, format!("registry.ollama.ai/library/{model} does not support tools")),
            Self::LlamaCpp => (500, "tools param requires --jinja flag".into()),
            Self::Vllm => {
                (400, "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set".into())
            }
            _ => (400, "This model does not support function calling".into()),
        }
    }

    fn no_model(self, model: &str) -> (u16, String) {
        match self {
            Self::Ollama => (404, format!("model \"{model}\" not found, try pulling it first")),
            Self::Anthropic => (404, format!("model: {model}")),
            Self::LmStudio => (404, "No models loaded. Please load a model in the developer page.".into()),
            _ => (404, format!("The model `{model}` does not exist")),
        }
    }

    pub(super) fn error(self, status: u16, fault: Fault, said: String, n_ctx: usize, n_prompt: usize) -> Value {
        match self {
            Self::Ollama => json!({"error": {"message": said, "type": "api_error", "param": null, "code": null}}),
            Self::LlamaCpp if fault == Fault::Overflow => json!({"error": {
                "code": status, "message": said, "type": "exceed_context_size_error",
                "n_prompt_tokens": n_prompt, "n_ctx": n_ctx,
            }}),
            Self::LlamaCpp => json!({"error": {"code": status, "message": said, "type": "server_error"}}),
            Self::LmStudio => json!({"error": said}),
            Self::Vllm => {
                json!({"object": "error", "message": said, "type": "BadRequestError", "param": null, "code": status})
            }
            Self::OpenAi => {
                let code = match fault {
                    Fault::Overflow => json!("context_length_exceeded"),
                    Fault::NoModel => json!("model_not_found"),
                    _ => Value::Null,
                };
                json!({"error": {"message": said, "type": "invalid_request_error", "param": "messages", "code": code}})
            }
            Self::Anthropic => {
                let kind = match status {
                    401 => "authentication_error",
                    403 => "permission_error",
                    404 => "not_found_error",
                    429 => "rate_limit_error",
                    529 => "overloaded_error",
                    500.. => "api_error",
                    _ => "invalid_request_error",
                };
                json!({"type": "error", "error": {"type": kind, "message": said}})
            }
        }
    }

    /// The field in which the family sends a model's thinking.
    pub(super) fn reasoning_field(self) -> &'static str {
        match self {
            Self::Ollama => "reasoning",
            _ => "reasoning_content",
        }
    }
}

pub(super) fn ollama_show(n_ctx: usize) -> Value {
    json!({
        "modelfile": "…", "template": "…", "parameters": format!("num_ctx                        {n_ctx}\nstop \"<|im_end|>\""),
        "details": {"family": "qwen2"}, "capabilities": ["completion", "tools"],
        "model_info": {"general.architecture": "qwen2", "qwen2.context_length": 32_768},
    })
}
