//! The content hash of a file does not depend on its tags, and changes with its audio.

use std::{fs, fs::File, path::Path};

use formats::content_hash;
use lofty::tag::{ItemKey, TagType};

use super::audio::{flac, mp3, wav, write};

fn hash(path: &Path) -> String {
    content_hash(File::open(path).unwrap()).unwrap()
}

#[test]
fn a_retagged_or_renamed_file_has_the_same_hash() {
    let folder = tempfile::tempdir().unwrap();
    let mut flac = flac();
    flac.extend(b"\xff\xf8 bytes in place of audio frames");
    let files = [
        ("a.flac", flac, TagType::VorbisComments),
        ("a.mp3", mp3(), TagType::Id3v2),
        ("b.mp3", mp3(), TagType::Id3v1),
        ("c.mp3", mp3(), TagType::Ape),
        ("a.wav", wav(), TagType::Id3v2),
        ("b.wav", wav(), TagType::RiffInfo),
    ];
    for (name, bytes, tag) in files {
        let path = folder.path().join(name);
        fs::write(&path, &bytes).unwrap();
        let before = hash(&path);
        write(&path, &bytes, tag, &[(ItemKey::TrackTitle, "Rain"), (ItemKey::TrackArtist, "Ivy Marlow")]);
        assert_ne!(fs::read(&path).unwrap(), bytes, "{name}: the tag is written");
        assert_eq!(hash(&path), before, "{name}");
        let mut other = bytes.clone();
        let last = other.len() - 1;
        other[last] ^= 1;
        fs::write(&path, &other).unwrap();
        assert_ne!(hash(&path), before, "{name}: other audio");
    }
}

#[test]
fn an_mp4_file_is_identified_by_its_media_data() {
    let atom = |name: &[u8; 4], body: &[u8]| [&(body.len() as u32 + 8).to_be_bytes(), &name[..], body].concat();
    let file = |tags: &[u8]| [atom(b"ftyp", b"M4A \0\0\0\0"), atom(b"moov", tags), atom(b"mdat", b"sound")].concat();
    let hash = |bytes: Vec<u8>| content_hash(std::io::Cursor::new(bytes)).unwrap();
    assert_eq!(hash(file(b"old")), hash(file(b"new and longer")));
    assert_ne!(hash(file(b"old")), hash([file(b"old")[..19].to_vec(), atom(b"mdat", b"other")].concat()));
}

#[test]
fn both_ends_and_the_length_of_a_large_file_count() {
    let hash = |bytes: &[u8]| content_hash(std::io::Cursor::new(bytes)).unwrap();
    let large = vec![7_u8; 5 << 20];
    let changed = |at: usize| {
        let mut bytes = large.clone();
        bytes[at] = 8;
        bytes
    };
    assert_ne!(hash(&changed(10)), hash(&large));
    assert_ne!(hash(&changed((5 << 20) - 10)), hash(&large));
    assert_ne!(hash(&large[1..]), hash(&large));
    assert_eq!(hash(&[]).len(), 64);
}
