//! Model providers: Anthropic, and everything that speaks OpenAI's Chat Completions API.

mod answer;
mod anthropic;
mod failure;
mod http;
mod openai;
#[doc(hidden)]
pub mod replay;
mod sse;
mod unfold;

pub use anthropic::AnthropicModel;
pub use http::{Http, SetupError};
pub use openai::OpenAiModel;
