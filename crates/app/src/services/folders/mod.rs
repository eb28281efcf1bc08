//! Folders that are synchronised with a library: scanned, compared, imported and reported.

mod compare;
mod look;
mod playlists;
mod same_track;
mod sounds;
mod uploads;
mod watch;

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use engine::UserId;
use formats::{FormatKind, Gathered, GatheredFile, ImportedTrack, tracks_of_file};
use music::TrackId;
use serde::Serialize;
use serde_json::json;
use tracing::instrument;
use uuid::Uuid;

use self::{
    compare::{Compared, compare},
    look::{Seen, look},
};
use super::imports::Imports;
use crate::{Error, Operator, enrich::Pipeline, import::ImportFailure};
use store::{FileChanges, LibraryFile, Store, StoreError};
pub use store::{FolderSound, FolderSource};

/// How many files are imported at once.
const AT_ONCE: usize = 2000;

#[derive(Clone)]
pub struct Folders {
    pub(crate) store: Store,
    pub(crate) imports: Imports,
    pub(crate) pipeline: Arc<Pipeline>,
    /// The name under which this process leases folders.
    pub(crate) node: Arc<str>,
    /// Files with the same sound become one track.
    pub(crate) compares_sounds: bool,
    /// Only one scan runs at a time, because two would import the same file twice.
    pub(crate) scanning: Arc<tokio::sync::Mutex<()>>,
    /// Notified when a folder was added, so that it is watched.
    pub(crate) added: Arc<tokio::sync::Notify>,
    /// Notified when a scan found something new, so that its sounds are compared.
    pub(crate) scanned: Arc<tokio::sync::Notify>,
    /// Uploaded audio that is to be compared.
    pub(crate) uploads: Arc<uploads::Waiting>,
}

/// The report of a scan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScanReport {
    /// The number of audio files.
    pub files: usize,
    /// New files that can be read.
    pub added: usize,
    pub changed: usize,
    pub moved: usize,
    /// Missing files. Their tracks were removed from the library; they return with the file or are restored by hand.
    pub gone: usize,
    /// Playlist files that are new or changed.
    pub playlists: usize,
    /// Files that cannot be read, and why; the first hundred.
    pub unreadable: BTreeMap<String, String>,
    /// Other files, by the reason why they are ignored.
    pub left_out: BTreeMap<String, usize>,
}

impl ScanReport {
    fn is_quiet(&self) -> bool {
        self.added + self.changed + self.moved + self.gone + self.playlists == 0
    }

    fn complain(&mut self, path: &str, why: &str) {
        const MOST: usize = 100;
        if self.unreadable.len() < MOST {
            self.unreadable.insert(path.to_owned(), why.to_owned());
        }
    }
}

impl Folders {
    /// Adds a folder of this machine. It is scanned when it is synchronised, or within a minute by a running server.
    #[instrument(name = "folders.add", skip_all, fields(user.id = %owner))]
    pub async fn add(&self, _: &Operator, owner: &UserId, path: &str) -> Result<FolderSource, Error> {
        let invalid = |problem: String| Error::Invalid { field: "path", problem };
        let folder = fs::canonicalize(path).map_err(|error| invalid(format!("{path}: {error}")))?;
        if !folder.is_dir() {
            return Err(invalid(format!("{path} is not a folder")));
        }
        // A file in two folders would be added by one scan and removed by the other.
        let overlaps = |other: &FolderSource| {
            let other = Path::new(&other.path);
            other != folder && (other.starts_with(&folder) || folder.starts_with(other))
        };
        if let Some(other) = self.store.folders(owner).await?.iter().find(|other| overlaps(other)) {
            return Err(invalid(format!("{path} overlaps with {}, which is already synchronised", other.path)));
        }
        let source = self.store.add_folder(owner, &folder.display().to_string()).await?;
        self.added.notify_one();
        Ok(source)
    }

    #[instrument(name = "folders.list", skip_all, fields(user.id = %owner))]
    pub async fn list(&self, owner: &UserId) -> Result<Vec<FolderSource>, Error> {
        Ok(self.store.folders(owner).await?)
    }

    /// The progress of the comparison of sounds in a folder; `None` if sounds are not compared.
    #[instrument(name = "folders.sound", skip_all, fields(user.id = %owner, source.id = %id))]
    pub async fn sound(&self, owner: &UserId, id: Uuid) -> Result<Option<FolderSound>, Error> {
        if !self.compares_sounds {
            return Ok(None);
        }
        Ok(Some(self.store.folder_sound(owner, id).await?))
    }

    /// Stops the synchronisation of a folder. Its tracks are kept.
    #[instrument(name = "folders.remove", skip_all, fields(user.id = %owner, source.id = %id))]
    pub async fn remove(&self, owner: &UserId, id: Uuid) -> Result<(), Error> {
        Ok(self.store.remove_folder(owner, id).await?)
    }

    /// Synchronises the library with a folder now.
    #[instrument(name = "folders.sync", skip_all, fields(user.id = %owner, source.id = %id))]
    pub async fn sync(&self, owner: &UserId, id: Uuid) -> Result<ScanReport, Error> {
        let source = self.store.folder(owner, id).await?;
        self.scan(owner, &source).await
    }

    async fn scan(&self, owner: &UserId, source: &FolderSource) -> Result<ScanReport, Error> {
        let _alone = self.scanning.lock().await;
        let known = self.store.files_of(source.id).await?;
        let root = PathBuf::from(&source.path);
        let scanning = root.clone();
        let (seen, mut report) = blocking(move || look(&scanning)).await??;
        // The folder of a disk that is not mounted is empty. That must not empty the library.
        if seen.audio.is_empty() && known.iter().any(|file| !file.is_missing) {
            let problem = format!("{} is empty; its disk may not be mounted", source.path);
            return Err(Error::Invalid { field: "path", problem });
        }
        report.files = seen.audio.len();
        let audio = seen.audio;
        let compared = blocking(move || compare(known, audio)).await?;
        let Compared { fresh, moved, gone, unreadable } = compared;
        report.moved = moved.len();
        report.gone = gone.len();
        unreadable.iter().for_each(|(path, why)| report.complain(path, why));
        self.store.keep_files(owner, source.id, &FileChanges { moved, gone, put: vec![] }).await?;
        for part in chunks(fresh, AT_ONCE) {
            self.import(owner, source, &root, part, &mut report).await?;
        }
        self.keep_playlists(owner, source, seen.playlists, &mut report).await?;
        self.store.keep_scan(source.id, &json!(report)).await?;
        if !report.is_quiet() {
            self.scanned.notify_one();
        }
        Ok(report)
    }

    /// Reads the tags of some files and creates their tracks.
    async fn import(
        &self,
        owner: &UserId,
        source: &FolderSource,
        root: &Path,
        files: Vec<Fresh>,
        report: &mut ScanReport,
    ) -> Result<(), Error> {
        let root = root.to_owned();
        let read = blocking(move || read_tags(&root, files)).await?;
        let mut gathered = Gathered { n_entries: read.len() as u64, ..Gathered::default() };
        let (mut put, mut same) = (vec![], HashMap::new());
        for ReadFile { fresh, tracks } in read {
            match tracks {
                Ok(tracks) => {
                    report.added += usize::from(fresh.news == News::Added);
                    report.changed += usize::from(fresh.news == News::Changed);
                    for (n, track) in tracks.into_iter().enumerate() {
                        // A new CUE sheet divides a file into other tracks than before.
                        let whole = track.details.start.is_none();
                        same.extend(fresh.same.filter(|_| whole).map(|id| (gathered.tracks.len(), id)));
                        put.push(fresh.file(&track, if whole { 0 } else { n + 1 }));
                        gathered.tracks.push(track);
                    }
                }
                Err(why) => {
                    report.complain(&fresh.seen.path.display().to_string(), &why);
                    put.push(fresh.unreadable(why));
                }
            }
        }
        let kind = FormatKind::with_id("audio").ok_or_else(no_kind)?;
        let file = GatheredFile { name: source.path.clone(), kind, gathered };
        let ids = self.imports.import_gathered(owner, file, same).await.map_err(service_error)?;
        for (file, id) in put.iter_mut().filter(|file| file.problem.is_none()).zip(ids) {
            file.recording_id = id.to_string();
        }
        Ok(self.store.keep_files(owner, source.id, &FileChanges { put, ..FileChanges::default() }).await?)
    }
}

/// Why a file must be read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum News {
    Added,
    Changed,
    /// Its tags may have changed too, and a file without tags is named by its path.
    Moved,
}

/// A file that must be read.
struct Fresh {
    seen: Seen,
    hash: Option<String>,
    news: News,
    is_pinned: bool,
    /// Its existing track: the audio has not changed.
    same: Option<TrackId>,
}

impl Fresh {
    fn file(&self, track: &ImportedTrack, part: usize) -> LibraryFile {
        let embedded = track.details.has_artwork.then(|| "embedded".to_owned());
        LibraryFile {
            path: self.seen.path.display().to_string(),
            part: i32::try_from(part).unwrap_or(i32::MAX),
            size: self.seen.size,
            modified_ms: self.seen.modified_ms,
            beside: self.seen.beside.clone(),
            content_hash: self.hash.clone(),
            recording_id: String::new(),
            artwork: embedded.or_else(|| track.details.folder_art.clone()),
            problem: None,
            is_pinned: self.is_pinned,
            is_missing: false,
        }
    }

    fn unreadable(&self, why: String) -> LibraryFile {
        LibraryFile { problem: Some(why), ..self.file(&ImportedTrack::default(), 0) }
    }
}

struct ReadFile {
    fresh: Fresh,
    /// In playing order, or why there are none.
    tracks: Result<Vec<ImportedTrack>, String>,
}

fn read_tags(root: &Path, files: Vec<Fresh>) -> Vec<ReadFile> {
    let read = |(n, fresh): (usize, Fresh)| {
        let Seen { path, sheet, art, .. } = &fresh.seen;
        let relative = path.strip_prefix(root).unwrap_or(path);
        let entries = tracks_of_file(n as u64 + 1, path, relative, sheet.as_deref(), art.as_deref());
        let tracks = entries.into_iter().collect::<Result<Vec<_>, _>>().map_err(|error| error.problem.to_string());
        ReadFile { fresh, tracks }
    };
    files.into_iter().enumerate().map(read).collect()
}

fn no_kind() -> Error {
    Error::Invalid { field: "kind", problem: "this build does not support audio files".into() }
}

fn service_error(failure: ImportFailure) -> Error {
    match failure {
        ImportFailure::Service(error) => error,
        other => Error::Invalid { field: "path", problem: other.to_string() },
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
    let done = background::spawn_blocking(work).await;
    done.map_err(|error| StoreError::Database(sqlx::Error::Io(std::io::Error::other(error))).into())
}

fn chunks<T>(items: Vec<T>, size: usize) -> Vec<Vec<T>> {
    let mut chunks = vec![];
    let mut items = items.into_iter().peekable();
    while items.peek().is_some() {
        chunks.push(items.by_ref().take(size).collect());
    }
    chunks
}
