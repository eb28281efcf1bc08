//! Every crash point: the process aborts at the 1st, 2nd, … statement or commit of a scenario, and is started again.

use std::time::Duration;

use crate::{
    check, model,
    plan::{Found, Plan, Tried, enumerate},
    scenario::{self, Does, Scenario, Seen},
    support::{Process, World},
};

/// How many points were tried and what did not hold.
pub(crate) async fn every_point(scenario: Scenario, plan: Plan) -> Found {
    let model = model::start(plan).await;
    enumerate(plan, plan.stride, "point", |n| at_point(&scenario, &model, n)).await
}

/// Whether the server died there, and what did not hold afterwards.
async fn at_point(scenario: &Scenario, model: &[(&'static str, String)], n: usize) -> Tried {
    let world = World::new().await;
    // Renewals are statements too, and would take the place of points. A server that starts again under its name finds its
    // turns at once; one that was handed over has to wait for a lease.
    let lease_ms = if matches!(scenario.does, Does::Drains) { 600 } else { 5000 };
    let settings = |more: &[(&'static str, String)]| -> Vec<(&'static str, String)> {
        let own = [("SEGUE_LEASE_MS", lease_ms.to_string()), ("SEGUE_DRAIN_SECONDS", "0".to_owned())];
        model.iter().chain(&own).chain(more).cloned().collect()
    };
    if scenario.needs_tracks() {
        scenario::fill(&Process::start(&world, model).await).await;
    }
    let mut died;
    let seen;
    if scenario.at_start {
        // A first server dies in the middle; the one that takes over dies at the point.
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

/// A turn whose end a client has seen is over: no server has to finish it.
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
