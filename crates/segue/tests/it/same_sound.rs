//! Imported audio files are told apart by their content and compared by their sound, however they are imported.

use std::{
    fs,
    io::{self, Write},
    sync::Arc,
};

use doubles::sound::{Piece, flac, wav, worn};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Person, TestApp, World, command};

const RATE: u32 = 22_050;
const PIECE: Piece = Piece::new(1, 20);

fn as_wav(piece: Piece) -> Vec<u8> {
    wav(&piece.samples(RATE), RATE, 1)
}

fn as_flac(tags: &[(&str, &str)]) -> Vec<u8> {
    flac(&worn(&PIECE.samples(RATE)), RATE, tags)
}

const NAMED: [(&str, &str); 2] = [("TITLE", "Low Tide"), ("ARTIST", "Ivy Marlow")];

async fn upload(app: &TestApp, person: &Person<'_>, name: &str, bytes: Vec<u8>) -> Value {
    let (status, report) = person.upload(name, bytes).await;
    assert_eq!(status, 201, "{report}");
    app.app.folders().compare_sounds().await.unwrap();
    report
}

async fn n_tracks(person: &Person<'_>) -> Value {
    person.get("/api/library/tracks").await["total"].clone()
}

#[tokio::test]
async fn uploads_with_one_name_and_one_length_are_one_track_only_if_their_content_is_the_same() {
    let app = TestApp::shared([], &[]).await;
    let (ann, bob) = (app.person("ann"), app.person("bob"));
    let (first, other) = (as_wav(PIECE), as_wav(Piece::new(2, 20)));
    assert_eq!(upload(&app, &ann, "track 01.wav", first.clone()).await["added"], 1);
    let report = upload(&app, &ann, "track 01.wav", other.clone()).await;
    assert_eq!((&report["added"], n_tracks(&ann).await), (&json!(1), json!(2)), "other content: {report}");
    let open = ann.get("/api/library/unmatched").await["entries"].clone();
    assert_eq!(open.as_array().unwrap().len(), 2, "each is looked for: {open}");
    for bytes in [&first, &other] {
        let report = upload(&app, &ann, "track 01.wav", bytes.clone()).await;
        assert_eq!((&report["added"], n_tracks(&ann).await), (&json!(0), json!(2)), "the same content: {report}");
    }

    let mut discs = zip::ZipWriter::new(io::Cursor::new(vec![]));
    for (name, bytes) in [("1/track 01.wav", &first), ("2/track 01.wav", &other), ("copy/track 01.wav", &first)] {
        discs.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        discs.write_all(bytes).unwrap();
    }
    upload(&app, &bob, "discs.zip", discs.finish().unwrap().into_inner()).await;
    assert_eq!(n_tracks(&bob).await, 2);
}

#[tokio::test]
async fn a_track_that_was_parted_is_not_merged_again_through_a_third_one() {
    let app = TestApp::shared([], &[]).await;
    let ann = app.person("ann");
    upload(&app, &ann, "track 01.wav", as_wav(PIECE)).await;
    upload(&app, &ann, "low tide.flac", as_flac(&NAMED)).await;
    let coded = flac(&PIECE.samples(RATE), RATE, &[("TITLE", "Ebb"), ("ARTIST", "I. M."), ("ISRC", "QZXYZ1900004")]);
    upload(&app, &ann, "ebb.flac", coded).await;
    let merges = ann.get("/api/tracks/merges").await["merges"].clone();
    let into: Vec<&Value> = merges.as_array().unwrap().iter().map(|merge| &merge["intoTitle"]).collect();
    assert_eq!((n_tracks(&ann).await, into), (json!(1), vec![&json!("Ebb"), &json!("Low Tide")]), "{merges}");

    let undo = format!("/api/tracks/merges/{}/undo", merges[1]["undoId"].as_str().unwrap());
    assert_eq!(ann.answer(Method::POST, &undo, None).await.0, 204);
    assert_eq!(n_tracks(&ann).await, 2);
    upload(&app, &ann, "track 01.wav", as_wav(PIECE)).await;
    assert_eq!(n_tracks(&ann).await, 2, "the user has parted it from a part of the other track");
}

/// The number of tracks and of merges by sound, and what a command said.
async fn after(world: &Arc<World>, settings: &[(&'static str, String)], args: &[&str]) -> (Value, usize, String) {
    let (code, out, said) = command(world, settings, args).await;
    assert_eq!(code, 0, "{out} {said}");
    let app = TestApp::start(world.clone(), [], &[]).await;
    let merges = app.get("/api/tracks/merges").await["merges"].clone();
    let n_tracks = app.get("/api/library/tracks").await["total"].clone();
    app.app.stop().await;
    let by_sound = merges.as_array().unwrap().iter().filter(|merge| merge["cause"] == "sound").count();
    (n_tracks, by_sound, said)
}

fn files() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("old")).unwrap();
    fs::write(folder.path().join("old/track 01.wav"), as_wav(PIECE)).unwrap();
    fs::write(folder.path().join("low tide.flac"), as_flac(&NAMED)).unwrap();
    fs::write(folder.path().join("other.wav"), as_wav(Piece::new(2, 20))).unwrap();
    folder
}

#[tokio::test]
async fn the_import_command_compares_sounds() {
    let (world, folder) = (World::new().await, files());
    let path = folder.path().display().to_string();
    let off = [("SEGUE_FINGERPRINTS", "off".to_owned())];
    let (n_tracks, by_sound, said) = after(&world, &off, &["import", &path]).await;
    assert_eq!((n_tracks, by_sound), (json!(3), 0), "it is switched off: {said}");
    let (n_tracks, by_sound, said) = after(&world, &[], &["import", &path]).await;
    assert_eq!((n_tracks, by_sound), (json!(2), 1), "{said}");
    assert!(said.contains("The sounds of 3 files were compared."), "{said}");
    let (n_tracks, by_sound, said) = after(&world, &[], &["import", "--json", &path]).await;
    assert_eq!((n_tracks, by_sound), (json!(2), 1), "a second import changes nothing: {said}");
    let one = folder.path().join("old/track 01.wav").display().to_string();
    let (n_tracks, _, said) = after(&World::new().await, &[], &["import", &one, &path]).await;
    assert_eq!(n_tracks, 2, "single files too: {said}");
}

#[tokio::test]
async fn the_library_command_compares_sounds() {
    let (world, folder) = (World::new().await, files());
    let path = folder.path().display().to_string();
    let (n_tracks, by_sound, said) = after(&world, &[], &["library", "add", &path]).await;
    assert_eq!((n_tracks, by_sound), (json!(2), 1), "{said}");
    assert!(said.contains("The sounds of 3 files were compared."), "{said}");
    fs::write(folder.path().join("again.flac"), as_flac(&[("TITLE", "Tide"), ("ARTIST", "Marlow")])).unwrap();
    let (n_tracks, by_sound, said) = after(&world, &[], &["library", "sync"]).await;
    assert_eq!((n_tracks, by_sound), (json!(2), 2), "{said}");
    let (_, _, said) = after(&world, &[], &["library", "sync"]).await;
    assert_eq!(said, "", "nothing is left to compare");

    fs::write(folder.path().join("new.wav"), wav(&worn(&Piece::new(2, 20).samples(RATE)), RATE, 2)).unwrap();
    world.execute("UPDATE library_sources SET node = 'a server', lease_until = '2999-01-01T00:00:00+00:00'").await;
    let (n_tracks, by_sound, said) = after(&world, &[], &["library", "sync"]).await;
    assert_eq!((n_tracks, by_sound), (json!(3), 2), "{said}");
    assert!(said.contains("A running server compares them."), "{said}");
}

#[tokio::test]
async fn one_melody_in_every_format_is_one_track() {
    let app = TestApp::shared([], &[]).await;
    let ann = app.person("ann");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../formats/tests/formats/sounds");
    let names = ["melody.mp3", "melody.m4a", "lossless.m4a", "melody.ogg", "melody.aac", "headless.mp3"];
    for name in names {
        upload(&app, &ann, name, fs::read(format!("{folder}/{name}")).unwrap()).await;
        assert_eq!(n_tracks(&ann).await, 1, "{name}");
    }
    upload(&app, &ann, "melody.wav", as_wav(Piece::new(7, 11))).await;
    assert_eq!(n_tracks(&ann).await, 1);
    upload(&app, &ann, "other.wav", as_wav(Piece::new(8, 11))).await;
    assert_eq!(n_tracks(&ann).await, 2, "another melody");
}
