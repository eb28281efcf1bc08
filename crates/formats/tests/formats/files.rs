//! Every supported kind of file. Each file in `files/` has a `.read` file with the expected result.

use std::{collections::HashSet, fs, io::Cursor, path::Path};

use expect_test::expect_file;
use formats::{Entry, FormatKind, Problem, Unrecognised, recognise};
use proptest::prelude::*;

fn fixtures() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats/files");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension != "read"));
    files.sort();
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    files.iter().map(|path| (name(path), fs::read(path).unwrap())).collect()
}

/// A track without its empty members, as one line.
fn shown(entry: &Entry) -> String {
    match entry {
        Ok(track) => {
            let mut track = serde_json::to_value(track).unwrap();
            let members = track.as_object_mut().unwrap();
            let line = members.remove("line").unwrap();
            members.retain(|_, value| value != &serde_json::json!(0) && value != &serde_json::json!({}));
            format!("{line}: {track}\n")
        }
        Err(error) => format!("{error}\n"),
    }
}

#[test]
fn every_kind_of_file_is_recognised_and_read() {
    for (name, bytes) in fixtures() {
        let kind = recognise(&bytes, "upload").unwrap_or_else(|error| panic!("{name}: {error}"));
        let entries: String = formats::read(kind, Cursor::new(bytes)).map(|entry| shown(&entry)).collect();
        expect_file![format!("files/{name}.read")].assert_eq(&format!("{}\n{entries}", kind.id()));
    }
}

#[test]
fn every_format_has_an_example() {
    let shown: HashSet<_> = fixtures().iter().map(|(_, bytes)| recognise(bytes, "upload").unwrap().id()).collect();
    let missing: Vec<_> = FormatKind::all().map(FormatKind::id).filter(|id| !shown.contains(id)).collect();
    // The tests of audio files write their own files.
    assert_eq!(missing, ["audio"], "put an example file of each into tests/formats/files");
}

#[test]
fn an_export_is_read_in_every_common_encoding() {
    let said = "Title;Artist;Album\nCafé Nord;Björn Åle;Größe\n";
    let latin1: Vec<u8> = said.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    let utf16 = |mark: &str| format!("{mark}{said}").encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    let saved = [said.into(), format!("\u{feff}{said}").into(), latin1, utf16("\u{feff}"), utf16("")];
    for (n, bytes) in saved.into_iter().enumerate() {
        let kind = recognise(&bytes, "x.csv").unwrap();
        let track = formats::read(kind, Cursor::new(bytes)).next().unwrap().unwrap();
        let names = (track.title.as_str(), track.artists[0].as_str(), track.album.as_deref());
        assert_eq!(names, ("Café Nord", "Björn Åle", Some("Größe")), "encoding {n}");
    }
}

#[test]
fn a_file_that_is_not_an_export_is_refused_with_advice() {
    let refused = |bytes: &[u8], name: &str| recognise(bytes, name).unwrap_err().to_string();
    assert_eq!(recognise(b"  \n", "x.csv"), Err(Unrecognised::Empty));
    assert_eq!(recognise(b"PK\x03\x04....", "my_data.zip"), Err(Unrecognised::Archive));
    assert_eq!(recognise(b"PK\x03\x04....", "deezer-data.xlsx"), Err(Unrecognised::Spreadsheet));
    assert_eq!(recognise(b"<!doctype html><title>Sign in", "library.csv"), Err(Unrecognised::WebPage));
    assert!(refused(b"{\"weather\": \"rain\"}", "x.json").starts_with("this JSON is not a known export; supported"));
    assert_eq!(refused(b"\x7fELF\0\0\0\x01", "a.out"), "this is neither text nor an audio file");
    assert!(refused(b"Dear diary\nit rained", "diary.txt").starts_with("no table with a title and an artist"));
}

#[test]
fn a_broken_file_is_refused_as_a_whole_with_its_line() {
    let broken = [
        (
            r#"[{"endTime":"2024-01-05 14:23","artistName":"A","trackName":"B","msPlayed":99999},"#,
            "line 1: this is not JSON",
        ),
        ("{\"playlists\": [\n{\"name\": \"Evening\",\n\"items\": [{\"track\"; 1}]}]}", "line 3: this is not JSON"),
        ("<?xml version=\"1.0\"?>\n<playlist>\n<trackList>\n<track></title>", "line 4: this is not XML"),
        ("<plist><dict>\n<key>Tracks</key>", "line 2: the file ends in the middle"),
        (&format!("[{{\"msPlayed\": 1, \"trackName\": {}", "[".repeat(100_000)), "line 1: maximum nesting depth"),
    ];
    for (text, complaint) in broken {
        let kind = recognise(text.as_bytes(), "x").unwrap();
        let error = formats::gather(formats::read(kind, Cursor::new(text.to_owned()))).unwrap_err();
        assert!(matches!(error.problem, Problem::Broken(_)), "{error}");
        assert!(error.to_string().starts_with(complaint), "{error}");
    }
}

#[test]
fn a_history_becomes_distinct_tracks_with_their_plays() {
    let bytes = fixtures().into_iter().find(|(name, _)| name == "StreamingHistory_music_0.json").unwrap().1;
    let (kind, gathered) = formats::gather_upload(Cursor::new(bytes), "StreamingHistory_music_0.json").unwrap();
    assert_eq!(kind.id(), "spotifyHistory");
    let plays: Vec<_> = gathered.tracks.iter().map(|track| (track.title.as_str(), track.n_plays)).collect();
    assert_eq!(plays, [("Paper Lanterns", 2)]);
    assert_eq!(gathered.tracks[0].played_at.unwrap().to_rfc3339(), "2024-01-06T08:00:00+00:00");
    assert_eq!(gathered.left_out.into_iter().collect::<Vec<_>>(), [("played for less than 30 seconds", 1)]);
}

#[test]
fn playlists_keep_their_order_and_share_their_tracks() {
    let text = "title,artist,playlist\nA,X,Evening\nB,X,Evening\nA,X,Morning\nB,X,Morning\nA,X,Morning\n";
    let gathered = formats::gather(formats::read(FormatKind::with_id("table").unwrap(), Cursor::new(text))).unwrap();
    assert_eq!(gathered.tracks.iter().map(|track| track.title.as_str()).collect::<Vec<_>>(), ["A", "B"]);
    assert_eq!(gathered.playlists["Evening"], [0, 1]);
    assert_eq!(gathered.playlists["Morning"], [0, 1, 0]);
}

proptest! {
    #[test]
    fn random_bytes_never_panic_in_any_parser(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        read_every_way(&bytes);
    }

    /// Damaged files reach more code of the parsers than random bytes do.
    #[test]
    fn damaged_files_never_panic_in_any_parser(
        which in 0..100_usize,
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let files = fixtures();
        let mut bytes = files[which % files.len()].1.clone();
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        bytes.truncate(cut.index(bytes.len()) + 1);
        read_every_way(&bytes);
    }
}

fn read_every_way(bytes: &[u8]) {
    let _ = recognise(bytes, "upload.csv");
    for kind in FormatKind::all() {
        // A parser that continues after the end of its file would never stop.
        let n_entries = formats::read(kind, Cursor::new(bytes.to_vec())).take(10_000).count();
        assert!(n_entries <= bytes.len() + 1, "{kind:?} gave {n_entries} entries");
    }
    let _ = formats::audio::stream(1, Cursor::new(bytes));
}
