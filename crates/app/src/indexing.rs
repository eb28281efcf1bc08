//! Indexing: which index there is, and how it keeps up with the database.

use std::{sync::Arc, time::Duration};

use anyhow::Context;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::{
    App,
    config::Config,
    embed::{self, Cached, Embedder, RemoteEmbedder, StaticTable, remote::RemoteSettings},
    index::{IndexError, LiveIndex, QdrantIndex, QdrantSettings, TrackIndex, catch_up},
    outgoing::client_builder,
    store::Store,
};

/// Other processes may write tracks too; nobody tells us, so we look.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// The index of this process, by how it keeps up.
#[derive(Clone)]
pub(crate) enum Indexing {
    Embedded(Arc<LiveIndex>),
    Remote(Arc<QdrantIndex>),
}

impl Indexing {
    pub(crate) async fn open(config: &Config) -> anyhow::Result<Self> {
        let embedder = embedder(config).await?;
        let Some(qdrant) = &config.qdrant else {
            // The embedder in the binary is always there: its index serves while another one is made.
            let floor = Arc::new(Cached::new(StaticTable::built_in()?));
            let index = LiveIndex::open(&config.data_dir.join("index"), embedder, floor)?;
            return Ok(Self::Embedded(Arc::new(index)));
        };
        let settings = QdrantSettings::new(&qdrant.url, qdrant.key.as_ref().map(|key| key.expose().to_owned()));
        let index = QdrantIndex::connect(client_builder().build()?, settings, embedder).await.context("QDRANT_URL")?;
        Ok(Self::Remote(Arc::new(index)))
    }

    pub(crate) fn index(&self) -> Arc<dyn TrackIndex> {
        match self {
            Self::Embedded(index) => index.clone(),
            Self::Remote(index) => index.clone(),
        }
    }

    /// Reads the database to its end. What another process writes is that process's to keep up.
    async fn follow(&self, store: &Store) -> Result<usize, IndexError> {
        self.check_that_it_is_behind(store).await?;
        let followed = match self {
            Self::Embedded(index) => index.follow(store).await,
            Self::Remote(index) => catch_up(index.as_ref(), store).await,
        };
        match followed {
            Err(IndexError::ReadOnly) => Ok(0),
            other => other,
        }
    }

    /// A database that was put back to an earlier state has changes the index believes to have read.
    async fn check_that_it_is_behind(&self, store: &Store) -> Result<(), IndexError> {
        let read_to = self.index().info().await?.revision;
        let newest = store.track_revision().await.map_err(|error| IndexError::Bug(error.into()))?;
        if read_to <= newest {
            return Ok(());
        }
        let what = match self {
            Self::Embedded(_) => "stop the server and delete the folder 'index' in the data directory",
            Self::Remote(_) => "stop the server and delete the collection in Qdrant",
        };
        let why = format!("it has read further than this database goes; {what}: it is made again from the database");
        Err(IndexError::WrongSchema(why))
    }

    /// Keeps the index up with the database until the process ends.
    pub(crate) async fn keep_up(self, store: Store, put: Arc<Notify>, shutdown: CancellationToken) {
        loop {
            match self.follow(&store).await {
                Ok(0) => {}
                Ok(n) => info!("Indexed {n} changed tracks"),
                Err(error) => warn!("The index could not catch up, trying again: {error}"),
            }
            tokio::select! {
                () = shutdown.cancelled() => return,
                () = put.notified() => {}
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    }
}

impl App {
    /// Waits until the index has read everything that is in the database now.
    pub async fn catch_up(&self) -> Result<(), IndexError> {
        self.indexing.follow(&self.store).await.map(drop)
    }
}

/// What the settings lead to, for the doctor: opened, looked at, closed.
pub async fn index_of(config: &Config) -> anyhow::Result<IndexOf> {
    let info = Indexing::open(config).await?.index().info().await?;
    let floor = StaticTable::built_in()?.id();
    Ok(IndexOf {
        engine: info.engine,
        tracks: info.n_tracks,
        has_better_embedder: info.embedder != floor,
        embedder: info.embedder.to_string(),
    })
}

pub struct IndexOf {
    pub engine: &'static str,
    pub tracks: u64,
    pub embedder: String,
    /// False while the one in the binary serves.
    pub has_better_embedder: bool,
}

async fn embedder(config: &Config) -> anyhow::Result<Arc<dyn Embedder>> {
    let Some(remote) = &config.embeddings else { return Ok(embed::built_in(&config.data_dir.join("models"))?) };
    let settings = RemoteSettings {
        url: remote.url.clone(),
        model: remote.model.clone(),
        api_key: remote.key.as_ref().map(|key| key.expose().to_owned()),
    };
    let remote = RemoteEmbedder::connect(client_builder().build()?, settings).await.context("SEGUE_EMBEDDINGS_URL")?;
    Ok(Arc::new(Cached::new(remote)))
}
