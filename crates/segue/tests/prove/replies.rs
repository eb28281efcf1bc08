//! Lost replies: PostgreSQL has done what it was told, and the server never hears of it.

use std::time::Duration;

use crate::{
    check, model,
    plan::{Found, Plan, with_lease},
    scenario::{self, Scenario},
    support::{Process, World},
    wire::Wire,
};

pub(crate) const NAMES: [&str; 3] = ["plain answer", "several writes", "stop"];
const MOST: i64 = 400;
/// Much longer than any scenario takes.
const WEDGED_AFTER: Duration = Duration::from_secs(60);

pub(crate) async fn every_reply(name: &str, plan: Plan) -> Found {
    let scenario: Scenario = scenario::all().into_iter().find(|scenario| scenario.name == name).unwrap();
    let model = model::start(plan).await;
    // Long enough that a busy machine loses no lease: here only replies are lost.
    let settings = with_lease(&model, 2000);
    let mut broken = Vec::new();
    let mut n_runs = 0;
    for n in (1..MOST).step_by(plan.stride) {
        // A new server each time: the tasks of one run are not those of another.
        let world = World::new().await;
        let (wire, through) = wired(&world).await;
        let mut settings = settings.clone();
        settings.push(through);
        let mut server = Process::start(&world, &settings).await;
        wire.lose_reply(n);
        let Ok(seen) = tokio::time::timeout(WEDGED_AFTER, scenario.play(&mut server)).await else {
            return (n_runs, vec![format!("reply {n}: the turn does not end")]);
        };
        let is_over = !wire.has_lost();
        wire.lose_reply(-1);
        n_runs += 1;
        broken.extend(check::broken(&server, &seen).await.into_iter().map(|why| format!("reply {n}: {why}")));
        if is_over || plan.is_over(&broken) {
            break;
        }
    }
    (n_runs, broken)
}

/// A wire to the database of a world, and the setting that leads through it.
pub(crate) async fn wired(world: &World) -> (Wire, (&'static str, String)) {
    let url = world.settings()["DATABASE_URL"].clone();
    let address = url.split('@').nth(1).and_then(|rest| rest.split('/').next()).unwrap().to_owned();
    let wire = Wire::to(address.clone()).await;
    let through = ("DATABASE_URL", url.replace(&address, &wire.address));
    (wire, through)
}
