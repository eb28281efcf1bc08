//! Folders that are kept in step with a library: scanned, compared, imported, and told about.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

use engine::UserId;
use formats::{
    Gathered, GatheredFile, ImportedTrack, Kind,
    audio::file_in,
    content_hash,
    folder::{Role, walk},
};
use serde::Serialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use tracing::{info, instrument, warn};
use uuid::Uuid;

use super::imports::Imports;
use crate::{Error, import::ImportFailure, turns::pause};
pub use store::FolderSource;
use store::{FileChanges, LibraryFile, Store, StoreError};

/// How often folders are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// Files that are imported in one piece.
const AT_ONCE: usize = 2000;

#[derive(Clone)]
pub struct Folders {
    pub(crate) store: Store,
    pub(crate) imports: Imports,
    /// One scan at a time: two would import the same file twice.
    pub(crate) scanning: Arc<tokio::sync::Mutex<()>>,
}

/// What a scan found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScanReport {
    /// Audio files that are there.
    pub files: usize,
    pub added: usize,
    pub changed: usize,
    pub moved: usize,
    /// Their tracks have left the library; they come back with the file, or are restored by hand.
    pub gone: usize,
    /// Files that cannot be read, and why; the first hundred.
    pub unreadable: BTreeMap<String, String>,
    /// What else lies there, by reason.
    pub left_out: BTreeMap<String, usize>,
}

/// A file as it lies there now.
struct Seen {
    path: PathBuf,
    size: i64,
    modified_ms: i64,
}

const MOST_UNREADABLE: usize = 100;

impl Folders {
    /// Adds a folder of this machine. It is scanned when it is synced.
    #[instrument(name = "folders.add", skip_all, fields(user.id = %owner))]
    pub async fn add(&self, owner: &UserId, path: &str) -> Result<FolderSource, Error> {
        let invalid = |problem: String| Error::Invalid { field: "path", problem };
        let folder = fs::canonicalize(path).map_err(|error| invalid(format!("{path}: {error}")))?;
        if !folder.is_dir() {
            return Err(invalid(format!("{path} is not a folder")));
        }
        Ok(self.store.add_folder(owner, &folder.display().to_string()).await?)
    }

    #[instrument(name = "folders.list", skip_all, fields(user.id = %owner))]
    pub async fn list(&self, owner: &UserId) -> Result<Vec<FolderSource>, Error> {
        Ok(self.store.folders(owner).await?)
    }

    /// The folder is kept in step no more; its tracks stay.
    #[instrument(name = "folders.remove", skip_all, fields(user.id = %owner, source.id = %id))]
    pub async fn remove(&self, owner: &UserId, id: Uuid) -> Result<(), Error> {
        Ok(self.store.remove_folder(owner, id).await?)
    }

    /// Brings the library in step with a folder now.
    #[instrument(name = "folders.sync", skip_all, fields(user.id = %owner, source.id = %id))]
    pub async fn sync(&self, owner: &UserId, id: Uuid) -> Result<ScanReport, Error> {
        let source = self.store.folder(owner, id).await?;
        self.scan(owner, &source).await
    }

    /// Keeps every folder in step until `ended`.
    pub(crate) async fn keep_in_step(self, ended: CancellationToken) {
        loop {
            match self.store.all_folders().await {
                Ok(sources) => self.scan_all(sources, &ended).await,
                Err(error) => warn!("Folders cannot be listed: {error}"),
            }
            if !pause(LOOK_EVERY, &ended).await {
                return;
            }
        }
    }

    async fn scan_all(&self, sources: Vec<FolderSource>, ended: &CancellationToken) {
        for source in sources {
            let owner = UserId::new(source.owner.clone());
            let scanned = tokio::select! {
                () = ended.cancelled() => return,
                scanned = self.scan(&owner, &source) => scanned,
            };
            match scanned {
                Ok(ScanReport { added: 0, changed: 0, moved: 0, gone: 0, .. }) => {}
                Ok(report) => {
                    let ScanReport { added, changed, moved, gone, .. } = report;
                    info!("A folder changed: {added} files added, {changed} changed, {moved} moved, {gone} gone");
                }
                Err(error) => warn!("A folder cannot be read, trying again: {error}"),
            }
        }
    }

    async fn scan(&self, owner: &UserId, source: &FolderSource) -> Result<ScanReport, Error> {
        let _alone = self.scanning.lock().await;
        let known = self.store.files_of(source.id).await?;
        let root = PathBuf::from(&source.path);
        let scanning = root.clone();
        let (seen, mut report) = blocking(move || look(&scanning)).await??;
        // A disk that is not mounted is an empty folder: that is no reason to empty a library.
        if seen.is_empty() && known.iter().any(|file| !file.is_missing) {
            let problem = format!("{} is empty; its disk may not be mounted", source.path);
            return Err(Error::Invalid { field: "path", problem });
        }
        report.files = seen.len();
        let (compared, hashed) = blocking(move || compare(known, seen)).await?;
        report.added = compared.new.len();
        report.changed = compared.changed.len();
        report.moved = compared.moved.len();
        report.gone = compared.gone.len();
        let FileParts { new, changed, moved, gone } = compared;
        let moves = FileChanges { moved, gone, put: vec![] };
        self.store.keep_files(owner, source.id, &moves, None).await?;
        let fresh: Vec<Seen> = new.into_iter().chain(changed).collect();
        for part in chunks(fresh, AT_ONCE) {
            self.import(owner, source, &root, part, &hashed, &mut report).await?;
        }
        self.store.keep_files(owner, source.id, &FileChanges::default(), Some(&json!(report))).await?;
        Ok(report)
    }

    /// Reads the tags of some files and makes tracks of them.
    async fn import(
        &self,
        owner: &UserId,
        source: &FolderSource,
        root: &Path,
        files: Vec<Seen>,
        hashes: &HashMap<PathBuf, String>,
        report: &mut ScanReport,
    ) -> Result<(), Error> {
        let root = root.to_owned();
        let read = blocking(move || read_tags(&root, files)).await?;
        let mut gathered = Gathered { n_entries: read.len() as u64, ..Gathered::default() };
        let mut readable = vec![];
        for (seen, entry) in read {
            match entry {
                Ok(track) => {
                    gathered.tracks.push(*track);
                    readable.push(seen);
                }
                Err(why) if report.unreadable.len() < MOST_UNREADABLE => {
                    report.unreadable.insert(seen.path.display().to_string(), why);
                }
                Err(_) => {}
            }
        }
        let kind = Kind::with_id("audio").ok_or_else(no_kind)?;
        let name = source.path.clone();
        let ids = self.imports.import_gathered(owner, GatheredFile { name, kind, gathered }).await;
        let ids = ids.map_err(service_error)?;
        let put = readable.into_iter().zip(ids).map(|(seen, id)| {
            let content_hash = hashes.get(&seen.path).cloned();
            let path = seen.path.display().to_string();
            let (size, modified_ms) = (seen.size, seen.modified_ms);
            let file =
                LibraryFile { path, size, modified_ms, content_hash, recording_id: id.to_string(), is_missing: false };
            (file, id)
        });
        let changes = FileChanges { put: put.collect(), ..FileChanges::default() };
        Ok(self.store.keep_files(owner, source.id, &changes, None).await?)
    }
}

fn no_kind() -> Error {
    Error::Invalid { field: "kind", problem: "this build reads no audio".into() }
}

fn service_error(failure: ImportFailure) -> Error {
    match failure {
        ImportFailure::Service(error) => error,
        other => Error::Invalid { field: "path", problem: other.to_string() },
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| StoreError::Database(sqlx::Error::Io(std::io::Error::other(error))).into())
}

/// Every audio file below a folder, and what else there is.
fn look(root: &Path) -> Result<(Vec<Seen>, ScanReport), Error> {
    fs::read_dir(root)
        .map_err(|error| Error::Invalid { field: "path", problem: format!("{}: {error}", root.display()) })?;
    let (mut seen, mut report) = (vec![], ScanReport::default());
    for found in walk(root) {
        match found.what {
            Ok(Role::Audio) => match fs::metadata(&found.path) {
                Ok(about) => seen.push(Seen {
                    size: i64::try_from(about.len()).unwrap_or(i64::MAX),
                    modified_ms: modified_ms(&about),
                    path: found.path,
                }),
                Err(error) => _ = report.unreadable.insert(found.path.display().to_string(), error.to_string()),
            },
            Ok(_) => {}
            Err(skip) => *report.left_out.entry(skip.reason().to_owned()).or_default() += 1,
        }
    }
    Ok((seen, report))
}

fn modified_ms(about: &fs::Metadata) -> i64 {
    let since = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

struct FileParts {
    new: Vec<Seen>,
    changed: Vec<Seen>,
    moved: Vec<(String, LibraryFile)>,
    gone: Vec<String>,
}

/// What has changed since the last scan. Only files that are new or changed are opened, for a hash of their sound.
fn compare(known: Vec<LibraryFile>, seen: Vec<Seen>) -> (FileParts, HashMap<PathBuf, String>) {
    let mut by_path: HashMap<String, LibraryFile> = known.into_iter().map(|file| (file.path.clone(), file)).collect();
    let (mut fresh, mut changed) = (vec![], vec![]);
    for file in seen {
        match by_path.remove(&file.path.display().to_string()) {
            Some(old) if !old.is_missing && (old.size, old.modified_ms) == (file.size, file.modified_ms) => {}
            Some(_) => changed.push(file),
            None => fresh.push(file),
        }
    }
    let mut hashes = HashMap::new();
    for file in fresh.iter().chain(&changed) {
        if let Ok(hash) = fs::File::open(&file.path).and_then(content_hash) {
            hashes.insert(file.path.clone(), hash);
        }
    }
    // What is left was there and is not: under another name, or gone.
    let mut lost: HashMap<String, LibraryFile> = HashMap::new();
    for file in by_path.into_values() {
        if let Some(hash) = file.content_hash.clone() {
            lost.insert(hash, file);
        } else {
            lost.insert(file.path.clone(), file);
        }
    }
    let (mut new, mut moved) = (vec![], vec![]);
    for file in fresh {
        match hashes.get(&file.path).and_then(|hash| lost.remove(hash)) {
            Some(old) => {
                let path = file.path.display().to_string();
                moved.push((
                    old.path.clone(),
                    LibraryFile { path, size: file.size, modified_ms: file.modified_ms, ..old },
                ));
            }
            None => new.push(file),
        }
    }
    let gone = lost.into_values().filter(|file| !file.is_missing).map(|file| file.path).collect();
    (FileParts { new, changed, moved, gone }, hashes)
}

type Read = (Seen, Result<Box<ImportedTrack>, String>);

fn read_tags(root: &Path, files: Vec<Seen>) -> Vec<Read> {
    let read = |(n, seen): (usize, Seen)| {
        let relative = seen.path.strip_prefix(root).unwrap_or(&seen.path).to_owned();
        let entry = file_in(n as u64 + 1, &seen.path, &relative).map(Box::new);
        (seen, entry.map_err(|error| error.problem.to_string()))
    };
    files.into_iter().enumerate().map(read).collect()
}

fn chunks<T>(items: Vec<T>, size: usize) -> Vec<Vec<T>> {
    let mut chunks = vec![];
    let mut items = items.into_iter().peekable();
    while items.peek().is_some() {
        chunks.push(items.by_ref().take(size).collect());
    }
    chunks
}
