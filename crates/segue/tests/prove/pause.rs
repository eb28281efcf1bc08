//! Pauses: a node is paused at its 1st, 2nd, … statement or commit for longer than a lease, and then resumes.

use std::time::Duration;

use crate::{
    check, model,
    plan::{Found, Plan, Tried, enumerate, with_lease},
    scenario::{self, Scenario, Seen},
    signals::{
        end_open_transactions, expire_simulated_lease, signal, simulate_takeover, stored, until, wait_until_paused,
    },
    support::{Process, World},
};

pub(crate) const NAMES: [&str; 2] = ["several steps", "several writes"];
const LEASE_MS: u64 = 1000;
/// A reader of a turn that was lost is disconnected at the next renewal. This is the time of many renewals.
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(15);

#[derive(Clone, Copy, PartialEq)]
enum Others {
    /// Another node takes the turn over. It has finished it, or is still running it, when the paused node resumes.
    Take,
    /// Another node holds the turn and has done nothing yet when the paused node resumes.
    Hold,
}

/// Two nodes: the other node finishes the turn of the paused one.
pub(crate) async fn every_point(name: &'static str, plan: Plan) -> Found {
    every(name, plan, Others::Take).await
}

/// Fencing: a node without the lease changes nothing at any point.
pub(crate) async fn every_fence(name: &'static str, plan: Plan) -> Found {
    every(name, plan, Others::Hold).await
}

async fn every(name: &str, plan: Plan, others: Others) -> Found {
    let scenario = scenario::all().into_iter().find(|scenario| scenario.name == name).unwrap();
    let settings = with_lease(&model::start(plan).await, LEASE_MS);
    // A point takes seconds here, so a sample has fewer points.
    let stride = if plan.stride == 1 { 1 } else { plan.stride * 2 };
    let try_point = async |n| match others {
        Others::Take => taken_at(&scenario, &settings, n).await,
        Others::Hold => held_at(&scenario, &settings, n).await,
    };
    enumerate(plan, stride, "pause at point", try_point).await
}

fn pausing(settings: &[(&'static str, String)], n: usize) -> Vec<(&'static str, String)> {
    settings.iter().cloned().chain([("SEGUE_PAUSE_AT", n.to_string())]).collect()
}

async fn taken_at(scenario: &Scenario, settings: &[(&'static str, String)], n: usize) -> Tried {
    const RUNNING: &str = "SELECT 'token ' || lease_token FROM turns WHERE status = 'running'";
    let world = World::new().await;
    let other = Process::start(&world, settings).await;
    let mut node = Process::start(&world, &pausing(settings, n)).await;
    let pause = async || {
        end_open_transactions(&world).await;
        // In every second run the paused node resumes while the other still runs the turn.
        let is_late = n % 2 == 1;
        let is_taken = until(&world, RUNNING, |rows| !rows.iter().any(|row| is_late || row == "token 1")).await;
        if is_taken { Vec::new() } else { vec!["the turn is not taken over".to_owned()] }
    };
    let (seen, was_paused, mut broken) = play_paused(scenario, &mut node, pause).await;
    broken.extend(check::broken(&other, &seen).await);
    if !was_paused {
        // The node may still be paused later.
        return (false, broken);
    }
    if let Some(end) = check::incomplete(&node, serde_json::json!({"message": "plain", "agent": "tasks"})).await {
        broken.push(format!("the resumed node cannot answer: {end}"));
    }
    (was_paused, broken)
}

async fn held_at(scenario: &Scenario, settings: &[(&'static str, String)], n: usize) -> Tried {
    const RUNNING: &str = "SELECT 'one' FROM turns WHERE status = 'running'";
    let world = World::new().await;
    let mut node = Process::start(&world, &pausing(settings, n)).await;
    let before = std::sync::Mutex::new(None);
    let pause = async || {
        end_open_transactions(&world).await;
        if has_row(&world, RUNNING).await {
            simulate_takeover(&world).await;
            let found = stored(&world).await;
            *before.lock().unwrap() = Some(found);
        }
        Vec::new()
    };
    let (seen, was_paused, mut broken) = play_paused(scenario, &mut node, pause).await;
    if !was_paused {
        // The node may still be paused later, and its turn was not taken away.
        return (false, broken);
    }
    if let Some(before) = before.into_inner().unwrap() {
        // The node makes its last attempt when it releases the turn.
        if !said(&node, "A turn was released").await {
            broken.push("the node does not release the turn".to_owned());
        }
        let after = stored(&world).await;
        if before != after {
            broken.push(format!("a node without the lease changed {before:?} to {after:?}"));
        }
        expire_simulated_lease(&world).await;
    }
    broken.extend(check::broken(&node, &seen).await);
    (was_paused, broken)
}

/// Whether the query finds a row now.
async fn has_row(world: &World, sql: &str) -> bool {
    !crate::signals::rows(world, sql).await.is_empty()
}

/// Plays a scenario on a node that may be paused once. `pause` runs while it is paused.
async fn play_paused(
    scenario: &Scenario,
    node: &mut Process,
    pause: impl AsyncFnOnce() -> Vec<String>,
) -> (Seen, bool, Vec<String>) {
    let pid = node.pid();
    let play = scenario.play(node);
    tokio::pin!(play);
    tokio::select! {
        biased;
        () = wait_until_paused(pid) => {}
        seen = &mut play => return (seen, false, Vec::new()),
    }
    let mut broken = pause().await;
    signal(pid, "-CONT").await;
    match tokio::time::timeout(DISCONNECT_TIMEOUT, play).await {
        Ok(seen) => (seen, true, broken),
        Err(_) => {
            broken.push("the readers of a turn that was lost are not disconnected".to_owned());
            (Seen::default(), true, broken)
        }
    }
}

/// Waits until the server has logged this text. False if that takes too long.
pub(crate) async fn said(server: &Process, what: &str) -> bool {
    for _ in 0..600 {
        if server.log().iter().any(|line| line.contains(what)) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    false
}
