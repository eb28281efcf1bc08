//! What the house can do: every service, built once.

pub mod embed;
pub mod import;
pub mod index;
pub mod models;
pub mod music;
