//! The protocols: request types, a pure `encode`, routes; nothing else knows their words.

pub mod native;
mod sse;
pub(crate) mod user_chat;
