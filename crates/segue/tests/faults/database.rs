//! Faults of the database: killed, slow, full.

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

/// The cluster's own switch, see `tools/with-postgres`.
async fn switch(what: &str) {
    let ctl = std::env::var("SEGUE_TEST_POSTGRES_CTL").expect("run through tools/with-postgres");
    assert!(Command::new(ctl).arg(what).status().await.unwrap().success(), "{what}");
}

/// Four answers are being written when the database dies, and two more are asked for while it is gone.
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
    let (running, (ready, refused, mended)) = tokio::join!(running, outage);
    stage.model.set_pace(Duration::from_millis(2));
    let well_after = stage.until_well(mended, "after", Heard::is_complete).await;
    let seen = format!("running: {}; new: {}; /readyz {ready}", together(&running), together(&refused));
    stage.row(seen, well_after).await
}

/// Everything the database says comes 100 ms late.
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
    let mended = Instant::now();
    let well_after = stage.until_well(mended, "after", Heard::is_complete).await;
    stage.row(format!("{}, the slowest after {:.1} s", together(&heard), took.as_secs_f64()), well_after).await
}

/// Someone else holds every connection the cluster has.
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
    let mended = Instant::now();
    let well_after = stage.until_well(mended, "after", Heard::is_complete).await;
    stage.row(format!("{} ({n_hogs} connections taken)", together(&heard)), well_after).await
}

/// No file of the server may grow any more, as on a full disk.
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
    let (running, (refused, mended)) = tokio::join!(running, full);
    stage.model.set_pace(Duration::from_millis(2));
    let well_after = stage.until_well(mended, "after", Heard::is_complete).await;
    stage.row(format!("running: {}; new: {}", running.in_short(), refused.in_short()), well_after).await
}
