//! Checks the proof itself: bugs are planted in the servers one by one, and a part of the proof must find each.

use std::{
    any::Any,
    panic::AssertUnwindSafe,
    process::ExitCode,
    time::{Duration, Instant},
};

use engine::mutants::{ALL, Mutant};
use futures::{FutureExt, StreamExt, stream};

use crate::{parts, plan::Plan};

/// How many bugs are tested at once: the parts mostly wait.
const AT_ONCE: usize = 2;
/// A server that stops working because of a bug is detected after this time.
const TIMEOUT: Duration = Duration::from_secs(240);

/// The parts that must find this bug.
fn found_by(mutant: Mutant) -> &'static [&'static str] {
    use Mutant as M;
    match mutant {
        M::EffectWithoutJournal | M::CallsKeepToken | M::TakeoverRepeatsCall => {
            &["crash: one write", "crash: several writes"]
        }
        M::SaveUnfenced => &["fence: several steps"],
        M::SettleUnfenced | M::FinishUnfenced | M::EndUnfenced => &["fence: several writes"],
        M::LeaseIgnored | M::LeaseNotRenewed => &["nodes: a running node keeps its turn"],
        M::LostLeaseUnnoticed | M::ReaderNotCut => &["nodes: a turn is lost while the model is silent"],
        M::TakesAtOnceAfterOutage => &["outage longer than a lease, two nodes"],
        M::TakeoverCountIgnored => &["nodes: the node of a turn dies three times"],
        M::TakeoverForgetsText
        | M::SeqRestarts
        | M::ResumeRepeatsOne
        | M::ResumeSkipsOne
        | M::ShownBeforeCommit
        | M::EndShownBeforeCommit => &["crash: plain answer"],
        M::TakeoverForgetsUsage => &["crash: several steps"],
        M::ReadsNotRunAgain => &["crash: reads together"],
        M::TakeoverForgetsDecision => &["crash: consent"],
        M::StopNotCarried => &["nodes: a stop while the node is paused"],
        M::LostReplyForgotten => &["lost reply: several writes"],
        M::GroupFailsTogether => &["nodes: one turn cannot be saved"],
        M::DrainInterrupts => &["crash: drain"],
        M::NoticeLost => &["nodes: a stop within a second"],
        M::ClientMessageIdIgnored => &["nodes: a message is sent five times"],
        M::LockOrder => &["outage: start and end collide"],
        M::StartEndsWithClient => &["nodes: clients disconnect at once"],
    }
}

/// Whether a part that must find this bug runs on PostgreSQL only.
fn needs_postgres(mutant: Mutant) -> bool {
    // Nodes with a SQLite database look for stops themselves.
    if matches!(mutant, Mutant::NoticeLost) {
        return true;
    }
    let mut parts = parts::all().into_iter().filter(|part| found_by(mutant).contains(&part.name.as_str()));
    parts.any(|part| part.needs_postgres)
}

/// Runs the bugs whose names `is_wanted` accepts. Each is looked for on one database: on SQLite, which is twice as fast,
/// unless it needs PostgreSQL. A bug that is named runs on either.
pub(crate) async fn run(is_postgres: bool, is_named: bool, is_wanted: impl Fn(&str) -> bool) -> ExitCode {
    let mut lines = Vec::new();
    let mut n_survived = 0;
    let is_here = |mutant: Mutant| needs_postgres(mutant) == is_postgres || (is_named && is_postgres);
    let wanted = ALL.iter().filter(|(mutant, name, _)| is_wanted(name) && is_here(*mutant));
    let found = stream::iter(wanted).map(async |(mutant, name, what)| {
        let began = Instant::now();
        (mutant, name, what, find(*mutant, name).await, began.elapsed().as_secs())
    });
    let found = found.buffered(AT_ONCE);
    tokio::pin!(found);
    while let Some((mutant, name, what, found, seconds)) = found.next().await {
        n_survived += usize::from(found.is_none());
        let said = found.clone().unwrap_or_else(|| "SURVIVED".into());
        eprintln!("{name:<28} {seconds:>4} s  {said}");
        lines.push(format!("| {name} | {what} | {} | {said} |", found_by(*mutant).join(", ")));
    }
    println!("\n| planted bug | what is wrong | found by | message |\n|---|---|---|---|\n{}", lines.join("\n"));
    println!("\n{} of {} planted bugs found", lines.len() - n_survived, lines.len());
    if n_survived == 0 && !lines.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Renewals of leases and groups of events come when they come, so that the n-th statement of one run is another one in the
/// next. A bug that only three statements show is missed by one round in ten.
const ROUNDS: usize = 3;

/// The first broken promise, if any.
async fn find(mutant: Mutant, name: &'static str) -> Option<String> {
    for _ in 0..ROUNDS {
        let found = find_in_round(mutant, name).await;
        if found.is_some() {
            return found;
        }
    }
    None
}

async fn find_in_round(mutant: Mutant, name: &'static str) -> Option<String> {
    let plan = Plan { stride: 1, mutant: Some((mutant, name)) };
    for part in parts::all().into_iter().filter(|part| found_by(mutant).contains(&part.name.as_str())) {
        let run = AssertUnwindSafe((part.run)(plan)).catch_unwind();
        match tokio::time::timeout(TIMEOUT, run).await {
            Err(_) => return Some(format!("no result within {} s", TIMEOUT.as_secs())),
            Ok(Err(panic)) => return Some(format!("a check failed: {}", message_of(&*panic))),
            Ok(Ok((_, broken))) => {
                if let Some(first) = broken.into_iter().next() {
                    return Some(first.chars().take(160).collect());
                }
            }
        }
    }
    None
}

fn message_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

/// Whether each bug names parts that exist.
pub(crate) fn names_are_known() -> bool {
    let names: Vec<_> = parts::all().into_iter().map(|part| part.name).collect();
    ALL.iter().all(|(mutant, ..)| found_by(*mutant).iter().all(|part| names.iter().any(|name| name == part)))
}
