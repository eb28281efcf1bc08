//! Lost replies: PostgreSQL executes a statement, and the server does not get the reply.

use std::time::Duration;

use crate::{
    check, model,
    plan::{Found, Plan, Tried, enumerate, with_lease},
    scenario::{self, Scenario},
    support::{Process, World},
    wire::Wire,
};

pub(crate) const NAMES: [&str; 3] = ["plain answer", "several writes", "stop"];
/// Much longer than any scenario takes.
const TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) async fn every_reply(name: &str, plan: Plan) -> Found {
    let scenario: Scenario = scenario::all().into_iter().find(|scenario| scenario.name == name).unwrap();
    let model = model::start(plan).await;
    // Long enough that a busy machine loses no lease: here only replies are lost.
    let settings = with_lease(&model, 2000);
    enumerate(plan, plan.stride, "reply", |n| without_reply(&scenario, &settings, n)).await
}

async fn without_reply(scenario: &Scenario, settings: &[(&'static str, String)], n: usize) -> Tried {
    // Each run has a new server and database, so that it does not find the tasks of another run.
    let world = World::new().await;
    let (wire, through) = wired(&world).await;
    let settings: Vec<_> = settings.iter().cloned().chain([through]).collect();
    let mut server = Process::start(&world, &settings).await;
    wire.lose_reply(i64::try_from(n).unwrap());
    let Ok(seen) = tokio::time::timeout(TIMEOUT, scenario.play(&mut server)).await else {
        return (false, vec!["the turn does not end".to_owned()]);
    };
    let was_lost = wire.has_lost();
    wire.lose_reply(-1);
    (was_lost, check::broken(&server, &seen).await)
}

/// A proxy in front of the database of a world, and the setting with its address.
pub(crate) async fn wired(world: &World) -> (Wire, (&'static str, String)) {
    let url = world.settings()["DATABASE_URL"].clone();
    let address = url.split('@').nth(1).and_then(|rest| rest.split('/').next()).unwrap().to_owned();
    let wire = Wire::to(address.clone()).await;
    let through = ("DATABASE_URL", url.replace(&address, &wire.address));
    (wire, through)
}
