//! Indexing: which index there is, and how it keeps up with the database.

use std::{sync::Arc, time::Duration};

use anyhow::Context;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::{
    App,
    config::Config,
    embed::{self, Cached, Embedder, RemoteEmbedder, StaticTable, remote::RemoteSettings},
    index::{EmbeddedIndex, IndexError, QdrantIndex, QdrantSettings, Switch, TrackIndex, catch_up},
    outgoing::client_builder,
    store::Store,
    turns::pause,
};

/// Other processes may write tracks too; nobody tells us, so we look.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// The index of this process, and the one that is being made to replace it.
pub(crate) struct Indexing {
    pub(crate) index: Arc<Switch>,
    /// With another embedder, not complete yet.
    next: Option<EmbeddedIndex>,
}

impl Indexing {
    pub(crate) async fn open(config: &Config) -> anyhow::Result<Self> {
        let embedder = embedder(config).await?;
        let (index, next): (Arc<dyn TrackIndex>, _) = match &config.qdrant {
            Some(qdrant) => {
                let key = qdrant.key.as_ref().map(|key| key.expose().to_owned());
                let settings = QdrantSettings::new(&qdrant.url, key);
                let index =
                    QdrantIndex::connect(client_builder().build()?, settings, embedder).await.context("QDRANT_URL")?;
                (Arc::new(index), None)
            }
            None => open_embedded(config, embedder)?,
        };
        Ok(Self { index: Arc::new(Switch::new(index)), next })
    }

    /// Keeps the index up with the database until the process ends.
    pub(crate) async fn keep_up(&self, store: Store, shutdown: CancellationToken) {
        if let Some(next) = &self.next {
            match catch_up(next, &store).await {
                Ok(n) => {
                    info!("Indexed {n} tracks anew with {}", next_name(next).await);
                    self.index.to(Arc::new(next.clone()));
                    if let Err(error) = next.discard_others() {
                        warn!("An old index could not be deleted: {error}");
                    }
                }
                Err(error) => warn!("The new index could not be made; the old one goes on serving: {error}"),
            }
        }
        loop {
            match catch_up(self.index.as_ref(), &store).await {
                Ok(0) | Err(IndexError::ReadOnly) => {}
                Ok(n) => info!("Indexed {n} changed tracks"),
                Err(error) => warn!("The index could not catch up, trying again: {error}"),
            }
            if !pause(LOOK_EVERY, &shutdown).await {
                return;
            }
        }
    }
}

impl App {
    /// Waits until the index has read everything that is in the database now. An index that another process writes is
    /// that process's to keep up.
    pub async fn catch_up(&self) -> Result<(), IndexError> {
        match catch_up(self.shelf.index.as_ref(), &self.store).await {
            Ok(_) | Err(IndexError::ReadOnly) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// What the settings lead to, for the doctor: opened, looked at, closed.
pub async fn index_of(config: &Config) -> anyhow::Result<IndexOf> {
    let info = Indexing::open(config).await?.index.info().await?;
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

/// When the embedder is a new one, the index of the one in the binary goes on serving until the new one is complete.
fn open_embedded(
    config: &Config,
    embedder: Arc<dyn Embedder>,
) -> anyhow::Result<(Arc<dyn TrackIndex>, Option<EmbeddedIndex>)> {
    let dir = config.data_dir.join("index");
    let floor: Arc<dyn Embedder> = Arc::new(Cached::new(StaticTable::built_in()?));
    let is_new = !EmbeddedIndex::exists(&dir, &embedder.id());
    let wanted = EmbeddedIndex::open(&dir, embedder.clone())?;
    if is_new && embedder.id() != floor.id() && EmbeddedIndex::exists(&dir, &floor.id()) {
        let old = EmbeddedIndex::open(&dir, floor)?;
        return Ok((Arc::new(old), Some(wanted)));
    }
    Ok((Arc::new(wanted), None))
}

async fn next_name(index: &EmbeddedIndex) -> String {
    index.info().await.map(|info| info.embedder.to_string()).unwrap_or_default()
}
