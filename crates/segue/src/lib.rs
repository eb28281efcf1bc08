//! The doors of the house: HTTP, protocols and the terminal.

pub mod api;
pub mod auth;
pub mod cli;
pub mod error;
mod extract;
mod local_origin;
mod openapi;
pub mod protocols;
pub mod router;
pub mod telemetry;
mod ui;
