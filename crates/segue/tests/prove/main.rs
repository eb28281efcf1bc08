//! The promises about turns, proved by enumeration: every crash point, every lost reply, pauses and outages.
//!
//! A separate program: without arguments it runs a sample of each enumeration; `-- --all` runs everything, as `make
//! prove` does; `-- --mutants` plants each bug in turn and checks that it is found; `-- <words>` runs the parts or bugs
//! whose names contain the words.

#![allow(clippy::unwrap_used, reason = "a panic fails the run")]
#![allow(clippy::print_stdout, reason = "the table is the result")]

mod check;
mod client;
mod consent;
mod crash;
mod histories;
mod history;
mod model;
mod mutants;
mod nodes;
mod outage;
mod parts;
mod pause;
mod plan;
mod replies;
mod scenario;
mod signals;
#[path = "../it/support/mod.rs"]
#[allow(dead_code, unused_imports, reason = "the other tests use the rest")]
mod support;
mod wire;

use std::{process::ExitCode, time::Instant};

use plan::Plan;

/// The result of one part of the proof.
struct Proved {
    name: String,
    /// The number of runs.
    n_runs: usize,
    broken: Vec<String>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let has = |flag: &str| std::env::args().any(|arg| arg == flag);
    let words: Vec<_> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let is_wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
    let is_postgres = std::env::var("SEGUE_TEST_POSTGRES").is_ok();
    assert!(mutants::names_are_known(), "a planted bug names a part that does not exist");
    if has("--mutants") {
        return mutants::run(is_postgres, !words.is_empty(), is_wanted).await;
    }
    let is_all = has("--all") || !words.is_empty();
    // PostgreSQL is slower, because each run creates a new schema.
    let sample = if is_postgres { 20 } else { 9 };
    let plan = Plan { stride: if has("--all") { 1 } else { sample }, mutant: None };
    let mut proved = Vec::new();
    let is_run = |part: &parts::Part| (is_postgres || !part.needs_postgres) && (is_all || !part.is_tested_in_it);
    for part in parts::all().into_iter().filter(|part| is_wanted(&part.name) && is_run(part)) {
        let began = Instant::now();
        let (n_runs, broken) = (part.run)(plan).await;
        let seconds = began.elapsed().as_secs();
        eprintln!("{:<52} {n_runs:>4} runs, {} broken ({seconds} s)", part.name, broken.len());
        proved.push(Proved { name: part.name, n_runs, broken });
    }
    report(if is_postgres { "PostgreSQL" } else { "SQLite" }, &proved)
}

fn report(database: &str, proved: &[Proved]) -> ExitCode {
    println!("\n| proof ({database}) | runs | broken |\n|---|---|---|");
    for part in proved {
        println!("| {} | {} | {} |", part.name, part.n_runs, part.broken.len());
    }
    for broken in proved.iter().flat_map(|part| part.broken.iter().map(move |why| format!("{}: {why}", part.name))) {
        println!("BROKEN {broken}");
    }
    let is_vacuous = proved.iter().any(|part| part.n_runs == 0);
    let is_broken = proved.iter().any(|part| !part.broken.is_empty());
    if is_vacuous || is_broken { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
