//! The cost of a turn: Segue and a bare relay, under the same load, in the same run.
//!
//! A turn is two model calls: 20 deltas and one tool call with a result of about 10 KB, then 60 deltas and the end.

mod delay;
mod load;
mod process;
mod relay;
mod upstream;

use std::time::Duration;

use anyhow::Context;

use crate::{
    load::{Load, Report},
    process::{Server, segue},
};

const STREAMS: usize = 50;
const SECONDS: u64 = 8;
const ROUNDS: usize = 3;
const HELD_STREAMS: usize = 500;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    if let [_, command, upstream] = std::env::args().collect::<Vec<_>>().as_slice()
        && command == "relay"
    {
        return relay::serve(upstream).await;
    }
    let is_delay_only = std::env::args().nth(1).is_some_and(|word| word == "delay");
    let postgres = std::env::var("SEGUE_TEST_POSTGRES").ok();
    let databases: Vec<Option<&str>> = std::iter::once(None).chain(postgres.as_deref().map(Some)).collect();
    if !is_delay_only {
        print(&measure(&databases).await?);
    }
    print_delays(&databases).await
}

/// How long a delta takes from the model server to the client.
#[expect(clippy::print_stdout, reason = "the table is the result")]
async fn print_delays(databases: &[Option<&str>]) -> anyhow::Result<()> {
    let upstream = delay::upstream().await?;
    println!("\n{:<18} {:>8} {:>8} {:>8}   delay of a delta in ms, 10 paced streams", "", "p50", "p99", "deltas");
    for who in contenders(databases) {
        let server = who.start(&upstream).await?;
        let delays = delay::measure(&server).await?;
        server.stop().await?;
        println!("{:<18} {:>8.1} {:>8.1} {:>8}", who.name(), delays.ms(50), delays.ms(99), delays.len());
    }
    Ok(())
}

struct Line {
    who: String,
    rounds: Vec<Report>,
    kib_per_stream: f64,
}

/// Rounds are interleaved, so that other load on the machine affects all contenders.
async fn measure(databases: &[Option<&str>]) -> anyhow::Result<Vec<Line>> {
    let fast = upstream::start(Duration::ZERO).await?;
    let slow = upstream::start(Duration::from_millis(500)).await?;
    let mut lines: Vec<Line> = Vec::new();
    for round in 0..ROUNDS {
        for (n, who) in contenders(databases).into_iter().enumerate() {
            let server = who.start(&fast).await?;
            let report = Load { streams: STREAMS, time: Duration::from_secs(SECONDS) }.run(&server).await?;
            server.stop().await?;
            if round == 0 {
                let held = who.start(&slow).await?;
                let kib_per_stream = load::memory_per_stream(&held, HELD_STREAMS).await?;
                held.stop().await?;
                lines.push(Line { who: who.name(), rounds: Vec::new(), kib_per_stream });
            }
            lines[n].rounds.push(report);
        }
    }
    Ok(lines)
}

enum Contender {
    Relay,
    Segue(Option<String>),
}

fn contenders(databases: &[Option<&str>]) -> Vec<Contender> {
    let segue = databases.iter().map(|url| Contender::Segue(url.map(str::to_owned)));
    std::iter::once(Contender::Relay).chain(segue).collect()
}

impl Contender {
    fn name(&self) -> String {
        match self {
            Contender::Relay => "bare relay".into(),
            Contender::Segue(None) => "segue, SQLite".into(),
            Contender::Segue(Some(_)) => "segue, PostgreSQL".into(),
        }
    }

    async fn start(&self, upstream: &str) -> anyhow::Result<Server> {
        match self {
            Contender::Relay => process::relay(upstream).await.context("the relay does not start"),
            Contender::Segue(database) => segue(upstream, database.as_deref()).await.context("segue does not start"),
        }
    }
}

#[expect(clippy::print_stdout, reason = "the table is the result")]
fn print(lines: &[Line]) {
    println!("{STREAMS} streams, {SECONDS} s, median of {ROUNDS} rounds; memory with {HELD_STREAMS} open streams\n");
    println!(
        "{:<18} {:>8} {:>12} {:>10} {:>12} {:>8}",
        "", "turns/s", "CPU-ms/turn", "× relay", "KiB/stream", "errors"
    );
    let floor = lines.first().map_or(1.0, |line| median(line, |report| report.cpu_ms_per_turn));
    for line in lines {
        let cpu = median(line, |report| report.cpu_ms_per_turn);
        let errors: usize = line.rounds.iter().map(|report| report.errors).sum();
        let turns = median(line, |report| report.turns_per_second);
        println!(
            "{:<18} {turns:>8.0} {cpu:>12.2} {:>10.2} {:>12.0} {errors:>8}",
            line.who,
            cpu / floor,
            line.kib_per_stream
        );
    }
}

fn median(line: &Line, of: impl Fn(&Report) -> f64) -> f64 {
    let mut values: Vec<f64> = line.rounds.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
