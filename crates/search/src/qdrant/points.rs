//! How a track lies in Qdrant: points, payloads, and words as a sparse vector.

use std::collections::{BTreeMap, HashMap};

use anyhow::Context;
use base64::{Engine, prelude::BASE64_STANDARD as BASE64};
use qdrant_client::{
    Payload,
    qdrant::{Condition, FieldType, NamedVectors, PointStruct, Range, Value, Vector},
};
use serde_json::json;
use sha2::{Digest, Sha256};
use uuid::Builder;

use query::{
    Feature,
    latin::with_latin,
    words::{is_stop_word, weighted_terms, words},
};

use super::super::{IndexError, document, track_words::TrackWords};
use crate::embed::EmbedderId;
use music::{DocumentId, Track};

/// The point that remembers the revision.
pub(super) const NOTE: &str = "5e90e000-0000-8000-8000-000000000001";

pub(super) const YEAR: &str = "year";
pub(super) const DURATION: &str = "duration";
pub(super) const LANGUAGE: &str = "language";
pub(super) const INSTRUMENTAL: &str = "instrumental";
pub(super) const EXPLICIT: &str = "explicit";
/// Every word of the names and of what is written about a track.
pub(super) const TERMS: &str = "terms";
/// The words of the track as a text, for judging it.
pub(super) const WORDS: &str = "words";
/// Marks of those who may read it.
pub(super) const READERS: &str = "readers";
/// The id of the recording, which several documents may describe.
pub(super) const RECORDING: &str = "recording";

pub(super) fn point_id(id: DocumentId, chunk: usize) -> String {
    let hash = Sha256::digest(format!("{id}/{chunk}"));
    let bytes: [u8; 16] = hash[..16].try_into().expect("a SHA-256 has 32 bytes");
    Builder::from_custom_bytes(bytes).into_uuid().to_string()
}

pub(super) fn is_track() -> Condition {
    Condition::matches("kind", "track".to_string())
}

pub(super) fn is_first_chunk() -> Condition {
    Condition::matches("chunk", 0)
}

/// What a write at this revision leaves of earlier ones.
pub(super) fn is_older_than(revision: i64) -> Condition {
    Condition::range("written", Range { lt: Some(revision as f64), ..Range::default() })
}

pub(super) fn is_one_of<'a>(ids: impl IntoIterator<Item = &'a DocumentId>) -> Condition {
    Condition::matches("document", ids.into_iter().map(DocumentId::to_string).collect::<Vec<_>>())
}

/// What filters look at, and how Qdrant is to index it.
pub(super) fn indexed_fields() -> impl Iterator<Item = (&'static str, FieldType)> {
    let words = ["document", RECORDING, READERS, "kind", "artist", "title", "album", TERMS, LANGUAGE]
        .map(|field| (field, FieldType::Keyword));
    let numbers = Feature::ALL.map(|feature| (feature.name(), FieldType::Float));
    let facts = [
        (YEAR, FieldType::Integer),
        (DURATION, FieldType::Float),
        (INSTRUMENTAL, FieldType::Bool),
        (EXPLICIT, FieldType::Bool),
    ];
    let ours = ["chunk", "written"].map(|field| (field, FieldType::Integer));
    words.into_iter().chain(numbers).chain(facts).chain(ours)
}

/// One point per chunk, and the revision that wrote it.
pub(super) fn of(
    (id, readers): (DocumentId, &[String]),
    track: &Track,
    vectors: Vec<Vec<f32>>,
    revision: i64,
) -> Result<Vec<PointStruct>, IndexError> {
    let mut filterable = filterable(track);
    filterable.insert("document", id.to_string());
    filterable.insert(READERS, readers.to_vec());
    filterable.insert("written", revision);
    let point = |(chunk, dense): (usize, Vec<f32>)| -> Result<PointStruct, IndexError> {
        let mut payload = filterable.clone();
        payload.insert("chunk", chunk as i64);
        let mut vectors = NamedVectors::default().add_vector("dense", dense);
        if chunk == 0 {
            payload.insert("track", serde_json::to_value(track).context("a track is JSON")?);
            payload.insert(WORDS, BASE64.encode(TrackWords::of(track).encode()));
            let (indices, values): (Vec<u32>, Vec<f32>) = document_words(track).into_iter().unzip();
            vectors = vectors.add_vector("words", Vector::new_sparse(indices, values));
        }
        Ok(PointStruct::new(point_id(id, chunk), vectors, payload))
    };
    vectors.into_iter().enumerate().map(point).collect()
}

pub(super) fn note(revision: i64, embedder: &EmbedderId) -> PointStruct {
    // Every point needs a vector; searches look for tracks only.
    let mut dense = vec![0.0; embedder.dims];
    dense[0] = 1.0;
    let payload = Payload::from([
        ("kind", Value::from("note")),
        ("revision", Value::from(revision)),
        ("embedder", json!(embedder).into()),
    ]);
    PointStruct::new(NOTE, NamedVectors::default().add_vector("dense", dense), payload)
}

pub(super) fn document(payload: &HashMap<String, Value>) -> Result<DocumentId, IndexError> {
    let id = payload.get("document").and_then(|id| id.as_str()).map_or("", |id| id);
    id.parse().map_err(|error| IndexError::WrongSchema(format!("a point without an id of ours: {error}")))
}

pub(super) fn track(payload: &HashMap<String, Value>) -> Result<Track, IndexError> {
    let track = payload.get("track").cloned().unwrap_or_default().into_json();
    serde_json::from_value(track)
        .map_err(|error| IndexError::WrongSchema(format!("a point without a track of ours: {error}")))
}

pub(super) fn words_of(payload: &HashMap<String, Value>) -> Result<TrackWords, IndexError> {
    let words = payload.get(WORDS).and_then(|words| words.as_str()).map_or("", |words| words);
    let words = BASE64.decode(words).ok().and_then(|bytes| TrackWords::decode(&bytes));
    words.ok_or_else(|| IndexError::WrongSchema("a point without the words of its track".into()))
}

/// Each telling word of a query with its weight.
pub(super) fn query_words(query: &str) -> BTreeMap<u32, f32> {
    weighted_terms(query).into_iter().map(|(term, weight)| (word_index(&term), weight)).collect()
}

fn filterable(track: &Track) -> Payload {
    let terms = |text: &str| words(text).into_iter().map(|word| word.term).collect::<Vec<String>>();
    let mut meaning = terms(&document::meaning(track));
    meaning.sort_unstable();
    meaning.dedup();
    let mut payload = Payload::from([
        (TERMS, meaning.into()),
        ("kind", Value::from("track")),
        (RECORDING, track.id.to_string().into()),
        ("artist", terms(&with_latin(&track.artist)).into()),
        ("title", terms(&with_latin(&track.title)).into()),
        ("album", terms(&with_latin(&track.album)).into()),
    ]);
    for feature in Feature::ALL {
        if let Some(value) = track.audio_features.as_ref().and_then(|features| feature.of(features)) {
            payload.insert(feature.name(), value);
        }
    }
    // What is unknown is not written, so that a limit can tell it from what is known.
    let facts = [
        (YEAR, track.year().map(|year| Value::from(i64::from(year)))),
        (DURATION, track.duration.map(Value::from)),
        (LANGUAGE, track.sung_language().map(Value::from)),
        (INSTRUMENTAL, track.is_instrumental().map(Value::from)),
        (EXPLICIT, track.explicit.map(Value::from)),
    ];
    for (field, value) in facts {
        if let Some(value) = value {
            payload.insert(field, value);
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
