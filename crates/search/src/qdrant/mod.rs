//! The remote index: the same tracks and the same scoring over a Qdrant server (decision 007).
//!
//! A track is one point per chunk. The first carries the track itself and the sparse vector of its words; all carry
//! what filters need. One more point, the note, remembers the revision.

mod client;
mod narrow;
mod points;
mod search;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
};

use futures::future::BoxFuture;
use qdrant_client::qdrant::{
    CollectionInfo, CountPointsBuilder, CreateCollectionBuilder, CreateFieldIndexCollectionBuilder,
    DeletePointsBuilder, Distance, Filter, GetPointsBuilder, Modifier, PayloadIncludeSelector, PointId, PointStruct,
    RetrievedPoint, ScrollPointsBuilder, SparseVectorParamsBuilder, SparseVectorsConfigBuilder, UpsertPointsBuilder,
    VectorParamsBuilder, VectorsConfigBuilder, vector_output::Vector, vectors_config::Config,
};
use tracing::info;

use super::{
    Change, IndexError, IndexInfo, Scope, SearchPlan, SearchResults, Successor, TrackIndex, document,
    read_track::ReadTrack, recent::Recent,
};
use crate::embed::{Embedder, embed_documents};
use client::Client;
pub use client::QdrantSettings;
use music::{DocumentId, Track};
use points::{NOTE, is_first_chunk, is_older_than, is_one_of, is_track, point_id};

pub struct QdrantIndex {
    client: Client,
    collection: String,
    embedder: Arc<dyn Embedder>,
    /// Whether the collection was found to be ours.
    is_prepared: AtomicBool,
    /// Vectors of some tracks, from which a query learns what is usual; read again after a write by any process.
    sample: RwLock<Option<Arc<Vec<Vec<f32>>>>>,
    /// The revision that the collection had when it was last looked at.
    seen_revision: AtomicI64,
    recent: Recent<DocumentId>,
}

const VERSION: u32 = 7;
/// Points per request: about a megabyte at 640 dimensions.
const BATCH: usize = 256;
const SAMPLE: u32 = 256;

impl QdrantIndex {
    /// Finds this embedder's collection or makes it, and checks that it is one of ours.
    pub async fn connect(settings: QdrantSettings, embedder: Arc<dyn Embedder>) -> Result<Self, IndexError> {
        let index = Self::new(settings, embedder)?;
        index.prepare().await?;
        Ok(index)
    }

    /// This embedder's collection, if the server has it.
    pub async fn find(settings: QdrantSettings, embedder: Arc<dyn Embedder>) -> Result<Option<Self>, IndexError> {
        let index = Self::new(settings, embedder)?;
        Ok(index.find_collection().await?.map(|_| index))
    }

    /// Sends no request yet: the server may start later.
    pub fn new(settings: QdrantSettings, embedder: Arc<dyn Embedder>) -> Result<Self, IndexError> {
        let id = embedder.id();
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let model: String = id.model.chars().map(plain).collect();
        let hash: String = id.hash.chars().take(8).collect();
        let collection = format!("{}-v{VERSION}-{model}-{}-{hash}", settings.prefix, id.dims);
        let client = Client::new(&settings)?;
        let (is_prepared, sample, seen_revision) = (AtomicBool::new(false), RwLock::default(), AtomicI64::new(0));
        let recent = Recent::default();
        Ok(Self { client, collection, embedder, is_prepared, sample, seen_revision, recent })
    }

    pub fn collection(&self) -> &str {
        &self.collection
    }

    /// Deletes the collection: for tests, and for starting over.
    pub async fn discard(&self) -> Result<(), IndexError> {
        self.client.ask_patiently(self.client.qdrant().delete_collection(&self.collection)).await.map(drop)
    }

    /// Finds the collection or makes it.
    pub async fn prepare(&self) -> Result<(), IndexError> {
        let info = match self.find_collection().await? {
            Some(info) => info,
            None => self.make_collection().await?,
        };
        if !self.is_ours(&info) {
            let name = &self.collection;
            return Err(IndexError::WrongSchema(format!(
                "collection {name} has other vectors than ours; delete it or set another server"
            )));
        }
        // The node that created the collection may have stopped before it created the field indexes.
        for (field, kind) in points::indexed_fields().filter(|(field, _)| !info.payload_schema.contains_key(*field)) {
            let request = CreateFieldIndexCollectionBuilder::new(&self.collection, field, kind).wait(true);
            self.client.ask_patiently(self.client.qdrant().create_field_index(request)).await?;
        }
        self.is_prepared.store(true, Ordering::Relaxed);
        Ok(())
    }

    async fn find_collection(&self) -> Result<Option<CollectionInfo>, IndexError> {
        let found = self.client.find(self.client.qdrant().collection_info(&self.collection)).await?;
        Ok(found.and_then(|answer| answer.result))
    }

    /// Another node may make it at the same moment: then that one is ours too.
    async fn make_collection(&self) -> Result<CollectionInfo, IndexError> {
        let mut dense = VectorsConfigBuilder::default();
        let dims = self.embedder.id().dims as u64;
        dense.add_named_vector_params("dense", VectorParamsBuilder::new(dims, Distance::Cosine));
        let mut words = SparseVectorsConfigBuilder::default();
        words.add_named_vector_params("words", SparseVectorParamsBuilder::default().modifier(Modifier::Idf));
        let request = CreateCollectionBuilder::new(&self.collection).vectors_config(dense).sparse_vectors_config(words);
        let made = self.client.ask_patiently(self.client.qdrant().create_collection(request)).await;
        match (self.find_collection().await?, made) {
            (Some(info), _) => Ok(info),
            (None, Err(error)) => Err(error),
            (None, Ok(_)) => Err(IndexError::WrongSchema("Qdrant made our collection and does not have it".into())),
        }
    }

    fn is_ours(&self, info: &CollectionInfo) -> bool {
        let Some(params) = info.config.as_ref().and_then(|config| config.params.as_ref()) else { return false };
        let dense = match params.vectors_config.as_ref().and_then(|config| config.config.as_ref()) {
            Some(Config::ParamsMap(by_name)) => by_name.map.get("dense"),
            _ => None,
        };
        let words = params.sparse_vectors_config.as_ref().and_then(|config| config.map.get("words"));
        dense.is_some_and(|dense| dense.size == self.embedder.id().dims as u64)
            && words.is_some_and(|words| words.modifier == Some(Modifier::Idf.into()))
    }

    async fn write(&self, changes: &[Change]) -> Result<(), IndexError> {
        let Some(revision) = changes.iter().map(|change| change.revision).max() else { return Ok(()) };
        let last: BTreeMap<DocumentId, &Change> = changes.iter().map(|change| (change.id, change)).collect();
        let written: Vec<(&Change, &Track)> =
            last.values().filter_map(|change| Some((*change, change.track.as_ref()?))).collect();
        let chunks: Vec<Vec<String>> = written.iter().map(|(_, track)| document::chunks(track)).collect();
        let vectors = embed_documents(self.embedder.clone(), chunks.concat()).await?;
        let mut vectors = vectors.into_iter();
        let mut new = Vec::new();
        for ((change, track), chunks) in written.into_iter().zip(&chunks) {
            let mut vectors: Vec<_> = vectors.by_ref().take(chunks.len()).collect();
            if vectors.is_empty() {
                // Nothing is written about it: it has no direction, but a name.
                vectors.push(vec![0.0; self.embedder.id().dims]);
            }
            new.extend(points::of((change.id, &change.readers), track, vectors, revision)?);
        }
        // What is new replaces what was there, then the rest goes, so that a track is never missing meanwhile. The note
        // comes last: a write that stopped half way is done again.
        for batch in new.chunks(BATCH) {
            self.put(batch.to_vec()).await?;
        }
        let rest = Filter::must([is_one_of(last.keys()), is_older_than(revision)]);
        let delete = DeletePointsBuilder::new(&self.collection).points(rest).wait(true);
        self.client.ask_patiently(self.client.qdrant().delete_points(delete)).await?;
        self.put(vec![points::note(revision, &self.embedder.id())]).await?;
        self.forget_sample();
        Ok(())
    }

    fn forget_sample(&self) {
        *self.sample.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    async fn put(&self, points: Vec<PointStruct>) -> Result<(), IndexError> {
        let request = UpsertPointsBuilder::new(&self.collection, points).wait(true);
        self.client.ask_patiently(self.client.qdrant().upsert_points(request)).await.map(drop)
    }

    /// The points of some tracks that carry the tracks themselves.
    async fn fetch(&self, ids: &[DocumentId], fields: &[&str]) -> Result<Vec<RetrievedPoint>, IndexError> {
        let ids: Vec<PointId> = ids.iter().map(|id| point_id(*id, 0).into()).collect();
        let fields = PayloadIncludeSelector { fields: fields.iter().map(ToString::to_string).collect() };
        let request = GetPointsBuilder::new(&self.collection, ids).with_payload(fields).with_vectors(false);
        Ok(self.client.ask(self.client.qdrant().get_points(request)).await?.result)
    }

    /// In the order asked, without the ones that are not here.
    async fn fetch_tracks(&self, ids: &[DocumentId]) -> Result<Vec<(DocumentId, Track)>, IndexError> {
        let found = self.fetch(ids, &["document", "track"]).await?;
        let mut tracks = BTreeMap::new();
        for point in &found {
            tracks.insert(points::document(&point.payload)?, points::track(&point.payload)?);
        }
        Ok(ids.iter().filter_map(|id| Some((*id, tracks.get(id)?.clone()))).collect())
    }

    /// The same with their words.
    async fn fetch_read(&self, ids: &[DocumentId]) -> Result<Vec<(DocumentId, Arc<ReadTrack>)>, IndexError> {
        let found = self.fetch(ids, &["document", "track", points::WORDS]).await?;
        let mut tracks = BTreeMap::new();
        for point in &found {
            let (id, track) = (points::document(&point.payload)?, points::track(&point.payload)?);
            tracks.insert(id, self.recent.with_words(id, track, || points::words_of(&point.payload))?);
        }
        Ok(ids.iter().filter_map(|id| Some((*id, tracks.remove(id)?))).collect())
    }

    async fn known(&self, ids: &[DocumentId]) -> Result<BTreeSet<DocumentId>, IndexError> {
        let found = self.fetch(ids, &["document"]).await?;
        found.iter().map(|point| points::document(&point.payload)).collect()
    }

    /// A collection that someone deleted is made again, empty: the synchronisation fills it from the database.
    async fn describe(&self) -> Result<IndexInfo, IndexError> {
        if !self.is_prepared.load(Ordering::Relaxed) {
            self.prepare().await?;
        }
        match self.describe_what_is_there().await {
            Err(IndexError::WrongSchema(_)) => {
                self.prepare().await?;
                self.describe_what_is_there().await
            }
            described => described,
        }
    }

    async fn describe_what_is_there(&self) -> Result<IndexInfo, IndexError> {
        let qdrant = self.client.qdrant();
        let tracks = Filter::must([is_track(), is_first_chunk()]);
        let count = qdrant.count(CountPointsBuilder::new(&self.collection).filter(tracks).exact(true));
        let n_tracks = self.client.ask(count).await?.result.map_or(0, |result| result.count);
        let note = GetPointsBuilder::new(&self.collection, vec![NOTE.into()]).with_payload(true);
        let notes = self.client.ask(qdrant.get_points(note)).await?.result;
        let revision = notes.first().and_then(|note| note.get("revision").as_integer()).unwrap_or_default();
        // Another process may have written: what is usual has changed with it.
        if self.seen_revision.swap(revision, Ordering::Relaxed) != revision {
            self.forget_sample();
        }
        Ok(IndexInfo { engine: "qdrant", n_tracks, revision, embedder: self.embedder.id(), writable: true })
    }

    async fn count_in(&self, scope: &Scope) -> Result<u64, IndexError> {
        let tracks = narrow::Narrowed::new(&super::Filter::default(), scope).tracks();
        let request = CountPointsBuilder::new(&self.collection).filter(tracks).exact(true);
        Ok(self.client.ask(self.client.qdrant().count(request)).await?.result.map_or(0, |result| result.count))
    }

    async fn sample(&self) -> Result<Arc<Vec<Vec<f32>>>, IndexError> {
        if let Some(sample) = self.sample.read().unwrap_or_else(PoisonError::into_inner).clone() {
            return Ok(sample);
        }
        let some = ScrollPointsBuilder::new(&self.collection)
            .filter(Filter::must([is_track()]))
            .limit(SAMPLE)
            .with_payload(false)
            .with_vectors(true);
        let page = self.client.ask(self.client.qdrant().scroll(some)).await?;
        let sample = Arc::new(page.result.iter().filter_map(dense).collect::<Vec<_>>());
        *self.sample.write().unwrap_or_else(PoisonError::into_inner) = Some(sample.clone());
        Ok(sample)
    }
}

fn dense(point: &RetrievedPoint) -> Option<Vec<f32>> {
    match point.vectors.as_ref()?.get_vector_by_name("dense")? {
        Vector::Dense(vector) => Some(vector.data),
        _ => None,
    }
}

impl Successor for QdrantIndex {
    /// Other nodes may still search the old collection, so a person deletes it.
    fn took_over(&self) -> Result<(), IndexError> {
        info!("Collection {} serves now; those of other embedders may be deleted", self.collection);
        Ok(())
    }
}

impl TrackIndex for QdrantIndex {
    fn find<'a>(&'a self, plan: &'a SearchPlan) -> BoxFuture<'a, Result<SearchResults, IndexError>> {
        Box::pin(search::run(self, plan))
    }

    fn get<'a>(&'a self, ids: &'a [DocumentId]) -> BoxFuture<'a, Result<Vec<Track>, IndexError>> {
        Box::pin(async move { Ok(self.fetch_tracks(ids).await?.into_iter().map(|(_, track)| track).collect()) })
    }

    fn contains<'a>(&'a self, ids: &'a [DocumentId]) -> BoxFuture<'a, Result<BTreeSet<DocumentId>, IndexError>> {
        Box::pin(self.known(ids))
    }

    fn count<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<u64, IndexError>> {
        Box::pin(self.count_in(scope))
    }

    fn apply<'a>(&'a self, changes: &'a [Change]) -> BoxFuture<'a, Result<(), IndexError>> {
        Box::pin(self.write(changes))
    }

    fn info(&self) -> BoxFuture<'_, Result<IndexInfo, IndexError>> {
        Box::pin(self.describe())
    }
}
