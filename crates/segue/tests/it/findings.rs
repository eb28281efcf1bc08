//! What a security review of the first version found and no other test would miss (docs/security.md, "Findings").

use std::collections::BTreeSet;

use doubles::qdrant::{QdrantDouble, QdrantFault};
use engine::{UserId, script::says};
use futures::{FutureExt, StreamExt, TryStreamExt};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Person, TestApp, World};

#[tokio::test]
async fn names_of_a_thousand_characters_in_any_script_are_imported() {
    let app = TestApp::scripted([]).await;
    // Three bytes each, and no pattern that a database could compress.
    let letter = |n: u32| char::from_u32(0x4e00 + n.wrapping_mul(2_654_435_761) % 20_000).unwrap();
    let name = |first: u32| (first..first + 1000).map(letter).collect::<String>();
    let table = format!("Title,Artist,Album,Genre\n{},{},{},{}\n", name(0), name(1000), name(2000), name(3000));
    let (status, report) = app.import("long.csv", table.into_bytes()).await;
    assert_eq!(status, 201, "{report}");
    app.app.catch_up().await.unwrap();
    let tracks = app.get("/api/library/tracks").await;
    assert_eq!(tracks["tracks"].as_array().unwrap().len(), 1, "{tracks}");
    for (path, list) in [("/api/library/artists", "artists"), ("/api/library/albums", "albums")] {
        assert_eq!(app.get(path).await[list].as_array().unwrap().len(), 1, "{path}");
    }
}

#[tokio::test]
async fn rewordings_are_charged_to_their_user_and_end_at_the_limit() {
    let settings = [
        ("SEGUE_MODEL", "anthropic:some"),
        ("ANTHROPIC_API_KEY", "k"),
        ("SEGUE_TOKENS_PER_DAY", "1000000"),
        ("SEGUE_BACKGROUND_TOKENS_PER_DAY", "1"),
    ];
    let app = TestApp::shared(vec![says("1. rainy night drive"); 9], &settings).await;
    app.app.library().load_sample(&app::Operator::of_this_machine(), &UserId::new("ann")).await.unwrap();
    app.app.catch_up().await.unwrap();
    let (ann, bob) = (app.person("ann"), app.person("bob"));
    let used = async |user: &Person<'_>| user.get("/api/usage").await["tokens"].as_u64().unwrap();
    for nonsense in ["qxzv%20wqpl", "zzkj%20qqvx", "wwxq%20zvvk"] {
        ann.get(&format!("/api/search?q={nonsense}")).await;
    }
    assert_eq!(app.model.asked().len(), 1, "the first rewording uses up the tokens");
    assert!(used(&ann).await > 0);
    assert_eq!(used(&bob).await, 0, "another user is not charged");
    bob.get("/api/search?q=jjqx%20vvzw").await;
    assert_eq!(app.model.asked().len(), 2, "another user has tokens left");
}

#[tokio::test]
async fn a_server_of_several_users_counts_nothing_for_a_visitor() {
    let app = TestApp::shared([], &[]).await;
    let about = app.anonymous().get("/api/about").await;
    assert_eq!(about["index"], Value::Null, "{about}");
    let own = TestApp::scripted([]).await.get("/api/about").await;
    assert_eq!(own["index"]["tracks"], 0, "a server with one user shows the size of its index: {own}");
}

#[tokio::test]
async fn an_export_is_streamed() {
    let app = TestApp::scripted(vec![says("Hello."); 5]).await;
    for n in 0..5 {
        app.say(&format!("hello {n}")).await;
    }
    app.post("/api/tasks", json!({"title": "water the plants"})).await;
    let pieces: Vec<String> = app.app.export(&UserId::new("local")).try_collect().await.unwrap();
    let longest = pieces.iter().map(String::len).max().unwrap();
    assert!(
        longest * 3 < pieces.concat().len(),
        "no piece contains most of it: {longest} of {}",
        pieces.concat().len()
    );
    let response = app.request(Method::GET, "/api/export", None).await;
    assert_eq!(response.content_length(), None, "its length is not known when it begins");
    let exported: Value = response.json().await.unwrap();
    assert_eq!(exported["tasks"][0]["title"], "water the plants");
}

#[tokio::test]
async fn an_export_of_several_pages_contains_each_track_once() {
    const N: usize = 250;
    let app = TestApp::scripted([]).await;
    let rows: String = (0..N).map(|n| format!("song {n},artist {}\n", n % 7)).collect();
    let (status, report) = app.import("a.csv", format!("title,artist\n{rows}").into_bytes()).await;
    assert_eq!(status, 201, "{report}");
    let exported: Value = app.get("/api/export").await;
    let titles = |list: &str| -> BTreeSet<String> {
        let rows = exported[list].as_array().unwrap();
        assert_eq!(rows.len(), N, "{list}");
        rows.iter().map(|row| row["title"].as_str().unwrap_or_default().to_owned()).collect()
    };
    for list in ["library", "openEntries"] {
        assert_eq!(titles(list), (0..N).map(|n| format!("song {n}")).collect(), "{list}");
    }
}

#[tokio::test]
async fn a_user_has_one_export_at_a_time() {
    let app = TestApp::scripted([]).await;
    let export = |user| Box::pin(app.app.export(&UserId::new(user)));
    let (mut first, mut second) = (export("ann"), export("ann"));
    assert!(first.next().now_or_never().is_some());
    assert!(second.next().now_or_never().is_none(), "it waits, whether the first is read or not");
    assert!(export("bob").next().now_or_never().is_some(), "another user does not wait");
    drop(first);
    assert!(second.next().now_or_never().is_some(), "a client that disconnects ends its export");
}

#[tokio::test]
async fn a_table_of_open_entries_contains_no_formula() {
    let app = TestApp::scripted([]).await;
    let (status, report) = app.import("a.csv", "Title,Artist\n＝1+1,@SUM\n＋1,－1\n".as_bytes().to_vec()).await;
    assert_eq!(status, 201, "{report}");
    let response = app.request(Method::GET, "/api/library/unmatched?format=csv", None).await;
    let table = response.text().await.unwrap();
    for cell in ["'＝1+1", "'@SUM", "'＋1", "'－1"] {
        assert!(table.contains(cell), "{cell}: {table}");
    }
}

#[tokio::test]
async fn a_fault_of_the_index_is_no_error_of_the_caller() {
    let qdrant = QdrantDouble::start().await.unwrap();
    let app = TestApp::start(World::new().await, [], &[("QDRANT_URL", &qdrant.url)]).await;
    let faults = [
        ("the key is rejected", QdrantFault::KeyRejected),
        ("it is not Qdrant", QdrantFault::OtherProtocol),
        ("it is overloaded", QdrantFault::Overloaded),
    ];
    for (name, fault) in faults {
        qdrant.set_fault(Some(fault));
        for (method, path) in [(Method::GET, "/api/search?q=rain"), (Method::POST, "/api/tools/semanticSearch")] {
            let body = (method == Method::POST).then(|| json!({"query": "rain"}));
            let (status, answer) = app.answer(method, path, body).await;
            assert!(matches!(status, 502 | 503), "{name}, {path}: {status} {answer}");
            assert_eq!(answer["error"]["message"], "Vector search service is temporarily unavailable", "{name}");
        }
    }
}

#[tokio::test]
async fn a_search_says_that_the_index_is_being_filled() {
    let qdrant = QdrantDouble::start().await.unwrap();
    let app = TestApp::shared([], &[("QDRANT_URL", &qdrant.url)]).await;
    let (ann, bob) = (app.person("ann"), app.person("bob"));
    let table = |title: &str| format!("Title,Artist\n{title},Ivy Marlow\n").into_bytes();
    assert_eq!(ann.upload("one.csv", table("Paper Lanterns")).await.0, 201);
    app.app.catch_up().await.unwrap();
    let search = "/api/search?q=paper%20lanterns";
    assert_eq!(ann.get(search).await.get("isIncomplete"), None, "the index has read everything");
    // It can be read, and nothing can be added to it.
    qdrant.set_fault(Some(QdrantFault::DiskFull));
    assert_eq!(ann.upload("two.csv", table("Paper Boats")).await.0, 201);
    let found = ann.get(search).await;
    assert_eq!((found["tracks"].as_array().unwrap().len(), &found["isIncomplete"]), (1, &json!(true)), "{found}");
    assert_eq!(bob.get(search).await.get("isIncomplete"), None, "tracks of another user are not counted");
    qdrant.set_fault(None);
    app.app.catch_up().await.unwrap();
    assert_eq!(ann.get(search).await.get("isIncomplete"), None);
}
