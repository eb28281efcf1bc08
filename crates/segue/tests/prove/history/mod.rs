//! The promises about turns, checked against what clients saw. Pure functions: they take a history and the stored state
//! and return the broken promises.

mod checker;
#[cfg(test)]
#[allow(dead_code, unused_imports, reason = "`prove` has its own main function; `it` runs these tests")]
mod examples;

pub(crate) use checker::{Answer, Event, Record, Saw, Stored, broken};
