//! The doors of the house: HTTP, protocols and the terminal.

pub mod api;
mod artwork;
pub mod auth;
pub mod cli;
mod counted;
pub mod error;
mod extract;
mod open_requests;
mod openapi;
mod outbound;
pub mod protocols;
pub mod router;
mod security_headers;
pub mod server;
pub mod telemetry;
mod ui;
