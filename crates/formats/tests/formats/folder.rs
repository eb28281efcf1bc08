//! Real-world folders: audio with the files beside it, exports, playlists, and unrelated files.

use std::{fs, path::Path};

use formats::{GatheredFile, ImportedTrack};
use lofty::{
    config::WriteOptions,
    file::TaggedFileExt,
    picture::{MimeType, Picture, PictureType},
    tag::{ItemKey, TagExt, TagType},
};

use super::audio::{flac, mp3, wav, write};

fn import(folder: &Path) -> Vec<GatheredFile> {
    let scratch = tempfile::tempdir().unwrap();
    formats::gather_files(folder, scratch.path()).unwrap()
}

fn names(track: &ImportedTrack) -> String {
    format!("{} / {} / {}", track.artist(), track.album.as_deref().unwrap_or("-"), track.title)
}

fn put(folder: &Path, name: &str, bytes: &[u8]) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

#[test]
fn exports_and_audio_in_one_folder_are_both_imported_and_the_rest_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    put(at, "Ivy Marlow/Low Tide/01 Rain.mp3", &mp3());
    put(at, "Ivy Marlow/Low Tide/._01 Rain.mp3", b"\0\x05\x16\x07");
    put(at, "Ivy Marlow/Low Tide/@eaDir/thumb.mp3", b"x");
    put(at, ".Trash-1000/files/old.mp3", &mp3());
    put(at, "Ivy Marlow/Low Tide/old.wma", b"x");
    put(at, "broken.mp3", b"not audio");
    put(at, "exports/deezer.csv", b"title,artist\nSalt,Bj\xc3\xb6rn\n");
    put(at, "exports/history.json", b"[{\"msPlayed\": 1, \"trackName\"");
    put(at, "notes.txt", b"Dear diary\nit rained");
    put(at, "lists/Late.m3u8", "#EXTM3U\n../Ivy Marlow/Low Tide/01 Rain.mp3\n".as_bytes());
    #[cfg(unix)]
    std::os::unix::fs::symlink(at, at.join("loop")).unwrap();

    let files = import(at);
    let shown: Vec<_> =
        files.iter().map(|file| (file.kind.id(), file.gathered.tracks.iter().map(names).collect())).collect();
    let expected: [(&str, Vec<String>); 2] =
        [("audio", vec!["Ivy Marlow / Low Tide / Rain".into()]), ("table", vec!["Björn / - / Salt".into()])];
    assert_eq!(shown, expected);
    assert_eq!(files[1].name, "exports/deezer.csv");
    let audio = &files[0].gathered;
    assert_eq!(audio.playlists["Late"], [0], "a playlist of files in the folder refers to their tracks");
    let left_out: Vec<_> =
        audio.left_out.iter().map(|(why, n)| format!("{n} {}", why.split(' ').next().unwrap())).collect();
    // Three system files, one link, one unsupported format, and the notes.
    #[cfg(unix)]
    assert_eq!(left_out, ["1 audio", "1 files", "1 links", "3 system"]);
    let complaints: Vec<_> = audio.unusable.iter().map(ToString::to_string).collect();
    assert_eq!(audio.n_unusable, 2, "{complaints:?}");
    assert!(complaints[0].contains("broken.mp3") && complaints[1].contains("history.json: line 1"), "{complaints:?}");
}

#[test]
fn a_folder_of_exports_alone_is_not_an_empty_folder_of_audio() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "a.csv", b"title,artist\nSalt,Bj\xc3\xb6rn\n");
    put(folder.path(), "scan.png", b"x");
    let files = import(folder.path());
    assert_eq!(files.iter().map(|file| file.kind.id()).collect::<Vec<_>>(), ["table"]);
    assert_eq!(files[0].gathered.left_out.values().sum::<u64>(), 1);
    let empty = tempfile::tempdir().unwrap();
    let files = import(empty.path());
    assert!(files[0].gathered.warning(files[0].kind).unwrap().starts_with("no entries found"));
}

#[cfg(unix)]
#[test]
fn an_unreadable_folder_is_reported_and_the_others_are_imported() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "Ivy Marlow/Rain.mp3", &mp3());
    put(folder.path(), "locked/Salt.mp3", &mp3());
    let locked = folder.path().join("locked");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser can read every folder, so the test checks nothing.
    if fs::read_dir(&locked).is_err() {
        let files = import(folder.path());
        assert_eq!(files[0].gathered.tracks.len(), 1);
        let complaint = files[0].gathered.unusable[0].to_string();
        assert!(complaint.contains("locked") && complaint.contains("ermission"), "{complaint}");
    }
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_cue_sheet_divides_a_large_file_into_tracks() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "Low Tide/whole.flac", &flac());
    put(folder.path(), "Low Tide/cover.jpg", b"x");
    let sheet = "PERFORMER \"Ivy Marlow\"\nTITLE \"Low Tide\"\nFILE \"whole.wav\" WAVE\nTRACK 01 AUDIO\nTITLE \"Rain\"\n\
                 INDEX 01 00:00:00\nTRACK 02 AUDIO\nTITLE \"Salt\"\nINDEX 01 00:00:30\n";
    put(folder.path(), "Low Tide/whole.cue", sheet.as_bytes());
    let files = import(folder.path());
    let tracks = &files[0].gathered.tracks;
    assert_eq!(
        tracks.iter().map(names).collect::<Vec<_>>(),
        ["Ivy Marlow / Low Tide / Rain", "Ivy Marlow / Low Tide / Salt"]
    );
    assert_eq!((tracks[1].details.start, tracks[1].duration.map(|s| (s * 10.0).round())), (Some(0.4), Some(6.0)));
    assert!(tracks[0].ids.location.as_ref().unwrap().ends_with("whole.flac"));
    assert!(tracks[0].details.folder_art.as_ref().unwrap().ends_with("cover.jpg"));
}

#[test]
fn tags_take_precedence_over_file_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.flac");
    write(
        &path,
        &flac(),
        TagType::VorbisComments,
        &[
            (ItemKey::TrackTitle, "Rain"),
            (ItemKey::TrackArtist, "Ivy Marlow"),
            (ItemKey::AlbumArtist, "Various Artists"),
            (ItemKey::FlagCompilation, "1"),
            (ItemKey::Composer, "B. Åle"),
            (ItemKey::Bpm, "92.5"),
            (ItemKey::InitialKey, "Am"),
            (ItemKey::Language, "eng"),
            (ItemKey::DiscNumber, "2"),
            (ItemKey::Genre, "Folk"),
            (ItemKey::RecordingDate, "2019"),
            (ItemKey::ReplayGainTrackGain, "-7.25 dB"),
            (ItemKey::ReplayGainAlbumGain, "-6.5 dB"),
            (ItemKey::MusicBrainzRecordingId, "0c2f0000-0000-4000-8000-000000000011"),
        ],
    );
    let before = import(folder.path());
    assert!(!before[0].gathered.tracks[0].details.has_artwork);
    let mut tag = lofty::read_from_path(&path).unwrap().primary_tag().unwrap().clone();
    let picture =
        Picture::unchecked(vec![0xff, 0xd8, 0xff]).pic_type(PictureType::CoverFront).mime_type(MimeType::Jpeg);
    tag.push_picture(picture.build());
    tag.save_to_path(&path, WriteOptions::default()).unwrap();
    let files = import(folder.path());
    let track = &files[0].gathered.tracks[0];
    let details = serde_json::to_value(&track.details).unwrap();
    assert_eq!(
        details,
        serde_json::json!({
            "albumArtist": "Various Artists", "discNumber": 2, "composer": "B. Åle", "bpm": 92.5, "initialKey": "Am",
            "language": "eng", "compilation": true, "replayGainTrack": -7.25, "replayGainAlbum": -6.5, "hasArtwork": true,
        })
    );
    assert_eq!((track.release_date.as_deref(), track.tags.as_slice()), (Some("2019"), &["Folk".to_owned()][..]));
    assert_eq!(track.ids.music_brainz.as_deref(), Some("0c2f0000-0000-4000-8000-000000000011"));
}

#[test]
fn tags_in_the_wrong_encoding_are_repaired() {
    let folder = tempfile::tempdir().unwrap();
    // ID3v1 declares no encoding: old programs wrote the encoding of their system.
    let mut file = mp3();
    let mut tag = [0_u8; 128];
    tag[..3].copy_from_slice(b"TAG");
    let (title, _, _) = encoding_rs::WINDOWS_1251.encode("Северный причал");
    let (artist, _, _) = encoding_rs::WINDOWS_1251.encode("Аня");
    tag[3..3 + title.len()].copy_from_slice(&title);
    tag[33..33 + artist.len()].copy_from_slice(&artist);
    file.extend(tag);
    put(folder.path(), "Аня - Северный причал.mp3", &file);
    let files = import(folder.path());
    assert_eq!(names(&files[0].gathered.tracks[0]), "Аня / - / Северный причал");
}

#[test]
fn files_without_tags_are_named_by_their_path() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "Ivy Marlow/Low Tide/02 Rain.wav", &wav());
    put(folder.path(), "Björn Åle - Café Nord (Official Video) [sBzrz_1Agkg].mp3", &mp3());
    let files = import(folder.path());
    let tracks: Vec<_> = files[0].gathered.tracks.iter().map(names).collect();
    assert_eq!(tracks, ["Björn Åle / - / Café Nord", "Ivy Marlow / Low Tide / Rain"]);
}
