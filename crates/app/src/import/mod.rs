//! Import: from the files people have to tracks, matched to recordings, with a report of what became of each line.
//!
//! [`recognise`] tells what a file is, [`read`] streams its entries, [`gather`] folds them into distinct tracks,
//! [`match_all`] finds the recording each one means, and [`Report`] says how that went.

mod archive;
pub mod audio;
mod catalogue;
mod columns;
mod documents;
mod gather;
mod home;
mod json;
mod keep;
mod kind;
mod lines;
mod manners;
mod matching;
mod report;
mod score;
mod sources;
pub(crate) mod spelling;
mod table;
mod text;
mod track;
mod xml;

use std::{
    fs,
    io::{self, BufRead, BufReader, Cursor, Read},
    path::Path,
};

use self::text::{SinceLastEntry, Text};
pub use self::{
    archive::{GatheredFile, gather_files, gather_uploaded},
    catalogue::{CannotAsk, Catalogue, MOST_CODES, Matches, match_all},
    gather::{Gathered, gather},
    keep::{Import, Kept, OpenEntry, track_of},
    kind::{FIRST_BYTES, Kind, Unrecognised, recognise},
    matching::{Candidate, Match, Outcome, Scored, judge},
    report::{Report, Row},
    sources::add_codes,
    track::{Entry, Ids, ImportedTrack, LineError, Problem},
};
pub(crate) use self::{
    home::KnownTracks,
    keep::{encoded, kind_id, kind_of},
    manners::{Remembering, Until},
};

/// Why nothing of a file was imported.
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

/// What a path holds: a folder of audio files, one audio file, or an export of any kind.
pub fn gather_path(path: &Path) -> Result<(Kind, Gathered), ImportError> {
    if path.is_dir() {
        let files = audio::files_in(path)?;
        let entries = (1..).zip(&files).map(|(n, file)| audio::file(n, file));
        return Ok((Kind::Audio, gather(entries)?));
    }
    let file = fs::File::open(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (kind, first, rest) = begin(file, &name)?;
    if kind == Kind::Audio {
        return Ok((kind, gather(std::iter::once(audio::file(1, path)))?));
    }
    Ok((kind, gather(read(kind, Cursor::new(first).chain(rest)))?))
}

/// The same for an upload. Audio needs to be sought in, so it must fit in memory.
pub fn gather_upload(source: impl Read + 'static, file_name: &str) -> Result<(Kind, Gathered), ImportError> {
    let (kind, first, rest) = begin(source, file_name)?;
    let mut whole = Cursor::new(first).chain(rest);
    if kind != Kind::Audio {
        return Ok((kind, gather(read(kind, whole))?));
    }
    let mut bytes = vec![];
    whole.read_to_end(&mut bytes)?;
    let entry = audio::stream(1, Cursor::new(bytes)).and_then(|track| audio::named(track, file_name));
    Ok((kind, gather(std::iter::once(entry))?))
}

fn begin<R: Read>(mut source: R, file_name: &str) -> Result<(Kind, Vec<u8>, R), ImportError> {
    let mut first = vec![];
    source.by_ref().take(FIRST_BYTES as u64).read_to_end(&mut first)?;
    let kind = recognise(&first, file_name)?;
    Ok((kind, first, source))
}

/// The entries of a file of a known kind, in bounded memory: what has been given is forgotten.
///
/// The last entry may be a [`Problem::Broken`]; then the rest of the file could not be read.
pub fn read(kind: Kind, source: impl Read + 'static) -> impl Iterator<Item = Entry> {
    let since_last_entry = SinceLastEntry::default();
    let mut text = BufReader::new(Text::new(source, since_last_entry.clone()));
    let entries: Box<dyn Iterator<Item = Entry>> = match kind {
        Kind::Exportify
        | Kind::ExportifyNet
        | Kind::TuneMyMusic
        | Kind::Soundiiz
        | Kind::Deezer
        | Kind::Tidal
        | Kind::LastFm
        | Kind::LastFmWithoutHeader
        | Kind::Table => {
            let delimiter = kind::delimiter(&first_line(&mut text));
            Box::new(table::Table::new(kind, delimiter, text))
        }
        Kind::SpotifyLibrary
        | Kind::SpotifyPlaylists
        | Kind::SpotifyHistory
        | Kind::SpotifyExtendedHistory
        | Kind::AppleTracks
        | Kind::Jspf => Box::new(documents::entries(kind, text)),
        Kind::ListenBrainz => documents::lines_of_json(text),
        Kind::AppleLibrary | Kind::Xspf => xml::entries(kind, text),
        Kind::M3u | Kind::IsrcList | Kind::PlainText => lines::entries(kind, text),
        Kind::Audio => {
            let why = "audio files are read from their path, not as text";
            Box::new(std::iter::once(Err(LineError::broken(1, why))))
        }
    };
    entries.inspect(move |_| since_last_entry.reset())
}

/// What is buffered of the first line; a failure to read comes again, and is told, when the entries are read.
fn first_line(text: &mut impl BufRead) -> String {
    let buffered = text.fill_buf().unwrap_or_default();
    String::from_utf8_lossy(buffered).trim_start().lines().next().unwrap_or_default().to_owned()
}
