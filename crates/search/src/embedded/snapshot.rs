//! A snapshot: the tracks of one commit, and the document of each vector.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::Context;
use tantivy::{
    DocAddress, DocId, DocSet, Searcher, TERMINATED, TantivyDocument, columnar::Column, index::SegmentId,
    schema::IndexRecordOption,
};

use super::{
    super::{
        IndexError, Scope,
        read_track::ReadTrack,
        recent::Recent,
        vectors::{Bits, Slot, Vectors},
    },
    schema::{FIRST_SLOT, Fields, N_SLOTS, Note, Slots},
};
use music::{DocumentId, Track};

/// A document in every commit: a segment is never changed, and its id is never used again.
pub(super) type DocumentKey = (SegmentId, DocId);

pub(super) struct Snapshot {
    pub(super) searcher: Searcher,
    pub(super) note: Note,
    /// Slots whose document is not deleted.
    pub(super) live: Bits,
    /// A sample of live vectors; a query uses it to estimate the usual similarity.
    pub(super) sample: Vec<Vec<f32>>,
    /// Document of each slot; only valid for live slots.
    owners: Vec<DocAddress>,
    columns: Vec<SlotColumns>,
    /// The slots of each scope that was searched since the commit.
    scopes: Mutex<BTreeMap<Scope, Arc<Bits>>>,
}

struct SlotColumns {
    first: Column<u64>,
    n: Column<u64>,
}

/// A scope of a hundred thousand tracks takes about 25 KB.
const MOST_SCOPES: usize = 500;

/// 512 similarities give mean and deviation with an error of a few percent.
const SAMPLE: usize = 512;

impl Snapshot {
    pub(super) fn new(searcher: Searcher, note: Note, vectors: &Vectors) -> Result<Self, IndexError> {
        let mut snapshot = Self {
            live: Bits::none(note.n_slots),
            sample: Vec::new(),
            owners: vec![DocAddress::new(u32::MAX, 0); note.n_slots as usize],
            columns: Vec::new(),
            scopes: Mutex::default(),
            searcher,
            note,
        };
        snapshot.read_slots()?;
        snapshot.sample = vectors.read(&snapshot.live.sample(SAMPLE))?;
        Ok(snapshot)
    }

    fn read_slots(&mut self) -> Result<(), IndexError> {
        for (segment, reader) in self.searcher.segment_readers().iter().enumerate() {
            let fast = reader.fast_fields();
            let columns = SlotColumns { first: fast.u64(FIRST_SLOT)?, n: fast.u64(N_SLOTS)? };
            for doc in reader.doc_ids_alive() {
                for slot in columns.slots(doc) {
                    let owner = self
                        .owners
                        .get_mut(slot as usize)
                        .context("a document refers to a vector that does not exist")?;
                    *owner = DocAddress::new(segment as u32, doc);
                    self.live.insert(slot);
                }
            }
            self.columns.push(columns);
        }
        Ok(())
    }

    pub(super) fn owner(&self, slot: Slot) -> DocAddress {
        self.owners[slot as usize]
    }

    pub(super) fn slots(&self, address: DocAddress) -> std::ops::Range<Slot> {
        self.columns[address.segment_ord as usize].slots(address.doc_id)
    }

    pub(super) fn find(&self, fields: &Fields, id: DocumentId) -> Result<Option<DocAddress>, IndexError> {
        let term = fields.id_term(id);
        for (segment, reader) in self.searcher.segment_readers().iter().enumerate() {
            let postings = reader.inverted_index(fields.id)?.read_postings(&term, IndexRecordOption::Basic)?;
            let Some(mut postings) = postings else { continue };
            let mut doc = postings.doc();
            while doc != TERMINATED {
                if reader.alive_bitset().is_none_or(|alive| alive.is_alive(doc)) {
                    return Ok(Some(DocAddress::new(segment as u32, doc)));
                }
                doc = postings.advance();
            }
        }
        Ok(None)
    }

    /// The slots of the documents in a scope. They are computed once per commit.
    pub(super) fn in_scope(
        &self,
        scope: &Scope,
        look_up: impl FnOnce() -> Result<Bits, IndexError>,
    ) -> Result<Arc<Bits>, IndexError> {
        let scopes = || self.scopes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slots) = scopes().get(scope) {
            return Ok(slots.clone());
        }
        let slots = Arc::new(look_up()?);
        let mut scopes = scopes();
        if scopes.len() >= MOST_SCOPES {
            scopes.clear();
        }
        scopes.insert(scope.clone(), slots.clone());
        Ok(slots)
    }

    pub(super) fn track(&self, fields: &Fields, address: DocAddress) -> Result<Track, IndexError> {
        let document: TantivyDocument = self.searcher.doc(address)?;
        Ok(fields.track(&document)?)
    }

    /// The track and its words.
    pub(super) fn read(
        &self,
        fields: &Fields,
        recent: &Recent<DocumentKey>,
        address: DocAddress,
    ) -> Result<Arc<ReadTrack>, IndexError> {
        let segment = self.searcher.segment_reader(address.segment_ord).segment_id();
        recent.read((segment, address.doc_id), || {
            let document: TantivyDocument = self.searcher.doc(address)?;
            Ok(fields.read(&document)?)
        })
    }

    /// The vectors of a track whose chunks have not changed.
    pub(super) fn reusable(&self, fields: &Fields, id: DocumentId, digest: &str) -> Result<Option<Slots>, IndexError> {
        let Some(address) = self.find(fields, id)? else { return Ok(None) };
        let document: TantivyDocument = self.searcher.doc(address)?;
        let slots = self.slots(address);
        Ok((fields.digest(&document) == digest).then(|| Slots { first: slots.start, n: slots.end - slots.start }))
    }
}

impl SlotColumns {
    fn slots(&self, doc: u32) -> std::ops::Range<Slot> {
        let first = self.first.first(doc).unwrap_or_default() as Slot;
        first..first + self.n.first(doc).unwrap_or_default() as Slot
    }
}
