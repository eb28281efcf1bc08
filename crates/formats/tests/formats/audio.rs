//! Folders of audio files: tags, codes and lyrics of real containers, which the tests write byte by byte.

use std::{fs, path::Path};

use formats::{FormatKind, recognise};
use lofty::{
    config::WriteOptions,
    tag::{ItemKey, ItemValue, Tag, TagExt, TagItem, TagType},
};

/// One second of silence in a minimal FLAC file: STREAMINFO without frames.
pub(super) fn flac() -> Vec<u8> {
    let mut file = b"fLaC\x80\0\0\x22".to_vec();
    let n_samples = 44_100_u64;
    // Block sizes, frame sizes, then 20 bits of rate, 3 of channels, 5 of depth and 36 of samples.
    file.extend([0x10, 0, 0x10, 0, 0, 0, 0, 0, 0, 0]);
    file.extend(((44_100_u64 << 44) | (1 << 41) | (15 << 36) | n_samples).to_be_bytes());
    file.extend([0; 16]);
    file
}

/// One second of silence as a WAV file.
pub(super) fn wav() -> Vec<u8> {
    let samples = vec![0_u8; 8000];
    let mut file = b"RIFF".to_vec();
    file.extend((36 + samples.len() as u32).to_le_bytes());
    file.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    file.extend(8000_u32.to_le_bytes());
    file.extend(8000_u32.to_le_bytes());
    file.extend(b"\x01\0\x08\0data");
    file.extend((samples.len() as u32).to_le_bytes());
    file.extend(samples);
    file
}

/// About forty frames of silence as MP3.
pub(super) fn mp3() -> Vec<u8> {
    let mut frame = b"\xff\xfb\x90\x00".to_vec();
    frame.resize(417, 0);
    frame.repeat(40)
}

pub(super) fn write(path: &Path, bytes: &[u8], kind: TagType, items: &[(ItemKey, &str)]) {
    fs::write(path, bytes).unwrap();
    if items.is_empty() {
        return;
    }
    let mut tag = Tag::new(kind);
    for (key, text) in items {
        tag.push(TagItem::new(*key, ItemValue::Text((*text).to_owned())));
    }
    tag.save_to_path(path, WriteOptions::default()).unwrap();
}

#[test]
fn the_tags_in_a_folder_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("Björn Åle")).unwrap();
    let named = [
        (ItemKey::TrackTitle, "Paper Lanterns"),
        (ItemKey::TrackArtist, "Ivy Marlow"),
        (ItemKey::AlbumTitle, "Low Tide"),
    ];
    let with = |more: &[(ItemKey, &'static str)]| [&named[..], more].concat();
    write(
        &at("a.flac"),
        &flac(),
        TagType::VorbisComments,
        &with(&[
            (ItemKey::Isrc, "QZXYZ1900004"),
            (ItemKey::Isrc, "qz-xyz-19-00005;QZXYZ1900004"),
            (ItemKey::Lyrics, "[00:01.00] Low tide\n[00:02.00] again"),
        ]),
    );
    write(
        &at("b.mp3"),
        &mp3(),
        TagType::Id3v2,
        &with(&[(ItemKey::Isrc, "QZXYZ1900006"), (ItemKey::UnsyncLyrics, "Low tide\nagain")]),
    );
    write(&at("c.wav"), &wav(), TagType::Id3v2, &with(&[(ItemKey::TrackNumber, "4")]));
    write(&at("Björn Åle/03 Björn Åle - Café Nord.flac"), &flac(), TagType::VorbisComments, &[]);
    fs::write(at("a.lrc"), "[00:01.00] not asked for").unwrap();
    fs::write(at("c.lrc"), "[ar:Ivy Marlow]\n[00:01.00] From beside").unwrap();
    fs::write(at("broken.mp3"), "not audio").unwrap();
    fs::write(at("cover.jpg"), "not audio").unwrap();

    let files = formats::gather_files(folder.path(), folder.path()).unwrap();
    let [formats::GatheredFile { kind, gathered, .. }] = files.as_slice() else { panic!("{files:?}") };
    assert_eq!(kind.id(), "audio");
    let shown = |track: &formats::ImportedTrack| {
        let codes: Vec<_> = track.isrcs.iter().map(|isrc| isrc.as_str()).collect();
        format!(
            "{} / {} / {} / {:?}",
            track.artist(),
            track.title,
            codes.join("+"),
            track.lyrics.as_deref().unwrap_or("-")
        )
    };
    assert_eq!(
        gathered.tracks.iter().map(shown).collect::<Vec<_>>(),
        [
            "Björn Åle / Café Nord /  / \"-\"",
            "Ivy Marlow / Paper Lanterns / QZXYZ1900004+QZXYZ1900005 / \"Low tide\\nagain\"",
            "Ivy Marlow / Paper Lanterns / QZXYZ1900006 / \"Low tide\\nagain\"",
            "Ivy Marlow / Paper Lanterns /  / \"From beside\"",
        ]
    );
    assert!(gathered.tracks.iter().all(|track| track.duration.is_some_and(|seconds| (0.9..1.2).contains(&seconds))));
    assert_eq!(gathered.n_unusable, 1);
    assert!(gathered.unusable[0].to_string().contains("broken.mp3"), "{}", gathered.unusable[0]);
}

#[test]
fn an_audio_file_is_recognised_by_its_content_and_read_as_an_upload_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.flac");
    write(&path, &flac(), TagType::VorbisComments, &[(ItemKey::TrackTitle, "Paper Lanterns")]);
    let bytes = fs::read(&path).unwrap();
    for (bytes, name) in [(&bytes, "flac"), (&mp3(), "mp3"), (&wav(), "wav")] {
        assert_eq!(recognise(bytes, "upload"), Ok(FormatKind::with_id("audio").unwrap()), "{name}");
    }
    let (_, gathered) = formats::gather_upload(std::io::Cursor::new(bytes), "x.flac").unwrap();
    assert_eq!(gathered.tracks[0].title, "Paper Lanterns");
}
