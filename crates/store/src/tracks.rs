//! Changes of documents for an index, and the tracks that the catalogue has returned.

use std::collections::BTreeMap;

use sqlx::types::Json;

use super::{
    Store, StoreError,
    documents::{Document, project, put},
};
use music::{DocumentId, Isrc, Track, scope};

/// A change of a document. `None`: it was deleted.
#[derive(Clone, Debug)]
pub struct TrackChange {
    pub revision: i64,
    pub id: DocumentId,
    pub readers: Vec<String>,
    pub track: Option<Track>,
}

struct ChangeRow {
    revision: i64,
    id: String,
    readers: Json<Vec<String>>,
    track: Option<Json<Track>>,
}
from_row!(ChangeRow { revision, id, readers, track });

impl Store {
    /// The revision of the newest change.
    pub async fn track_revision(&self) -> Result<i64, StoreError> {
        const SQL: &str = "SELECT value FROM track_revision";
        let (value,): (i64,) = self.read(SQL).fetch_one().await?;
        Ok(value)
    }

    /// Stores public tracks that need no enrichment: the sample. Returns how many are new or changed.
    pub async fn put_tracks(&self, tracks: &[Track]) -> Result<u64, StoreError> {
        const OLD: &str = "SELECT track FROM documents WHERE id = $1 AND track IS NOT NULL";
        let mut tx = self.begin().await?;
        let mut changed = vec![];
        for track in tracks {
            let id = track.id.to_string();
            let old: Option<(Json<Track>,)> = tx.query(OLD).bind(&id).fetch_optional().await?;
            if old.is_some_and(|(Json(old),)| old == *track) {
                continue;
            }
            let readers = [Some(scope::PUBLIC), track.is_sample.then_some(scope::SAMPLE)];
            changed.push(Document {
                recording_id: id.clone(),
                id,
                owner: String::new(),
                is_sample: track.is_sample,
                readers: readers.into_iter().flatten().map(str::to_owned).collect(),
                track: Some(track.clone()),
            });
        }
        put(&mut tx, &changed).await?;
        let ids: Vec<String> = changed.iter().map(|document| document.recording_id.clone()).collect();
        project(&mut tx, &ids).await?;
        tx.commit().await?;
        Ok(changed.len() as u64)
    }

    pub async fn n_tracks(&self) -> Result<i64, StoreError> {
        const SQL: &str = "SELECT COUNT(*) FROM documents WHERE track IS NOT NULL";
        let (n,): (i64,) = self.read(SQL).fetch_one().await?;
        Ok(n)
    }

    /// How many changes an index at this revision has not read yet.
    pub async fn n_changes_after(&self, revision: i64) -> Result<u64, StoreError> {
        const SQL: &str = "SELECT COUNT(*) FROM documents WHERE revision > $1";
        let (n,): (i64,) = self.read(SQL).bind(revision).fetch_one().await?;
        Ok(n.unsigned_abs())
    }

    /// Adds readers to documents that a migration left without readers. Returns how many recordings there were.
    pub async fn complete_migration(&self) -> Result<usize, StoreError> {
        const SQL: &str = "SELECT DISTINCT recording_id FROM documents WHERE track IS NOT NULL AND readers = $1
            LIMIT 1000";
        const NOBODY: Json<[&str; 0]> = Json([]);
        let mut n_done = 0;
        loop {
            let rows: Vec<(String,)> = self.read(SQL).bind(NOBODY).fetch_all().await?;
            if rows.is_empty() {
                return Ok(n_done);
            }
            let recordings: Vec<String> = rows.into_iter().map(|(id,)| id).collect();
            let mut tx = self.begin().await?;
            project(&mut tx, &recordings).await?;
            tx.commit().await?;
            n_done += recordings.len();
        }
    }

    /// The tracks that the catalogue has returned for these codes.
    pub async fn catalogue_tracks(&self, isrcs: &[Isrc]) -> Result<BTreeMap<Isrc, Track>, StoreError> {
        const SQL: &str = "SELECT track FROM catalogue_tracks WHERE isrc IN (SELECT value FROM json_each($1))";
        let rows: Vec<(Json<Track>,)> = self.read(SQL).bind(Json(isrcs)).fetch_all().await?;
        Ok(rows.into_iter().filter_map(|(Json(track),)| Some((track.isrc.clone()?, track))).collect())
    }

    /// Stores tracks of the catalogue, so that their codes are known later.
    pub async fn remember_catalogue(&self, tracks: &[Track]) -> Result<(), StoreError> {
        const SQL: &str = "INSERT INTO catalogue_tracks (isrc, track, seen_at) VALUES ($1, $2, $3)
            ON CONFLICT (isrc) DO UPDATE SET track = excluded.track, seen_at = excluded.seen_at";
        let with_codes: Vec<_> = tracks.iter().filter_map(|track| Some((track.isrc.as_ref()?, track))).collect();
        if with_codes.is_empty() {
            return Ok(());
        }
        let mut tx = self.begin().await?;
        for (isrc, track) in with_codes {
            tx.query(SQL).bind(isrc.as_str()).bind(Json(track)).bind_now().execute().await?;
        }
        tx.commit().await?;
        Ok(())
    }

    /// At most `limit` changes after a revision, in the order of revisions.
    pub async fn track_changes(&self, revision: i64, limit: usize) -> Result<Vec<TrackChange>, StoreError> {
        const SQL: &str =
            "SELECT revision, id, readers, track FROM documents WHERE revision > $1 ORDER BY revision LIMIT $2";
        let rows: Vec<ChangeRow> = self.read(SQL).bind(revision).bind(limit as i64).fetch_all().await?;
        let changes = rows.into_iter().map(|ChangeRow { revision, id, readers, track }| {
            let id = id.parse().map_err(|error| sqlx::Error::Decode(Box::new(error)))?;
            Ok(TrackChange { revision, id, readers: readers.0, track: track.map(|Json(track)| track) })
        });
        changes.collect()
    }
}
