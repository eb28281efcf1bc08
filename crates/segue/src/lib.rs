//! The outer layer: HTTP routes, protocols, authentication and the terminal commands.

mod api;
mod artwork;
pub mod auth;
pub mod cli;
mod error;
mod extract;
mod http;
mod import_queue;
mod input_error;
mod memory;
mod open_requests;
mod openapi;
mod protocols;
mod recent;
mod request_body;
mod request_metrics;
mod request_rate;
pub mod router;
mod security_headers;
pub mod server;
mod telemetry;
mod ui;
