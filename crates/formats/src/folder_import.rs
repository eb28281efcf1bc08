//! Imports a folder: its audio files become one gathered file with playlists, each export in it one gathered file of
//! its own.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs::File,
    io::{BufReader, Read},
    path::{Path, PathBuf},
};

use super::{
    FIRST_BYTES, FormatKind, Gathered, GatheredFile, ImportError, archive, audio,
    content_hash::content_hash,
    folder::{FileRole, Skip, walk},
    format::AUDIO_ID,
    formats::cue::Sheet,
    gather, gather_upload,
    spelling::clean,
    text::{SinceLastEntry, Text},
    track::{Entry, ImportedTrack, LineError},
};

/// Everything in a folder. A file that cannot be read is reported by name and does not stop the rest.
pub(crate) fn gather_folder(folder: &Path, scratch: &Path) -> Vec<GatheredFile> {
    let contents = Contents::of(folder);
    let mut audio = contents.audio(folder);
    let mut others = vec![];
    for path in contents.exports.iter().chain(&contents.archives) {
        let name = path.strip_prefix(folder).unwrap_or(path).display().to_string();
        match export(path, scratch) {
            Ok(files) => {
                for file in files {
                    let name = if file.name == archive::file_name(path) {
                        name.clone()
                    } else {
                        format!("{name}/{}", file.name)
                    };
                    if !audio.take_playlists(path, &file.gathered) {
                        others.push(GatheredFile { name, ..file });
                    }
                }
            }
            // Music folders also contain notes and licences.
            Err(ImportError::Unrecognised(_)) => audio.gathered.leave_out(Skip::Other.reason()),
            Err(error) => audio.gathered.complain(&name, &error),
        }
    }
    for (path, skip) in contents.skipped {
        match skip {
            Skip::Unreadable(why) => audio.gathered.complain(&path.display().to_string(), &why),
            other => audio.gathered.leave_out(other.reason()),
        }
    }
    let name = archive::file_name(folder);
    let kind = FormatKind::with_id(AUDIO_ID).expect("the list of formats has it");
    let mut files = vec![GatheredFile { name, kind, gathered: audio.gathered }];
    files.extend(others);
    // Added only if it is not empty: a folder of exports has no audio.
    let says =
        files[0].gathered != Gathered::default() && files[0].gathered.n_entries + files[0].gathered.n_unusable > 0;
    if files.len() > 1 && !says {
        let left_out = std::mem::take(&mut files[0].gathered.left_out);
        files.remove(0);
        files[0].gathered.left_out.extend(left_out);
    }
    files
}

/// One audio file by its path, with the files that belong to it; `None` if it is not audio.
pub(crate) fn gather_audio_path(path: &Path) -> Result<Option<(FormatKind, Gathered)>, ImportError> {
    let mut first = vec![];
    File::open(path)?.take(FIRST_BYTES as u64).read_to_end(&mut first)?;
    match super::recognise(&first, &archive::file_name(path)) {
        Ok(kind) if kind.is_audio() => {
            let entry = audio::file(1, path).map(|track| with_hash(track, path));
            Ok(Some((kind, gather(std::iter::once(entry))?)))
        }
        _ => Ok(None),
    }
}

/// The tracks of one audio file of a library, in playing order: one, or those of the CUE sheet that cuts it. `relative` is its
/// path within the library, `art` a picture in its folder.
pub fn tracks_of_file(line: u64, path: &Path, relative: &Path, sheet: Option<&Path>, art: Option<&Path>) -> Vec<Entry> {
    let entry = audio::file_in(line, path, relative).map(|track| with_art(track, art));
    match (sheet.and_then(cutting_sheet), entry) {
        (Some((audio, sheet)), Ok(whole)) if audio == path => tracks_of_sheet(sheet, &whole),
        (_, entry) => vec![entry],
    }
}

/// The audio file that a CUE sheet cuts into tracks, if it does.
pub fn audio_of_sheet(path: &Path) -> Option<PathBuf> {
    cutting_sheet(path).map(|(audio, _)| audio)
}

fn export(path: &Path, scratch: &Path) -> Result<Vec<GatheredFile>, ImportError> {
    let name = archive::file_name(path);
    if super::folder::role(path) == Ok(FileRole::Archive) {
        return archive::gather_uploaded(File::open(path)?, &name, scratch);
    }
    let (kind, gathered) = gather_upload(File::open(path)?, &name)?;
    Ok(vec![GatheredFile { name, kind, gathered }])
}

/// The files of a folder by role.
#[derive(Default)]
struct Contents {
    audio: Vec<PathBuf>,
    exports: Vec<PathBuf>,
    archives: Vec<PathBuf>,
    sheets: Vec<PathBuf>,
    /// By folder.
    artwork: HashMap<PathBuf, PathBuf>,
    skipped: Vec<(PathBuf, Skip)>,
}

impl Contents {
    fn of(folder: &Path) -> Self {
        let mut contents = Self::default();
        for found in walk(folder) {
            match found.what {
                Ok(FileRole::Audio) => contents.audio.push(found.path),
                Ok(FileRole::Export) => contents.exports.push(found.path),
                Ok(FileRole::Archive) => contents.archives.push(found.path),
                Ok(FileRole::CueSheet) => contents.sheets.push(found.path),
                Ok(FileRole::Artwork) => {
                    let folder = found.path.parent().unwrap_or(&found.path).to_owned();
                    contents.artwork.entry(folder).or_insert(found.path);
                }
                // Read together with its audio file.
                Ok(FileRole::Lyrics) => {}
                Err(skip) => contents.skipped.push((found.path, skip)),
            }
        }
        contents
    }

    fn audio(&self, folder: &Path) -> AudioFiles {
        let mut sheets: HashMap<PathBuf, Sheet> = HashMap::new();
        let known: HashSet<&PathBuf> = self.audio.iter().collect();
        for path in &self.sheets {
            if let Some((audio, sheet)) = cutting_sheet(path)
                && known.contains(&audio)
            {
                sheets.insert(audio, sheet);
            }
        }
        let entries = (1..).zip(&self.audio).flat_map(|(n, path)| {
            let art = path.parent().and_then(|folder| self.artwork.get(folder)).map(PathBuf::as_path);
            let relative = path.strip_prefix(folder).unwrap_or(path);
            let entry = audio::file_in(n, path, relative).map(|track| with_art(track, art));
            match (sheets.remove(path), entry) {
                (Some(sheet), Ok(whole)) => tracks_of_sheet(sheet, &whole),
                (_, entry) => vec![entry.map(|track| with_hash(track, path))],
            }
        });
        let gathered = gather(entries).unwrap_or_else(Gathered::from_error);
        let at = gathered.tracks.iter().enumerate();
        // A file that a CUE sheet divides into tracks is not a track itself.
        let whole = at.filter(|(_, track)| track.details.start.is_none());
        let positions = whole.filter_map(|(n, track)| Some((track.ids.location.clone()?, n))).collect();
        AudioFiles { gathered, positions }
    }
}

fn with_art(mut track: ImportedTrack, art: Option<&Path>) -> ImportedTrack {
    track.details.folder_art = art.and_then(|path| clean(&path.display().to_string()));
    track
}

/// A file that cannot be read again is only not compared.
fn with_hash(mut track: ImportedTrack, path: &Path) -> ImportedTrack {
    track.ids.audio = File::open(path).and_then(content_hash).ok();
    track
}

/// A sheet that divides one audio file into several tracks, and the path of that file.
fn cutting_sheet(path: &Path) -> Option<(PathBuf, Sheet)> {
    let text = Text::new(File::open(path).ok()?, SinceLastEntry::default());
    let sheet = Sheet::read(BufReader::new(text)).ok()?;
    let named = path.with_file_name(sheet.tracks.first()?.ids.location.as_deref()?);
    // Sheets name the original WAV file, which is often converted to FLAC later.
    let audio = [named, path.with_extension("flac"), path.with_extension("ape"), path.with_extension("mp3")];
    let audio = audio.into_iter().find(|path| path.is_file())?;
    (sheet.n_files == 1 && sheet.tracks.len() > 1).then_some((audio, sheet))
}

fn tracks_of_sheet(mut sheet: Sheet, whole: &ImportedTrack) -> Vec<Entry> {
    if let Some(seconds) = whole.duration {
        sheet.end_at(seconds);
    }
    let tracks = sheet.tracks.into_iter().map(|mut track| {
        track.line = whole.line;
        track.ids.location.clone_from(&whole.ids.location);
        track.details.folder_art.clone_from(&whole.details.folder_art);
        track.details.has_artwork = whole.details.has_artwork;
        track.album = track.album.take().or_else(|| whole.album.clone());
        if track.artists.is_empty() {
            track.artists.clone_from(&whole.artists);
        }
        if track.tags.is_empty() {
            track.tags.clone_from(&whole.tags);
        }
        track.finish()
    });
    tracks.collect()
}

struct AudioFiles {
    gathered: Gathered,
    /// Positions in `gathered.tracks`, by path.
    positions: HashMap<String, usize>,
}

impl AudioFiles {
    /// A playlist that contains only files of this folder refers to their tracks and adds none.
    fn take_playlists(&mut self, file: &Path, from: &Gathered) -> bool {
        let folder = file.parent().unwrap_or(file);
        let position = |track: &ImportedTrack| {
            let path = folder.join(track.ids.location.as_deref()?.replace('\\', "/"));
            self.positions.get(&clean(&normal(&path).display().to_string())?).copied()
        };
        let Some(positions) = from.tracks.iter().map(position).collect::<Option<Vec<_>>>() else { return false };
        if positions.is_empty() || from.playlists.is_empty() {
            return false;
        }
        let playlists: BTreeMap<_, Vec<_>> = from
            .playlists
            .iter()
            .map(|(name, places)| (name.clone(), places.iter().map(|n| positions[*n]).collect()))
            .collect();
        self.gathered.playlists.extend(playlists);
        true
    }
}

/// The path without `.` and `..`, without access to the file system.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => _ = normal.pop(),
            part => normal.push(part),
        }
    }
    normal
}

impl Gathered {
    fn complain(&mut self, name: &str, why: &dyn std::fmt::Display) {
        self.n_unusable += 1;
        self.unusable.push(LineError::unusable(0, format!("{name}: {why}")));
    }

    fn from_error(error: LineError) -> Self {
        let mut gathered = Self::default();
        gathered.complain("", &error.problem);
        gathered
    }
}
