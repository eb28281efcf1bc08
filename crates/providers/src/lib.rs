//! Model providers: Anthropic, and every server with an OpenAI Chat Completions API.

mod answer;
mod anthropic;
mod discover;
mod failure;
mod filter;
mod http;
mod openai;
mod probe;
mod prompted_tools;
mod quirks;
mod reasoning;
#[doc(hidden)]
pub mod replay;
mod servers;
mod sse;
mod text_calls;
mod unfold;

pub use anthropic::AnthropicModel;
pub use discover::{Found, USUAL_PORTS, discover};
pub use http::{Http, SetupError};
pub use openai::OpenAiModel;
pub use probe::{Capabilities, Probed, ToolCalling, probe};
pub use servers::{Family, list_models};
