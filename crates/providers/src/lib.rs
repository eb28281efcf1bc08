//! Model providers: Anthropic, and every server with an OpenAI Chat Completions API.

mod answer;
mod anthropic;
mod connected;
mod discover;
mod failure;
mod filter;
mod http;
mod openai;
mod probe;
mod prompted_tools;
mod provider;
mod quirks;
mod reasoning;
#[doc(hidden)]
pub mod replay;
mod servers;
mod sse;
mod text_calls;
mod unfold;

pub use anthropic::AnthropicModel;
pub use discover::{FoundServer, USUAL_PORTS, discover};
pub use http::{Http, SetupError};
pub use openai::OpenAiModel;
pub use probe::{Capabilities, Probed, ToolCalling, probe, remember};
pub use provider::{Provider, Variable};
pub use servers::{Family, list_models};

/// All providers. If no setting names one, the first that is selected by its key or its base URL is used.
pub const PROVIDERS: &[Provider] = &[anthropic::PROVIDER, openai::PROVIDER];

/// The provider of the model servers of this machine.
pub const LOCAL: &Provider = &openai::PROVIDER;
