//! The remote index: the same tracks and the same scoring over a Qdrant server (decision 013).
//!
//! A track is one point per chunk. The first carries the track itself and the sparse vector of its words; all carry
//! what filters need. One more point, the note, remembers the revision.

mod client;
mod points;
mod search;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, PoisonError, RwLock},
};

use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::{Change, Hit, IndexError, IndexInfo, SearchPlan, TrackIndex, document};
use crate::{
    embed::{Embedder, Kind},
    music::{Isrc, Track},
};
use client::Client;
pub use client::QdrantSettings;
use points::{NOTE, is_track, point_id};

pub struct QdrantIndex {
    client: Client,
    collection: String,
    embedder: Arc<dyn Embedder>,
    /// Vectors of some tracks, from which a query learns what is usual; read again after a write.
    sample: RwLock<Option<Arc<Vec<Vec<f32>>>>>,
}

const VERSION: u32 = 1;
/// Points per request: about 4 MB of JSON at 640 dimensions.
const BATCH: usize = 256;
const SAMPLE: usize = 256;

impl QdrantIndex {
    /// Finds this embedder's collection or makes it, and checks that it is one of ours.
    pub async fn connect(
        http: reqwest::Client,
        settings: QdrantSettings,
        embedder: Arc<dyn Embedder>,
    ) -> Result<Self, IndexError> {
        let id = embedder.id();
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let model: String = id.model.chars().map(plain).collect();
        let hash: String = id.hash.chars().take(8).collect();
        let collection = format!("{}-v{VERSION}-{model}-{}-{hash}", settings.prefix, id.dims);
        let index = Self { client: Client::new(http, settings), collection, embedder, sample: RwLock::default() };
        index.prepare().await?;
        Ok(index)
    }

    /// Deletes the collection: for tests, and for starting over.
    pub async fn discard(&self) -> Result<(), IndexError> {
        self.client.delete(&format!("/collections/{}", self.collection)).await.map(drop)
    }

    async fn prepare(&self) -> Result<(), IndexError> {
        let path = format!("/collections/{}", self.collection);
        let Some(info) = self.client.find(&path).await? else {
            let dense = json!({"size": self.embedder.id().dims, "distance": "Cosine"});
            let body = json!({"vectors": {"dense": dense}, "sparse_vectors": {"words": {"modifier": "idf"}}});
            self.client.put(&path, &body).await?;
            for (field, schema) in points::indexed_fields() {
                let body = json!({"field_name": field, "field_schema": schema});
                self.client.put(&format!("{path}/index?wait=true"), &body).await?;
            }
            return Ok(());
        };
        let params = &info["config"]["params"];
        let size = params["vectors"]["dense"]["size"].as_u64();
        if size != Some(self.embedder.id().dims as u64) || params["sparse_vectors"]["words"]["modifier"] != "idf" {
            let name = &self.collection;
            return Err(IndexError::WrongSchema(format!(
                "collection {name} has other vectors than ours; delete it or set another server"
            )));
        }
        Ok(())
    }

    fn path(&self, rest: &str) -> String {
        format!("/collections/{}/points{rest}", self.collection)
    }

    async fn write(&self, changes: &[Change]) -> Result<(), IndexError> {
        let Some(revision) = changes.iter().map(|change| change.revision).max() else { return Ok(()) };
        let last: BTreeMap<&Isrc, Option<&Track>> =
            changes.iter().map(|change| (&change.isrc, change.track.as_ref())).collect();
        let chunks: Vec<Vec<String>> = last.values().flatten().map(|track| document::chunks(track)).collect();
        let vectors = self.embedder.embed(&chunks.concat(), Kind::Document).await?;
        let mut vectors = vectors.into_iter();
        let mut new = Vec::new();
        for (track, chunks) in last.values().flatten().zip(&chunks) {
            new.extend(points::of(track, vectors.by_ref().take(chunks.len()).collect(), self.embedder.id().dims)?);
        }
        // Old points first: a track may have fewer chunks than before. The note comes last, so that a write that
        // stopped half way is done again.
        let codes: Vec<&&Isrc> = last.keys().collect();
        let old = json!({"filter": {"must": [{"key": "isrc", "match": {"any": codes}}]}});
        self.client.post(&self.path("/delete?wait=true"), &old).await?;
        for batch in new.chunks(BATCH) {
            self.client.put(&self.path("?wait=true"), &json!({"points": batch})).await?;
        }
        let note = points::note(revision, &self.embedder.id());
        self.client.put(&self.path("?wait=true"), &json!({"points": [note]})).await?;
        *self.sample.write().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }

    /// The points of some tracks that carry the tracks themselves.
    async fn fetch(&self, isrcs: &[Isrc], payload: Value) -> Result<Vec<Value>, IndexError> {
        let ids: Vec<String> = isrcs.iter().map(|isrc| point_id(isrc, 0)).collect();
        let body = json!({"ids": ids, "with_payload": payload, "with_vector": false});
        let found = self.client.post(&self.path(""), &body).await?;
        Ok(found.as_array().cloned().unwrap_or_default())
    }

    async fn fetch_tracks(&self, isrcs: &[Isrc]) -> Result<Vec<Track>, IndexError> {
        let found = self.fetch(isrcs, json!(["isrc", "track"])).await?;
        let tracks: BTreeMap<Isrc, Track> = found
            .iter()
            .map(|point| points::track(point).map(|track| (track.isrc.clone(), track)))
            .collect::<Result<_, _>>()?;
        Ok(isrcs.iter().filter_map(|isrc| tracks.get(isrc).cloned()).collect())
    }

    async fn known(&self, isrcs: &[Isrc]) -> Result<BTreeSet<Isrc>, IndexError> {
        let found = self.fetch(isrcs, json!(["isrc"])).await?;
        found.iter().map(points::isrc).collect()
    }

    /// A collection that someone deleted is made again, empty: whoever keeps the index up fills it from the database.
    async fn describe(&self) -> Result<IndexInfo, IndexError> {
        match self.describe_what_is_there().await {
            Err(IndexError::WrongSchema(_)) => {
                self.prepare().await?;
                self.describe_what_is_there().await
            }
            described => described,
        }
    }

    async fn describe_what_is_there(&self) -> Result<IndexInfo, IndexError> {
        let count = json!({"exact": true, "filter": {"must": [is_track(), {"key": "chunk", "match": {"value": 0}}]}});
        let count = self.client.post(&self.path("/count"), &count).await?;
        let n_tracks = count["count"].as_u64().unwrap_or_default();
        let body = json!({"ids": [NOTE], "with_payload": true, "with_vector": false});
        let notes = self.client.post(&self.path(""), &body).await?;
        let revision = notes[0]["payload"]["revision"].as_i64().unwrap_or_default();
        Ok(IndexInfo { engine: "qdrant", n_tracks, revision, embedder: self.embedder.id(), writable: true })
    }

    async fn sample(&self) -> Result<Arc<Vec<Vec<f32>>>, IndexError> {
        if let Some(sample) = self.sample.read().unwrap_or_else(PoisonError::into_inner).clone() {
            return Ok(sample);
        }
        let body =
            json!({"filter": {"must": [is_track()]}, "limit": SAMPLE, "with_payload": false, "with_vector": true});
        let page = self.client.post(&self.path("/scroll"), &body).await?;
        let vectors = page["points"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|point| serde_json::from_value(point["vector"]["dense"].clone()).ok());
        let sample = Arc::new(vectors.collect::<Vec<Vec<f32>>>());
        *self.sample.write().unwrap_or_else(PoisonError::into_inner) = Some(sample.clone());
        Ok(sample)
    }
}

impl TrackIndex for QdrantIndex {
    fn search<'a>(&'a self, plan: &'a SearchPlan) -> BoxFuture<'a, Result<Vec<Hit>, IndexError>> {
        Box::pin(search::run(self, plan))
    }

    fn get<'a>(&'a self, isrcs: &'a [Isrc]) -> BoxFuture<'a, Result<Vec<Track>, IndexError>> {
        Box::pin(self.fetch_tracks(isrcs))
    }

    fn contains<'a>(&'a self, isrcs: &'a [Isrc]) -> BoxFuture<'a, Result<BTreeSet<Isrc>, IndexError>> {
        Box::pin(self.known(isrcs))
    }

    fn apply<'a>(&'a self, changes: &'a [Change]) -> BoxFuture<'a, Result<(), IndexError>> {
        Box::pin(self.write(changes))
    }

    fn info(&self) -> BoxFuture<'_, Result<IndexInfo, IndexError>> {
        Box::pin(self.describe())
    }
}
