//! How a track lies in Qdrant: points, payloads, and words as a sparse vector.

use std::collections::BTreeMap;

use anyhow::Context;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use uuid::Builder;

use super::super::{
    Filter, IndexError, document,
    features::Feature,
    words::{is_stop_word, telling_words, words},
};
use crate::{
    embed::EmbedderId,
    music::{Isrc, Track},
};

/// The point that remembers the revision.
pub(super) const NOTE: &str = "5e90e000-0000-8000-8000-000000000001";

pub(super) fn point_id(isrc: &Isrc, chunk: usize) -> String {
    let hash = Sha256::digest(format!("{isrc}/{chunk}"));
    let bytes: [u8; 16] = hash[..16].try_into().expect("a SHA-256 has 32 bytes");
    Builder::from_custom_bytes(bytes).into_uuid().to_string()
}

pub(super) fn is_track() -> Value {
    json!({"key": "kind", "match": {"value": "track"}})
}

/// What filters look at, and how Qdrant is to index it.
pub(super) fn indexed_fields() -> Vec<(&'static str, &'static str)> {
    let words = ["isrc", "kind", "artist", "title", "album"].map(|field| (field, "keyword"));
    let numbers = Feature::ALL.map(|feature| (feature.name(), "float"));
    words.into_iter().chain(numbers).chain([("chunk", "integer")]).collect()
}

/// One point per chunk; a track about which nothing is written has one, with no direction.
pub(super) fn of(track: &Track, mut vectors: Vec<Vec<f32>>, dims: usize) -> Result<Vec<Value>, IndexError> {
    if vectors.is_empty() {
        vectors.push(vec![0.0; dims]);
    }
    let filterable = filterable(track);
    let point = |(chunk, dense): (usize, Vec<f32>)| -> Result<Value, IndexError> {
        let mut payload = filterable.clone();
        payload.insert("chunk".into(), json!(chunk));
        let mut vector = json!({"dense": dense});
        if chunk == 0 {
            payload.insert("track".into(), serde_json::to_value(track).context("a track is JSON")?);
            vector["words"] = sparse(document_words(track));
        }
        Ok(json!({"id": point_id(&track.isrc, chunk), "vector": vector, "payload": payload}))
    };
    vectors.into_iter().enumerate().map(point).collect()
}

pub(super) fn note(revision: i64, embedder: &EmbedderId) -> Value {
    // Every point needs a vector; searches look for tracks only.
    let mut dense = vec![0.0; embedder.dims];
    dense[0] = 1.0;
    json!({"id": NOTE, "vector": {"dense": dense}, "payload": {"kind": "note", "revision": revision, "embedder": embedder}})
}

pub(super) fn isrc(point: &Value) -> Result<Isrc, IndexError> {
    let code = point["payload"]["isrc"].as_str().unwrap_or_default();
    code.parse().map_err(|error| IndexError::WrongSchema(format!("a point without a code of ours: {error}")))
}

pub(super) fn track(point: &Value) -> Result<Track, IndexError> {
    serde_json::from_value(point["payload"]["track"].clone())
        .map_err(|error| IndexError::WrongSchema(format!("a point without a track of ours: {error}")))
}

/// A filter in Qdrant's words; it always says that we look for tracks.
pub(super) fn conditions(filter: &Filter) -> Vec<Value> {
    let mut must = vec![is_track()];
    for range in &filter.features {
        let mut ends = Map::new();
        ends.extend(range.min.map(|min| ("gte".to_string(), json!(min))));
        ends.extend(range.max.map(|max| ("lte".to_string(), json!(max))));
        must.push(json!({"key": range.feature.name(), "range": ends}));
    }
    if let Some(isrcs) = &filter.isrcs {
        must.push(json!({"key": "isrc", "match": {"any": isrcs}}));
    }
    for (field, text) in [("artist", &filter.artist), ("title", &filter.title), ("album", &filter.album)] {
        for word in words(text.as_deref().unwrap_or_default()) {
            must.push(json!({"key": field, "match": {"value": word.term}}));
        }
    }
    must
}

/// Each telling word of a query and how often it is there.
pub(super) fn query_words(query: &str) -> BTreeMap<u32, f32> {
    let mut counts = BTreeMap::new();
    for word in telling_words(query) {
        *counts.entry(word_index(&word.term)).or_default() += 1.0;
    }
    counts
}

pub(super) fn sparse(words: BTreeMap<u32, f32>) -> Value {
    let (indices, values): (Vec<u32>, Vec<f32>) = words.into_iter().unzip();
    json!({"indices": indices, "values": values})
}

fn filterable(track: &Track) -> Map<String, Value> {
    let terms = |text: &str| words(text).into_iter().map(|word| json!(word.term)).collect::<Vec<Value>>();
    let mut payload = Map::new();
    payload.insert("kind".into(), json!("track"));
    payload.insert("isrc".into(), json!(track.isrc));
    payload.insert("artist".into(), terms(&track.artist).into());
    payload.insert("title".into(), terms(&track.title).into());
    payload.insert("album".into(), terms(&track.album).into());
    for feature in Feature::ALL {
        if let Some(value) = track.audio_features.as_ref().and_then(|features| feature.of(features)) {
            payload.insert(feature.name().into(), json!(value));
        }
    }
    payload
}

/// BM25 without the rarity of words, which the server adds: how much each word counts in this track.
fn document_words(track: &Track) -> BTreeMap<u32, f32> {
    // Names keep their stop words: they may be all there is.
    let telling = |text: &str| -> Vec<String> {
        words(text).into_iter().map(|word| word.term).filter(|term| !is_stop_word(term)).collect()
    };
    let names = words(&document::names(track)).into_iter().map(|word| word.term).collect();
    let fields = [
        (telling(&document::meaning(track)), 1.0, USUAL_MEANING),
        (names, 0.5, USUAL_NAMES),
        (telling(track.lyrics.as_deref().unwrap_or_default()), 0.7, USUAL_LYRICS),
    ];
    let mut weights = BTreeMap::new();
    for (terms, boost, usual) in fields {
        let length = 1.0 - B + B * terms.len() as f32 / usual;
        let mut counts: BTreeMap<u32, f32> = BTreeMap::new();
        terms.iter().for_each(|term| *counts.entry(word_index(term)).or_default() += 1.0);
        for (index, count) in counts {
            *weights.entry(index).or_default() += boost * count * (K1 + 1.0) / (count + K1 * length);
        }
    }
    weights
}

const K1: f32 = 1.2;
const B: f32 = 0.75;
/// Words a field usually has. The server does not know means, and a guess costs little.
const USUAL_MEANING: f32 = 60.0;
const USUAL_NAMES: f32 = 6.0;
const USUAL_LYRICS: f32 = 150.0;

/// Words have numbers in Qdrant; two of a library's words share one by chance once in many thousand.
fn word_index(term: &str) -> u32 {
    let hash = Sha256::digest(term);
    u32::from_le_bytes([hash[0], hash[1], hash[2], hash[3]])
}
