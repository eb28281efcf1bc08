//! Database faults: killed, slow, full.

use std::time::{Duration, Instant};

use futures::future::join_all;
use sqlx::Connection;
use tokio::process::Command;

use crate::{
    stage::{Heard, Stage, together},
    table::Row,
    wire::Wire,
};

fn cluster() -> String {
    std::env::var("SEGUE_TEST_POSTGRES").unwrap()
}

/// Runs the control script of the cluster, see `tools/with-postgres`.
async fn switch(what: &str) {
    let ctl = std::env::var("SEGUE_TEST_POSTGRES_CTL").expect("run through tools/with-postgres");
    assert!(Command::new(ctl).arg(what).status().await.unwrap().success(), "{what}");
}

/// The database dies while four answers are written, and two more messages are sent while it is down.
pub(crate) async fn killed_and_back() -> Row {
    let stage = Stage::new([]).await;
    stage.model.set_pace(Duration::from_millis(150));
    let names: Vec<_> = (0..4).map(|n| format!("running {n}")).collect();
    let running = join_all(names.iter().map(|name| stage.say(name)));
    let outage = async {
        tokio::time::sleep(Duration::from_millis(600)).await;
        switch("kill").await;
        let ready = reqwest::get(format!("{}/readyz", stage.server.url)).await.unwrap().status().as_u16();
        let refused = join_all((0..2).map(|n| stage.say(["late a", "late b"][n]))).await;
        switch("start").await;
        (ready, refused, Instant::now())
    };
    let (running, (ready, refused, repaired_at)) = tokio::join!(running, outage);
    stage.model.set_pace(Duration::from_millis(2));
    let recovery = stage.until_recovered(repaired_at, "after", Heard::is_complete).await;
    let seen = format!("running: {}; new: {}; /readyz {ready}", together(&running), together(&refused));
    stage.row(seen, recovery).await
}

/// Every response of the database is delayed by 100 ms.
pub(crate) async fn slow() -> Row {
    let world = crate::support::World::new().await;
    let url = world.settings()["DATABASE_URL"].clone();
    let address = url.split('@').nth(1).and_then(|rest| rest.split('/').next()).unwrap().to_owned();
    let wire = Wire::to(address.clone()).await;
    let stage = Stage::in_world(world, [("DATABASE_URL", url.replace(&address, &wire.address))]).await;
    wire.delay(Duration::from_millis(100));
    let began = Instant::now();
    let names: Vec<_> = (0..6).map(|n| format!("slow {n}")).collect();
    let heard = join_all(names.iter().map(|name| stage.say(name))).await;
    let took = began.elapsed();
    wire.delay(Duration::ZERO);
    let repaired_at = Instant::now();
    let recovery = stage.until_recovered(repaired_at, "after", Heard::is_complete).await;
    stage.row(format!("{}, the slowest after {:.1} s", together(&heard), took.as_secs_f64()), recovery).await
}

/// Another client holds every connection of the cluster.
pub(crate) async fn out_of_connections() -> Row {
    let stage = Stage::new([("SEGUE_DATABASE_POOL", "4".to_owned())]).await;
    let mut hogs = Vec::new();
    while let Ok(hog) = sqlx::PgConnection::connect(&cluster()).await {
        hogs.push(hog);
    }
    let names: Vec<_> = (0..8).map(|n| format!("crowded {n}")).collect();
    let heard = join_all(names.iter().map(|name| stage.say(name))).await;
    let n_hogs = hogs.len();
    drop(hogs);
    let repaired_at = Instant::now();
    let recovery = stage.until_recovered(repaired_at, "after", Heard::is_complete).await;
    stage.row(format!("{} ({n_hogs} connections taken)", together(&heard)), recovery).await
}

/// No file of the server can grow, as on a full disk.
pub(crate) async fn disk_full() -> Row {
    let stage = Stage::new([]).await;
    stage.model.set_pace(Duration::from_millis(60));
    let limit = async |size: &str| {
        let pid = stage.server.pid().to_string();
        let set = Command::new("prlimit").args(["--pid", &pid, &format!("--fsize={size}")]).status().await.unwrap();
        assert!(set.success());
    };
    let running = stage.say("running");
    let full = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        limit("1:unlimited").await;
        let refused = stage.say("while full").await;
        limit("unlimited:unlimited").await;
        (refused, Instant::now())
    };
    let (running, (refused, repaired_at)) = tokio::join!(running, full);
    stage.model.set_pace(Duration::from_millis(2));
    let recovery = stage.until_recovered(repaired_at, "after", Heard::is_complete).await;
    stage.row(format!("running: {}; new: {}", running.in_short(), refused.in_short()), recovery).await
}
