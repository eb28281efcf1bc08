//! Ingestion through the doors: from a file to something that can be found by meaning, whatever happens on the way.

use std::{collections::BTreeMap, time::Duration};

use app::sample;
use doubles::{
    desk::Desk,
    fiction,
    lrclib::Words,
    reccobeats::{Known, ReccoBeatsDouble},
    tidal::Fault,
    world::World as Music,
};
use engine::UserId;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Process, Sources, Stream, TestApp, World, command};

/// Longer than any of this takes; a test that gets here has failed.
const AT_LAST: Duration = Duration::from_secs(60);

/// Follows ingestion to its end; answers every status that was told.
async fn to_the_end(stream: Stream) -> Vec<Value> {
    let told = tokio::time::timeout(AT_LAST, stream.rest()).await.expect("ingestion ends");
    let last = told.last().expect("a status");
    assert_eq!((&last["pending"], &last["lookingFor"]), (&json!(0), &json!(0)), "{last}");
    told
}

async fn ingested(app: &TestApp) -> Value {
    app.app.start_ingestion().await.unwrap();
    let response = app.request(Method::GET, "/api/index/stream", None).await;
    to_the_end(Stream::new(response)).await.pop().unwrap()
}

/// Every track of a world as a table with codes.
fn table(music: &Music) -> String {
    let mut table = "Title,Artist,Album,Duration,ISRC\n".to_owned();
    for piece in music.pieces.values().filter(|piece| !piece.is_video) {
        let artist = &music.artists[&piece.artists[0]].name;
        let title = match &piece.version {
            Some(version) => format!("{} ({version})", piece.title),
            None => piece.title.clone(),
        };
        let album = &music.albums[&piece.album].title;
        table += &format!("\"{title}\",\"{artist}\",\"{album}\",{},{}\n", piece.seconds, piece.isrc);
    }
    table
}

#[tokio::test]
async fn what_was_imported_is_enriched_and_found_and_every_field_says_where_it_came_from() {
    let music = fiction::world();
    let sources = Sources::start(&music).await;
    let app = TestApp::start(World::new().await, [], &sources.borrowed()).await;
    let (_, report) = app.import("all.csv", table(&music).into()).await;
    let n_tracks = report["added"].as_u64().unwrap();
    assert!(n_tracks > 100, "{report}");
    let status = ingested(&app).await;
    assert_eq!((&status["tracks"], &status["failed"]), (&json!(n_tracks), &json!(0)), "{status:#}");
}
