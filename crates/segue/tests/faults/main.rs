//! Fault tests: each fault is caused, observed as a user sees it, and removed; then the state is checked.
//!
//! This is a program and not a list of tests, because its result is the table that it prints. Without arguments it
//! runs the short form; `-- --all` runs everything; `-- <words>` runs the faults whose names contain one of the
//! words.

#![allow(clippy::unwrap_used, reason = "a fault test that cannot continue has failed")]
#![allow(clippy::print_stdout, reason = "the table is the result")]

mod clock;
mod crowd;
mod database;
mod model;
mod services;
mod stage;
#[path = "../it/support/mod.rs"]
#[allow(dead_code, unused_imports, reason = "the other tests use the rest")]
mod support;
mod table;
mod wire;

use std::{process::ExitCode, time::Instant};

use futures::future::BoxFuture;

use self::table::{Row, print};

/// One fault and its test.
struct Rehearsal {
    name: &'static str,
    on: On,
    length: Length,
    run: fn() -> BoxFuture<'static, Row>,
}

/// The databases on which a fault can occur.
#[derive(Clone, Copy, PartialEq)]
enum On {
    Both,
    Sqlite,
    Postgres,
}

/// The short form runs for every change, the rest with `make faults`.
#[derive(Clone, Copy, PartialEq)]
enum Length {
    Short,
    Long,
}

macro_rules! rehearsals {
    ($($name:literal, $on:ident, $length:ident, $run:expr;)*) => {
        vec![$(Rehearsal { name: $name, on: On::$on, length: Length::$length, run: || Box::pin($run) }),*]
    };
}

fn rehearsals() -> Vec<Rehearsal> {
    rehearsals! {
        "database killed and back", Postgres, Short, database::killed_and_back();
        "database slow", Postgres, Long, database::slow();
        "database out of connections", Postgres, Long, database::out_of_connections();
        "disk full", Sqlite, Short, database::disk_full();
        "Qdrant away", Both, Short, services::qdrant_away();
        "Qdrant away at the start", Both, Short, services::qdrant_away_at_the_start();
        "Qdrant slow", Both, Long, services::qdrant_slow();
        "Qdrant with another schema", Both, Long, services::qdrant_wrong_schema();
        "Qdrant is another server", Both, Long, services::qdrant_is_another_server();
        "Qdrant emptied", Both, Short, services::qdrant_emptied();
        "Qdrant emptied, its disk full", Both, Long, services::qdrant_empty_and_full();
        "Tidal 429", Both, Long, services::tidal_too_many();
        "Tidal 503", Both, Short, services::tidal_unavailable();
        "Tidal 401", Both, Long, services::tidal_unauthorized();
        "Tidal slow", Both, Long, services::tidal_slow();
        "Tidal garbage", Both, Long, services::tidal_garbage();
        "model cut in a tool call", Both, Short, services::model_cut();
        "model 529", Both, Short, services::model_overloaded();
        "model hangs", Both, Long, services::model_hangs();
        "collector away", Both, Short, services::collector_away();
        "clock jumps", Both, Long, clock::jumps();
        "another node's clock is wrong", Postgres, Long, clock::of_another_node();
        "1,000 clients disconnect at once", Both, Long, crowd::leaves_at_once();
        "kill -9 under load", Both, Short, crowd::killed_under_load();
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let words: Vec<_> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let all = std::env::args().any(|arg| arg == "--all") || !words.is_empty();
    let here = if std::env::var("SEGUE_TEST_POSTGRES").is_ok() { On::Postgres } else { On::Sqlite };
    let mut rows = Vec::new();
    for rehearsal in rehearsals() {
        let is_wanted = words.is_empty() || words.iter().any(|word| rehearsal.name.contains(word.as_str()));
        let fits = rehearsal.on == On::Both || rehearsal.on == here;
        if !is_wanted || !fits || (rehearsal.length == Length::Long && !all) {
            continue;
        }
        let began = Instant::now();
        let row = tokio::spawn((rehearsal.run)()).await.unwrap_or_else(|error| Row::failed(error.to_string()));
        eprintln!("{:<32} {} ({:.1} s)", rehearsal.name, row.verdict(), began.elapsed().as_secs_f64());
        rows.push((rehearsal.name, row));
    }
    print(if here == On::Postgres { "PostgreSQL" } else { "SQLite" }, &rows);
    if rows.iter().all(|(_, row)| row.broken.is_empty()) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
