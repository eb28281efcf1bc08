//! The embedded index: tantivy for words, our own vectors for meaning, one folder in the data directory.
//!
//! The folder belongs to one process at a time (a lock on `owner.lock`). Another process that opens it reads what the
//! owner has committed and is refused when it writes; when the owner is gone, its next write takes over.

mod schema;
mod search;
mod snapshot;
mod write;

use std::{
    collections::BTreeSet,
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use anyhow::Context;
use futures::future::BoxFuture;
use tantivy::{Index, IndexReader, ReloadPolicy, directory::MmapDirectory};
use tracing::{info, warn};

use query::features::sound_wishes;

use super::{
    Change, Filter, Hit, IndexError, IndexInfo, Scope, SearchPlan, Successor, TrackIndex, fuse::Ranking, vectors::Vectors,
    why::Asked,
};
use crate::embed::{Embedder, EmbedderId, Kind};
use music::{DocumentId, Isrc, Track};
use schema::{Fields, Note};
use search::Search;
use snapshot::Snapshot;
use write::Owned;

/// Cheap to clone; all clones are one index.
#[derive(Clone)]
pub struct EmbeddedIndex {
    shared: Arc<Shared>,
}

struct Shared {
    embedder: Arc<dyn Embedder>,
    home: PathBuf,
    fields: Fields,
    index: Index,
    reader: IndexReader,
    vectors: Vectors,
    snapshot: RwLock<Arc<Snapshot>>,
    /// `None` while another process owns the folder.
    owned: Mutex<Option<Owned>>,
    /// Held while a batch is written, so that batches come one after another.
    turn: tokio::sync::Mutex<()>,
}

const LOCK_FILE: &str = "owner.lock";
const VECTOR_FILE: &str = "vectors.i16";

impl EmbeddedIndex {
    /// Opens the index of this embedder in a folder. One that is missing, broken or of an older version is made new
    /// and empty; [`super::catch_up`] fills it.
    pub fn open(dir: &Path, embedder: Arc<dyn Embedder>) -> Result<Self, IndexError> {
        let home = home(dir, &embedder.id());
        fs::create_dir_all(&home)?;
        let Some(lock) = try_lock(&home)? else {
            info!("Another process owns the index; reading what it writes");
            let shared = Shared::open(&home, embedder)
                .map_err(|error| IndexError::Away(format!("another process is making it: {error}")))?;
            return Ok(Self { shared: Arc::new(shared) });
        };
        let shared = match Shared::open(&home, embedder.clone()) {
            Ok(shared) => shared,
            Err(error) => {
                warn!("The index in {} cannot be used and is made again: {error}", home.display());
                clear(&home)?;
                Shared::open(&home, embedder)?
            }
        };
        shared.own(lock)?;
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Whether an embedder already has an index in this folder: if not, it is made side by side with the present one.
    pub fn exists(dir: &Path, embedder: &EmbedderId) -> bool {
        home(dir, embedder).join("meta.json").exists()
    }

    /// Deletes the indexes of all other embedders, once this one has caught up.
    fn discard_others(&self) -> Result<(), IndexError> {
        let Some(dir) = self.shared.home.parent() else { return Ok(()) };
        for entry in fs::read_dir(dir)? {
            let path = entry?.path();
            if path.is_dir() && path != self.shared.home && try_lock(&path)?.is_some() {
                fs::remove_dir_all(path)?;
            }
        }
        Ok(())
    }

    /// Memory that grows with the number of tracks, apart from the system's page cache.
    pub fn memory_bytes(&self) -> usize {
        self.shared.vectors.memory_bytes() + self.shared.vectors.len() as usize * size_of::<tantivy::DocAddress>()
    }

    /// The codes of the best tracks by one way of ordering: what search is measured with.
    pub async fn rank(&self, query: &str, limit: usize, ranking: Ranking) -> Result<Vec<Isrc>, IndexError> {
        let query = query.to_string();
        let vector = self.shared.embedder.embed(std::slice::from_ref(&query), Kind::Query).await?.remove(0);
        let shared = self.shared.clone();
        blocking(move || {
            let snapshot = shared.current()?;
            let found = shared.ranked(&snapshot, ranking).run(&[(query, vector)], &Filter::default(), &Scope::Everything, limit)?;
            let codes = found.into_iter().map(|scored| Ok(snapshot.track(&shared.fields, scored.key)?.isrc));
            codes.filter_map(Result::transpose).collect()
        })
        .await
    }

    async fn find(&self, plan: &SearchPlan) -> Result<Vec<Hit>, IndexError> {
        let embedding = self.shared.embedder.embed(&plan.queries, Kind::Query);
        let vectors = plan.timings.measure("embeddingDurationMs", embedding).await?;
        let queries: Vec<(String, Vec<f32>)> = plan.queries.iter().cloned().zip(vectors).collect();
        let shared = self.shared.clone();
        let (filter, scope, limit) = (plan.filter.clone(), plan.scope.clone(), plan.limit);
        blocking(move || shared.search(&queries, &filter, &scope, limit)).await
    }
}

impl Successor for EmbeddedIndex {
    fn took_over(&self) -> Result<(), IndexError> {
        self.discard_others()
    }
}

impl TrackIndex for EmbeddedIndex {
    fn search<'a>(&'a self, plan: &'a SearchPlan) -> BoxFuture<'a, Result<Vec<Hit>, IndexError>> {
        Box::pin(self.find(plan))
    }

    fn get<'a>(&'a self, ids: &'a [DocumentId]) -> BoxFuture<'a, Result<Vec<Track>, IndexError>> {
        let (shared, ids) = (self.shared.clone(), ids.to_vec());
        Box::pin(blocking(move || shared.get(&ids)))
    }

    fn contains<'a>(&'a self, ids: &'a [DocumentId]) -> BoxFuture<'a, Result<BTreeSet<DocumentId>, IndexError>> {
        let (shared, ids) = (self.shared.clone(), ids.to_vec());
        Box::pin(blocking(move || shared.contains(ids)))
    }

    fn apply<'a>(&'a self, changes: &'a [Change]) -> BoxFuture<'a, Result<(), IndexError>> {
        Box::pin(self.write(changes))
    }

    fn info(&self) -> BoxFuture<'_, Result<IndexInfo, IndexError>> {
        let shared = self.shared.clone();
        Box::pin(blocking(move || shared.info()))
    }
}

impl Shared {
    fn open(home: &Path, embedder: Arc<dyn Embedder>) -> Result<Self, IndexError> {
        let fields = Fields::new();
        let directory = MmapDirectory::open(home).context("the index folder cannot be opened")?;
        let index = Index::open_or_create(directory, fields.schema.clone())?;
        Fields::register_tokenizers(&index);
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let note = read_note(&index)?;
        if note.embedder.as_ref().is_some_and(|made_by| *made_by != embedder.id()) {
            return Err(IndexError::WrongSchema("its vectors are of another embedder".into()));
        }
        let vectors = Vectors::open(&home.join(VECTOR_FILE), embedder.id().dims, note.n_slots)?;
        let snapshot = RwLock::new(Arc::new(Snapshot::new(reader.searcher(), note, &vectors)?));
        let (owned, turn, home) = (Mutex::default(), tokio::sync::Mutex::default(), home.to_path_buf());
        Ok(Self { embedder, home, fields, index, reader, vectors, snapshot, owned, turn })
    }

    fn search(
        &self,
        queries: &[(String, Vec<f32>)],
        filter: &Filter,
        scope: &Scope,
        limit: usize,
    ) -> Result<Vec<Hit>, IndexError> {
        let snapshot = self.current()?;
        let found = self.ranked(&snapshot, Ranking::Hybrid).run(queries, filter, scope, limit)?;
        let texts: Vec<String> = queries.iter().map(|(text, _)| text.clone()).collect();
        let wishes = texts.first().map(|text| sound_wishes(text)).unwrap_or_default();
        let asked = Asked::new(&texts, wishes);
        let hit = |scored: super::fuse::Scored<_>| {
            let track = snapshot.track(&self.fields, scored.key)?;
            Ok(Hit { why: asked.why(&track), score: scored.score, track })
        };
        found.into_iter().map(hit).collect()
    }

    fn ranked<'a>(&'a self, snapshot: &'a Snapshot, ranking: Ranking) -> Search<'a> {
        Search { fields: &self.fields, snapshot, vectors: &self.vectors, ranking }
    }

    fn get(&self, ids: &[DocumentId]) -> Result<Vec<Track>, IndexError> {
        let snapshot = self.current()?;
        let mut tracks = Vec::with_capacity(ids.len());
        for id in ids {
            if let Some(address) = snapshot.find(&self.fields, *id)? {
                tracks.push(snapshot.track(&self.fields, address)?);
            }
        }
        Ok(tracks)
    }

    fn contains(&self, ids: Vec<DocumentId>) -> Result<BTreeSet<DocumentId>, IndexError> {
        let snapshot = self.current()?;
        let mut found = BTreeSet::new();
        for id in ids {
            if snapshot.find(&self.fields, id)?.is_some() {
                found.insert(id);
            }
        }
        Ok(found)
    }

    fn info(&self) -> Result<IndexInfo, IndexError> {
        let snapshot = self.current()?;
        Ok(IndexInfo {
            engine: "embedded",
            n_tracks: snapshot.searcher.num_docs(),
            revision: snapshot.note.revision,
            embedder: self.embedder.id(),
            writable: self.is_owner(),
        })
    }

    /// The last commit: our own, or the owner's if it has written since we looked.
    fn current(&self) -> Result<Arc<Snapshot>, IndexError> {
        let snapshot = self.snapshot.read().unwrap_or_else(PoisonError::into_inner).clone();
        if self.is_owner() || read_note(&self.index)? == snapshot.note {
            return Ok(snapshot);
        }
        self.refresh()
    }

    /// Takes in what has been committed.
    fn refresh(&self) -> Result<Arc<Snapshot>, IndexError> {
        let mut current = self.snapshot.write().unwrap_or_else(PoisonError::into_inner);
        // The note is read first: a commit in between makes it older than the documents, never newer.
        let note = read_note(&self.index)?;
        self.reader.reload()?;
        self.vectors.extend_to(note.n_slots)?;
        *current = Arc::new(Snapshot::new(self.reader.searcher(), note, &self.vectors)?);
        Ok(current.clone())
    }

    fn is_owner(&self) -> bool {
        self.owned.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

fn read_note(index: &Index) -> Result<Note, IndexError> {
    match index.load_metas()?.payload {
        Some(note) => Ok(serde_json::from_str(&note).context("the note of the last commit cannot be read")?),
        None => Ok(Note::default()),
    }
}

/// One folder per embedder and version, so that a new one can be filled while the old one still serves.
fn home(dir: &Path, embedder: &EmbedderId) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' };
    let name = format!("v{}-{}-{}-{}", schema::VERSION, embedder.model, embedder.dims, embedder.hash);
    dir.join(name.chars().map(plain).collect::<String>())
}

fn try_lock(home: &Path) -> io::Result<Option<File>> {
    let lock = File::options().create(true).append(true).open(home.join(LOCK_FILE))?;
    match lock.try_lock() {
        Ok(()) => Ok(Some(lock)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Removes everything but the lock that we hold.
fn clear(home: &Path) -> io::Result<()> {
    for entry in fs::read_dir(home)? {
        let path = entry?.path();
        if path.is_dir() {
            fs::remove_dir_all(path)?;
        } else if !path.ends_with(LOCK_FILE) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, IndexError> + Send + 'static,
) -> Result<T, IndexError> {
    tokio::task::spawn_blocking(work).await.context("the index thread died")?
}
