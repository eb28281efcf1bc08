//! Opens the search index and keeps it up to date with the database.

use std::{path::Path, sync::Arc, time::Duration};

use anyhow::Context;
use futures::future::BoxFuture;
use tokio::sync::{Mutex, Notify};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::{
    App,
    config::{Config, Endpoint},
};
use http_client::client_builder;
use search::{
    Change, EmbeddedIndex, IndexError, LiveIndex, QdrantIndex, QdrantSettings, Successor, TrackIndex, TrackSource,
    embed::{self, Cached, Embedder, EmbedderId, RemoteEmbedder, StaticTable, remote::RemoteSettings},
};
use store::{INDEX_LEASE, Store, StoreError, TrackChange};

/// Other processes may write tracks without a notice, so the table is read at this interval.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// The start waits this long for Qdrant. Afterwards the server runs without the index and keeps connecting to it.
const START_WAIT: Duration = Duration::from_secs(5);
/// Several renewals may fail before a claim is lost.
const RENEWALS_PER_LEASE: i32 = 5;

/// The index of this process, and what is needed to update it.
#[derive(Clone)]
pub(crate) struct Indexing {
    index: Arc<LiveIndex>,
    /// What a user does to have the index rebuilt.
    remedy: Arc<str>,
    /// The name under which nodes claim a shared index, so that one of them fills it at a time. An embedded index
    /// belongs to its process.
    shared_as: Option<String>,
    /// Held while the database is read, so that a waiting request and the background task do not read the same changes
    /// twice.
    reading: Arc<Mutex<()>>,
    /// The embeddings server, if one is configured.
    remote_embedder: Option<Arc<dyn Embedder>>,
    /// Whether the index answered when it was opened.
    answered: bool,
}

impl Indexing {
    pub(crate) async fn open(config: &Config, store: &Store) -> anyhow::Result<Self> {
        let (embedder, remote_embedder) = embedder(config).await?;
        let earlier = earlier_embedders(config, &embedder.id())?;
        let indexing = match &config.qdrant {
            Some(qdrant) => {
                let settings = settings_of(qdrant, store).await?;
                Self::remote(settings, embedder, earlier).await.context("QDRANT_URL")?
            }
            None => {
                Self::embedded(&config.data_dir.join("index"), embedder, earlier, config.embeddings.is_none()).await?
            }
        };
        Ok(Self { remote_embedder, ..indexing })
    }

    /// The embeddings server, if one is configured, without its cache.
    pub(crate) fn embedder(&self) -> Option<Arc<dyn Embedder>> {
        self.remote_embedder.clone()
    }

    /// Whether the index answered when it was opened.
    pub(crate) fn answered(&self) -> bool {
        self.answered
    }

    /// A fetched model reads a library a hundred times slower than the table of the binary. `beside_table`: the table
    /// has an index of its own, which serves while the model reads a large import.
    async fn embedded(
        dir: &Path,
        embedder: Arc<dyn Embedder>,
        earlier: Vec<Arc<dyn Embedder>>,
        beside_table: bool,
    ) -> Result<Self, IndexError> {
        let wanted = Arc::new(EmbeddedIndex::open(dir, embedder)?);
        let other = earlier.into_iter().find(|other| beside_table || EmbeddedIndex::exists(dir, &other.id()));
        let other = other.map(|embedder| EmbeddedIndex::open(dir, embedder)).transpose()?;
        let index = match other.map(Arc::new) {
            Some(table) if beside_table => LiveIndex::with_fast(wanted, table).await?,
            before => LiveIndex::new(wanted, before.map(|index| index as _)).await?,
        };
        let remedy = "delete the folder 'index' in the data directory";
        Ok(Self::new(index, remedy.to_owned(), None, true))
    }

    async fn remote(
        settings: QdrantSettings,
        embedder: Arc<dyn Embedder>,
        earlier: Vec<Arc<dyn Embedder>>,
    ) -> Result<Self, IndexError> {
        let shared_as = Some(embedder.id().to_string());
        let wanted = Arc::new(QdrantIndex::new(settings.clone(), embedder)?);
        let remedy = format!("delete the collection {} in Qdrant", wanted.collection());
        let opening = tokio::time::timeout(START_WAIT, prepared(wanted.clone(), settings, earlier));
        match opening.await.unwrap_or(Err(IndexError::Slow(START_WAIT))) {
            Ok(index) => Ok(Self::new(index, remedy, shared_as, true)),
            // Conversations and tasks do not wait for the index. The server connects to it again while it runs.
            Err(error) if error.is_passing() => {
                warn!("Starting without the index: {error}");
                Ok(Self::new(LiveIndex::new(wanted, None).await?, remedy, shared_as, false))
            }
            Err(error) => Err(error),
        }
    }

    fn new(index: LiveIndex, remedy: String, shared_as: Option<String>, answered: bool) -> Self {
        let (index, remedy) = (Arc::new(index), remedy.into());
        Self { index, remedy, shared_as, reading: Arc::default(), remote_embedder: None, answered }
    }

    pub(crate) fn index(&self) -> Arc<dyn TrackIndex> {
        self.index.clone()
    }

    /// Writes all changes of the database to the index. Returns 0 if another process writes this index.
    async fn follow(&self, store: &Store, node: &str) -> Result<usize, IndexError> {
        let _reading = self.reading.lock().await;
        self.check_that_it_is_behind(store).await?;
        let followed = match &self.shared_as {
            None => self.index.follow(&StoredTracks(store)).await,
            Some(name) => self.follow_alone(store, name, node).await,
        };
        match followed {
            Err(IndexError::ReadOnly) => Ok(0),
            other => other,
        }
    }

    /// If several nodes share the index, one of them reads the database for all. Its revision is read after the claim,
    /// so that no change is written twice.
    async fn follow_alone(&self, store: &Store, name: &str, node: &str) -> Result<usize, IndexError> {
        let bug = |error: StoreError| IndexError::Bug(error.into());
        if !self.index.is_behind(&StoredTracks(store)).await? || !store.claim_index(name, node).await.map_err(bug)? {
            return Ok(0);
        }
        let source = LeasedTracks { store, name, node };
        // A batch may take longer than the lease if the embedder is slow.
        let followed = tokio::select! {
            followed = self.index.follow(&source) => followed,
            lost = keep_claim(store, name, node) => Err(lost),
        };
        store.release_index(name, node).await.map_err(bug)?;
        followed
    }

    /// After a restore of an older database, the index has read changes that the database does not contain.
    async fn check_that_it_is_behind(&self, store: &Store) -> Result<(), IndexError> {
        let read_to = self.index.info().await?.revision;
        let newest = store.track_revision().await.map_err(|error| IndexError::Bug(error.into()))?;
        if read_to <= newest {
            return Ok(());
        }
        let Self { remedy, .. } = self;
        let why = format!(
            "the index is ahead of this database; stop the server and {remedy}, then it is rebuilt from the database"
        );
        Err(IndexError::WrongSchema(why))
    }

    /// Keeps the index up to date with the database until the process ends.
    pub(crate) async fn keep_up(self, store: Store, node: String, put: Arc<Notify>, shutdown: CancellationToken) {
        loop {
            let followed = tokio::select! {
                () = shutdown.cancelled() => break,
                followed = self.follow(&store, &node) => followed,
            };
            match followed {
                Ok(0) => {}
                Ok(n) => info!("Indexed {n} changed tracks"),
                Err(error) => warn!("The index could not catch up, trying again: {error}"),
            }
            tokio::select! {
                () = shutdown.cancelled() => break,
                () = put.notified() => {}
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
        if let Some(name) = &self.shared_as
            && let Err(error) = store.release_index(name, &node).await
        {
            warn!("The claim of the index could not be released; other nodes wait until it expires: {error}");
        }
    }
}

/// Renews the claim until it is lost: then another node fills the index.
async fn keep_claim(store: &Store, name: &str, node: &str) -> IndexError {
    let every = (INDEX_LEASE / RENEWALS_PER_LEASE).to_std().unwrap_or(LOOK_EVERY);
    loop {
        tokio::time::sleep(every).await;
        match store.claim_index(name, node).await {
            Ok(true) => {}
            Ok(false) => return IndexError::Bug(anyhow::anyhow!("another node fills the index now")),
            Err(error) => return IndexError::Bug(error.into()),
        }
    }
}

/// The tracks of the database, for an index.
struct StoredTracks<'a>(&'a Store);

impl TrackSource for StoredTracks<'_> {
    fn changes_after(&self, revision: i64, limit: usize) -> BoxFuture<'_, anyhow::Result<Vec<Change>>> {
        Box::pin(async move {
            let changes = self.0.track_changes(revision, limit).await?.into_iter();
            Ok(changes
                .map(|TrackChange { revision, id, readers, track }| Change { revision, id, readers, track })
                .collect())
        })
    }
}

/// The tracks of the database, while this node holds the claim of the shared index.
struct LeasedTracks<'a> {
    store: &'a Store,
    name: &'a str,
    node: &'a str,
}

impl TrackSource for LeasedTracks<'_> {
    fn changes_after(&self, revision: i64, limit: usize) -> BoxFuture<'_, anyhow::Result<Vec<Change>>> {
        Box::pin(async move {
            let changes = StoredTracks(self.store).changes_after(revision, limit).await?;
            let may = changes.is_empty() || self.store.claim_index(self.name, self.node).await?;
            Ok(if may { changes } else { Vec::new() })
        })
    }
}

impl App {
    /// Waits until the index has read all changes that are in the database now.
    pub async fn catch_up(&self) -> Result<(), IndexError> {
        self.indexing.follow(&self.store, &self.node.name).await.map(drop)
    }
}

/// The wanted collection, or that of an earlier embedder until the wanted one is filled.
async fn prepared(
    wanted: Arc<QdrantIndex>,
    settings: QdrantSettings,
    earlier: Vec<Arc<dyn Embedder>>,
) -> Result<LiveIndex, IndexError> {
    wanted.prepare().await?;
    let before = first_there(settings, earlier).await?;
    LiveIndex::new(wanted, before).await
}

/// The first of these embedders for which the server has a collection.
async fn first_there(
    settings: QdrantSettings,
    embedders: Vec<Arc<dyn Embedder>>,
) -> Result<Option<Arc<dyn Successor>>, IndexError> {
    for embedder in embedders {
        if let Some(index) = QdrantIndex::find(settings.clone(), embedder).await? {
            return Ok(Some(Arc::new(index)));
        }
    }
    Ok(None)
}

/// Several installations may use one server; each has its own collections.
async fn settings_of(qdrant: &Endpoint, store: &Store) -> anyhow::Result<QdrantSettings> {
    let settings = QdrantSettings::new(&qdrant.url, qdrant.key.as_ref().map(|key| key.expose().to_owned()));
    Ok(QdrantSettings { prefix: format!("segue-{}", store.installation_id().await?), ..settings })
}

/// Opens the index of the settings, reads its state and closes it, for `segue doctor`.
pub async fn index_of(config: &Config, store: &Store) -> anyhow::Result<IndexOf> {
    let indexing = Indexing::open(config, store).await?;
    let info = indexing.index.info().await?;
    // Another index may serve until the index of the settings' embedder is filled.
    let embedder = indexing.index.wanted().await?.embedder;
    Ok(IndexOf {
        engine: info.engine,
        tracks: info.n_tracks,
        has_better_embedder: embedder != StaticTable::built_in()?.id(),
        embedder: embedder.to_string(),
    })
}

pub struct IndexOf {
    pub engine: &'static str,
    pub tracks: u64,
    pub embedder: String,
    /// False if the embedder of the binary is used.
    pub has_better_embedder: bool,
}

/// The embedder, and the server behind it if there is one.
async fn embedder(config: &Config) -> anyhow::Result<(Arc<dyn Embedder>, Option<Arc<dyn Embedder>>)> {
    let Some(remote) = &config.embeddings else {
        return Ok((embed::built_in(&config.data_dir.join("models"))?, None));
    };
    let settings = RemoteSettings {
        url: remote.url.clone(),
        model: remote.model.clone(),
        api_key: remote.key.as_ref().map(|key| key.expose().to_owned()),
    };
    let remote = RemoteEmbedder::connect(client_builder().build()?, settings).await.context("SEGUE_EMBEDDINGS_URL")?;
    let remote: Arc<dyn Embedder> = Arc::new(remote);
    Ok((Arc::new(Cached::new(remote.clone())), Some(remote)))
}

/// Embedders that may have filled the index before this one and need no other server, the most probable first. The
/// index of one of them is used while the new one is built.
fn earlier_embedders(config: &Config, wanted: &EmbedderId) -> anyhow::Result<Vec<Arc<dyn Embedder>>> {
    let mut earlier: Vec<Arc<dyn Embedder>> = Vec::new();
    if config.embeddings.is_some() {
        earlier.push(embed::built_in(&config.data_dir.join("models"))?);
    }
    earlier.push(Arc::new(Cached::new(StaticTable::built_in()?)));
    earlier.retain(|embedder| embedder.id() != *wanted);
    Ok(earlier)
}
