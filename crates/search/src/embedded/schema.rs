//! The schema of a track in the text engine: its fields, and the note of each commit.

use anyhow::Context;
use serde::{Deserialize, Serialize};
use tantivy::{
    Index, TantivyDocument, Term,
    schema::{FAST, Field, INDEXED, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions, Value},
};

use query::{Feature, latin::with_latin};

use super::super::{
    document,
    read_track::ReadTrack,
    tokenizers::{NameTokenizer, WordTokenizer},
    track_words::TrackWords,
    vectors::Slot,
};
use crate::embed::EmbedderId;
use music::{DocumentId, Track, TrackId};

/// Must be raised when the written format changes, or when texts are split into other words. An index of another version
/// is built again.
pub(super) const VERSION: u32 = 6;

pub(super) struct Fields {
    pub(super) schema: Schema,
    pub(super) id: Field,
    pub(super) track: Field,
    pub(super) readers: Field,
    pub(super) title: Field,
    pub(super) artist: Field,
    pub(super) album: Field,
    pub(super) names: Field,
    pub(super) meaning: Field,
    pub(super) lyrics: Field,
    /// The whole track as JSON.
    body: Field,
    /// The words of the track, as [`TrackWords::encode`] writes them.
    words: Field,
    digest: Field,
    pub(super) year: Field,
    pub(super) duration: Field,
    pub(super) language: Field,
    pub(super) instrumental: Field,
    pub(super) explicit: Field,
    first_slot: Field,
    n_slots: Field,
    features: [Field; Feature::ALL.len()],
}

pub(super) const FIRST_SLOT: &str = "first_slot";
pub(super) const N_SLOTS: &str = "n_slots";
pub(super) const YEAR: &str = "year";
pub(super) const DURATION: &str = "duration";
pub(super) const LANGUAGE: &str = "language";
pub(super) const INSTRUMENTAL: &str = "instrumental";
pub(super) const EXPLICIT: &str = "explicit";

/// Where the vectors of a document are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Slots {
    pub(super) first: Slot,
    pub(super) n: u32,
}

/// Committed together with the documents: the last revision that was read and the number of vectors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Note {
    pub(super) revision: i64,
    pub(super) n_slots: u32,
    pub(super) embedder: Option<EmbedderId>,
}

impl Fields {
    pub(super) fn new() -> Self {
        let mut schema = Schema::builder();
        let counted = |tokenizer| {
            let indexing = TextFieldIndexing::default().set_tokenizer(tokenizer);
            TextOptions::default().set_indexing_options(indexing.set_index_option(IndexRecordOption::WithFreqs))
        };
        Self {
            id: schema.add_text_field("id", STRING),
            track: schema.add_text_field("track", STRING),
            readers: schema.add_text_field("readers", STRING),
            title: schema.add_text_field("title", counted("names")),
            artist: schema.add_text_field("artist", counted("names")),
            album: schema.add_text_field("album", counted("names")),
            names: schema.add_text_field("names", counted("names")),
            meaning: schema.add_text_field("meaning", counted("words")),
            lyrics: schema.add_text_field("lyrics", counted("words")),
            body: schema.add_bytes_field("body", STORED),
            words: schema.add_bytes_field("words", STORED),
            digest: schema.add_text_field("digest", STORED),
            year: schema.add_i64_field(YEAR, FAST | INDEXED),
            duration: schema.add_f64_field(DURATION, FAST | INDEXED),
            language: schema.add_text_field(LANGUAGE, STRING | FAST),
            instrumental: schema.add_bool_field(INSTRUMENTAL, FAST | INDEXED),
            explicit: schema.add_bool_field(EXPLICIT, FAST | INDEXED),
            first_slot: schema.add_u64_field(FIRST_SLOT, FAST),
            n_slots: schema.add_u64_field(N_SLOTS, FAST),
            features: Feature::ALL.map(|feature| schema.add_f64_field(feature.name(), FAST | INDEXED)),
            schema: schema.build(),
        }
    }

    pub(super) fn register_tokenizers(index: &Index) {
        index.tokenizers().register("words", WordTokenizer);
        index.tokenizers().register("names", NameTokenizer);
    }

    pub(super) fn document(
        &self,
        (id, readers): (DocumentId, &[String]),
        track: &Track,
        digest: &str,
        slots: Slots,
    ) -> anyhow::Result<TantivyDocument> {
        let mut document = TantivyDocument::default();
        document.add_text(self.id, id.to_string());
        for reader in readers {
            document.add_text(self.readers, reader);
        }
        document.add_text(self.track, track.id.to_string());
        document.add_text(self.title, with_latin(&track.title));
        document.add_text(self.artist, with_latin(&track.artist));
        document.add_text(self.album, with_latin(&track.album));
        document.add_text(self.names, document::names(track));
        document.add_text(self.meaning, document::meaning(track));
        document.add_text(self.lyrics, track.lyrics.as_deref().unwrap_or_default());
        document.add_bytes(self.body, &serde_json::to_vec(track)?);
        document.add_bytes(self.words, &TrackWords::of(track).encode());
        document.add_text(self.digest, digest);
        self.add_facts(&mut document, track);
        document.add_u64(self.first_slot, u64::from(slots.first));
        document.add_u64(self.n_slots, u64::from(slots.n));
        for (feature, field) in Feature::ALL.into_iter().zip(self.features) {
            if let Some(value) = track.audio_features.as_ref().and_then(|features| feature.of(features)) {
                document.add_f64(field, value);
            }
        }
        Ok(document)
    }

    /// The fields that filters use. Unknown values are not written.
    fn add_facts(&self, document: &mut TantivyDocument, track: &Track) {
        if let Some(year) = track.year() {
            document.add_i64(self.year, i64::from(year));
        }
        if let Some(seconds) = track.duration {
            document.add_f64(self.duration, seconds);
        }
        if let Some(language) = track.sung_language() {
            document.add_text(self.language, language);
        }
        if let Some(is) = track.is_instrumental() {
            document.add_bool(self.instrumental, is);
        }
        if let Some(is) = track.explicit {
            document.add_bool(self.explicit, is);
        }
    }

    pub(super) fn track(&self, document: &TantivyDocument) -> anyhow::Result<Track> {
        let body = document.get_first(self.body).and_then(|body| body.as_bytes()).unwrap_or_default();
        Ok(serde_json::from_slice(body)?)
    }

    /// The track with its words.
    pub(super) fn read(&self, document: &TantivyDocument) -> anyhow::Result<ReadTrack> {
        let words = document.get_first(self.words).and_then(|words| words.as_bytes()).unwrap_or_default();
        let words = TrackWords::decode(words).context("the words of a track in the index cannot be read")?;
        Ok(ReadTrack::new(self.track(document)?, words))
    }

    pub(super) fn digest<'a>(&self, document: &'a TantivyDocument) -> &'a str {
        document.get_first(self.digest).and_then(|digest| digest.as_str()).unwrap_or_default()
    }

    pub(super) fn id_term(&self, id: DocumentId) -> Term {
        Term::from_field_text(self.id, &id.to_string())
    }

    pub(super) fn reader_term(&self, mark: &str) -> Term {
        Term::from_field_text(self.readers, mark)
    }

    pub(super) fn track_term(&self, id: &TrackId) -> Term {
        Term::from_field_text(self.track, &id.to_string())
    }

    pub(super) fn feature(&self, feature: Feature) -> Field {
        self.features[feature as usize]
    }
}
