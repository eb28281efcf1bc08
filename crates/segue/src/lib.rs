//! The outer layer: HTTP routes, protocols, authentication and the terminal commands.

pub mod api;
mod artwork;
pub mod auth;
pub mod cli;
pub mod error;
mod extract;
mod http;
mod import_queue;
mod input_error;
mod memory;
mod open_requests;
mod openapi;
pub mod protocols;
mod recent;
mod request_body;
mod request_metrics;
mod request_rate;
pub mod router;
mod security_headers;
pub mod server;
pub mod telemetry;
mod ui;
