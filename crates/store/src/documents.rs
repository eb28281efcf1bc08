//! Documents: the searchable data of a recording, and who may read it. Only this module writes the table `documents`.
//!
//! A document is computed from the enrichment results of a recording and from its owners. Every transaction that
//! changes either calls [`project`] at its end.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde::de::DeserializeOwned;
use serde_json::Value;
use sqlx::types::Json;

use super::{
    StoreError,
    db::{Sql, Tx},
    found::{StepResults, assembled, overlaid},
};
use music::{Track, scope};

/// The tracks with the results of their steps.
fn known_so_far(condition: &str) -> String {
    format!(
        "SELECT t.id, t.recording_id, t.owner, t.is_overlay, t.track, l.result AS lyrics, l.settled_at AS lyrics_at,
            f.result AS features, f.settled_at AS features_at, d.result AS description
         FROM ingested_tracks t
         LEFT JOIN ingest_steps l ON l.document_id = t.id AND l.step = 'lyrics'
         LEFT JOIN ingest_steps f ON f.document_id = t.id AND f.step = 'features'
         LEFT JOIN ingest_steps d ON d.document_id = t.id AND d.step = 'describe'
         WHERE {condition}"
    )
}

pub(crate) static KNOWN_BY_ID: Sql = Sql::new(|| known_so_far("t.id IN (SELECT value FROM json_each($1))"));
pub(crate) static KNOWN: Sql = Sql::new(|| known_so_far("t.recording_id IN (SELECT value FROM json_each($1))"));

pub(crate) const OWNERS: &str = "SELECT recording_id, user_id FROM library_tracks
        WHERE removed_at IS NULL AND recording_id IN (SELECT value FROM json_each($1))
    UNION SELECT t.recording_id, t.user_id FROM library_album_tracks t
        JOIN library_albums a ON a.user_id = t.user_id AND a.album_id = t.album_id AND a.removed_at IS NULL
        WHERE t.recording_id IN (SELECT value FROM json_each($1))";

pub(crate) const DOCUMENTS: &str = "SELECT id, recording_id, owner, is_sample, readers, track FROM documents
    WHERE recording_id IN (SELECT value FROM json_each($1))";

/// A deleted document keeps no text. Its id is kept until every index has processed the deletion.
const PUT: &str = "INSERT INTO documents
        (id, recording_id, owner, revision, name, is_sample, readers, track, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    ON CONFLICT (id) DO UPDATE SET revision = excluded.revision, name = excluded.name, readers = excluded.readers,
        is_sample = excluded.is_sample, track = excluded.track, updated_at = excluded.updated_at";

const PUT_NAME: &str = "INSERT INTO recording_names (kind, value, recording_id) VALUES ($1, $2, $3)
    ON CONFLICT (kind, value, recording_id) DO NOTHING";

const NEXT_REVISIONS: &str = "UPDATE track_revision SET value = value + $1 RETURNING value";

/// How many recordings are projected at once.
const AT_ONCE: usize = 500;

pub(crate) struct KnownRow {
    pub(crate) id: String,
    pub(crate) recording_id: String,
    pub(crate) owner: String,
    is_overlay: bool,
    track: Json<Track>,
    lyrics: Option<Json<Value>>,
    lyrics_at: Option<DateTime<Utc>>,
    features: Option<Json<Value>>,
    features_at: Option<DateTime<Utc>>,
    description: Option<Json<Value>>,
}
from_row!(KnownRow {
    id,
    recording_id,
    owner,
    is_overlay,
    track,
    lyrics,
    lyrics_at,
    features,
    features_at,
    description
});

impl KnownRow {
    /// The track with the results of all its steps.
    pub(crate) fn track(self) -> Result<Track, sqlx::Error> {
        let found = StepResults {
            lyrics: read(self.lyrics)?.zip(self.lyrics_at),
            features: read(self.features)?.zip(self.features_at),
            description: read(self.description)?,
        };
        Ok(assembled(self.track.0, found))
    }
}

fn read<T: DeserializeOwned>(json: Option<Json<Value>>) -> Result<Option<T>, sqlx::Error> {
    json.map(|Json(value)| serde_json::from_value(value)).transpose().map_err(|error| sqlx::Error::Decode(error.into()))
}

/// A document as it is stored, or as it should be stored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Document {
    pub(crate) id: String,
    pub(crate) recording_id: String,
    /// Empty: it is public.
    pub(crate) owner: String,
    pub(crate) is_sample: bool,
    pub(crate) readers: Vec<String>,
    /// `None`: the document is deleted.
    pub(crate) track: Option<Track>,
}

struct DocumentRow {
    id: String,
    recording_id: String,
    owner: String,
    is_sample: bool,
    readers: Json<Vec<String>>,
    track: Option<Json<Track>>,
}
from_row!(DocumentRow { id, recording_id, owner, is_sample, readers, track });

/// The enrichment data of one recording for one reader.
struct Described {
    id: String,
    owner: String,
    is_overlay: bool,
    track: Track,
}

/// Updates the documents of these recordings.
pub(crate) async fn project(tx: &mut Tx, recordings: &[String]) -> Result<(), StoreError> {
    let recordings: BTreeSet<&str> = recordings.iter().map(String::as_str).collect();
    let recordings: Vec<&str> = recordings.into_iter().collect();
    if recordings.is_empty() {
        return Ok(());
    }
    // Locks the revision counter: transactions that change documents run one after the other, and the second sees
    // the owners that the first wrote. On SQLite all transactions do.
    if tx.is_postgres() {
        reserve_revisions(tx, 0).await?;
    }
    for part in recordings.chunks(AT_ONCE) {
        project_part(tx, part).await?;
    }
    Ok(())
}

async fn project_part(tx: &mut Tx, recordings: &[&str]) -> Result<(), StoreError> {
    let known: Vec<KnownRow> = tx.query(&KNOWN).bind(Json(recordings)).fetch_all().await?;
    let owners: Vec<(String, String)> = tx.query(OWNERS).bind(Json(recordings)).fetch_all().await?;
    let documents: Vec<DocumentRow> = tx.query(DOCUMENTS).bind(Json(recordings)).fetch_all().await?;
    let mut parts: BTreeMap<String, Parts> = BTreeMap::new();
    for row in known {
        let (id, owner, is_overlay) = (row.id.clone(), row.owner.clone(), row.is_overlay);
        let part = parts.entry(row.recording_id.clone()).or_default();
        part.described.push(Described { id, owner, is_overlay, track: row.track()? });
    }
    for (recording, owner) in owners {
        parts.entry(recording).or_default().owners.insert(owner);
    }
    for DocumentRow { id, recording_id, owner, is_sample, readers: Json(readers), track } in documents {
        let track = track.map(|Json(track)| track);
        let document = Document { id, recording_id: recording_id.clone(), owner, is_sample, readers, track };
        parts.entry(recording_id).or_default().documents.push(document);
    }
    let changed: Vec<Document> = parts.into_iter().flat_map(|(recording, parts)| parts.changes(&recording)).collect();
    put(tx, &changed).await
}

pub(crate) async fn put(tx: &mut Tx, documents: &[Document]) -> Result<(), StoreError> {
    if documents.is_empty() {
        return Ok(());
    }
    let first = reserve_revisions(tx, documents.len()).await?;
    for (revision, document) in (first..).zip(documents) {
        let name = document.track.as_ref().map(|track| track.recording_name().to_string()).unwrap_or_default();
        tx.query(PUT)
            .bind(&document.id)
            .bind(&document.recording_id)
            .bind(&document.owner)
            .bind(revision)
            .bind(name)
            .bind(document.is_sample)
            .bind(Json(&document.readers))
            .bind(document.track.as_ref().map(Json))
            .bind_now()
            .execute()
            .await?;
        let Some(track) = document.track.as_ref().filter(|_| document.owner.is_empty()) else { continue };
        let names = [("isrc", track.isrc.as_ref().map(|isrc| isrc.as_str())), ("tidal", track.tidal_id.as_deref())];
        for (kind, value) in names.into_iter().filter_map(|(kind, value)| Some((kind, value?))) {
            tx.query(PUT_NAME).bind(kind).bind(value).bind(&document.recording_id).execute().await?;
        }
    }
    Ok(())
}

/// Reserves `n` revisions and returns the first. The counter's row lock is held to the end of the transaction.
pub(crate) async fn reserve_revisions(tx: &mut Tx, n: usize) -> Result<i64, StoreError> {
    let n = n as i64;
    let (last,): (i64,) = tx.query(NEXT_REVISIONS).bind(n).fetch_one().await?;
    Ok(last - n + 1)
}

/// All data about one recording.
#[derive(Default)]
struct Parts {
    described: Vec<Described>,
    owners: BTreeSet<String>,
    documents: Vec<Document>,
}

impl Parts {
    /// The documents that must be written.
    fn changes(self, recording: &str) -> Vec<Document> {
        let wanted = self.wanted(recording);
        let gone = self.documents.iter().filter(|old| old.track.is_some());
        let gone = gone.filter(|old| wanted.iter().all(|new| new.id != old.id));
        let gone = gone.map(|old| Document { readers: vec![], track: None, is_sample: false, ..old.clone() });
        let gone: Vec<_> = gone.collect();
        wanted.into_iter().filter(|new| !self.documents.contains(new)).chain(gone).collect()
    }

    fn wanted(&self, recording: &str) -> Vec<Document> {
        let public = self.public();
        let mut wanted: Vec<Document> = Vec::new();
        for described in self.described.iter().filter(|described| self.owners.contains(&described.owner)) {
            let track = match &public {
                Some(public) if described.is_overlay => overlaid(&described.track, &public.track),
                _ => described.track.clone(),
            };
            wanted.push(Document {
                id: described.id.clone(),
                recording_id: recording.to_owned(),
                owner: described.owner.clone(),
                is_sample: false,
                readers: vec![scope::reader(&described.owner)],
                track: Some(track),
            });
        }
        if let Some(public) = public.filter(|public| public.is_sample || !self.owners.is_empty()) {
            let shadowed = wanted.iter().map(|private| scope::shadowed(&private.owner));
            let mut readers = vec![scope::PUBLIC.to_owned()];
            readers.extend(public.is_sample.then(|| scope::SAMPLE.to_owned()));
            readers.extend(self.owners.iter().map(|owner| scope::reader(owner)));
            readers.extend(shadowed);
            wanted.push(Document {
                id: public.id,
                recording_id: recording.to_owned(),
                owner: String::new(),
                is_sample: public.is_sample,
                readers,
                track: Some(public.track),
            });
        }
        wanted
    }

    /// The public data: from enrichment, or from the sample.
    fn public(&self) -> Option<Public> {
        let described = self.described.iter().find(|described| described.owner.is_empty());
        let indexed = self.documents.iter().find(|document| document.owner.is_empty());
        let is_sample = indexed.is_some_and(|document| document.is_sample);
        match described {
            Some(described) => Some(Public { id: described.id.clone(), track: described.track.clone(), is_sample }),
            None => indexed.and_then(|document| {
                Some(Public { id: document.id.clone(), track: document.track.clone()?, is_sample })
            }),
        }
    }
}

struct Public {
    id: String,
    track: Track,
    is_sample: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    const R: &str = "58534755-4532-8363-8039-303030000000";

    fn track(title: &str) -> Track {
        let json = serde_json::json!({"trackId": R, "title": title, "artist": "Artist", "album": ""});
        serde_json::from_value(json).unwrap()
    }

    fn described(owner: &str, title: &str, is_overlay: bool) -> Described {
        Described { id: format!("document of {owner}"), owner: owner.into(), is_overlay, track: track(title) }
    }

    fn parts(described: Vec<Described>, owners: &[&str], documents: Vec<Document>) -> Parts {
        Parts { described, owners: owners.iter().map(ToString::to_string).collect(), documents }
    }

    #[test]
    fn a_public_document_lists_its_owners_except_those_with_their_own_document() {
        let parts = parts(vec![described("", "Title", false), described("ann", "Mine", true)], &["ann", "bob"], vec![]);
        let changes = parts.changes(R);
        assert_eq!(changes[0].readers, ["u:ann"]);
        assert_eq!(changes[0].track.as_ref().unwrap().title, "Mine");
        assert_eq!(changes[1].readers, ["public", "u:ann", "u:bob", "x:ann"]);
        assert_eq!(changes[1].track.as_ref().unwrap().title, "Title");
    }

    #[test]
    fn data_of_a_file_is_readable_only_by_its_owner_and_is_deleted_with_the_track() {
        let before = parts(vec![described("ann", "Memo", false)], &["ann", "bob"], vec![]).changes(R);
        assert_eq!((before.len(), &before[0].readers), (1, &vec!["u:ann".to_owned()]));
        let after = parts(vec![described("ann", "Memo", false)], &["bob"], before.clone()).changes(R);
        assert_eq!(after, [Document { readers: vec![], track: None, ..before[0].clone() }]);
        assert!(parts(vec![], &["bob"], after).changes(R).is_empty(), "a deleted document is not deleted again");
    }

    #[test]
    fn an_unchanged_document_is_not_written_again() {
        let known = || vec![described("", "Title", false)];
        let documents = parts(known(), &["ann"], vec![]).changes(R);
        assert!(parts(known(), &["ann"], documents.clone()).changes(R).is_empty());
        assert_eq!(parts(known(), &["ann", "bob"], documents.clone()).changes(R).len(), 1, "a new reader is a change");
        assert_eq!(parts(known(), &[], documents).changes(R)[0].track, None, "a document without owners is deleted");
    }
}
