//! Synchronised folders: files become tracks, moved files keep their track, and deleted files remove it until they
//! return.

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
    /// A folder with an album, a file without tags and a file that is not audio.
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
async fn every_readable_file_is_found_by_names_and_lyrics_without_a_network() {
    let folder = Folder::new().await;
    let report = folder.sync().await;
    assert_eq!((&report["files"], &report["added"]), (&json!(3), &json!(2)), "{report}");
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
    assert_eq!((&again["added"], &again["changed"], folder.total().await), (&json!(0), &json!(0), json!(2)), "{again}");
    assert_eq!(
        again["unreadable"], report["unreadable"],
        "unreadable files are reported again without being read again"
    );
}

#[tokio::test]
async fn a_moved_file_keeps_its_track_and_a_restored_file_restores_its_track() {
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
    assert_eq!(folder.found("high tide").await[0], "High Tide", "a corrected title replaces the old one");

    for entry in fs::read_dir(folder.dir.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
    }
    let path = format!("/api/library/sources/{}/sync", folder.id);
    assert_eq!(folder.app.answer(Method::POST, &path, None).await.0, 400, "an empty folder does not empty the library");
    assert_ne!(folder.total().await, 0);
}

#[tokio::test]
async fn lyrics_and_cue_sheets_beside_the_audio_are_read_and_read_again_after_a_change() {
    let folder = Folder::new().await;
    let at = |path: &str| folder.dir.path().join(path);
    folder.sync().await;
    fs::write(at("The Local Band/Harbour/02 Breakwater.lrc"), "[00:01.00]Gulls over granite\n").unwrap();
    let tags = [("TIT2", "Whole Concert"), ("TPE1", "The Local Band"), ("TALB", "Live")];
    fs::write(at("concert.mp3"), mp3(&tags, "", 3)).unwrap();
    let sheet = "PERFORMER \"The Local Band\"\nTITLE \"Live\"\nFILE \"concert.mp3\" MP3\n  TRACK 01 AUDIO\n    TITLE \"Opening\"\n    \
        INDEX 01 00:00:00\n  TRACK 02 AUDIO\n    TITLE \"Encore\"\n    INDEX 01 00:00:40\n";
    fs::write(at("concert.cue"), sheet).unwrap();
    let report = folder.sync().await;
    assert_eq!((&report["added"], &report["changed"]), (&json!(1), &json!(1)), "{report}");
    assert_eq!(folder.found("gulls over granite").await[0], "Breakwater");
    assert_eq!(
        (folder.found("opening").await[0].as_str(), folder.found("encore").await[0].as_str()),
        ("Opening", "Encore")
    );
    assert_eq!(folder.total().await, 4, "a file with a CUE sheet is not a track itself");

    fs::write(at("concert.cue"), sheet.replace("Encore", "Last Waltz")).unwrap();
    fs::remove_file(at("The Local Band/Harbour/02 Breakwater.lrc")).unwrap();
    let report = folder.sync().await;
    assert_eq!((&report["added"], &report["changed"]), (&json!(0), &json!(2)), "{report}");
    assert_eq!(folder.found("last waltz").await[0], "Last Waltz");
    assert!(!folder.found("encore").await.contains(&"Encore".to_owned()), "the old title finds nothing");
    assert_eq!(folder.found("gulls over granite").await[0], "Breakwater", "lyrics of an earlier file are kept");
    assert_eq!(folder.total().await, 4);
}

#[tokio::test]
async fn a_playlist_file_is_a_playlist_that_follows_its_file() {
    let folder = Folder::new().await;
    let at = |path: &str| folder.dir.path().join(path);
    let list = "#EXTM3U\nThe Local Band/Harbour/02 Breakwater.mp3\nThe Local Band\\Harbour\\01.mp3\nlater.mp3\n";
    fs::write(at("Evening by the sea.m3u8"), list).unwrap();
    assert_eq!(folder.sync().await["playlists"], 1);
    let titles = async || {
        let lists = folder.app.get("/api/playlists").await["playlists"].clone();
        assert_eq!((lists.as_array().unwrap().len(), &lists[0]["title"]), (1, &json!("Evening by the sea")), "{lists}");
        let list = folder.app.get(&format!("/api/playlists/{}", lists[0]["id"].as_str().unwrap())).await;
        let tracks = list["tracks"].as_array().unwrap();
        tracks.iter().map(|track| track["title"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(titles().await, ["Breakwater", "Low Tide"]);
    assert_eq!(folder.sync().await["playlists"], 0, "an unchanged file is not read again");
    fs::write(at("later.mp3"), mp3(&[("TIT2", "Later"), ("TPE1", "The Local Band")], "", 9)).unwrap();
    assert_eq!(folder.sync().await["playlists"], 1, "an audio file of the list was added");
    assert_eq!(titles().await, ["Breakwater", "Low Tide", "Later"]);
    fs::remove_file(at("Evening by the sea.m3u8")).unwrap();
    folder.sync().await;
    assert_eq!(titles().await.len(), 3, "the playlist stays");
}

#[tokio::test]
async fn a_copy_is_the_same_track_and_a_track_removed_by_hand_stays_removed() {
    let folder = Folder::new().await;
    let at = |path: &str| folder.dir.path().join(path);
    folder.sync().await;
    let tags = [("TIT2", "Low Tide"), ("TPE1", "The Local Band")];
    fs::create_dir(at("A copy")).unwrap();
    fs::write(at("A copy/1.mp3"), mp3(&tags, "", 1)).unwrap();
    folder.sync().await;
    assert_eq!(folder.total().await, 2, "two files, one track");
    assert_eq!(folder.found("boats come home").await[0], "Low Tide", "the first file has lyrics, the copy has none");
    fs::remove_file(at("A copy/1.mp3")).unwrap();
    assert_eq!(folder.sync().await["gone"], 1);
    assert_eq!(folder.total().await, 2, "the track still has a file");

    let id = folder.app.get("/api/library/tracks?q=low").await["tracks"][0]["trackId"].as_str().unwrap().to_owned();
    let path = format!("/api/library/tracks/{id}");
    assert_eq!(folder.app.answer(Method::DELETE, &path, None).await.0, 204);
    fs::write(at("The Local Band/Harbour/01.mp3"), mp3(&tags, "other words", 1)).unwrap();
    assert_eq!(folder.sync().await["changed"], 1);
    assert_eq!(folder.total().await, 1, "a track removed by hand does not return when its file changes");
    assert_eq!(folder.app.answer(Method::POST, &format!("{path}/restore"), None).await.0, 200);
    assert_eq!(folder.total().await, 2);
}

#[tokio::test]
async fn a_folder_inside_another_one_is_rejected() {
    let folder = Folder::new().await;
    for path in [folder.dir.path().join("The Local Band"), folder.dir.path().parent().unwrap().to_owned()] {
        let body = json!({"kind": "folder", "path": path});
        let (status, refused) = folder.app.answer(Method::POST, "/api/library/sources", Some(body)).await;
        assert_eq!(status, 400, "{refused}");
        assert!(refused.to_string().contains("overlaps"), "{refused}");
    }
}

#[tokio::test]
async fn a_running_server_imports_a_new_file_without_a_request() {
    let folder = Folder::new().await;
    folder.sync().await;
    let synced_at = async || folder.app.get("/api/library/sources").await["sources"][0]["syncedAt"].clone();
    let before = synced_at().await;
    folder.app.app.start_folders().await.unwrap();
    // The folder is watched before it is scanned.
    while synced_at().await == before {
        tokio::task::yield_now().await;
    }
    let mut news = folder.app.app.library().ingest_news();
    let tags = [("TIT2", "Just Arrived"), ("TPE1", "The Local Band")];
    fs::write(folder.dir.path().join("new.mp3"), mp3(&tags, "", 4)).unwrap();
    let seen = async {
        while folder.total().await != 3 {
            news.changed().await.unwrap();
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(50), seen)
        .await
        .expect("the watcher is faster than the scan once a minute");
}
