//! Ingestion over HTTP: from an imported file to a searchable track, also with failing sources and killed servers.

use std::{collections::BTreeSet, iter, time::Duration};

use doubles::{
    crowd::{crowd, table},
    fiction,
    lrclib::Words,
    reccobeats::{Known, ReccoBeatsDouble},
    serve,
    state::{ServiceState, lot},
    tidal::{CLIENT_ID, CLIENT_SECRET, Fault, Limits, TidalDouble},
    world::World as Music,
};
use engine::script::says;
use proptest::{
    prelude::RngExt,
    test_runner::{RngAlgorithm, TestRng},
};
use reqwest::{Method, Url};
use serde_json::{Value, json};

use crate::support::{Process, Sources, Stream, TestApp, World, command};

/// The maximum duration of a step. A test that waits this long fails.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Follows ingestion to its end and returns the last status.
async fn last_status(stream: Stream) -> Value {
    let mut statuses = tokio::time::timeout(MAX_WAIT, stream.rest()).await.expect("ingestion ends");
    let last = statuses.pop().expect("a status");
    assert_eq!((&last["pending"], &last["lookingFor"]), (&json!(0), &json!(0)), "{last:#}");
    last
}

async fn ingested(app: &TestApp) -> Value {
    let response = app.request(Method::GET, "/api/index/stream", None).await;
    last_status(Stream::new(response)).await
}

/// A server that has ingested `text`, with test doubles for every source.
async fn stage(music: &Music, text: String) -> (TestApp, Sources) {
    let sources = Sources::start(music).await;
    let app = TestApp::start(World::new().await, [], &sources.borrowed()).await;
    app.app.start_ingestion().await.unwrap();
    let (status, report) = app.import("all.csv", text.into()).await;
    assert_eq!(status, 201, "{report}");
    (app, sources)
}

async fn details(app: &TestApp, isrc: &str) -> Value {
    app.get(&format!("/api/library/tracks/{isrc}")).await
}

#[tokio::test]
async fn an_imported_track_is_enriched_and_found_and_every_field_has_its_source() {
    let music = crowd(150);
    let (app, _sources) = stage(&music, table(&music)).await;
    let status = ingested(&app).await;
    assert_eq!((&status["tracks"], &status["failed"]), (&json!(150), &json!(0)), "{status:#}");
    let mut seen = BTreeSet::new();
    for piece in music.pieces.values() {
        let track = details(&app, &piece.isrc).await;
        let said = |field: &str| track["provenance"][field].as_str().unwrap_or_default().to_owned();
        let (words, sound) = (Words::of(&piece.isrc), Known::of(&piece.isrc));
        seen.insert(format!("{words:?} {sound:?}"));
        match words {
            Words::Plain | Words::SyncedOnly => {
                assert!(track["lyrics"].as_str().unwrap().starts_with(&format!("{} is all I know", piece.title)));
                assert!(said("lyrics").starts_with("LRCLIB 20"), "{track:#}");
            }
            Words::Instrumental => assert!(said("lyrics").ends_with(": instrumental"), "{track:#}"),
            Words::Unknown | Words::Empty => assert!(said("lyrics").ends_with(": not found"), "{track:#}"),
        }
        assert_eq!(track["lyrics"].is_string(), matches!(words, Words::Plain | Words::SyncedOnly));
        match sound {
            Known::Not => assert!(said("audioFeatures").ends_with(": not found") && track["audioFeatures"].is_null()),
            Known::Twice | Known::OffTheScale | Known::Once => {
                let energy = track["audioFeatures"]["energy"].as_f64().unwrap();
                assert!((energy - ReccoBeatsDouble::figure(&piece.isrc, "energy")).abs() < 1e-9, "{track:#}");
            }
        }
        assert_eq!(said("interpretation"), "extract v1, no model");
        assert!(track["interpretation"].as_str().unwrap().contains("without an interpretation"));
        assert_eq!(said("title"), "table, imported");
    }
    assert!(seen.len() > 5, "the sources return several kinds of answers: {seen:?}");
    let sung = music.pieces.values().find(|piece| Words::of(&piece.isrc) == Words::Plain).unwrap();
    let path = format!("/api/search?q={}&limit=5", sung.title.replace(' ', "%20"));
    let found = app.get(&path).await;
    assert_eq!(found["tracks"][0]["isrc"], sung.isrc, "{found:#}");
}

#[tokio::test]
async fn data_in_the_file_is_not_requested_from_sources() {
    let music = crowd(1);
    let piece = music.pieces.values().next().unwrap();
    let header = "\"Track URI\",\"Track Name\",\"Album Name\",\"Artist Name(s)\",\"Release Date\",\"Duration (ms)\",\"Danceability\",\"Energy\",\"Key\",\"Loudness\",\"Mode\",\"Tempo\",\"ISRC\"";
    let row =
        format!("spotify:track:x,{},Album,Artist,2019-05-03,200000,0.5,0.91,1,-5,1,140,{}", piece.title, piece.isrc);
    let (app, sources) = stage(&music, format!("{header}\n{row}\n")).await;
    ingested(&app).await;
    let track = details(&app, &piece.isrc).await;
    assert_eq!(track["audioFeatures"]["energy"], 0.91, "{track:#}");
    assert!(track["provenance"]["audioFeatures"].as_str().unwrap().ends_with(", imported"), "{track:#}");
    assert!(sources.reccobeats.0.requests().iter().all(|call| !call.contains("audio-features")));
    assert!(!sources.lrclib.0.requests().is_empty());
}

#[tokio::test]
async fn an_invalid_response_of_a_source_fails_one_step_of_one_track_until_a_user_retries_it() {
    let music = crowd(150);
    let sung = music.pieces.values().find(|piece| Words::of(&piece.isrc) == Words::Plain).unwrap();
    let only = Music { pieces: [(sung.id, sung.clone())].into(), ..music.clone() };
    let (world, sources) = (World::new().await, Sources::start(&only).await);
    sources.lrclib.0.plan([Some(Fault::Garbage)]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("one.csv");
    std::fs::write(&file, table(&only)).unwrap();
    let settings = sources.settings();
    let run = async |args: &[&str]| {
        let (code, out, said) = command(&world, &settings, args).await;
        (code, serde_json::from_str::<Value>(&out).unwrap_or_else(|_| panic!("{out} {said}")))
    };
    run(&["import", "--json", &file.display().to_string()]).await;
    let (code, status) = run(&["ingest", "--json"]).await;
    assert_eq!(
        (code, &status["failed"], &status["tracks"]),
        (1, &json!(1), &json!(1)),
        "the track is indexed without lyrics: {status}"
    );
    let failure = &status["failures"][0];
    assert_eq!((&failure["isrc"], &failure["step"]), (&json!(sung.isrc), &json!("lyrics")), "{failure}");
    assert!(failure["reason"].as_str().unwrap().starts_with("LRCLIB sent a response that cannot be parsed"));

    assert_eq!(run(&["ingest", "--json"]).await.1["failed"], 1, "a failed step is not retried automatically");
    let n_calls = sources.reccobeats.0.requests().len();
    let (code, status) = run(&["ingest", "--json", "--retry-failed"]).await;
    assert_eq!((code, &status["failed"]), (0, &json!(0)), "{status}");
    assert_eq!(sources.reccobeats.0.requests().len(), n_calls, "finished steps are not repeated");
    let app = TestApp::start(world, [], &[]).await;
    assert!(details(&app, &sung.isrc).await["lyrics"].is_string(), "the index has the lyrics now");
}

#[tokio::test]
async fn an_unavailable_source_is_paused_and_the_tracks_are_indexed_without_it() {
    let music = crowd(60);
    let sources = Sources::start(&music).await;
    // Two minutes is longer than a user should wait to find imported tracks.
    sources
        .lrclib
        .0
        .plan(iter::repeat_n(Some(Fault::TooMany { retry_after: Some("120".into()), empty_body: false }), 60));
    let app = TestApp::start(World::new().await, [], &sources.borrowed()).await;
    app.import("all.csv", table(&music).into()).await;
    app.app.start_ingestion().await.unwrap();
    let mut stream = Stream::new(app.request(Method::GET, "/api/index/stream", None).await);
    let indexed = async {
        loop {
            let status = stream.next().await.expect("the stream continues, because lyrics are missing");
            // Requests that were already sent when the source refused still end.
            if status["tracks"] == 60 && status["steps"]["lyrics"]["running"] == 0 {
                return status;
            }
        }
    };
    let status = tokio::time::timeout(MAX_WAIT, indexed).await.expect("every track is indexed");
    assert_eq!(status["steps"]["lyrics"]["waiting"], 60, "{status:#}");
    let n_calls = sources.lrclib.0.requests().len();
    assert!(n_calls <= 8, "only the requests that were already sent: {n_calls}");
}

#[tokio::test]
async fn a_track_removed_from_the_last_library_leaves_the_index_and_returns_without_new_requests() {
    let music = crowd(12);
    let (app, sources) = stage(&music, table(&music)).await;
    assert_eq!(ingested(&app).await["tracks"], 12);
    let isrc = &music.pieces.values().next().unwrap().isrc;
    let before = (details(&app, isrc).await, sources.lrclib.0.requests(), sources.reccobeats.0.requests());
    let path = format!("/api/library/tracks/{isrc}");
    assert_eq!(app.answer(Method::DELETE, &path, None).await.0, 204);
    assert_eq!(ingested(&app).await["tracks"], 11);
    assert_eq!(app.answer(Method::POST, &format!("{path}/restore"), None).await.0, 200);
    assert_eq!(ingested(&app).await["tracks"], 12);
    let after = (details(&app, isrc).await, sources.lrclib.0.requests(), sources.reccobeats.0.requests());
    assert_eq!(after, before);
}

#[tokio::test]
async fn a_track_added_by_hand_is_ingested_and_a_saved_album_keeps_its_tracks_indexed() {
    let music = fiction::world();
    let sources = Sources::start(&music).await;
    let tidal = serve(TidalDouble::new(music, Limits::GENEROUS).router()).await.unwrap();
    let (api, auth) = (format!("http://{}/v2", tidal.addr), format!("http://{}/v1", tidal.addr));
    let settings = [
        sources.borrowed(),
        vec![("TIDAL_CLIENT_ID", CLIENT_ID), ("TIDAL_CLIENT_SECRET", CLIENT_SECRET)],
        vec![("TIDAL_API_URL", api.as_str()), ("TIDAL_AUTH_URL", auth.as_str())],
    ];
    let app = TestApp::start(World::new().await, [], &settings.concat()).await;
    app.app.start_ingestion().await.unwrap();
    let isrc = fiction::HARBOUR_LIGHTS;
    assert_eq!(app.answer(Method::POST, "/api/library/tracks", Some(json!({"isrc": isrc}))).await.0, 201);
    assert_eq!(ingested(&app).await["tracks"], 1);
    assert_eq!(details(&app, isrc).await["isIndexed"], true);

    let album = json!({"albumId": fiction::ANTHOLOGY.to_string()});
    let (status, saved) = app.answer(Method::POST, "/api/library/albums", Some(album)).await;
    assert_eq!(status, 201, "{saved}");
    let n_tracks = ingested(&app).await["tracks"].as_u64().unwrap();
    assert!(n_tracks > 10, "{n_tracks}");
    let path = format!("/api/library/albums/{}", fiction::ANTHOLOGY);
    assert_eq!(app.answer(Method::DELETE, &path, None).await.0, 204);
    assert_eq!(ingested(&app).await["tracks"], 1, "a track that was added separately stays");
    assert_eq!(app.answer(Method::POST, &format!("{path}/restore"), None).await.0, 204);
    assert_eq!(ingested(&app).await["tracks"], n_tracks);
}

#[tokio::test]
async fn a_model_replaces_extracts_and_a_forced_ingest_requests_every_source_again() {
    let music = crowd(1);
    let isrc = &music.pieces.values().next().unwrap().isrc;
    let (world, sources) = (World::new().await, Sources::start(&music).await);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("one.csv").display().to_string();
    std::fs::write(&file, table(&music)).unwrap();
    for args in [vec!["import", &file], vec!["ingest"], vec!["ingest"]] {
        let (code, _, said) = command(&world, &sources.settings(), &args).await;
        assert_eq!(code, 0, "{said}");
    }
    let n_calls = sources.reccobeats.0.requests().len();
    assert_eq!(command(&world, &sources.settings(), &["ingest", "--force"]).await.0, 0);
    assert!(sources.reccobeats.0.requests().len() > n_calls);

    let answer = r#"{"shortDescription": "A lantern song", "interpretation": "About light.", "tags": ["lantern"]}"#;
    let settings = [sources.borrowed(), vec![("SEGUE_MODEL", "openai:scripted")]].concat();
    let app = TestApp::start(world, [says(answer)], &settings).await;
    // `segue ingest --describe-again` does this. A configured model alone describes no track again.
    assert_eq!(app.app.library().describe_again().await.unwrap(), 1);
    app.app.start_ingestion().await.unwrap();
    ingested(&app).await;
    let track = details(&app, isrc).await;
    assert_eq!((&track["shortDescription"], &track["tags"]), (&json!("A lantern song"), &json!(["lantern"])));
    assert!(track["provenance"]["tags"].as_str().unwrap().ends_with(", prompt v1"), "{track:#}");
}

#[tokio::test]
async fn an_entry_without_a_code_is_matched_in_the_background() {
    let music = crowd(20);
    let sources = Sources::start(&music).await;
    let app = TestApp::start(World::new().await, [], &sources.borrowed()).await;
    // While the catalogues do not answer, the import leaves the entry open.
    for state in [&sources.deezer.0, &sources.musicbrainz.0] {
        state.plan([Some(Fault::Status { code: 503 })]);
    }
    let piece = music.pieces.values().nth(7).unwrap();
    let line =
        format!("Title,Artist,Duration\n{},{},{}\n", piece.title, music.artists[&piece.artists[0]].name, piece.seconds);
    let (_, report) = app.import("one.csv", line.into()).await;
    assert_eq!(report["unmatched"].as_array().unwrap().len(), 1, "{report}");
    assert!(report["files"][0]["silent"]["Deezer"].as_str().unwrap().contains("503"), "{report}");
    app.app.start_ingestion().await.unwrap();
    let status = ingested(&app).await;
    assert_eq!(status["tracks"], 1, "{status:#}");
    assert_eq!(details(&app, &piece.isrc).await["inLibrary"], true);
}

const N_TRACKS: u32 = 200;
const N_KILLS: usize = 5;

/// The track that a request to LRCLIB is about: every title is unique.
fn title_in(call: &str) -> Option<String> {
    let url = Url::parse("http://lrclib").ok()?.join(call).ok()?;
    url.query_pairs().find(|(key, _)| key == "track_name").map(|(_, title)| title.into_owned())
}

/// The requests of `calls` about tracks whose step has a stored result.
fn repeated_requests(calls: &[String], kept: &BTreeSet<(String, String)>, music: &Music) -> Vec<String> {
    let is_kept = |step: &str, isrc: &str| kept.contains(&(step.to_owned(), isrc.to_owned()));
    let about = |call: &String| match title_in(call) {
        Some(title) => {
            let piece = music
                .pieces
                .values()
                .find(|piece| piece.title == title)
                .expect("every requested title belongs to a track");
            is_kept("lyrics", &piece.isrc)
        }
        None if call.contains("/v1/audio-features") => {
            music.pieces.values().any(|piece| call.contains(&piece.isrc) && is_kept("features", &piece.isrc))
        }
        None => false,
    };
    calls.iter().filter(|call| about(call)).cloned().collect()
}

#[tokio::test]
async fn a_server_killed_during_ingestion_loses_no_result_and_repeats_no_finished_step() {
    let music = crowd(N_TRACKS);
    let sources = Sources::start(&music).await;
    let desks: [ServiceState; 2] = [sources.lrclib.0.clone(), sources.reccobeats.0.clone()];
    let n_calls = || desks.iter().map(|state| state.requests().len()).sum::<usize>();
    // The sources are slow, so that the server can be killed between two steps.
    desks.iter().for_each(|state| state.plan(iter::repeat_n(Some(Fault::Slow { ms: 5 }), 2000)));
    let world = World::new().await;
    let mut random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let (mut lives, mut n_interrupted) = (vec![], 0);
    for n in 0..N_KILLS {
        let server = Process::start(&world, &sources.settings()).await;
        if n == 0 {
            assert_eq!(server.import("all.csv", table(&music)).await["added"], N_TRACKS);
        }
        let until = n_calls() + random.random_range(10..50);
        let mut stream = server.follow_ingestion().await;
        // Waits for the requests before the kill, or for the end of ingestion.
        while n_calls() < until {
            let statuses = tokio::time::timeout(Duration::from_millis(2), stream.next()).await;
            if let Ok(None) = statuses {
                break;
            }
        }
        server.kill().await;
        let kept = world.kept_steps().await;
        n_interrupted += usize::from(kept.len() < 4 * N_TRACKS as usize);
        lives.push((kept, desks.each_ref().map(|state| state.requests().len())));
    }
    let server = Process::start(&world, &sources.settings()).await;
    let status = last_status(server.follow_ingestion().await).await;
    assert_eq!((&status["tracks"], &status["failed"]), (&json!(N_TRACKS), &json!(0)), "{status:#}");
    assert_eq!(world.kept_steps().await.len(), 4 * N_TRACKS as usize, "every step of every track");
    assert_eq!(server.get("/api/library/tracks").await["total"], N_TRACKS);
    for (kept, n_before) in &lives {
        for (state, n_before) in desks.iter().zip(n_before) {
            let again = repeated_requests(&state.requests()[*n_before..], kept, &music);
            assert!(again.is_empty(), "requests about tracks with a stored result: {again:#?}");
        }
    }
    assert!(n_interrupted > 2, "too few kills interrupted the work: {n_interrupted}");
    eprintln!("{n_interrupted} of {N_KILLS} kills in the middle, {} calls for {N_TRACKS} tracks", n_calls());
    server.kill().await;
}

#[tokio::test]
async fn two_servers_on_one_database_run_each_step_once() {
    let music = crowd(N_TRACKS);
    let (world, sources) = (World::new().await, Sources::start(&music).await);
    let first = Process::start(&world, &sources.settings()).await;
    let second = Process::start(&world, &sources.settings()).await;
    first.import("all.csv", table(&music)).await;
    last_status(second.follow_ingestion().await).await;
    assert_eq!(last_status(first.follow_ingestion().await).await["tracks"], N_TRACKS);

    let asked = sources.reccobeats.0.requests();
    let asked: Vec<&String> = asked.iter().filter(|call| call.contains("/v1/audio-features")).collect();
    for piece in music.pieces.values() {
        assert_eq!(asked.iter().filter(|call| call.contains(&piece.isrc)).count(), 1, "{}", piece.isrc);
    }
    // The first request about a song contains its album. It is sent once.
    let firsts: Vec<_> =
        sources.lrclib.0.requests().iter().filter(|call| call.contains("album_name")).cloned().collect();
    let titles: BTreeSet<_> = firsts.iter().filter_map(|call| title_in(call)).collect();
    assert_eq!((firsts.len(), titles.len()), (N_TRACKS as usize, N_TRACKS as usize));
}

#[test]
fn the_two_test_catalogues_have_no_code_in_common() {
    let fiction = fiction::world();
    assert!(crowd(500).pieces.values().all(|piece| fiction.pieces.values().all(|other| other.isrc != piece.isrc)));
    assert!(crowd(300).pieces.values().map(|piece| lot(&piece.isrc)).collect::<BTreeSet<_>>().len() > 50);
}
