//! Every crash point: the process aborts at the 1st, 2nd, … statement or commit of a scenario and is restarted.

use std::time::Duration;

use crate::{
    check, model,
    plan::{Found, Plan, Tried, enumerate},
    scenario::{self, Does, Scenario, Seen},
    support::{Process, World},
};

/// Returns the number of points and the broken promises.
pub(crate) async fn every_point(scenario: Scenario, plan: Plan) -> Found {
    let model = model::start(plan).await;
    enumerate(plan, plan.stride, "point", |n| at_point(&scenario, &model, n)).await
}

/// Whether the server died at the point, and the promises that are broken afterwards.
async fn at_point(scenario: &Scenario, model: &[(&'static str, String)], n: usize) -> Tried {
    let world = World::new().await;
    // The lease is long, because renewals are statements too and would be counted as points. A server that restarts
    // under its name finds its turns at once. A turn that was handed over is found when its lease has expired.
    let lease_ms = if matches!(scenario.does, Does::Drains) { 600 } else { 5000 };
    let settings = |more: &[(&'static str, String)]| -> Vec<(&'static str, String)> {
        let own = [("SEGUE_LEASE_MS", lease_ms.to_string()), ("SEGUE_DRAIN_SECONDS", "0".to_owned())];
        model.iter().chain(&own).chain(more).cloned().collect()
    };
    if scenario.needs_tracks() {
        let first = Process::start(&world, model).await;
        scenario::fill(&first).await;
        // Until it has ended, the next server cannot have its name, and its turns would wait for the end of their lease.
        first.kill().await;
    }
    let mut died;
    let seen;
    if scenario.at_start {
        // A first server dies in the middle. The server that takes over dies at the point.
        let mut first = Process::start(&world, &settings(&[("SEGUE_CRASH_AT", "14".into())])).await;
        seen = scenario.play(&mut first).await;
        first.kill_at_once().await;
        let second = settings(&[("SEGUE_CRASH_AT_START", n.to_string())]);
        died = Process::start_and_watch(&world, &second).await;
    } else {
        let mut server = Process::start(&world, &settings(&[("SEGUE_CRASH_AT", n.to_string())])).await;
        seen = scenario.play(&mut server).await;
        let within = if matches!(scenario.does, Does::Drains) { 3000 } else { 150 };
        died = server.has_crashed(Duration::from_millis(within)).await;
        server.kill_at_once().await;
    }
    let server = Process::start(&world, &settings(&[])).await;
    let mut broken = check::broken(&server, &seen).await;
    broken.extend(shown_too_early(&server, &seen));
    if seen.is_empty() && !scenario.is_direct() {
        died = true;
    }
    (died, broken)
}

/// If a client has seen the end of a turn, no server may take that turn over.
fn shown_too_early(server: &Process, seen: &Seen) -> Option<String> {
    let end = seen.events.last().filter(|event| check::is_end(event))?;
    let turn = seen.events[0]["turnId"].as_str()?;
    let is_taken = server.log().iter().any(|line| line.contains("whose server died") && line.contains(turn));
    is_taken.then(|| format!("a client saw {end} before it was stored"))
}

impl Seen {
    fn is_empty(&self) -> bool {
        self.events.is_empty() && self.direct.is_empty()
    }
}
