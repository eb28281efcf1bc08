//! One melody in every supported encoding is one recording. `sounds/README.md` says how the files were made.

use std::{fs, path::Path};

use doubles::sound::{Piece, flac, wav};
use formats::fingerprint;
use music::Fingerprint;

const ENCODED: [&str; 6] = ["melody.mp3", "headless.mp3", "melody.m4a", "melody.aac", "melody.ogg", "lossless.m4a"];
const MELODY: Piece = Piece::new(7, 11);
const RATE: u32 = 44_100;

fn heard(path: &Path) -> Fingerprint {
    fingerprint(path, &|| true).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

/// The melody in all encodings, with the names of the files.
fn encodings() -> Vec<(&'static str, Fingerprint)> {
    let folder = tempfile::tempdir().unwrap();
    let written = [("a.wav", wav(&MELODY.samples(RATE), RATE, 2)), ("a.flac", flac(&MELODY.samples(RATE), RATE, &[]))];
    let written = written.map(|(name, bytes)| {
        fs::write(folder.path().join(name), bytes).unwrap();
        (name, heard(&folder.path().join(name)))
    });
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats/sounds");
    let stored = ENCODED.map(|name| (name, heard(&stored.join(name))));
    written.into_iter().chain(stored).collect()
}

#[test]
fn one_melody_in_every_encoding_is_one_recording() {
    let encodings = encodings();
    for (name, sound) in &encodings {
        assert!((sound.seconds() - 11.0).abs() < 0.3, "{name} has {} s", sound.seconds());
        for (other_name, other) in &encodings {
            assert!(sound.is_same_recording(other), "{name} and {other_name}");
            let keys = other.keys();
            let n_shared = sound.keys().iter().filter(|key| keys.contains(key)).count();
            assert!(n_shared >= 2, "{n_shared} keys of {name} find {other_name}");
        }
    }
}

#[test]
fn another_melody_is_another_recording_in_every_encoding() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.wav");
    fs::write(&path, wav(&Piece::new(8, 11).samples(RATE), RATE, 1)).unwrap();
    let other = heard(&path);
    for (name, sound) in encodings() {
        assert!(!sound.is_same_recording(&other), "{name}");
    }
}

/// A file that was cut off while it was copied is not taken for the whole recording.
#[test]
fn half_of_a_file_is_damaged_in_every_encoding() {
    let (folder, stored) = (tempfile::tempdir().unwrap(), Path::new(env!("CARGO_MANIFEST_DIR")));
    for name in ENCODED {
        let whole = fs::read(stored.join("tests/formats/sounds").join(name)).unwrap();
        let path = folder.path().join(name);
        fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        let cut = fingerprint(&path, &|| true);
        assert!(cut.is_err(), "{name} has {:?} s", cut.map(|sound| sound.seconds()));
    }
}
