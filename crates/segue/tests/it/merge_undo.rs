//! Merges are undone in any order: what is left is as if the undone ones had not been made.

use std::{collections::BTreeMap, fs};

use engine::UserId;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Person, TestApp, mp3};

/// Each track has plays of its own, so that a play that is counted for another track is seen.
const HISTORY: &str = "uts,artist,track
1500000001,Ivy Marlow,Ash
1700000001,Ivy Marlow,Ash
1600000002,Ivy Marlow,Birch
1550000003,Ivy Marlow,Cedar
1560000003,Ivy Marlow,Cedar
1650000003,Ivy Marlow,Cedar
1400000004,Ivy Marlow,Dogwood
1510000004,Ivy Marlow,Dogwood
1520000004,Ivy Marlow,Dogwood
1530000004,Ivy Marlow,Dogwood
1710000004,Ivy Marlow,Dogwood
";
const TITLES: [&str; 4] = ["Ash", "Birch", "Cedar", "Dogwood"];

/// A user with four tracks that were played, are on a playlist, and have a file each.
struct Listener<'a> {
    app: &'a TestApp,
    user: Person<'a>,
    id: String,
    folder: tempfile::TempDir,
    tracks: BTreeMap<String, String>,
    playlist: String,
}

impl<'a> Listener<'a> {
    async fn new(app: &'a TestApp, id: String) -> Self {
        let (user, folder, owner) = (app.person(&id), tempfile::tempdir().unwrap(), UserId::new(id.clone()));
        let (status, report) = user.upload("history.csv", HISTORY.into()).await;
        assert_eq!((status, &report["added"]), (201, &json!(4)), "{report}");
        for (title, sound) in TITLES.into_iter().zip(1..) {
            let file = mp3(&[("TIT2", title), ("TPE1", "Ivy Marlow")], "", sound);
            fs::write(folder.path().join(format!("{title}.mp3")), file).unwrap();
        }
        let source = app
            .app
            .folders()
            .add(&app::Operator::of_this_machine(), &owner, &folder.path().display().to_string())
            .await
            .unwrap();
        app.app.folders().sync(&owner, source.id).await.unwrap();
        let tracks = user.get("/api/library/tracks?sort=title").await["tracks"].clone();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let tracks: BTreeMap<_, _> =
            tracks.as_array().unwrap().iter().map(|track| (text(&track["title"]), text(&track["trackId"]))).collect();
        assert_eq!(tracks.keys().collect::<Vec<_>>(), TITLES);
        let ids: Vec<&String> = tracks.values().collect();
        let list = json!({"title": "Trees", "trackIds": ids});
        let (status, made) = user.answer(Method::POST, "/api/playlists", Some(list)).await;
        assert_eq!(status, 201, "{made}");
        let playlist = format!("/api/playlists/{}", made["id"].as_str().unwrap());
        Self { app, user, id, folder, tracks, playlist }
    }

    async fn merge(&self, (from, into): (&str, &str)) -> String {
        let path = format!("/api/tracks/{}/merge", self.tracks[from]);
        let (status, done) = self.user.answer(Method::POST, &path, Some(json!({"into": self.tracks[into]}))).await;
        assert_eq!(status, 200, "{from} into {into}: {done}");
        done["undoId"].as_str().unwrap().to_owned()
    }

    async fn undo(&self, merge: &str) {
        let (status, answer) = self.user.answer(Method::POST, &format!("/api/tracks/merges/{merge}/undo"), None).await;
        assert_eq!(status, 204, "{answer}");
    }

    /// Everything that a merge changes: tracks with their plays, the playlist, the track of each file, the merges.
    async fn state(&self) -> Vec<String> {
        let list = async |path: &str, name: &str| self.user.get(path).await[name].as_array().unwrap().clone();
        let mut lines = vec![];
        for track in list("/api/library/tracks?sort=title", "tracks").await {
            let [title, plays, first, last] =
                ["title", "plays", "firstPlayedAt", "lastPlayedAt"].map(|key| &track[key]);
            lines.push(format!("{title}: {plays} plays from {first} to {last}"));
        }
        for item in list(&self.playlist, "tracks").await {
            lines.push(format!("on the playlist: {} {}", item["title"], item["inLibrary"]));
        }
        let sql = format!(
            "SELECT f.path || ' is ' || t.title FROM library_files f
            JOIN library_tracks t ON t.user_id = f.user_id AND t.recording_id = f.recording_id
            WHERE f.user_id = '{}' ORDER BY f.path",
            self.id
        );
        let folder = format!("{}/", fs::canonicalize(self.folder.path()).unwrap().display());
        let without_folder = |text: String| text.replace(&folder, "");
        lines.extend(self.app.world.texts(&sql).await.into_iter().map(without_folder));
        for merge in list("/api/tracks/merges", "merges").await {
            let mut files: Vec<String> =
                merge["files"].as_array().unwrap().iter().map(|path| without_folder(path.to_string())).collect();
            files.sort();
            lines.push(format!("{} is {}, with {files:?}", merge["title"], merge["intoTitle"]));
        }
        lines
    }
}

type Merges = &'static [(&'static str, &'static str)];

/// Merges in their order, and the positions of those that are undone, in that order.
const CASES: [(Merges, &[usize]); 9] = [
    (&[("Ash", "Birch"), ("Birch", "Cedar")], &[0]),
    (&[("Ash", "Birch"), ("Birch", "Cedar")], &[1]),
    (&[("Dogwood", "Cedar"), ("Ash", "Cedar"), ("Birch", "Cedar")], &[0]),
    (&[("Dogwood", "Birch"), ("Ash", "Birch"), ("Birch", "Cedar")], &[0]),
    (&[("Ash", "Birch"), ("Dogwood", "Birch"), ("Birch", "Cedar")], &[1]),
    (&[("Ash", "Birch"), ("Birch", "Cedar"), ("Dogwood", "Cedar")], &[0]),
    (&[("Dogwood", "Birch"), ("Birch", "Cedar"), ("Ash", "Cedar")], &[1, 0]),
    (&[("Dogwood", "Cedar"), ("Cedar", "Birch"), ("Birch", "Ash")], &[0, 1]),
    (&[("Dogwood", "Cedar"), ("Cedar", "Birch"), ("Birch", "Ash")], &[1]),
];

#[tokio::test]
async fn undone_merges_leave_what_would_be_without_them() {
    let app = TestApp::shared([], &[]).await;
    let untouched = Listener::new(&app, "untouched".into()).await.state().await;
    for (n, (merges, undone)) in CASES.into_iter().enumerate() {
        let (ann, bob) = (Listener::new(&app, format!("ann-{n}")).await, Listener::new(&app, format!("bob-{n}")).await);
        let mut made = vec![];
        for merge in merges {
            made.push(ann.merge(*merge).await);
        }
        for position in undone {
            ann.undo(&made[*position]).await;
        }
        let left: Vec<usize> = (0..merges.len()).filter(|position| !undone.contains(position)).collect();
        for position in &left {
            bob.merge(merges[*position]).await;
        }
        assert_eq!(ann.state().await, bob.state().await, "case {n}");
        // The rest, also in the order in which they were made.
        for position in left {
            ann.undo(&made[position]).await;
        }
        assert_eq!(ann.state().await, untouched, "case {n}");
    }
}
