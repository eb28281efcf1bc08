//! Limits in a search query, in words and in fields, are applied exactly. Tracks below the threshold are not called
//! matches.

use engine::UserId;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{TestApp, World};

async fn stage() -> TestApp {
    let app = TestApp::start(World::new().await, [], &[]).await;
    app.app.library().load_sample(&app::Operator::of_this_machine(), &UserId::new("local")).await.unwrap();
    app.app.catch_up().await.unwrap();
    app
}

async fn search(app: &TestApp, words: &str) -> Value {
    let query = reqwest::Url::parse_with_params("http://q", [("q", words), ("limit", "50")]).unwrap();
    app.get(&format!("/api/search?{}", query.query().unwrap())).await
}

/// The threshold of the contract, the same for every user.
const THRESHOLD: f64 = 0.25;

fn tracks(found: &Value) -> &Vec<Value> {
    found["tracks"].as_array().unwrap()
}

fn year(track: &Value) -> i32 {
    track["releaseDate"].as_str().unwrap()[..4].parse().unwrap()
}

#[tokio::test]
async fn years_in_words_and_in_fields_limit_the_results() {
    let app = stage().await;
    for words in ["from the 90s", "songs about love from the 90s"] {
        let found = search(&app, words).await;
        assert!(!tracks(&found).is_empty(), "{words}");
        assert!(tracks(&found).iter().all(|track| (1990..2000).contains(&year(track))), "{words}");
        assert_eq!(
            found["applied"],
            json!([{"kind": "years", "label": "1990–1999", "text": "from the 90s"}]),
            "the applied limits are listed"
        );
    }
    assert_eq!(search(&app, "from the 90s").await["totalFound"], 24, "all that match");
    let input = json!({"query": "from the 90s", "limit": 5, "years": {"from": 1997}});
    let (_, found) = app.answer(Method::POST, "/api/tools/semanticSearch", Some(input)).await;
    assert!((1..=5).contains(&tracks(&found).len()));
    assert!(tracks(&found).iter().all(|track| (1997..2000).contains(&year(track))));
    assert_eq!(found["totalFound"], 19);
    assert_eq!(found["applied"][1], json!({"kind": "years", "label": "from 1997", "text": ""}));
}

#[tokio::test]
async fn excluded_tags_never_appear_in_the_results() {
    let app = stage().await;
    let is_drums = |track: &Value| track["tags"].to_string().contains("drum");
    let with = search(&app, "songs for running").await;
    assert!(tracks(&with).iter().any(is_drums), "the search without the limit finds drums");
    let without = search(&app, "songs for running, no drums").await;
    assert!(!tracks(&without).is_empty());
    assert!(!tracks(&without).iter().any(is_drums));
    let input = json!({"query": "songs for running", "limit": 50, "without": ["drums"], "atMostPerArtist": 1});
    let (_, found) = app.answer(Method::POST, "/api/tools/semanticSearch", Some(input)).await;
    assert!(!tracks(&found).is_empty() && !tracks(&found).iter().any(is_drums));
    let mut artists: Vec<_> = tracks(&found).iter().map(|track| track["artist"].as_str().unwrap()).collect();
    artists.sort_unstable();
    assert!(artists.is_sorted_by(|a, b| a < b), "one track of each artist: {artists:?}");
}

#[tokio::test]
async fn tracks_like_another_but_calmer_are_calmer_and_exclude_it() {
    let app = stage().await;
    let found = search(&app, "like Hill Repeats but calmer").await;
    let close: Vec<&Value> = ["tracks", "nearest"].iter().flat_map(|list| found[*list].as_array()).flatten().collect();
    assert!(!close.is_empty(), "{}", found["summary"]);
    for track in close {
        assert_ne!(track["title"], "Hill Repeats");
        assert!(track["audioFeatures"]["energy"].as_f64().unwrap() < 0.97, "{}", track["title"]);
    }
    assert_eq!(found["applied"][0]["label"], "like Hill Repeats");
    let unknown = search(&app, "like Nobody Knows This but calmer").await;
    assert!(unknown["applied"].as_array().unwrap().iter().all(|applied| applied["kind"] != "seed"), "no such track");
}

#[tokio::test]
async fn a_search_can_be_limited_to_the_library() {
    let app = stage().await;
    for (words, owned) in [("sad songs in my library", true), ("sad songs not in my library", false)] {
        let found = search(&app, words).await;
        assert!(!tracks(&found).is_empty(), "{words}");
        assert!(tracks(&found).iter().all(|track| track["inLibrary"] == owned), "{words}");
        assert_eq!(found["applied"][0]["kind"], "library");
    }
}

#[tokio::test]
async fn an_off_topic_search_matches_nothing_and_lists_the_nearest_tracks() {
    let app = stage().await;
    for words in ["how do I file a tax return", "qxzv wqpl zzkj"] {
        let found = search(&app, words).await;
        assert_eq!(found["summary"], format!("No tracks found matching '{words}'"));
        assert_eq!((tracks(&found).len(), &found["totalFound"]), (0, &json!(0)));
        let nearest = found["nearest"].as_array().unwrap();
        assert!((1..=5).contains(&nearest.len()));
        assert!(nearest.iter().all(|track| track["score"].as_f64().unwrap() < THRESHOLD));
    }
    let found = search(&app, "rainy night drive").await;
    assert!(found.get("nearest").is_none(), "`nearest` is only set if nothing matches");
    assert!(tracks(&found).iter().all(|track| track["score"].as_f64().unwrap() >= THRESHOLD));
}

#[tokio::test]
async fn invalid_fields_are_rejected() {
    let app = stage().await;
    for (field, value, message) in [
        ("language", json!("klingonisch"), "language must be an ISO 639-1 code, such as 'fr'"),
        ("atMostPerArtist", json!(0), "atMostPerArtist must be between 1 and 50"),
        ("without", json!(vec!["x"; 21]), "without has at most 20 entries"),
    ] {
        let mut input = json!({"query": "rain"});
        input[field] = value;
        let (status, answer) = app.answer(Method::POST, "/api/tools/semanticSearch", Some(input)).await;
        assert_eq!((status, answer["error"]["message"].as_str()), (400, Some(message)));
    }
}
