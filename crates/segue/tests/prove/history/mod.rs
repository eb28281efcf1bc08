//! The promises about turns, checked on what clients saw. Pure: a history and what is stored go in, complaints come out.

mod checker;
#[cfg(test)]
#[allow(dead_code, unused_imports, reason = "the proof is a program of its own; `it` runs these")]
mod examples;

pub(crate) use checker::{Answer, Event, Record, Saw, Stored, broken};
