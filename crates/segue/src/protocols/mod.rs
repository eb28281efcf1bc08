//! The protocols. Each has its request types, a pure function `encode` and its routes, and no other module uses its
//! format.

pub(crate) mod ag_ui;
pub(crate) mod ai_sdk;
pub(crate) mod chatkit;
mod client_ids;
pub(crate) mod mcp;
pub mod native;
pub(crate) mod resource_metadata;
pub(crate) mod sse;
pub(crate) mod user_chat;
