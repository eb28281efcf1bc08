//! Decides when folders are scanned: shortly after a change, if the system reports changes, and once a minute anyway.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use engine::UserId;
use notify::{
    Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher,
    event::{AccessKind, AccessMode},
};
use store::FolderSource;
use tokio::{
    sync::Notify,
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::{info, instrument, warn};

use super::{Folders, ScanReport};
use crate::Error;

/// How often folders are scanned, also without a reported change.
pub(super) const LOOK_EVERY: Duration = Duration::from_secs(60);

/// How long a folder must be unchanged before it is scanned, because files are copied in pieces.
const SETTLED_AFTER: Duration = Duration::from_secs(2);

/// A folder that changes continuously is scanned after this time.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// How often a scan renews the lease of its folder.
const RENEW_EVERY: Duration = Duration::from_secs(store::FOLDER_LEASE.as_secs() / 3);

impl Folders {
    /// Synchronises the folders of this node and compares their sounds until `ended`.
    pub(crate) async fn keep_all(self, ended: CancellationToken) {
        tokio::join!(self.keep_in_step(&ended), self.keep_comparing(&ended));
        // The leases end by themselves if the database does not answer.
        _ = self.store.release_folders(&self.node).await;
    }

    async fn keep_in_step(&self, ended: &CancellationToken) {
        let mut watches = Watches::new();
        let mut due = None;
        loop {
            match self.store.all_folders().await {
                Ok(sources) => {
                    watches.follow(&sources);
                    let is_due = |source: &FolderSource| due.as_ref().is_none_or(|due: &Changed| due.holds(source));
                    self.scan_all(sources.into_iter().filter(is_due).collect(), ended).await;
                }
                Err(error) => warn!("Folders cannot be listed: {error}"),
            }
            due = tokio::select! {
                () = ended.cancelled() => return,
                () = self.added.notified() => None,
                changed = timeout(LOOK_EVERY, watches.changed()) => changed.ok(),
            };
        }
    }

    /// Scans every folder that this node watches, and returns their number.
    #[instrument(name = "folders.look_once", skip_all)]
    pub async fn look_once(&self) -> Result<usize, Error> {
        Ok(self.scan_all(self.store.all_folders().await?, &CancellationToken::new()).await)
    }

    async fn scan_all(&self, sources: Vec<FolderSource>, ended: &CancellationToken) -> usize {
        let mut n_scanned = 0;
        for source in sources {
            match self.claims(&source).await {
                Ok(true) => n_scanned += 1,
                Ok(false) => continue,
                Err(error) => {
                    warn!("A folder cannot be claimed, trying again: {error}");
                    continue;
                }
            }
            let owner = UserId::new(source.owner.clone());
            let scanned = tokio::select! {
                () = ended.cancelled() => return n_scanned,
                () = self.lost(&source) => continue,
                scanned = self.scan(&owner, &source) => scanned,
            };
            match scanned {
                Ok(report) if report.is_quiet() => {}
                Ok(ScanReport { added, changed, moved, gone, .. }) => {
                    info!("A folder changed: {added} files added, {changed} changed, {moved} moved, {gone} gone");
                }
                Err(error) => warn!("A folder cannot be read, trying again: {error}"),
            }
        }
        n_scanned
    }

    /// Whether this node watches a folder: it has the folder, and the lease.
    pub(super) async fn claims(&self, source: &FolderSource) -> Result<bool, Error> {
        // A folder of another machine is for the node there. `Watches` has told that it is not here.
        if !Path::new(&source.path).is_dir() {
            return Ok(false);
        }
        Ok(self.store.claim_folder(source.id, &self.node).await?)
    }

    /// Renews the lease of a folder until another node has it.
    async fn lost(&self, source: &FolderSource) {
        loop {
            tokio::time::sleep(RENEW_EVERY).await;
            if let Ok(false) = self.store.claim_folder(source.id, &self.node).await {
                warn!("Another node watches a folder now");
                return;
            }
        }
    }
}

/// Paths with changes.
#[derive(Debug, Default)]
struct Changed(BTreeSet<PathBuf>);

impl Changed {
    fn holds(&self, source: &FolderSource) -> bool {
        self.0.iter().any(|path| path.starts_with(&source.path))
    }
}

#[derive(Default)]
struct News {
    /// Folders, not files: their number is bounded.
    folders: Mutex<BTreeSet<PathBuf>>,
    bell: Notify,
}

impl News {
    fn tell(&self, event: &Event) {
        // Reading a file is not a change; the end of a write is one.
        let is_reading = matches!(event.kind, EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write));
        if is_reading {
            return;
        }
        let folders = event.paths.iter().map(|path| path.parent().unwrap_or(path).to_owned());
        // A panic of another thread leaves the set usable.
        self.folders.lock().unwrap_or_else(PoisonError::into_inner).extend(folders);
        self.bell.notify_one();
    }
}

/// The folders that the system watches.
struct Watches {
    news: Arc<News>,
    /// `None`: the system cannot report changes, so folders are only scanned once a minute.
    watcher: Option<RecommendedWatcher>,
    watched: BTreeSet<PathBuf>,
    /// Warnings that were already logged, so that they are not repeated every minute.
    refused: BTreeSet<PathBuf>,
}

impl Watches {
    fn new() -> Self {
        let news: Arc<News> = Arc::default();
        let told = news.clone();
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            if let Ok(event) = event {
                told.tell(&event);
            }
        });
        let watcher = watcher
            .map_err(|error| warn!("The system reports no changes of folders; they are scanned once a minute: {error}"))
            .ok();
        Self { news, watcher, watched: BTreeSet::new(), refused: BTreeSet::new() }
    }

    /// Watches exactly these folders.
    fn follow(&mut self, sources: &[FolderSource]) {
        let Some(watcher) = &mut self.watcher else { return };
        let wanted: BTreeSet<PathBuf> = sources.iter().map(|source| PathBuf::from(&source.path)).collect();
        for gone in self.watched.difference(&wanted) {
            // A folder that was deleted is not watched any more.
            _ = watcher.unwatch(gone);
        }
        self.watched.retain(|path| wanted.contains(path));
        for path in wanted {
            if self.watched.contains(&path) {
                continue;
            }
            match watcher.watch(Path::new(&path), RecursiveMode::Recursive) {
                Ok(()) => _ = self.watched.insert(path),
                Err(error) if self.refused.insert(path) => {
                    warn!("A folder cannot be watched; it is scanned once a minute: {error}");
                }
                Err(_) => {}
            }
        }
    }

    /// Waits until something has changed and the changes have ended.
    async fn changed(&self) -> Changed {
        self.news.bell.notified().await;
        let until = Instant::now() + LONGEST_WAIT;
        while Instant::now() < until && timeout(SETTLED_AFTER, self.news.bell.notified()).await.is_ok() {}
        Changed(std::mem::take(&mut *self.news.folders.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}
