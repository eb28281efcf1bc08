//! The promises about turns, proved by enumeration: every crash point, every lost reply, pauses and outages.
//!
//! A program of its own: without arguments it runs a sample of each enumeration; `-- --all` runs everything, as
//! `make prove` does; `-- <words>` runs the parts whose names hold them.

#![allow(clippy::unwrap_used, reason = "a proof that cannot go on has failed")]
#![allow(clippy::print_stdout, reason = "the table is the result")]

mod check;
mod crash;
mod model;
mod outage;
mod replies;
mod scenario;
#[path = "../it/support/mod.rs"]
#[allow(dead_code, unused_imports, reason = "the other tests use the rest")]
mod support;
mod wire;

use std::{process::ExitCode, time::Instant};

/// What one part of the proof found.
pub(crate) struct Part {
    pub(crate) name: String,
    /// How many runs there were.
    pub(crate) n_runs: usize,
    pub(crate) broken: Vec<String>,
}

/// How much is tried: one of so many points.
#[derive(Clone, Copy)]
pub(crate) struct Stride(pub(crate) usize);

#[tokio::main]
async fn main() -> ExitCode {
    let words: Vec<_> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let is_all = std::env::args().any(|arg| arg == "--all");
    let stride = Stride(if is_all { 1 } else { 9 });
    let is_wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
    let is_postgres = std::env::var("SEGUE_TEST_POSTGRES").is_ok();
    let mut parts = Vec::new();
    for scenario in scenario::all() {
        let name = format!("crash: {}", scenario.name);
        if is_wanted(&name) {
            parts.push(timed(name, crash::every_point(&scenario, stride)).await);
        }
    }
    if is_postgres {
        for name in replies::NAMES {
            if is_wanted(&format!("lost reply: {name}")) {
                parts.push(timed(format!("lost reply: {name}"), replies::every_reply(name, stride)).await);
            }
        }
        if is_wanted("outage") {
            parts.push(timed("outage longer than a lease, two nodes".into(), outage::two_nodes()).await);
            parts.push(timed("outage: start and end collide".into(), outage::collide()).await);
        }
    }
    report(if is_postgres { "PostgreSQL" } else { "SQLite" }, &parts)
}

async fn timed(name: String, work: impl Future<Output = (usize, Vec<String>)>) -> Part {
    let began = Instant::now();
    let (n_runs, broken) = work.await;
    eprintln!("{name:<44} {n_runs:>4} runs, {} broken ({:.0} s)", broken.len(), began.elapsed().as_secs_f64());
    Part { name, n_runs, broken }
}

fn report(database: &str, parts: &[Part]) -> ExitCode {
    println!("\n| proof ({database}) | runs | broken |\n|---|---|---|");
    for part in parts {
        println!("| {} | {} | {} |", part.name, part.n_runs, part.broken.len());
    }
    for broken in parts.iter().flat_map(|part| part.broken.iter().map(move |why| format!("{}: {why}", part.name))) {
        println!("BROKEN {broken}");
    }
    let is_vacuous = parts.iter().any(|part| part.n_runs == 0);
    if is_vacuous || parts.iter().any(|part| !part.broken.is_empty()) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
