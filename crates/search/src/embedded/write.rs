//! Writes a batch: vectors first, then documents and the revision in one commit.

use std::{
    collections::BTreeMap,
    fs::File,
    sync::{PoisonError, atomic::Ordering},
};

use anyhow::Context;
use tantivy::IndexWriter;

use super::{
    super::{Change, IndexError, document},
    EmbeddedIndex, Shared, in_background,
    open::try_lock,
    schema::{Note, Slots},
};
use crate::embed::embed_documents;
use music::{DocumentId, Track};

/// The right to write. Dropping it releases the lock.
pub(super) struct Owned {
    writer: IndexWriter,
    _lock: File,
}

/// How much tantivy collects in memory before it writes a segment.
const WRITER_BYTES: usize = 48 << 20;

/// One document of a batch and its new content.
struct Step {
    id: DocumentId,
    new: Option<NewTrack>,
}

struct NewTrack {
    track: Track,
    readers: Vec<String>,
    digest: String,
    vectors: VectorsOf,
}

enum VectorsOf {
    /// The chunks did not change, so the vectors of the replaced document are kept.
    Kept(Slots),
    /// The number of new vectors of the batch, in order.
    New(u32),
}

impl EmbeddedIndex {
    pub(super) async fn write(&self, changes: &[Change]) -> Result<(), IndexError> {
        let Some(revision) = changes.iter().map(|change| change.revision).max() else { return Ok(()) };
        let shared = &self.shared;
        let _turn = shared.turn.lock().await;
        let (preparing, changes) = (shared.clone(), changes.to_vec());
        let (steps, chunks) = in_background(move || preparing.prepare(changes)).await?;
        let vectors = embed_documents(shared.embedder.clone(), chunks).await?;
        let committing = shared.clone();
        in_background(move || committing.commit(steps, &vectors, revision)).await
    }
}

impl Shared {
    pub(super) fn own(&self, lock: File) -> Result<(), IndexError> {
        // The writer starts threads.
        let writer = background::run(|| self.index.writer_with_num_threads(1, WRITER_BYTES))?;
        *self.owned.lock().unwrap_or_else(PoisonError::into_inner) = Some(Owned { writer, _lock: lock });
        self.is_owner.store(true, Ordering::Release);
        Ok(())
    }

    /// The new content of each document (its last change counts), and the texts that need a vector.
    fn prepare(&self, changes: Vec<Change>) -> Result<(Vec<Step>, Vec<String>), IndexError> {
        self.become_owner()?;
        let snapshot = self.current()?;
        let last: BTreeMap<DocumentId, Change> = changes.into_iter().map(|change| (change.id, change)).collect();
        let mut new_chunks = Vec::new();
        let mut steps = Vec::with_capacity(last.len());
        for (id, Change { readers, track, .. }) in last {
            let Some(track) = track else {
                steps.push(Step { id, new: None });
                continue;
            };
            let chunks = document::chunks(&track);
            let digest = document::digest(&chunks);
            let vectors = match snapshot.reusable(&self.fields, id, &digest)? {
                Some(slots) => VectorsOf::Kept(slots),
                None => VectorsOf::New(chunks.len() as u32),
            };
            if let VectorsOf::New(_) = vectors {
                new_chunks.extend(chunks);
            }
            steps.push(Step { id, new: Some(NewTrack { track, readers, digest, vectors }) });
        }
        Ok((steps, new_chunks))
    }

    /// Takes ownership after the owner has ended.
    fn become_owner(&self) -> Result<(), IndexError> {
        if self.is_owner() {
            return Ok(());
        }
        let lock = try_lock(&self.home)?.ok_or(IndexError::ReadOnly)?;
        self.refresh()?;
        self.own(lock)
    }

    fn commit(&self, steps: Vec<Step>, vectors: &[Vec<f32>], revision: i64) -> Result<(), IndexError> {
        // Written before the commit that refers to them: if the process ends in between, the next batch overwrites
        // them.
        let mut next_slot = self.vectors.append(vectors)?;
        let mut owned = self.owned.lock().unwrap_or_else(PoisonError::into_inner);
        let writer = &mut owned.as_mut().context("this process no longer owns the index")?.writer;
        let written = (|| -> Result<(), IndexError> {
            for step in steps {
                writer.delete_term(self.fields.id_term(step.id));
                let Some(new) = step.new else { continue };
                let slots = match new.vectors {
                    VectorsOf::Kept(slots) => slots,
                    VectorsOf::New(n) => {
                        let first = next_slot;
                        next_slot += n;
                        Slots { first, n }
                    }
                };
                let as_read = (step.id, new.readers.as_slice());
                writer.add_document(self.fields.document(as_read, &new.track, &new.digest, slots)?)?;
            }
            let note = Note { revision, n_slots: self.vectors.len(), embedder: Some(self.embedder.id()) };
            let mut commit = writer.prepare_commit()?;
            commit.set_payload(&serde_json::to_string(&note).map_err(anyhow::Error::from)?);
            commit.commit()?;
            Ok(())
        })();
        if let Err(error) = written {
            writer.rollback()?;
            return Err(error);
        }
        drop(owned);
        self.refresh()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{Arc, mpsc},
        time::Duration,
    };

    use super::*;
    use crate::embed::StaticTable;

    #[test]
    fn a_search_does_not_wait_for_a_commit() {
        let dir = tempfile::tempdir().unwrap();
        let index = EmbeddedIndex::open(dir.path(), Arc::new(StaticTable::built_in().unwrap())).unwrap();
        let _committing = index.shared.owned.lock().unwrap();
        let (searching, (ended, has_ended)) = (index.shared.clone(), mpsc::channel());
        std::thread::spawn(move || ended.send(searching.current().is_ok()));
        assert!(has_ended.recv_timeout(Duration::from_secs(30)).unwrap());
    }
}
