//! Faults of external services: Qdrant, Tidal, the model, the collector.

use std::time::{Duration, Instant};

use doubles::{
    Running, fiction, model,
    qdrant::{QdrantDouble, QdrantFault},
    serve,
    tidal::{CLIENT_ID, CLIENT_SECRET, Fault, Limits, TidalDouble},
};

use crate::{
    stage::{Heard, Stage},
    support::{Collector, World},
    table::Row,
};

/// A server whose index is in Qdrant, with the sample library in it.
async fn with_qdrant() -> (Stage, QdrantDouble) {
    let (world, qdrant) = (World::new().await, QdrantDouble::start().await.unwrap());
    let settings = world.settings();
    let mut sample = tokio::process::Command::new(env!("CARGO_BIN_EXE_segue"));
    sample.arg("sample").envs(&settings).env("QDRANT_URL", &qdrant.url);
    assert!(sample.output().await.unwrap().status.success());
    let stage = Stage::in_world(world, [("QDRANT_URL", qdrant.url.clone())]).await;
    (stage, qdrant)
}

/// Whether a search found something.
fn found(heard: &Heard) -> bool {
    let end = heard.events.iter().find(|event| event["type"] == "tool_call_end");
    heard.is_complete() && end.is_some_and(|end| end["resultCount"].as_u64() > Some(0))
}

async fn while_qdrant_has(fault: QdrantFault) -> Row {
    let (stage, qdrant) = with_qdrant().await;
    qdrant.set_fault(Some(fault));
    let seen = stage.say("find rain").await.in_short();
    qdrant.set_fault(None);
    let recovery = stage.until_recovered(Instant::now(), "find rain again", found).await;
    stage.row(seen, recovery).await
}

pub(crate) async fn qdrant_away() -> Row {
    while_qdrant_has(QdrantFault::Overloaded).await
}

pub(crate) async fn qdrant_slow() -> Row {
    while_qdrant_has(QdrantFault::Silent).await
}

/// The server at the URL is not Qdrant.
pub(crate) async fn qdrant_is_another_server() -> Row {
    while_qdrant_has(QdrantFault::OtherProtocol).await
}

/// A server that starts without Qdrant serves everything else.
pub(crate) async fn qdrant_away_at_the_start() -> Row {
    let (mut stage, qdrant) = with_qdrant().await;
    stage.server.kill_at_once().await;
    qdrant.set_fault(Some(QdrantFault::Overloaded));
    stage.start_again().await;
    let seen = stage.say("find rain").await.in_short();
    qdrant.set_fault(None);
    let recovery = stage.until_recovered(Instant::now(), "find rain again", found).await;
    stage.row(seen, recovery).await
}

/// The collection contains vectors of another size: the server refuses to start with a one-line message. Then the
/// collection is deleted.
pub(crate) async fn qdrant_wrong_schema() -> Row {
    let (mut stage, qdrant) = with_qdrant().await;
    stage.server.kill_at_once().await;
    qdrant.resize_vectors(3);
    let mut refused = tokio::process::Command::new(env!("CARGO_BIN_EXE_segue"));
    refused.arg("serve").envs(stage.world.settings()).env("QDRANT_URL", &qdrant.url).env("SEGUE_LISTEN", "127.0.0.1:0");
    let output = refused.output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().last().unwrap_or_default().to_owned();
    assert!(!output.status.success() && line.starts_with("segue: the index cannot be opened"), "{said}");
    qdrant.empty();
    let repaired_at = Instant::now();
    stage.start_again().await;
    let recovery = stage.until_recovered(repaired_at, "find rain again", found).await;
    stage.row(format!("no start: \"{line}\""), recovery).await
}

/// The collection is deleted. The server rebuilds it from the database without help.
pub(crate) async fn qdrant_emptied() -> Row {
    let (stage, qdrant) = with_qdrant().await;
    qdrant.empty();
    let seen = stage.say("find rain").await.in_short();
    let recovery = stage.until_recovered(Instant::now(), "find rain again", found).await;
    stage.row(seen, recovery).await
}

/// The collection is deleted and cannot be rebuilt. A search must never answer "nothing found".
pub(crate) async fn qdrant_empty_and_full() -> Row {
    let (stage, qdrant) = with_qdrant().await;
    qdrant.set_fault(Some(QdrantFault::DiskFull));
    qdrant.empty();
    stage.until_recovered(Instant::now(), "find rain", |_| !qdrant.collections().is_empty()).await;
    let heard = stage.say("find rain").await;
    assert!(heard.in_short().contains("temporarily unavailable"), "{}", heard.in_short());
    let seen = heard.in_short();
    qdrant.set_fault(None);
    let recovery = stage.until_recovered(Instant::now(), "find rain again", found).await;
    stage.row(seen, recovery).await
}

async fn with_tidal() -> (Stage, TidalDouble, Running) {
    let tidal = TidalDouble::new(fiction::world(), Limits::GENEROUS);
    let running = serve(tidal.router()).await.unwrap();
    let settings = [
        ("TIDAL_CLIENT_ID", CLIENT_ID.to_owned()),
        ("TIDAL_CLIENT_SECRET", CLIENT_SECRET.to_owned()),
        ("TIDAL_API_URL", format!("http://{}/v2", running.addr)),
        ("TIDAL_AUTH_URL", format!("http://{}/v1", running.addr)),
    ];
    (Stage::new(settings).await, tidal, running)
}

async fn while_tidal_plays(fault: Fault) -> Row {
    let (stage, tidal, _running) = with_tidal().await;
    tidal.always(Some(fault));
    let seen = stage.say("tidal rain").await.in_short();
    tidal.always(None);
    let recovery = stage.until_recovered(Instant::now(), "tidal the", Heard::is_complete_with_tools).await;
    stage.row(seen, recovery).await
}

pub(crate) async fn tidal_too_many() -> Row {
    while_tidal_plays(Fault::TooMany { retry_after: Some("2".into()), empty_body: false }).await
}

pub(crate) async fn tidal_unavailable() -> Row {
    while_tidal_plays(Fault::Status { code: 503 }).await
}

pub(crate) async fn tidal_unauthorized() -> Row {
    while_tidal_plays(Fault::Unauthorized).await
}

pub(crate) async fn tidal_slow() -> Row {
    while_tidal_plays(Fault::Silence).await
}

pub(crate) async fn tidal_garbage() -> Row {
    while_tidal_plays(Fault::Garbage).await
}

async fn while_the_model_has(fault: model::Fault) -> Row {
    let stage = Stage::new([]).await;
    stage.model.set_fault(Some(fault));
    let began = Instant::now();
    let heard = stage.say("meanwhile").await;
    let seen = format!("{} after {:.1} s", heard.in_short(), began.elapsed().as_secs_f64());
    stage.model.set_fault(None);
    let recovery = stage.until_recovered(Instant::now(), "after", Heard::is_complete).await;
    stage.row(seen, recovery).await
}

pub(crate) async fn model_cut() -> Row {
    while_the_model_has(model::Fault::CutInCall).await
}

pub(crate) async fn model_overloaded() -> Row {
    while_the_model_has(model::Fault::Status(529)).await
}

pub(crate) async fn model_hangs() -> Row {
    while_the_model_has(model::Fault::Silent).await
}

/// The collector is away at first and comes back later.
pub(crate) async fn collector_away() -> Row {
    let collector = Collector::start().await;
    let stage = Stage::new([("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.clone())]).await;
    collector.refuse([reqwest::StatusCode::BAD_REQUEST; 3]);
    let began = Instant::now();
    let mut seen = Vec::new();
    for n in 0..5 {
        seen.push(stage.say(&format!("not exported {n}")).await);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let seen = format!("{} within {:.1} s", crate::stage::together(&seen), began.elapsed().as_secs_f64());
    let repaired_at = Instant::now();
    let turn = loop {
        let heard = stage.say(&format!("exported {}", repaired_at.elapsed().as_millis())).await;
        let id = heard.events[0]["turnId"].as_str().unwrap().to_owned();
        if tokio::time::timeout(Duration::from_secs(2), collector.trace(&id)).await.is_ok() {
            break id;
        }
    };
    let recovery = repaired_at.elapsed();
    assert_eq!(collector.trace(&turn).await.iter().filter(|span| span.parent.is_empty()).count(), 1, "exported once");
    stage.row(seen, recovery).await
}
