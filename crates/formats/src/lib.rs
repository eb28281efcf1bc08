//! Import and playlist files: bytes in, entries out.
//!
//! [`recognise`] determines the format of a file, [`read`] streams its entries, [`gather`] merges them into distinct
//! tracks. [`gather_files`] and [`gather_uploaded`] do all of this for a file, a folder or an archive.

mod archive;
pub mod audio;
mod beginning;
mod columns;
mod content_hash;
mod details;
mod file_names;
pub mod folder;
mod folder_import;
mod format;
mod formats;
mod formula;
mod gather;
mod headers;
mod json;
mod lines;
mod mojibake;
mod path_names;
pub mod playlist_file;
mod recognise;
mod sound;
pub mod spelling;
mod table;
mod text;
mod track;
mod visit_audio;
mod xml;

use std::{
    io::{self, BufReader, Read, Seek},
    path::Path,
};

pub(crate) use self::beginning::FIRST_BYTES;
pub use self::{
    archive::{GatheredFile, gather_files, gather_uploaded},
    content_hash::content_hash,
    details::Details,
    folder_import::{audio_of_sheet, tracks_of_file},
    format::FormatKind,
    formula::formula_guarded,
    gather::{Gathered, MOST_LYRICS, MOST_TRACKS, gather},
    path_names::PathNames,
    recognise::{Unrecognised, recognise},
    sound::{NoFingerprint, fingerprint, fingerprint_of},
    track::{Entry, EntryKind, Ids, ImportedTrack, LineError, Problem},
    visit_audio::{Visit, visit_audio, visit_audio_at},
};
use self::{
    gather::gather_playlist,
    text::{SinceLastEntry, Text},
};

/// Why a file was not imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error(transparent)]
    Unrecognised(#[from] Unrecognised),
    #[error(transparent)]
    Broken(#[from] LineError),
    /// A file inside an archive, or the archive itself.
    #[error("{file}: {why}")]
    Archive { file: String, why: String },
    #[error("the file cannot be read: {0}")]
    Unreadable(#[from] io::Error),
}

/// Everything in one file. Tags of audio files are read by seeking, without reading the whole file.
pub fn gather_upload(
    mut source: impl Read + Seek + 'static,
    file_name: &str,
) -> Result<(FormatKind, Gathered), ImportError> {
    let kind = kind_of(&mut source, file_name)?;
    if kind.is_audio() {
        let hash = content_hash(&mut source)?;
        source.rewind()?;
        let entry = audio::stream(1, BufReader::new(source)).and_then(|mut track| {
            track.ids.audio = Some(hash);
            audio::named(track, file_name)
        });
        return Ok((kind, gather(std::iter::once(entry))?));
    }
    let playlist = playlist_name(file_name).filter(|_| kind.is_playlist());
    Ok((kind, gather_playlist(read(kind, source), playlist.as_deref())?))
}

/// The kind of a file. The source is at its beginning afterwards.
fn kind_of(source: &mut (impl Read + Seek), file_name: &str) -> Result<FormatKind, ImportError> {
    let mut first = vec![];
    source.by_ref().take(FIRST_BYTES as u64).read_to_end(&mut first)?;
    source.rewind()?;
    Ok(recognise(&first, file_name)?)
}

/// The name of a playlist that only the file name provides.
fn playlist_name(file_name: &str) -> Option<String> {
    let stem = Path::new(file_name).file_stem()?.to_string_lossy();
    let name = if stem.contains(' ') { stem.into_owned() } else { stem.replace('_', " ") };
    // "upload" is a placeholder for a request without a file name.
    spelling::clean(&name).filter(|name| name != "upload")
}

/// The entries of a file of a known kind, in bounded memory: returned entries are not kept.
///
/// The last entry may be a [`Problem::Broken`]: then the rest of the file could not be read.
pub fn read(kind: FormatKind, source: impl Read + 'static) -> impl Iterator<Item = Entry> {
    let since_last_entry = SinceLastEntry::default();
    let source: Box<dyn Read> = Box::new(source);
    let text = BufReader::new(Text::new(source, since_last_entry.clone()));
    kind.entries(text).inspect(move |_| since_last_entry.reset())
}
