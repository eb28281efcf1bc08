//! Each provider, through real HTTP on the loopback: what it is sent, what its recorded streams mean, how it fails.

mod conformance;
mod discovery;
mod failures;
mod families;
mod long_talks;
mod provider;
mod requests;
mod rules;
mod spellings;
