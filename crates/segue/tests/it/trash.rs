//! The trash: deleted items are listed, restored, erased by hand, and erased after 30 days.

use engine::script::says;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::TestApp;

/// One deleted item of each kind, in this order: a conversation, a playlist, a task, a track.
async fn filled(app: &TestApp) -> [String; 4] {
    app.model.play([says("Hello.")]);
    let conversation = app.say("delete me").await[0]["conversationId"].as_str().unwrap().to_owned();
    let csv = "isrc,title,artist\nUSRC17607839,Low Tide,Ivy Marlow\n";
    assert_eq!(app.import("mine.csv", csv.into()).await.0, 201);
    let track = app.get("/api/library/tracks").await["tracks"][0]["trackId"].as_str().unwrap().to_owned();
    let (_, playlist) = app.answer(Method::POST, "/api/playlists", Some(json!({"title": "Rain"}))).await;
    let (_, task) =
        app.answer(Method::POST, "/api/tasks", Some(json!({"title": "sweep", "description": "twice"}))).await;
    let [playlist, task] = [&playlist, &task].map(|made| made["id"].as_str().unwrap().to_owned());
    for path in [
        format!("/api/conversations/{conversation}"),
        format!("/api/playlists/{playlist}"),
        format!("/api/tasks/{task}"),
        format!("/api/library/tracks/{track}"),
    ] {
        let (status, refused) = app.answer(Method::DELETE, &path, None).await;
        assert_eq!(status, 204, "{path}: {refused}");
    }
    [conversation, playlist, task, track]
}

async fn listed(app: &TestApp) -> Vec<Value> {
    app.get("/api/trash").await["items"].as_array().unwrap().clone()
}

const KINDS: [&str; 4] = ["conversation", "playlist", "task", "track"];
const PLACES: [&str; 4] = ["conversations", "playlists", "tasks", "library/tracks"];

#[tokio::test]
async fn deleted_items_of_every_kind_are_listed_and_restored() {
    let app = TestApp::scripted([]).await;
    let ids = filled(&app).await;
    let items = listed(&app).await;
    let seen: Vec<_> =
        items.iter().rev().map(|item| (item["kind"].as_str().unwrap(), item["id"].as_str().unwrap())).collect();
    assert_eq!(seen, KINDS.into_iter().zip(ids.iter().map(String::as_str)).collect::<Vec<_>>(), "newest first");
    let details: Vec<_> =
        items.iter().rev().map(|item| (item["title"].as_str().unwrap(), item["detail"].as_str().unwrap())).collect();
    assert_eq!(details, [("delete me", "Hello."), ("Rain", ""), ("sweep", "twice"), ("Low Tide", "Ivy Marlow")]);
    let time = |field: &str| items[0][field].as_str().unwrap().parse::<chrono::DateTime<chrono::Utc>>().unwrap();
    assert_eq!(time("expiresAt") - time("deletedAt"), chrono::TimeDelta::days(30));

    for (place, id) in PLACES.iter().zip(&ids) {
        let (status, restored) = app.answer(Method::POST, &format!("/api/{place}/{id}/restore"), None).await;
        assert!(status < 300, "{place}: {status} {restored}");
    }
    assert_eq!(listed(&app).await, Vec::<Value>::new());
    assert_eq!(app.get("/api/tasks").await["tasks"][0]["title"], "sweep");
    assert_eq!(app.get("/api/library/tracks").await["total"], 1);
}

#[tokio::test]
async fn an_erased_item_cannot_be_restored_and_only_deleted_items_can_be_erased() {
    let app = TestApp::scripted([]).await;
    let ids = filled(&app).await;
    let (_, kept) = app.answer(Method::POST, "/api/tasks", Some(json!({"title": "keep"}))).await;
    let here = format!("/api/trash/{}", kept["id"].as_str().unwrap());
    assert_eq!(app.answer(Method::DELETE, &here, None).await.0, 404, "only deleted items can be erased");
    for (place, id) in PLACES.iter().zip(&ids) {
        let path = format!("/api/trash/{id}");
        assert_eq!(app.answer(Method::DELETE, &path, None).await.0, 204, "{place}");
        assert_eq!(app.answer(Method::DELETE, &path, None).await.0, 404, "{place}: once");
        let (status, _) = app.answer(Method::POST, &format!("/api/{place}/{id}/restore"), None).await;
        assert_eq!(status, 404, "{place} cannot be restored");
    }
    assert_eq!(listed(&app).await, Vec::<Value>::new());
    let rows = app.world.dump().await;
    let holding = |words: &str| rows.iter().filter(|(table, row)| table != "tool_calls" && row.contains(words)).count();
    assert_eq!(holding("twice"), 0, "no table contains the text of the task");
    assert_eq!(app.get("/api/tasks").await["tasks"].as_array().unwrap().len(), 1);

    // The removal of the track stays stored. Only an explicit import adds the track again.
    let csv = "isrc,title,artist\nUSRC17607839,Low Tide,Ivy Marlow\n";
    assert_eq!(app.import("mine.csv", csv.into()).await.0, 201);
    assert_eq!(app.get("/api/library/tracks").await["tracks"][0]["title"], "Low Tide");
}

#[tokio::test]
async fn the_trash_is_paged_and_can_be_emptied_in_one_request() {
    let app = TestApp::scripted([]).await;
    filled(&app).await;
    let (mut ids, mut cursor) = (vec![], String::new());
    loop {
        let page = app.get(&format!("/api/trash?limit=1{cursor}")).await;
        ids.extend(page["items"].as_array().unwrap().iter().map(|item| item["id"].clone()));
        match page["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(ids, listed(&app).await.iter().map(|item| item["id"].clone()).collect::<Vec<_>>());
    for wrong in ["limit=0", "limit=201", "cursor=x"] {
        assert_eq!(app.answer(Method::GET, &format!("/api/trash?{wrong}"), None).await.0, 400, "{wrong}");
    }
    assert_eq!(app.answer(Method::DELETE, "/api/trash", None).await.0, 204);
    assert_eq!(listed(&app).await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_track_removed_with_the_sample_is_not_in_the_trash() {
    let app = TestApp::scripted([]).await;
    let owner = engine::UserId::new("local");
    app.app.library().load_sample(&app::Operator::of_this_machine(), &owner).await.unwrap();
    let track = app.get("/api/library/tracks?limit=1").await["tracks"][0]["trackId"].as_str().unwrap().to_owned();
    assert_eq!(app.answer(Method::DELETE, &format!("/api/library/tracks/{track}"), None).await.0, 204);
    app.app.library().remove_sample(&owner).await.unwrap();
    let ids: Vec<_> = listed(&app).await.iter().map(|item| item["id"].clone()).collect();
    assert_eq!(ids, [track], "only the track that was removed by hand");
}

#[tokio::test]
async fn several_tracks_are_removed_in_one_request_and_restored_in_one() {
    let app = TestApp::scripted([]).await;
    let csv = "isrc,title,artist\nUSRC17607839,Low Tide,Ivy Marlow\nUSRC17607840,High Tide,Ivy Marlow\nUSRC17607841,Stay,Ivy Marlow\n";
    assert_eq!(app.import("mine.csv", csv.into()).await.0, 201);
    let titles = async || {
        let tracks = app.get("/api/library/tracks?sort=title").await["tracks"].as_array().unwrap().clone();
        tracks.iter().map(|track| track["title"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let path = "/api/library/tracks/remove";
    let some = json!({"trackIds": ["USRC17607839", "USRC17607840", "USRC17699999"]});
    let (status, removed) = app.answer(Method::POST, path, Some(some.clone())).await;
    assert_eq!((status, removed["removed"].as_u64()), (200, Some(2)), "{removed}");
    assert_eq!(titles().await, ["Stay"]);
    assert_eq!(listed(&app).await.len(), 2);
    assert_eq!(app.answer(Method::POST, path, Some(some)).await.0, 404, "none of these tracks is in the library");
    for wrong in [json!({"trackIds": []}), json!({"trackIds": ["x"]}), json!({"trackIds": vec!["USRC17607839"; 1001]})]
    {
        assert_eq!(app.answer(Method::POST, path, Some(wrong)).await.0, 400);
    }
    let undo = format!("/api/undo/{}", removed["undoId"].as_str().unwrap());
    assert_eq!(app.answer(Method::POST, &undo, None).await.0, 200);
    assert_eq!(titles().await, ["High Tide", "Low Tide", "Stay"]);
    assert_eq!(app.answer(Method::POST, &undo, None).await.0, 409, "once");
}
