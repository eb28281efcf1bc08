//! The current files of a folder: audio files with their companions, and playlist files. Only CUE sheets are opened.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use formats::{
    audio_of_sheet,
    folder::{FileRole, walk},
};

use super::ScanReport;
use crate::Error;

/// An audio file of this scan.
pub(super) struct Seen {
    pub(super) path: PathBuf,
    pub(super) size: i64,
    pub(super) modified_ms: i64,
    /// The lyrics, the CUE sheet and the picture that belong to it, with their sizes and times: if one changes, the
    /// track changes.
    pub(super) beside: String,
    pub(super) sheet: Option<PathBuf>,
    pub(super) art: Option<PathBuf>,
}

pub(super) struct SeenPlaylist {
    pub(super) path: PathBuf,
    pub(super) size: i64,
    pub(super) modified_ms: i64,
}

#[derive(Default)]
pub(super) struct Contents {
    pub(super) audio: Vec<Seen>,
    pub(super) playlists: Vec<SeenPlaylist>,
}

/// The companions of audio files, by the part of the path that links them.
#[derive(Default)]
struct Companions {
    /// By the path of the audio file without its extension.
    lyrics: HashMap<PathBuf, PathBuf>,
    /// By the path of the audio file.
    sheets: HashMap<PathBuf, PathBuf>,
    /// By folder.
    art: HashMap<PathBuf, PathBuf>,
}

/// All files of interest in a folder and its subfolders.
pub(super) fn look(root: &Path) -> Result<(Contents, ScanReport), Error> {
    fs::read_dir(root)
        .map_err(|error| Error::Invalid { field: "path", problem: format!("{}: {error}", root.display()) })?;
    let (mut contents, mut companions, mut report) =
        (Contents::default(), Companions::default(), ScanReport::default());
    for found in walk(root) {
        let path = found.path;
        match found.what {
            Ok(FileRole::Audio) => match stamp(&path) {
                Ok((size, modified_ms)) => {
                    contents.audio.push(Seen { size, modified_ms, beside: String::new(), sheet: None, art: None, path })
                }
                Err(error) => report.complain(&path.display().to_string(), &error.to_string()),
            },
            Ok(FileRole::Lyrics) => _ = companions.lyrics.insert(path.with_extension(""), path),
            Ok(FileRole::CueSheet) => companions.sheets.extend(audio_of_sheet(&path).map(|audio| (audio, path))),
            Ok(FileRole::Artwork) => {
                let folder = path.parent().unwrap_or(&path).to_owned();
                companions.art.entry(folder).or_insert(path);
            }
            Ok(FileRole::Export) if is_playlist(&path) => {
                // A file that cannot be read now counts as missing.
                let seen = stamp(&path).ok();
                contents.playlists.extend(seen.map(|(size, modified_ms)| SeenPlaylist { path, size, modified_ms }));
            }
            Ok(FileRole::Export | FileRole::Archive) => {}
            Err(skip) => *report.left_out.entry(skip.reason().to_owned()).or_default() += 1,
        }
    }
    contents.audio.iter_mut().for_each(|seen| companions.join(seen));
    Ok((contents, report))
}

impl Companions {
    fn join(&self, seen: &mut Seen) {
        seen.sheet = self.sheets.get(&seen.path).cloned();
        seen.art = seen.path.parent().and_then(|folder| self.art.get(folder)).cloned();
        let lyrics = self.lyrics.get(&seen.path.with_extension(""));
        let beside = [lyrics, seen.sheet.as_ref(), seen.art.as_ref()].into_iter().flatten();
        let described = beside.map(|path| {
            let (size, modified_ms) = stamp(path).unwrap_or_default();
            format!("{} {size} {modified_ms}", path.file_name().unwrap_or_default().display())
        });
        seen.beside = described.collect::<Vec<_>>().join("\n");
    }
}

fn is_playlist(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    matches!(extension.as_str(), "m3u" | "m3u8" | "pls")
}

/// Size and time of the last change.
pub(super) fn stamp(path: &Path) -> std::io::Result<(i64, i64)> {
    let about = fs::metadata(path)?;
    let since = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified_ms = since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
    Ok((i64::try_from(about.len()).unwrap_or(i64::MAX), modified_ms))
}
