//! Import over HTTP: every format, the report, repeated imports, and files that cannot be read.

use std::{fmt::Write, fs, io, path::PathBuf};

use doubles::fiction;
use expect_test::expect_file;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Sources, TestApp, World, command};

/// A file of each format, from the tests of the parsers.
fn files() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../formats/tests/formats/files");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_none_or(|extension| extension != "read"));
    files.sort();
    files
}

fn name_of(path: &std::path::Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

fn n(value: &Value) -> usize {
    value.as_array().unwrap().len()
}

async fn open_entries(app: &TestApp) -> Vec<Value> {
    app.get("/api/library/unmatched").await["entries"].as_array().unwrap().clone()
}

#[tokio::test]
async fn every_format_is_imported_with_a_report_and_a_second_import_changes_nothing() {
    let sources = Sources::start(&fiction::world()).await;
    let app = TestApp::start(World::new().await, [], &sources.borrowed()).await;
    let mut table = format!("{:<36} {:<36} read tracks matched added ambiguous unmatched failures\n", "file", "kind");
    for path in files() {
        let name = name_of(&path);
        let (status, report) = app.import(&name, fs::read(&path).unwrap()).await;
        assert_eq!(status, 201, "{name}: {report}");
        let kind = report["files"][0]["kind"].as_str().unwrap();
        let before = all(&app).await;
        let (_, again) = app.import(&name, fs::read(&path).unwrap()).await;
        assert_eq!((&again["added"], &again["matched"]), (&json!(0), &report["matched"]), "{name}: {again}");
        assert_eq!(all(&app).await, before, "{name}");
        let n_of = |field: &str| report[field].as_u64().unwrap();
        writeln!(
            table,
            "{name:<36} {kind:<36} {:>4} {:>6} {:>7} {:>5} {:>9} {:>9} {:>8}",
            n_of("read"),
            n_of("tracks"),
            n_of("matched"),
            n_of("added"),
            n(&report["ambiguous"]),
            n(&report["unmatched"]),
            n(&report["failures"])
        )
        .unwrap();
    }
    expect_file!["import.txt"].assert_eq(&table);

    let (library, playlists) = (app.get("/api/library/tracks").await, app.get("/api/playlists").await);
    assert_eq!((&library["total"], n(&playlists["playlists"])), (&json!(23), 21), "{playlists:#}");
    assert_eq!(n(&app.get("/api/library/imports").await["imports"]), 2 * files().len());
}

/// Everything an import can change.
async fn all(app: &TestApp) -> Value {
    app.app.catch_up().await.unwrap();
    let mut entries = open_entries(app).await;
    entries.sort_by_key(|entry| entry["id"].to_string());
    let (tracks, playlists) = (app.get("/api/library/tracks?limit=200").await, app.get("/api/playlists").await);
    json!({"tracks": tracks, "entries": entries, "playlists": playlists})
}

#[tokio::test]
async fn an_unreadable_file_is_rejected_with_its_line_and_stores_nothing() {
    let app = TestApp::scripted([]).await;
    let cases: [(&str, &[u8], &str); 5] = [
        (
            "history.json",
            b"[{\"endTime\":\"2024-01-05 14:23\",\"artistName\":\"A\",\"trackName\":\"B\",\"msPlayed\":99999},\n{\"endTime\"; 3}]",
            "line 2: this is not JSON",
        ),
        ("list.xspf", b"<?xml version=\"1.0\"?>\n<playlist>\n<trackList>\n<track><title>A</title></track><track></title>", "line 4"),
        ("empty.csv", b"  \n", "the file is empty"),
        ("data.zip", b"PK\x03\x04 and then nothing", "data.zip: "),
        ("x.bin", b"\x7fELF\0\0\0\x01", "this is neither text nor an audio file"),
    ];
    for (name, bytes, complaint) in cases {
        let (status, answer) = app.import(name, bytes.to_vec()).await;
        let message = answer["error"]["message"].as_str().unwrap();
        assert_eq!((status, message.starts_with(complaint)), (400, true), "{name}: {message}");
    }
    assert_eq!(app.get("/api/library/tracks").await["total"], 0);
    assert_eq!((open_entries(&app).await, n(&app.get("/api/library/imports").await["imports"])), (vec![], 0));
}

#[tokio::test]
async fn a_form_may_contain_several_files_and_a_broken_one_does_not_affect_the_others() {
    let app = TestApp::scripted([]).await;
    let part = |name: &str, text: &str| {
        format!("--xyz\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n{text}\r\n")
    };
    let good = "Title,Artist,ISRC\nPaper Lanterns,Ivy Marlow,QZXYZ1900004\n,,\n";
    let body = [part("good.csv", good), part("bad.json", "[{"), "--xyz--\r\n".to_owned()].concat();
    let sent = reqwest::Client::new()
        .post(format!("{}/api/library/import", app.url))
        .header("content-type", "multipart/form-data; boundary=xyz")
        .body(body)
        .send();
    let report: Value = sent.await.unwrap().json().await.unwrap();
    assert_eq!((&report["added"], &report["files"][0]["file"]), (&json!(1), &json!("good.csv")), "{report}");
    assert_eq!(report["failures"].as_array().unwrap().last().unwrap()["file"], "bad.json");
    let (status, answer) = app.answer(Method::POST, "/api/library/import", None).await;
    assert_eq!((status, &answer["error"]["message"]), (400, &json!("the file is empty")));
}

/// An archive as a service sends it: known files among others.
fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(io::Cursor::new(vec![]));
    for (name, bytes) in files {
        archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        io::Write::write_all(&mut archive, bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[tokio::test]
async fn an_archive_is_imported_completely_or_not_at_all() {
    let app = TestApp::scripted([]).await;
    let csv = b"Title,Artist,ISRC\nPaper Lanterns,Ivy Marlow,QZXYZ1900004\n";
    let listens = b"[{\"endTime\":\"2024-01-05 14:23\",\"artistName\":\"Ivy Marlow\",\"trackName\":\"Paper Lanterns\",\"msPlayed\":99999}]";
    let whole = archive(&[
        ("data/ReadMe.pdf", b"%PDF-1.7\n\0\x01\x02"),
        ("data/songs.csv", csv),
        ("data/StreamingHistory_music_0.json", listens),
        ("__MACOSX/data/._songs.csv", b"\0\x05\x16\x07"),
    ]);
    let (status, report) = app.import("my_data.zip", whole).await;
    assert_eq!((status, n(&report["files"])), (201, 2), "{report}");
    assert_eq!((&report["added"], n(&report["unmatched"])), (&json!(1), 0), "the history is matched by name: {report}");

    let broken = archive(&[
        ("a.csv", b"Title,Artist,ISRC\nTide Table,Ivy Marlow,QZXYZ1900005\n"),
        ("b.json", b"[{\"msPlayed\": 1, \"trackName\"; 1}]"),
    ]);
    let (status, answer) = app.import("broken.zip", broken).await;
    assert_eq!(status, 400, "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("b.json: line 1"), "{answer}");
    assert_eq!(app.get("/api/library/tracks").await["total"], 1, "the broken archive added no track");
}

#[tokio::test]
async fn open_entries_can_be_listed_matched_dismissed_exported_and_retried() {
    let app = TestApp::scripted([]).await;
    let known =
        "Title,Artist,Duration,ISRC\nLow Tide,Ivy Marlow,200,QZXYZ1900001\nLow Tide,Ivy Marlow,240,QZXYZ1900002\n";
    app.import("known.csv", known.into()).await;
    let asked = "Title,Artist,Playlist\nLow Tide,Ivy Marlow,Evening\n=Nobody,Knows,Evening\nNor,This,\n";
    let (_, report) = app.import("asked.csv", asked.into()).await;
    assert_eq!((n(&report["ambiguous"]), n(&report["unmatched"])), (1, 2), "{report}");
    let ambiguous = &report["ambiguous"][0];
    let codes: Vec<_> = ambiguous["candidates"].as_array().unwrap().iter().map(|one| one["isrc"].clone()).collect();
    assert_eq!(codes.len(), 2, "{ambiguous}");

    let path = format!("/api/library/unmatched/{}", ambiguous["id"].as_str().unwrap());
    let (status, chosen) = app.answer(Method::POST, &path, Some(json!({"isrc": codes[1]}))).await;
    assert_eq!((status, &chosen["isrc"]), (200, &codes[1]), "{chosen}");
    assert_eq!(
        app.answer(Method::POST, &path, Some(json!({"isrc": codes[1]}))).await.0,
        404,
        "an entry is matched once"
    );
    let lists = app.get("/api/playlists").await;
    let list = lists["playlists"].as_array().unwrap().iter().find(|list| list["title"] == "Evening").unwrap();
    assert_eq!(list["trackCount"], 2, "the playlist has every entry");
    let list = app.get(&format!("/api/playlists/{}", list["id"].as_str().unwrap())).await;
    assert_eq!(list["tracks"][0]["isrc"], codes[1], "the chosen track replaces the open entry: {list:#}");
    assert_eq!(app.get("/api/library/tracks").await["total"], 4, "two known tracks and two open entries");

    let csv = app.request(Method::GET, "/api/library/unmatched?format=csv", None).await.text().await.unwrap();
    assert!(csv.contains("'=Nobody,Knows") && csv.lines().count() == 3, "{csv}");
    let (_, again) = app.import("unmatched.csv", csv.into()).await;
    assert_eq!(n(&again["unmatched"]), 2, "the exported entries can be imported again: {again}");
    assert_eq!(open_entries(&app).await.len(), 2, "they are the same entries");

    let gone = format!("/api/library/unmatched/{}", report["unmatched"][1]["id"].as_str().unwrap());
    assert_eq!(app.answer(Method::DELETE, &gone, None).await.0, 204);
    app.import("asked.csv", asked.into()).await;
    assert!(open_entries(&app).await.iter().all(|entry| entry["title"] != "Nor"), "a dismissed entry stays dismissed");
    assert_eq!(app.answer(Method::POST, "/api/library/unmatched/retry", None).await, (202, json!({"entries": 2})));

    let back = format!("{gone}/restore");
    assert_eq!(app.answer(Method::POST, &back, None).await.0, 204);
    assert!(open_entries(&app).await.iter().any(|entry| entry["title"] == "Nor"), "a dismissed entry can be restored");
    assert_eq!(app.answer(Method::POST, &back, None).await.0, 204, "restoring twice changes nothing");
}

#[tokio::test]
async fn the_import_command_prints_the_same_report() {
    let world = World::new().await;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str, text: &str| {
        fs::write(folder.path().join(name), text).unwrap();
        folder.path().join(name).display().to_string()
    };
    let good = at("good.csv", "Title,Artist,ISRC\nPaper Lanterns,Ivy Marlow,QZXYZ1900004\nNobody,Knows,\n");
    let bad = at("bad.json", "[{\"msPlayed\": 1,\n\"trackName\"; 1}]");

    let (code, out, said) = command(&world, &[], &["import", &good, &bad]).await;
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("bad.json: nothing was imported: line 2: this is not JSON"), "{said}");
    for line in
        ["good.csv: ", "1  matched", "1  unmatched", "2  added to the library, 0 already there", "Knows - Nobody"]
    {
        assert!(out.contains(line), "{line} is missing from\n{out}");
    }
    let (code, out, _) = command(&world, &[], &["import", "--json", &good]).await;
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &report["added"], &report["alreadyThere"]), (0, &json!(0), &json!(2)), "{out}");
    let (code, out, _) = command(&world, &[], &["import", "--open", "--csv"]).await;
    assert_eq!((code, out.lines().count()), (0, 2), "{out}");
    assert_eq!(command(&world, &[], &["import"]).await.0, 2, "bad usage");
}
