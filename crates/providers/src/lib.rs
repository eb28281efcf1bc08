//! Model providers: Anthropic, and everything that speaks OpenAI's Chat Completions API.

mod answer;
mod anthropic;
mod failure;
mod filter;
mod http;
mod openai;
mod prompted_tools;
mod quirks;
mod reasoning;
#[doc(hidden)]
pub mod replay;
mod sse;
mod text_calls;
mod unfold;

pub use anthropic::AnthropicModel;
pub use http::{Http, SetupError};
pub use openai::OpenAiModel;
