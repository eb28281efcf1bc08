//! Models: the providers, and the one that needs none.

mod anthropic;
mod openai;
mod unfold;

mod answer;
mod failure;
mod http;
mod sse;

pub use anthropic::AnthropicModel;
pub use http::{Http, SetupError};
pub use openai::OpenAiModel;
