//! A user merges two tracks into one recording or splits one into two. This affects only that user and can be undone.

use std::fs;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Person, TestApp, mp3};

const BOTH: &str =
    "Title,Artist,ISRC\nPaper Lanterns,Ivy Marlow,QZXYZ1900004\nPaper Lanterns (Remaster),Ivy Marlow,QZXYZ1900005\n";

async fn titles(user: &Person<'_>) -> Vec<String> {
    let tracks = user.get("/api/library/tracks?sort=title").await["tracks"].clone();
    tracks.as_array().unwrap().iter().map(|track| track["title"].as_str().unwrap().to_owned()).collect()
}

async fn post(user: &Person<'_>, path: &str, body: Value) -> (u16, Value) {
    user.answer(Method::POST, path, Some(body)).await
}

#[tokio::test]
async fn a_merge_changes_one_users_library_and_undoing_restores_it_completely() {
    let app = TestApp::shared([], &[]).await;
    let (ann, bob) = (app.person("ann"), app.person("bob"));
    for user in [&ann, &bob] {
        let (status, report) = user.upload("both.csv", BOTH.into()).await;
        assert_eq!((status, &report["added"]), (201, &json!(2)), "{report}");
    }
    app.app.catch_up().await.unwrap();
    let before = titles(&ann).await;
    assert_eq!(before, ["Paper Lanterns", "Paper Lanterns (Remaster)"]);
    let (status, done) = post(&ann, "/api/tracks/QZXYZ1900005/merge", json!({"into": "QZXYZ1900004"})).await;
    assert_eq!((status, &done["track"]["title"]), (200, &json!("Paper Lanterns")), "{done}");
    app.app.catch_up().await.unwrap();
    assert_eq!((titles(&ann).await, titles(&bob).await), (vec!["Paper Lanterns".to_owned()], before.clone()));
    let found = ann.get("/api/search?q=paper%20lanterns").await;
    assert_eq!(found["tracks"].as_array().unwrap().len(), 1, "{found}");
    let meant = ann.get("/api/library/tracks/QZXYZ1900005").await;
    assert_eq!((&meant["isrc"], &meant["inLibrary"]), (&json!("QZXYZ1900004"), &json!(true)), "the old id still works");
    let (_, again) = ann.upload("both.csv", BOTH.into()).await;
    assert_eq!(again["added"], 0, "a second import does not undo the merge: {again}");
    assert_eq!(titles(&ann).await.len(), 1);

    let undo = format!("/api/tracks/merges/{}/undo", done["undoId"].as_str().unwrap());
    assert_eq!(post(&bob, &undo, json!({})).await.0, 404, "another user's merge answers 404");
    assert_eq!(post(&ann, &undo, json!({})).await.0, 204);
    assert_eq!(post(&ann, &undo, json!({})).await.0, 404, "once");
    app.app.catch_up().await.unwrap();
    assert_eq!(titles(&ann).await, before);
    let found = ann.get("/api/search?q=paper%20lanterns").await;
    assert_eq!(found["tracks"].as_array().unwrap().len(), 2, "{found}");

    let (status, foreign) =
        post(&app.person("eve"), "/api/tracks/QZXYZ1900005/merge", json!({"into": "QZXYZ1900004"})).await;
    assert_eq!(status, 404, "{foreign}");
    assert_eq!(post(&ann, "/api/tracks/QZXYZ1900005/merge", json!({"into": "QZXYZ1900005"})).await.0, 400);
}

#[tokio::test]
async fn the_merges_of_one_track_include_those_of_its_parts() {
    let app = TestApp::shared([], &[]).await;
    let (ann, bob) = (app.person("ann"), app.person("bob"));
    let four = format!("{BOTH}Paper Lanterns (Live),Ivy Marlow,QZXYZ1900006\nSodium,Ivy Marlow,QZXYZ1900007\n");
    ann.upload("four.csv", four.into()).await;
    for (from, into) in [("QZXYZ1900006", "QZXYZ1900005"), ("QZXYZ1900005", "QZXYZ1900004")] {
        let (status, done) = post(&ann, &format!("/api/tracks/{from}/merge"), json!({"into": into})).await;
        assert_eq!(status, 200, "{done}");
    }
    let titles = |merges: Value| -> Vec<String> {
        let merges = merges["merges"].as_array().unwrap();
        merges.iter().map(|merge| merge["title"].as_str().unwrap().to_owned()).collect()
    };
    let of = |isrc: &str| format!("/api/tracks/merges?into={isrc}");
    let both = ["Paper Lanterns (Remaster)", "Paper Lanterns (Live)"];
    assert_eq!(titles(ann.get(&of("QZXYZ1900004")).await), both);
    assert_eq!(titles(ann.get("/api/tracks/merges").await), both);
    assert_eq!(titles(ann.get(&of("QZXYZ1900007")).await), [""; 0], "another track");
    assert_eq!(bob.answer(Method::GET, &of("QZXYZ1900004"), None).await.0, 404, "another user's track");
    let wrong = ann.answer(Method::GET, &of("x"), None).await;
    assert_eq!(wrong.0, 400, "{wrong:?}");
}

#[tokio::test]
async fn a_file_that_is_split_off_stays_a_separate_track() {
    let dir = tempfile::tempdir().unwrap();
    let app = TestApp::shared([], &[("SEGUE_OPERATORS", "ann")]).await;
    let ann = app.person("ann");
    let tags = |album: &'static str| [("TIT2", "Low Tide"), ("TPE1", "The Local Band"), ("TALB", album)];
    fs::write(dir.path().join("a.mp3"), mp3(&tags("Studio"), "", 1)).unwrap();
    fs::write(dir.path().join("b.mp3"), mp3(&tags("At home"), "", 2)).unwrap();
    let (_, source) = post(&ann, "/api/library/sources", json!({"kind": "folder", "path": dir.path()})).await;
    let sync = format!("/api/library/sources/{}/sync", source["id"].as_str().unwrap());
    ann.answer(Method::POST, &sync, None).await;
    let tracks = ann.get("/api/library/tracks").await;
    assert_eq!(tracks["total"], 1, "files with the same name and length are the same track: {tracks}");
    let path = format!("/api/tracks/{}/split", tracks["tracks"][0]["trackId"].as_str().unwrap());
    assert_eq!(post(&ann, &path, json!({"path": "/etc/passwd"})).await.0, 400);
    let root = fs::canonicalize(dir.path()).unwrap();
    let (status, done) = post(&ann, &path, json!({"path": root.join("b.mp3")})).await;
    assert_eq!((status, &done["track"]["album"]), (200, &json!("At home")), "{done}");
    assert_eq!(ann.get("/api/library/tracks").await["total"], 2);

    fs::write(dir.path().join("b.mp3"), mp3(&tags("At home, again"), "", 2)).unwrap();
    ann.answer(Method::POST, &sync, None).await;
    let tracks = ann.get("/api/library/tracks?album=at%20home,%20again").await;
    assert_eq!(tracks["tracks"][0]["trackId"], done["track"]["trackId"], "a later scan keeps the split: {tracks}");
    let undo = format!("/api/tracks/merges/{}/undo", done["undoId"].as_str().unwrap());
    assert_eq!(post(&ann, &undo, json!({})).await.0, 204);
    assert_eq!(ann.get("/api/library/tracks").await["total"], 1);
    let (status, one) = post(&ann, "/api/tracks/QZXYZ1900004/split", json!({})).await;
    assert_eq!(status, 404, "{one}");
}

#[tokio::test]
async fn a_split_is_undone_after_the_later_merges_of_its_tracks() {
    let dir = tempfile::tempdir().unwrap();
    let app = TestApp::shared([], &[("SEGUE_OPERATORS", "ann")]).await;
    let ann = app.person("ann");
    for (file, title, sound) in [("a", "Low Tide", 1), ("b", "Low Tide", 2), ("c", "High Tide", 3)] {
        let tags = [("TIT2", title), ("TPE1", "The Local Band"), ("TALB", file)];
        fs::write(dir.path().join(format!("{file}.mp3")), mp3(&tags, "", sound)).unwrap();
    }
    let (_, source) = post(&ann, "/api/library/sources", json!({"kind": "folder", "path": dir.path()})).await;
    ann.answer(Method::POST, &format!("/api/library/sources/{}/sync", source["id"].as_str().unwrap()), None).await;
    let tracks = ann.get("/api/library/tracks?sort=title").await["tracks"].clone();
    let [other, whole] = [&tracks[0], &tracks[1]].map(|track| track["trackId"].as_str().unwrap().to_owned());
    let undo = async |done: &Value| {
        post(&ann, &format!("/api/tracks/merges/{}/undo", done["undoId"].as_str().unwrap()), json!({})).await
    };
    let library = async || {
        let tracks = ann.get("/api/library/tracks?sort=title").await["tracks"].clone();
        let names =
            tracks.as_array().unwrap().iter().map(|track| (track["trackId"].clone(), track["location"].clone()));
        names.collect::<Vec<_>>()
    };
    let whole_library = library().await;

    // The track that it came from, the new track, and the other one merged into the new track.
    for from_new in [None, Some(true), Some(false)] {
        let (status, split) = post(&ann, &format!("/api/tracks/{whole}/split"), json!({})).await;
        assert_eq!(status, 200, "{split}");
        let new = split["track"]["trackId"].as_str().unwrap();
        let (from, into) = match from_new {
            None => (whole.as_str(), other.as_str()),
            Some(true) => (new, other.as_str()),
            Some(false) => (other.as_str(), new),
        };
        let (status, merged) = post(&ann, &format!("/api/tracks/{from}/merge"), json!({"into": into})).await;
        assert_eq!(status, 200, "{merged}");
        let before = library().await;
        let (status, answer) = undo(&split).await;
        assert_eq!((status, &answer["error"]["code"]), (409, &json!("CONFLICT")), "{answer}");
        assert_eq!(library().await, before, "nothing has changed");
        assert_eq!(undo(&merged).await.0, 204);
        assert_eq!(undo(&split).await.0, 204);
        assert_eq!(library().await, whole_library, "everything is as it was");
    }
}

#[tokio::test]
async fn a_second_isrc_in_a_file_refers_to_the_same_recording() {
    let app = TestApp::scripted([]).await;
    let tags = [("TIT2", "Low Tide"), ("TPE1", "The Local Band"), ("TSRC", "QZXYZ1900004;QZXYZ1900005")];
    let (status, report) = app.import("low.mp3", mp3(&tags, "", 1)).await;
    assert_eq!((status, &report["added"]), (201, &json!(1)), "{report}");
    app.app.catch_up().await.unwrap();
    let first = app.get("/api/library/tracks/QZXYZ1900004").await;
    assert_eq!(app.get("/api/library/tracks/QZXYZ1900005").await, first);
    let (status, _) = app.answer(Method::DELETE, "/api/library/tracks/QZXYZ1900005", None).await;
    assert_eq!((status, &app.get("/api/library/tracks").await["total"]), (204, &json!(0)));
}

#[tokio::test]
async fn files_with_the_same_musicbrainz_id_are_one_recording() {
    let app = TestApp::scripted([]).await;
    let jspf = |title: &str| {
        json!({"playlist": {"title": "P", "track": [{"title": title, "creator": "The Local Band",
            "identifier": ["https://musicbrainz.org/recording/0c2f1111-aaaa-4bbb-8ccc-123456789abc"]}]}})
    };
    for title in ["Low Tide", "Low Tide (2011 Remaster)"] {
        let (status, report) = app.answer(Method::POST, "/api/library/import", Some(jspf(title))).await;
        assert_eq!(status, 201, "{report}");
    }
    assert_eq!(app.get("/api/library/tracks").await["total"], 1);
}
