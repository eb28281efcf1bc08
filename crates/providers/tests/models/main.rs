//! Each provider, through real HTTP on the loopback: what it is sent, what its recorded streams mean, how it fails.

mod conformance;
mod failures;
mod families;
mod provider;
mod requests;
mod rules;
mod spellings;
