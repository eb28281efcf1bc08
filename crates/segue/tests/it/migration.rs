//! A database of version 0.1 is migrated: no data is lost, and texts of a user's file are visible only to that user.

use std::path::Path;

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{Connection, Executor, migrate::Migrator};

use crate::support::{JWT_SECRET, TestApp, World};

/// The newest schema version of 0.1.
const NEWEST_SCHEMA_OF_0_1: i64 = 6;

/// An imported track as 0.1 stored it, visible to every user.
fn described(isrc: &str, title: &str, lyrics: &str) -> String {
    json!({"isrc": isrc, "title": title, "artist": "Ivy Marlow", "album": "Quay", "lyrics": lyrics,
        "provenance": {"title": "table, imported", "lyrics": "table, imported"}})
    .to_string()
}

/// A track of the catalogue as 0.1 stored it.
fn catalogued(isrc: &str, title: &str) -> String {
    json!({"isrc": isrc, "title": title, "artist": "Ivy Marlow", "album": "Quay", "provenance": {"names": "tidal"}})
        .to_string()
}

const MEMO: &str = "QZANN2400001";
const BOTH: &str = "QZXYZ1900004";
const PUBLIC: &str = "QZXYZ1900005";
const SAMPLE: &str = "XSGUE2600001";

/// The rows of two users of 0.1: a memo of Ann, a track that both imported, a track of the catalogue, a sample track, a
/// playlist and an open entry.
fn rows() -> Vec<String> {
    let now = "2026-01-01T00:00:00+00:00";
    let mut rows = vec![];
    let sample = json!({"isrc": SAMPLE, "title": "Leaving on the 6:40", "artist": "Hesper Lindqvale", "album": "",
        "provenance": {"all": "sample library"}});
    let tracks = [
        (MEMO, described(MEMO, "My therapy memo", "Only Ann knows")),
        (BOTH, described(BOTH, "Paper Lanterns", "Words of the first importer")),
        (PUBLIC, catalogued(PUBLIC, "Tide Table")),
        (SAMPLE, sample.to_string()),
    ];
    for (n, (isrc, track)) in tracks.iter().enumerate() {
        rows.push(format!("INSERT INTO tracks VALUES ('{isrc}', {}, 'name', '{track}', '{now}')", n + 1));
        if *isrc == SAMPLE {
            continue;
        }
        rows.push(format!("INSERT INTO ingested_tracks VALUES ('{isrc}', 'name', '{track}', '{now}')"));
        for step in ["lyrics", "features", "describe", "index"] {
            rows.push(format!(
                "INSERT INTO ingest_steps (isrc, step, state, priority, tries, due_at, settled_at)
                 VALUES ('{isrc}', '{step}', 'done', 10, 1, '{now}', '{now}')"
            ));
        }
    }
    rows.push("UPDATE track_revision SET value = 4".into());
    let owned = [("ann", MEMO, "My therapy memo"), ("ann", BOTH, "Paper Lanterns"), ("bob", BOTH, "paper lanterns!")];
    for (user, isrc, title) in owned.into_iter().chain([("bob", PUBLIC, "Tide Table"), ("ann", SAMPLE, "Leaving")]) {
        rows.push(format!(
            "INSERT INTO library_tracks (user_id, isrc, recording, title, artist, album, searchable, added_at)
             VALUES ('{user}', '{isrc}', 'name', '{title}', 'Ivy Marlow', 'Quay', '{}', '{now}')",
            title.to_lowercase()
        ));
    }
    let listed = json!([
        {"isrc": MEMO, "title": "My therapy memo", "artist": "Ivy Marlow", "album": "", "reasoning": "mine"},
        {"isrc": SAMPLE, "title": "Leaving on the 6:40", "artist": "Hesper Lindqvale", "album": "", "reasoning": "sea"}
    ]);
    rows.push(format!("INSERT INTO playlists VALUES (RANDOM_UUID, 'ann', 'Night', '{listed}', '{now}', NULL)"));
    let entry = json!({"line": 2, "title": "Demo Tape One", "artists": ["The Local Band"], "nPlays": 0, "ids": {}});
    let found = json!({"outcome": "unmatched", "confidence": 0.0, "reason": "unknown"});
    rows.push(format!("INSERT INTO imports SELECT RANDOM_UUID, 'ann', '{{}}', '{now}'"));
    rows.push(format!(
        "INSERT INTO open_entries (id, user_id, import_id, file, kind, entry, found, playlists, dismissed, tries, due_at)
         SELECT RANDOM_UUID, 'ann', id, 'a.csv', 'table', '{entry}', '{found}', '[]', FALSE, 0, '{now}' FROM imports"
    ));
    rows
}

/// Creates a database of 0.1 at the place where the server expects its own.
async fn database_of_0_1(world: &World) {
    let until = async |database: &str| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../store/migrations").join(database);
        let all = Migrator::new(folder).await.unwrap();
        Migrator::with_migrations(
            all.migrations.iter().filter(|one| one.version <= NEWEST_SCHEMA_OF_0_1).cloned().collect(),
        )
    };
    let sql = |uuid: &str| rows().iter().map(|row| row.replace("RANDOM_UUID", uuid)).collect::<Vec<_>>();
    match world.database_url() {
        Some(url) => {
            let mut connection = sqlx::PgConnection::connect(url).await.unwrap();
            until("postgres").await.run(&mut connection).await.unwrap();
            for row in sql("gen_random_uuid()") {
                connection.execute(sqlx::AssertSqlSafe(row)).await.unwrap();
            }
        }
        None => {
            let options = sqlx::sqlite::SqliteConnectOptions::new().filename(world.sqlite()).create_if_missing(true);
            let mut connection = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
            until("sqlite").await.run(&mut connection).await.unwrap();
            for row in sql("randomblob(16)") {
                connection.execute(sqlx::AssertSqlSafe(row)).await.unwrap();
            }
        }
    }
}

fn titles(found: &Value) -> Vec<String> {
    let tracks = found["tracks"].as_array().unwrap();
    tracks.iter().map(|track| track["title"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_database_of_0_1_keeps_all_data_and_hides_imports_from_other_users() {
    let world = World::without_database().await;
    database_of_0_1(&world).await;
    let app = TestApp::start(world, [], &[("SEGUE_AUTH", "jwt"), ("SEGUE_JWT_SECRET", JWT_SECRET)]).await;
    app.app.start_ingestion().await.unwrap();
    app.app.catch_up().await.unwrap();
    let (ann, bob) = (app.person("ann"), app.person("bob"));

    let library = ann.get("/api/library/tracks?sort=title").await;
    assert_eq!(titles(&library), ["Demo Tape One", "Leaving", "My therapy memo", "Paper Lanterns"], "{library:#}");
    assert_eq!(library["tracks"][1]["isSample"], true, "{library:#}");
    assert_eq!(bob.get("/api/library/tracks").await["total"], 2);

    assert_eq!(ann.get(&format!("/api/library/tracks/{MEMO}")).await["lyrics"], "Only Ann knows");
    assert_eq!(titles(&ann.get("/api/search?q=therapy%20memo").await)[0], "My therapy memo");
    assert!(titles(&bob.get("/api/search?q=therapy%20memo").await).iter().all(|title| !title.contains("therapy")));
    assert_eq!(bob.answer(Method::GET, &format!("/api/library/tracks/{MEMO}"), None).await.0, 404);
    for (person, title) in [(&ann, "Paper Lanterns"), (&bob, "paper lanterns!")] {
        let track = person.get(&format!("/api/library/tracks/{BOTH}")).await;
        assert_eq!(
            (&track["title"], &track["lyrics"]),
            (&json!(title), &Value::Null),
            "the owner of the lyrics is unknown: {track:#}"
        );
    }
    assert_eq!(bob.get(&format!("/api/library/tracks/{PUBLIC}")).await["inLibrary"], true);
    assert_eq!(ann.answer(Method::GET, &format!("/api/library/tracks/{PUBLIC}"), None).await.0, 404);

    let lists = ann.get("/api/playlists").await;
    let list = ann.get(&format!("/api/playlists/{}", lists["playlists"][0]["id"].as_str().unwrap())).await;
    let codes: Vec<_> = list["tracks"].as_array().unwrap().iter().map(|track| track["isrc"].clone()).collect();
    assert_eq!(codes, [MEMO, SAMPLE], "the same recordings: {list:#}");
    assert!(list["tracks"].as_array().unwrap().iter().all(|track| track["inLibrary"] == true), "{list:#}");

    let open = ann.get("/api/library/unmatched").await;
    assert_eq!(open["entries"][0]["title"], "Demo Tape One", "{open:#}");
    assert_eq!(titles(&ann.get("/api/search?q=demo%20tape").await)[0], "Demo Tape One", "an open entry is a track");
}
