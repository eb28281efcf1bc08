//! The embedded index: tantivy for words, our own vectors for meaning, in one folder of the data directory.
//!
//! The folder belongs to one process at a time (a lock on `owner.lock`). Another process that opens it reads what the
//! owner has committed, and its writes fail. After the owner has ended, the next write takes ownership.

mod narrow;
mod schema;
mod search;
mod snapshot;
mod spelling;
mod write;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
};

use anyhow::Context;
use futures::future::BoxFuture;
use tantivy::{DocAddress, Index, IndexReader, ReloadPolicy, directory::MmapDirectory};
use tracing::{info, warn};

use super::{
    Change, Found, Hit, IndexError, IndexInfo, Scope, SearchPlan, Successor, TrackIndex,
    finish::{self, Candidates},
    fuse::Ranking,
    read_track::ReadTrack,
    recent::Recent,
    vectors::Vectors,
    why::Asked,
};
use crate::embed::{self, Embedder, EmbedderId};
use music::{DocumentId, Isrc, Track};
use narrow::{Narrowed, narrow};
use schema::{Fields, Note};
use search::{Search, Wording};
use snapshot::{DocumentKey, Snapshot};
use write::Owned;

/// Clones are cheap and share one index.
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
    /// Locked only to take or to replace it, so that no search waits for a commit.
    snapshot: RwLock<Arc<Snapshot>>,
    recent: Recent<DocumentKey>,
    /// Held while a newer snapshot is loaded.
    loading: Mutex<()>,
    /// `None` while another process owns the folder. Held while a batch is committed.
    owned: Mutex<Option<Owned>>,
    /// Whether `owned` is set. A search reads it without waiting for a commit.
    is_owner: AtomicBool,
    /// Held while a batch is written, so that batches are written one after another.
    turn: tokio::sync::Mutex<()>,
}

const LOCK_FILE: &str = "owner.lock";
const VECTOR_FILE: &str = "vectors.i16";

impl EmbeddedIndex {
    /// Opens the index of this embedder in a folder. If it is missing, broken or of an older version, an empty one is
    /// created; [`super::catch_up`] fills it.
    pub fn open(dir: &Path, embedder: Arc<dyn Embedder>) -> Result<Self, IndexError> {
        let home = home(dir, &embedder.id());
        fs::create_dir_all(&home)?;
        let Some(lock) = try_lock(&home)? else {
            info!("Another process owns the index; reading what it writes");
            let shared = Shared::open(&home, embedder)
                .map_err(|error| IndexError::Away(format!("another process is creating it: {error}")))?;
            return Ok(Self { shared: Arc::new(shared) });
        };
        let shared = match Shared::open(&home, embedder.clone()) {
            Ok(shared) => shared,
            Err(error) => {
                warn!("The index in {} cannot be used and is rebuilt: {error}", home.display());
                clear(&home)?;
                Shared::open(&home, embedder)?
            }
        };
        shared.own(lock)?;
        discard_older(dir)?;
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Whether this embedder already has an index in this folder. If not, a new one is built while the current one
    /// serves.
    pub fn exists(dir: &Path, embedder: &EmbedderId) -> bool {
        home(dir, embedder).join("meta.json").exists()
    }

    /// Deletes the indexes of all other embedders, after this one has caught up.
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

    /// Memory that grows with the number of tracks, without the operating system's page cache.
    pub fn memory_bytes(&self) -> usize {
        self.shared.vectors.memory_bytes() + self.shared.vectors.len() as usize * size_of::<tantivy::DocAddress>()
    }

    /// The codes of the best tracks by one ranking, for measurements.
    pub async fn rank(&self, query: &str, limit: usize, ranking: Ranking) -> Result<Vec<Isrc>, IndexError> {
        if ranking == Ranking::Hybrid {
            let found = self.look(&SearchPlan::new(query, limit)).await?;
            return Ok(found.hits.into_iter().filter_map(|hit| hit.track.isrc).collect());
        }
        let wording = self.wordings(&SearchPlan::new(query, limit)).await?.remove(0);
        let shared = self.shared.clone();
        blocking(move || {
            let snapshot = shared.current()?;
            let found = shared.search_in(&snapshot).one_sided(&wording, ranking, limit)?;
            let codes = found.into_iter().map(|key| Ok(snapshot.track(&shared.fields, key)?.isrc));
            codes.filter_map(Result::transpose).collect()
        })
        .await
    }

    async fn wordings(&self, plan: &SearchPlan) -> Result<Vec<Wording>, IndexError> {
        let across = self.across(&plan.queries).await?;
        let embedding = embed::queries(&*self.shared.embedder, &plan.queries, &across);
        let vectors = plan.timings.measure("embeddingDurationMs", embedding).await?;
        let wording = |((text, vector), is_across): ((&String, Vec<f32>), bool)| Wording {
            text: text.clone(),
            vector,
            sounds: plan.sounds_of(text),
            is_across,
        };
        Ok(plan.queries.iter().zip(vectors).zip(across).map(wording).collect())
    }

    /// For each query, whether it is in words that the index does not know. Always false if the embedder supports no other
    /// languages.
    async fn across(&self, queries: &[String]) -> Result<Vec<bool>, IndexError> {
        if !self.shared.embedder.reads_other_languages() {
            return Ok(vec![false; queries.len()]);
        }
        let (shared, queries) = (self.shared.clone(), queries.to_vec());
        blocking(move || {
            let snapshot = shared.current()?;
            queries.iter().map(|query| spelling::is_in_other_words(&shared.fields, &snapshot, query)).collect()
        })
        .await
    }

    /// Adds the first wording with corrected spelling to the plan, beside the typed one.
    async fn spelled(&self, plan: &SearchPlan) -> Result<SearchPlan, IndexError> {
        let (shared, mut plan) = (self.shared.clone(), plan.clone());
        blocking(move || {
            let snapshot = shared.current()?;
            let first = plan.queries.first().map_or("", String::as_str);
            if let Some(corrected) = spelling::corrected(&shared.fields, &snapshot, first)? {
                plan.queries.push(corrected);
            }
            Ok(plan)
        })
        .await
    }

    async fn look(&self, plan: &SearchPlan) -> Result<Found, IndexError> {
        let plan = self.spelled(plan).await?;
        let wordings = self.wordings(&plan).await?;
        let shared = self.shared.clone();
        blocking(move || shared.find(&wordings, &plan)).await
    }
}

impl Successor for EmbeddedIndex {
    fn took_over(&self) -> Result<(), IndexError> {
        self.discard_others()
    }
}

impl TrackIndex for EmbeddedIndex {
    fn find<'a>(&'a self, plan: &'a SearchPlan) -> BoxFuture<'a, Result<Found, IndexError>> {
        Box::pin(self.look(plan))
    }

    fn get<'a>(&'a self, ids: &'a [DocumentId]) -> BoxFuture<'a, Result<Vec<Track>, IndexError>> {
        let (shared, ids) = (self.shared.clone(), ids.to_vec());
        Box::pin(blocking(move || shared.get(&ids)))
    }

    fn contains<'a>(&'a self, ids: &'a [DocumentId]) -> BoxFuture<'a, Result<BTreeSet<DocumentId>, IndexError>> {
        let (shared, ids) = (self.shared.clone(), ids.to_vec());
        Box::pin(blocking(move || shared.contains(ids)))
    }

    fn count<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<u64, IndexError>> {
        let (shared, scope) = (self.shared.clone(), scope.clone());
        Box::pin(blocking(move || narrow::count(&shared.fields, &*shared.current()?, &scope)))
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
            return Err(IndexError::WrongSchema("its vectors come from another embedder".into()));
        }
        let vectors = Vectors::open(&home.join(VECTOR_FILE), embedder.id().dims, note.n_slots)?;
        let snapshot = RwLock::new(Arc::new(Snapshot::new(reader.searcher(), note, &vectors)?));
        Ok(Self {
            embedder,
            home: home.to_path_buf(),
            fields,
            index,
            reader,
            vectors,
            snapshot,
            recent: Recent::default(),
            loading: Mutex::default(),
            owned: Mutex::default(),
            is_owner: AtomicBool::new(false),
            turn: tokio::sync::Mutex::default(),
        })
    }

    fn find(&self, wordings: &[Wording], plan: &SearchPlan) -> Result<Found, IndexError> {
        let snapshot = self.current()?;
        let narrowed = narrow(&self.fields, &snapshot, plan)?;
        let undecided = narrowed.as_ref().map_or(0, |narrowed| narrowed.undecided);
        if plan.asks_nothing() {
            return Ok(Found { is_total_exact: true, ..Found::default() });
        }
        if plan.has_no_words() {
            return self.list(&snapshot, narrowed.as_ref(), plan, &plan.asked());
        }
        let search = self.search_in(&snapshot);
        let candidates: Vec<Candidates<DocAddress>> = wordings
            .iter()
            .map(|wording| search.candidates(wording, narrowed.as_ref(), plan.limit))
            .collect::<Result<_, _>>()?;
        let keys: BTreeSet<DocAddress> = candidates.iter().flat_map(|found| found.best(plan.limit)).copied().collect();
        let tracks: BTreeMap<DocAddress, Arc<ReadTrack>> = keys
            .into_iter()
            .map(|key| Ok((key, snapshot.read(&self.fields, &self.recent, key)?)))
            .collect::<Result<_, IndexError>>()?;
        let found = finish::found(&candidates, &tracks, &plan.filter, plan.limit, &plan.asked());
        Ok(Found { undecided, ..found })
    }

    /// The tracks within the filter, if the plan contains nothing else.
    fn list(
        &self,
        snapshot: &Snapshot,
        narrowed: Option<&Narrowed>,
        plan: &SearchPlan,
        asked: &Asked,
    ) -> Result<Found, IndexError> {
        let listed = self.search_in(snapshot).all(narrowed, &plan.sounds_of(""))?;
        let total = listed.iter().filter(|scored| scored.score >= Hit::MATCHES_FROM).count();
        let mut capped = finish::PerArtist::new(&plan.filter);
        let mut hits = Vec::new();
        for scored in listed {
            if hits.len() == plan.limit {
                break;
            }
            let read = snapshot.read(&self.fields, &self.recent, scored.key)?;
            if capped.admits(&read.track) {
                hits.push(Hit { why: asked.why(&read), score: scored.score, track: read.track.clone() });
            }
        }
        Ok(Found { hits, total, is_total_exact: true, undecided: narrowed.map_or(0, |narrowed| narrowed.undecided) })
    }

    fn search_in<'a>(&'a self, snapshot: &'a Snapshot) -> Search<'a> {
        Search { fields: &self.fields, snapshot, vectors: &self.vectors }
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

    /// The last commit: our own, or the owner's if it has written a newer one.
    fn current(&self) -> Result<Arc<Snapshot>, IndexError> {
        let snapshot = self.snapshot.read().unwrap_or_else(PoisonError::into_inner).clone();
        if self.is_owner() || read_note(&self.index)? == snapshot.note {
            return Ok(snapshot);
        }
        self.refresh()
    }

    /// Loads the last commit.
    fn refresh(&self) -> Result<Arc<Snapshot>, IndexError> {
        let _loading = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        // The note is read first: a commit in between makes it older than the documents, never newer.
        let note = read_note(&self.index)?;
        self.reader.reload()?;
        self.vectors.extend_to(note.n_slots)?;
        let loaded = Arc::new(Snapshot::new(self.reader.searcher(), note, &self.vectors)?);
        *self.snapshot.write().unwrap_or_else(PoisonError::into_inner) = loaded.clone();
        Ok(loaded)
    }

    fn is_owner(&self) -> bool {
        self.is_owner.load(Ordering::Acquire)
    }
}

fn read_note(index: &Index) -> Result<Note, IndexError> {
    match index.load_metas()?.payload {
        Some(note) => Ok(serde_json::from_str(&note).context("the note of the last commit cannot be read")?),
        None => Ok(Note::default()),
    }
}

/// One folder per embedder and version, so that a new index can be filled while the old one still serves.
fn home(dir: &Path, embedder: &EmbedderId) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' };
    let name = format!("v{}-{}-{}-{}", schema::VERSION, embedder.model, embedder.dims, embedder.hash);
    dir.join(name.chars().map(plain).collect::<String>())
}

/// Deletes the indexes of earlier versions: this version cannot read them and builds its own from the database.
fn discard_older(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let version = name.strip_prefix('v').and_then(|rest| rest.split('-').next()?.parse::<u32>().ok());
        if path.is_dir() && version.is_some_and(|version| version < schema::VERSION) && try_lock(&path)?.is_some() {
            fs::remove_dir_all(path)?;
        }
    }
    Ok(())
}

fn try_lock(home: &Path) -> io::Result<Option<File>> {
    let lock = File::options().create(true).append(true).open(home.join(LOCK_FILE))?;
    match lock.try_lock() {
        Ok(()) => Ok(Some(lock)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Removes everything except the lock that we hold.
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
