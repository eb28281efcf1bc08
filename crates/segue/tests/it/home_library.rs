//! A small library of files, scanned without a network: a search finds every readable file by each of its texts. `make
//! bench-library` does the same with twenty thousand files.

use std::collections::{BTreeMap, BTreeSet};

use doubles::home_library::{FileKind, HomeFile, write};
use reqwest::Method;
use serde_json::json;

use crate::support::TestApp;

const N_FILES: usize = 200;

/// The tracks that a search returns, by title and artist.
async fn found(app: &TestApp, words: &str) -> BTreeSet<(String, String)> {
    let query = reqwest::Url::parse_with_params("http://x/", [("q", words), ("limit", "50")]).unwrap();
    let found = app.get(&format!("/api/search?{}", query.query().unwrap())).await;
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let tracks = found["tracks"].as_array().unwrap().iter();
    tracks.map(|track| (text(&track["title"]), text(&track["artist"]))).collect()
}

#[tokio::test]
async fn every_readable_file_of_a_home_library_is_found_by_title_artist_album_and_lyrics() {
    let (app, dir) = (TestApp::scripted([]).await, tempfile::tempdir().unwrap());
    let files = write(dir.path(), N_FILES).unwrap();
    let body = json!({"kind": "folder", "path": dir.path()});
    let (_, source) = app.answer(Method::POST, "/api/library/sources", Some(body)).await;
    let path = format!("/api/library/sources/{}/sync", source["id"].as_str().unwrap());
    let (status, report) = app.answer(Method::POST, &path, None).await;
    assert_eq!(status, 200, "{report}");
    app.app.catch_up().await.unwrap();
    let n_broken = files.iter().filter(|file| file.kind == FileKind::Broken).count();
    assert_eq!(report["files"], N_FILES, "{report}");
    assert_eq!(report["added"], N_FILES - n_broken, "{report}");
    assert_eq!(report["unreadable"].as_object().unwrap().len(), n_broken, "{report}");

    // The search texts, and the tracks that each must find.
    let mut wanted: BTreeMap<&str, Vec<&HomeFile>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.kind != FileKind::Broken) {
        let asked = [&file.title, &file.artist, &file.album].into_iter().chain(&file.line);
        for words in asked.filter(|words| !words.is_empty()) {
            wanted.entry(words).or_default().push(file);
        }
    }
    let mut missed = vec![];
    for (words, files) in wanted {
        let found = found(&app, words).await;
        let is_missed = |file: &&&HomeFile| !found.contains(&(file.title.clone(), file.artist.clone()));
        missed.extend(files.iter().filter(is_missed).map(|file| (words, file.path.clone())));
    }
    assert!(missed.is_empty(), "{} are not found, such as {:?}", missed.len(), &missed[..missed.len().min(5)]);

    let (_, again) = app.answer(Method::POST, &path, None).await;
    assert_eq!((&again["added"], &again["changed"], &again["gone"]), (&json!(0), &json!(0), &json!(0)), "{again}");
}
