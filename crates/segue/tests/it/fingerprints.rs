//! The same recording in several files is one track of their owner, whatever the files are called and how they are encoded.

use std::{
    fs,
    io::{self, Write},
    sync::Arc,
};

use app::{App, config::Config};
use doubles::sound::{Piece, flac, wav, worn};
use engine::script::{ScriptedModel, says};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Person, TestApp, World, mp3};

const RATE: u32 = 22_050;
const PIECE: Piece = Piece::new(1, 20);

fn as_wav(piece: Piece) -> Vec<u8> {
    wav(&piece.samples(RATE), RATE, 2)
}

fn as_flac(piece: Piece, tags: &[(&str, &str)]) -> Vec<u8> {
    flac(&worn(&piece.samples(RATE)), RATE, tags)
}

fn named<'a>(title: &'a str, artist: &'a str) -> [(&'static str, &'a str); 3] {
    [("TITLE", title), ("ARTIST", artist), ("ALBUM", "Harbour")]
}

/// A person's folder, scanned and compared.
struct Folder<'a> {
    app: &'a TestApp,
    user: Person<'a>,
    dir: tempfile::TempDir,
    id: String,
}

impl<'a> Folder<'a> {
    async fn of(app: &'a TestApp, name: &str) -> Self {
        let (user, dir) = (app.person(name), tempfile::tempdir().unwrap());
        let body = json!({"kind": "folder", "path": dir.path()});
        let (status, made) = user.answer(Method::POST, "/api/library/sources", Some(body)).await;
        assert_eq!(status, 201, "{made}");
        let id = made["id"].as_str().unwrap().to_owned();
        Self { app, user, dir, id }
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        fs::write(self.dir.path().join(name), bytes).unwrap();
    }

    /// Scans the folder, compares the sounds, and returns how many files were compared.
    async fn compare(&self) -> usize {
        let path = format!("/api/library/sources/{}/sync", self.id);
        let (status, report) = self.user.answer(Method::POST, &path, None).await;
        assert_eq!(status, 200, "{report}");
        let n_files = self.app.app.folders().compare_sounds().await.unwrap();
        self.app.app.catch_up().await.unwrap();
        n_files
    }

    async fn titles(&self) -> Vec<String> {
        let tracks = self.user.get("/api/library/tracks?sort=title").await["tracks"].clone();
        tracks.as_array().unwrap().iter().map(|track| track["title"].as_str().unwrap().to_owned()).collect()
    }

    async fn merges(&self) -> Vec<Value> {
        self.user.get("/api/tracks/merges").await["merges"].as_array().unwrap().clone()
    }

    async fn sound(&self) -> Value {
        self.user.get("/api/library/sources").await["sources"][0]["sound"].clone()
    }
}

async fn app() -> TestApp {
    TestApp::shared([], &[("SEGUE_OPERATORS", "ann,bob")]).await
}

#[tokio::test]
async fn two_encodings_of_a_piece_are_one_track_until_their_owner_parts_them() {
    let app = app().await;
    let ann = Folder::of(&app, "ann").await;
    ann.put("track 01.wav", &as_wav(PIECE));
    assert_eq!(ann.compare().await, 1);
    assert_eq!(ann.titles().await.len(), 1);
    ann.put("b.flac", &as_flac(PIECE, &named("Low Tide", "Ivy Marlow")));
    assert_eq!(ann.compare().await, 1, "the first file is not decoded again");
    assert_eq!(ann.titles().await, ["Low Tide"], "the track with names stays");
    let found = ann.user.get("/api/search?q=low%20tide").await;
    assert_eq!(found["tracks"].as_array().unwrap().len(), 1, "{found}");
    let merges = ann.merges().await;
    assert_eq!(merges.len(), 1, "{merges:?}");
    assert_eq!((&merges[0]["cause"], &merges[0]["intoTitle"]), (&json!("sound"), &json!("Low Tide")));
    let files = merges[0]["files"].as_array().unwrap();
    assert!(files.len() == 1 && files[0].as_str().unwrap().ends_with("track 01.wav"), "{merges:?}");
    assert_eq!(ann.compare().await, 0);

    let undo = format!("/api/tracks/merges/{}/undo", merges[0]["undoId"].as_str().unwrap());
    assert_eq!(ann.user.answer(Method::POST, &undo, None).await.0, 204);
    assert_eq!((ann.titles().await.len(), ann.merges().await.len()), (2, 0));
    ann.put("b.flac", &as_flac(PIECE, &named("High Tide", "Ivy Marlow")));
    assert_eq!(ann.compare().await, 1, "its tags have changed, its sound has not");
    ann.put("c.wav", &wav(&worn(&PIECE.samples(RATE)), RATE, 1));
    ann.compare().await;
    assert_eq!(ann.titles().await.len(), 2, "a third file joins one of the two, which stay two");
}

#[tokio::test]
async fn other_music_and_other_versions_stay_apart() {
    let app = app().await;
    let ann = Folder::of(&app, "ann").await;
    let names = named("Low Tide", "Ivy Marlow");
    ann.put("original.flac", &as_flac(PIECE, &names));
    ann.put("other melody.wav", &as_wav(Piece::new(2, 20)));
    ann.put("higher.wav", &as_wav(Piece { semitones: 1, ..PIECE }));
    ann.put("longer.wav", &as_wav(Piece::new(1, 25)));
    ann.put("remaster.flac", &flac(&PIECE.samples(RATE), RATE, &named("Low Tide (2011 Remaster)", "Ivy Marlow")));
    ann.put("quiet.wav", &wav(&vec![0.0; 20 * RATE as usize], RATE, 1));
    ann.put("hush.wav", &wav(&vec![0.0; 20 * RATE as usize], RATE, 2));
    ann.put("jingle.wav", &as_wav(Piece::new(3, 5)));
    ann.put("ident.flac", &as_flac(Piece::new(3, 5), &[]));
    assert_eq!(ann.compare().await, 9);
    assert_eq!((ann.titles().await.len(), ann.merges().await.len()), (9, 0), "{:?}", ann.titles().await);
    assert_eq!(ann.sound().await, json!({"waiting": 0, "undecodable": {}}), "an unusual file is no problem");
}

#[tokio::test]
async fn a_file_that_cannot_be_decoded_is_reported_and_stops_nothing() {
    let app = app().await;
    let ann = Folder::of(&app, "ann").await;
    let whole = as_flac(PIECE, &named("Low Tide", "Ivy Marlow"));
    ann.put("a cut.flac", &whole[..whole.len() / 2]);
    ann.put("a noise.mp3", &mp3(&[("TIT2", "Noise"), ("TPE1", "Ivy Marlow")], "", 1));
    ann.put("b.flac", &whole);
    ann.put("c.wav", &as_wav(PIECE));
    let path = format!("/api/library/sources/{}/sync", ann.id);
    ann.user.answer(Method::POST, &path, None).await;
    assert_eq!(ann.sound().await["waiting"], 4);
    let before = ann.titles().await;
    assert_eq!(ann.compare().await, 4);
    let sound = ann.sound().await;
    let told = sound["undecodable"].as_object().unwrap();
    let cut = told.iter().find(|(path, _)| path.ends_with("a cut.flac"));
    assert!(cut.is_some_and(|(_, why)| why.as_str().unwrap().contains("of 20 s")), "{sound}");
    assert!(!told.keys().any(|path| path.ends_with("b.flac") || path.ends_with("c.wav")), "{sound}");
    assert_eq!(ann.merges().await.len(), 1, "the files after it are compared");
    assert_eq!(ann.titles().await.len(), before.len() - 1, "no track is lost: {before:?}");
    assert_eq!(ann.compare().await, 0, "it is not decoded again until it changes");
}

#[tokio::test]
async fn the_sound_of_a_users_files_says_nothing_to_another_user() {
    let app = app().await;
    let (ann, bob) = (Folder::of(&app, "ann").await, Folder::of(&app, "bob").await);
    ann.put("a.flac", &as_flac(PIECE, &named("Low Tide", "Ivy Marlow")));
    bob.put("b.wav", &as_wav(PIECE));
    ann.compare().await;
    bob.compare().await;
    assert_eq!((ann.titles().await, bob.titles().await), (vec!["Low Tide".to_owned()], vec!["b".to_owned()]));
    bob.put("c.flac", &as_flac(PIECE, &named("Low Tide", "I. Marlow")));
    bob.compare().await;
    assert_eq!((bob.merges().await.len(), ann.merges().await.len()), (1, 0));
    assert_eq!(bob.titles().await, ["Low Tide"]);
    let undo = format!("/api/tracks/merges/{}/undo", bob.merges().await[0]["undoId"].as_str().unwrap());
    assert_eq!(ann.user.answer(Method::POST, &undo, None).await.0, 404);
    let found = ann.user.get("/api/search?q=low%20tide").await["tracks"][0]["artist"].clone();
    assert_eq!(found, "Ivy Marlow", "a file of Bob changes nothing for Ann");
}

#[tokio::test]
async fn sounds_are_not_compared_when_that_is_switched_off() {
    let app = TestApp::shared([], &[("SEGUE_OPERATORS", "ann"), ("SEGUE_FINGERPRINTS", "off")]).await;
    let ann = Folder::of(&app, "ann").await;
    ann.put("a.flac", &as_flac(PIECE, &named("Low Tide", "Ivy Marlow")));
    ann.put("b.wav", &as_wav(PIECE));
    assert_eq!(ann.compare().await, 0);
    assert_eq!((ann.titles().await.len(), ann.sound().await), (2, Value::Null));
}

fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(io::Cursor::new(vec![]));
    for (name, bytes) in files {
        archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[tokio::test]
async fn uploaded_files_are_compared_with_each_other_and_with_folders() {
    let app = app().await;
    let (ann, bob) = (Folder::of(&app, "ann").await, app.person("bob"));
    let (low, other) = (named("Low Tide", "Ivy Marlow"), Piece::new(2, 20));
    let upload = async |person: &Person<'_>, name: &str, bytes: Vec<u8>| {
        let (status, report) = person.upload(name, bytes).await;
        assert_eq!(status, 201, "{report}");
    };
    upload(&ann.user, "track 01.wav", as_wav(PIECE)).await;
    upload(&bob, "low tide.flac", as_flac(PIECE, &low)).await;
    assert_eq!(ann.compare().await, 0, "no file of a folder");
    assert_eq!(ann.titles().await.len(), 1);
    upload(&ann.user, "low tide.flac", as_flac(PIECE, &low)).await;
    ann.compare().await;
    assert_eq!(ann.titles().await, ["Low Tide"]);
    let merges = ann.merges().await;
    assert_eq!((merges.len(), &merges[0]["cause"]), (1, &json!("sound")), "{merges:?}");

    let undo = format!("/api/tracks/merges/{}/undo", merges[0]["undoId"].as_str().unwrap());
    assert_eq!(ann.user.answer(Method::POST, &undo, None).await.0, 204);
    upload(&ann.user, "low tide.flac", as_flac(PIECE, &low)).await;
    ann.compare().await;
    assert_eq!(ann.titles().await.len(), 2, "what the user has parted stays apart");

    let members = archive(&[("music/other.wav", &as_wav(other)), ("music/notes.txt", b"no audio")]);
    upload(&ann.user, "my music.zip", members).await;
    ann.compare().await;
    assert_eq!(ann.titles().await.len(), 3);
    ann.put("spring.flac", &as_flac(other, &named("Spring", "Ivy Marlow")));
    assert_eq!(ann.compare().await, 1);
    let titles = ann.titles().await;
    assert!(titles.len() == 3 && titles.contains(&"Spring".into()), "a file joins the track of an upload: {titles:?}");
    assert_eq!(bob.get("/api/tracks/merges").await["merges"], json!([]), "another user's uploads are not compared");
}

#[tokio::test]
async fn the_fingerprint_of_an_upload_is_erased_with_its_track_and_stays_when_a_folder_goes() {
    let app = app().await;
    let ann = Folder::of(&app, "ann").await;
    let (status, report) = ann.user.upload("low tide.flac", as_flac(PIECE, &named("Low Tide", "Ivy Marlow"))).await;
    assert_eq!(status, 201, "{report}");
    ann.put("b.wav", &as_wav(Piece::new(2, 20)));
    ann.compare().await;
    let n_fingerprints = async || app.world.texts("SELECT content_hash FROM fingerprints").await.len();
    assert_eq!(n_fingerprints().await, 2);
    let source = format!("/api/library/sources/{}", ann.id);
    assert_eq!(ann.user.answer(Method::DELETE, &source, None).await.0, 204);
    assert_eq!(n_fingerprints().await, 1, "the upload's");
    let tracks = ann.user.get("/api/library/tracks?q=low%20tide").await;
    let id = tracks["tracks"][0]["trackId"].as_str().unwrap().to_owned();
    assert_eq!(ann.user.answer(Method::DELETE, &format!("/api/library/tracks/{id}"), None).await.0, 204);
    assert_eq!(n_fingerprints().await, 1, "it can be restored");
    assert_eq!(ann.user.answer(Method::DELETE, &format!("/api/trash/{id}"), None).await.0, 204);
    assert_eq!(n_fingerprints().await, 0);
}

async fn node(world: &World) -> Arc<App> {
    let settings = world.settings();
    let config = Config::from_lookup(|name| settings.get(name).cloned()).unwrap();
    App::start(config, Arc::new(ScriptedModel::new([says("hm")]))).await.unwrap()
}

#[tokio::test]
async fn one_of_several_nodes_keeps_a_folder_in_step_and_another_takes_it_over() {
    let (world, music) = (World::new().await, tempfile::tempdir().unwrap());
    let (here, there) = (node(&world).await, node(&world).await);
    let owner = engine::UserId::new("local");
    fs::write(music.path().join("a.wav"), as_wav(PIECE)).unwrap();
    let added = here
        .folders()
        .add(&app::Operator::of_this_machine(), &owner, &music.path().display().to_string())
        .await
        .unwrap();
    assert_eq!((here.folders().look_once().await.unwrap(), there.folders().look_once().await.unwrap()), (1, 0));
    assert_eq!(there.folders().compare_sounds().await.unwrap(), 0, "its sounds are compared by the same node");
    assert_eq!(there.folders().sound(&owner, added.id).await.unwrap().unwrap().waiting, 1);
    assert_eq!(here.folders().look_once().await.unwrap(), 1, "the node that has a folder keeps it");
    here.start_folders().await.unwrap();
    here.stop().await;
    assert_eq!(there.folders().look_once().await.unwrap(), 1, "a node that ends releases its folders");
    there.folders().compare_sounds().await.unwrap();
    assert_eq!(there.folders().sound(&owner, added.id).await.unwrap().unwrap().waiting, 0);

    world.execute("UPDATE library_sources SET node = 'a dead node'").await;
    assert_eq!(there.folders().look_once().await.unwrap(), 0);
    world.execute("UPDATE library_sources SET lease_until = '2020-01-01T00:00:00+00:00'").await;
    assert_eq!(there.folders().look_once().await.unwrap(), 1, "the lease of a dead node ends");
    there.stop().await;
}
