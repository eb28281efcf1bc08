//! Folders that are kept in step: what is there can be found, what moves stays, what goes can come back.

use std::fs;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{TestApp, mp3};

struct Folder {
    app: TestApp,
    dir: tempfile::TempDir,
    id: String,
}

impl Folder {
    /// A folder with an album, a file without tags and one that is no audio.
    async fn new() -> Self {
        let (app, dir) = (TestApp::scripted([]).await, tempfile::tempdir().unwrap());
        let at = |path: &str| dir.path().join(path);
        fs::create_dir_all(at("The Local Band/Harbour")).unwrap();
        let tags = [("TIT2", "Low Tide"), ("TPE1", "The Local Band"), ("TALB", "Harbour"), ("TCON", "Folk")];
        fs::write(at("The Local Band/Harbour/01.mp3"), mp3(&tags, "Boats come home", 1)).unwrap();
        fs::write(at("The Local Band/Harbour/02 Breakwater.mp3"), mp3(&[], "", 2)).unwrap();
        fs::write(at("broken.mp3"), "no audio at all").unwrap();
        let body = json!({"kind": "folder", "path": dir.path()});
        let (status, made) = app.answer(Method::POST, "/api/library/sources", Some(body)).await;
        assert_eq!(status, 201, "{made}");
        let id = made["id"].as_str().unwrap().to_owned();
        Self { app, dir, id }
    }

    async fn sync(&self) -> Value {
        let path = format!("/api/library/sources/{}/sync", self.id);
        let (status, report) = self.app.answer(Method::POST, &path, None).await;
        assert_eq!(status, 200, "{report}");
        self.app.app.catch_up().await.unwrap();
        report
    }

    async fn found(&self, words: &str) -> Vec<String> {
        let found = self.app.get(&format!("/api/search?q={}", words.replace(' ', "%20"))).await;
        found["tracks"].as_array().unwrap().iter().map(|track| track["title"].as_str().unwrap().to_owned()).collect()
    }

    async fn total(&self) -> Value {
        self.app.get("/api/library/tracks").await["total"].clone()
    }
}

#[tokio::test]
async fn every_readable_file_is_found_by_its_names_and_its_words_without_a_network() {
    let folder = Folder::new().await;
    let report = folder.sync().await;
    assert_eq!((&report["files"], &report["added"]), (&json!(3), &json!(3)), "{report}");
    assert_eq!(report["unreadable"].as_object().unwrap().len(), 1, "{report}");
    assert_eq!(folder.total().await, 2);
    for words in ["low tide", "boats come home", "harbour low tide"] {
        assert_eq!(folder.found(words).await.first().map(String::as_str), Some("Low Tide"), "{words}");
    }
    assert_eq!(folder.found("breakwater").await[0], "Breakwater");
    let artists = folder.app.get("/api/library/artists").await;
    assert_eq!(
        (&artists["artists"][0]["name"], &artists["artists"][0]["trackCount"]),
        (&json!("The Local Band"), &json!(2)),
        "{artists}"
    );
    let albums = folder.app.get("/api/library/albums").await;
    let id = albums["albums"][0]["id"].as_str().unwrap();
    assert_eq!(folder.app.get(&format!("/api/library/albums/{id}")).await["tracks"].as_array().unwrap().len(), 2);
    assert_eq!(folder.app.get("/api/library/tracks?genre=folk").await["total"], 1);
    assert_eq!(folder.app.get("/api/library/genres").await["genres"][0]["name"], "Folk");
    let again = folder.sync().await;
    assert_eq!((&again["added"], &again["changed"], folder.total().await), (&json!(1), &json!(0), json!(2)), "{again}");
}

#[tokio::test]
async fn a_moved_file_is_the_same_track_and_a_deleted_one_comes_back_with_its_file() {
    let folder = Folder::new().await;
    folder.sync().await;
    let at = |path: &str| folder.dir.path().join(path);
    let before = folder.app.get("/api/library/tracks?q=low").await["tracks"][0]["trackId"].clone();
    fs::rename(at("The Local Band/Harbour/01.mp3"), at("moved.mp3")).unwrap();
    let moved = folder.sync().await;
    assert_eq!((&moved["moved"], &moved["gone"]), (&json!(1), &json!(0)), "{moved}");
    assert_eq!(folder.app.get("/api/library/tracks?q=low").await["tracks"][0]["trackId"], before);

    let kept = fs::read(at("moved.mp3")).unwrap();
    fs::remove_file(at("moved.mp3")).unwrap();
    assert_eq!(folder.sync().await["gone"], 1);
    assert_eq!(
        (folder.total().await, folder.found("low tide").await.contains(&"Low Tide".to_owned())),
        (json!(1), false)
    );
    fs::write(at("back.mp3"), kept).unwrap();
    folder.sync().await;
    assert_eq!(folder.app.get("/api/library/tracks?q=low").await["tracks"][0]["trackId"], before);
    assert_eq!(folder.found("low tide").await[0], "Low Tide");

    let tags = [("TIT2", "High Tide"), ("TPE1", "The Local Band"), ("TALB", "Harbour")];
    fs::write(at("back.mp3"), mp3(&tags, "", 1)).unwrap();
    folder.sync().await;
    assert_eq!(folder.found("high tide").await[0], "High Tide", "a corrected title is taken");

    for entry in fs::read_dir(folder.dir.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
    }
    let path = format!("/api/library/sources/{}/sync", folder.id);
    assert_eq!(folder.app.answer(Method::POST, &path, None).await.0, 400, "an empty disk empties no library");
    assert_ne!(folder.total().await, 0);
}
