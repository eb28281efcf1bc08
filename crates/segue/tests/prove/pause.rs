//! Pauses: a node stands still at its 1st, 2nd, … statement or commit for longer than a lease, and wakes up.

use std::time::Duration;

use crate::{
    check, model,
    plan::{Found, Plan, Tried, enumerate, with_lease},
    scenario::{self, Scenario, Seen},
    signals::{end_open_transactions, give_back, signal, stands_still, stored, take_away, until},
    support::{Process, World},
};

pub(crate) const NAMES: [&str; 2] = ["several steps", "several writes"];
const LEASE_MS: u64 = 1000;
/// A reader of a turn that was lost is let go at the next renewal; this is many of them.
const LET_GO: Duration = Duration::from_secs(15);

#[derive(Clone, Copy, PartialEq)]
enum Others {
    /// Another node takes the turn over and finishes it, or is still at it when the node wakes up.
    Take,
    /// The turn has another holder that has done nothing yet when the node wakes up.
    Hold,
}

/// Two nodes: the turn of the one that stands still is finished by the other.
pub(crate) async fn every_point(name: &'static str, plan: Plan) -> Found {
    every(name, plan, Others::Take).await
}

/// Fencing: what a node without the lease does at each point changes nothing.
pub(crate) async fn every_fence(name: &'static str, plan: Plan) -> Found {
    every(name, plan, Others::Hold).await
}

async fn every(name: &str, plan: Plan, others: Others) -> Found {
    let scenario = scenario::all().into_iter().find(|scenario| scenario.name == name).unwrap();
    let settings = with_lease(&model::start(plan).await, LEASE_MS);
    // A point takes seconds here: a sample is smaller.
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
        // Every second time the node wakes up while the other is still at work.
        let is_late = n % 2 == 1;
        let is_taken = until(&world, RUNNING, |rows| !rows.iter().any(|row| is_late || row == "token 1")).await;
        if is_taken { Vec::new() } else { vec!["the turn is not taken over".to_owned()] }
    };
    let (seen, was_paused, mut broken) = play_paused(scenario, &mut node, pause).await;
    broken.extend(check::broken(&other, &seen).await);
    if !was_paused {
        // It may stand still at any moment.
        return (false, broken);
    }
    let healthy = node.chat(serde_json::json!({"message": "plain", "agent": "tasks"})).await.rest().await;
    if healthy.last().is_none_or(|last| last["stopReason"] != "complete") {
        broken.push(format!("the node that woke up cannot answer: {:?}", healthy.last()));
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
        if until_known(&world, RUNNING).await {
            take_away(&world).await;
            let found = stored(&world).await;
            *before.lock().unwrap() = Some(found);
        }
        Vec::new()
    };
    let (seen, was_paused, mut broken) = play_paused(scenario, &mut node, pause).await;
    if !was_paused {
        // It may stand still at any moment, and nothing was taken away.
        return (false, broken);
    }
    if let Some(before) = before.into_inner().unwrap() {
        // Its last attempt is made when it lets the turn go.
        if !said(&node, "A turn was let go").await {
            broken.push("the node does not let the turn go".to_owned());
        }
        let after = stored(&world).await;
        if before != after {
            broken.push(format!("a node without the lease changed {before:?} to {after:?}"));
        }
        give_back(&world).await;
    }
    broken.extend(check::broken(&node, &seen).await);
    (was_paused, broken)
}

/// Whether there is such a row now.
async fn until_known(world: &World, sql: &str) -> bool {
    !crate::signals::rows(world, sql).await.is_empty()
}

/// Plays a scenario on a node that may stand still once; `pause` happens meanwhile.
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
        () = stands_still(pid) => {}
        seen = &mut play => return (seen, false, Vec::new()),
    }
    let mut broken = pause().await;
    signal(pid, "-CONT").await;
    match tokio::time::timeout(LET_GO, play).await {
        Ok(seen) => (seen, true, broken),
        Err(_) => {
            broken.push("the readers of a turn that was lost are not let go".to_owned());
            (Seen::default(), true, broken)
        }
    }
}

/// Waits until the server has logged this.
pub(crate) async fn said(server: &Process, what: &str) -> bool {
    for _ in 0..600 {
        if server.log().iter().any(|line| line.contains(what)) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    false
}
