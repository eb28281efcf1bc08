//! Tracks: what is known about recordings, for everyone, with revisions that an index can follow.

use std::collections::BTreeMap;

use futures::future::BoxFuture;
use sqlx::types::Json;

use super::{Db, Store, StoreError, in_transaction, now, reading};
use music::{Isrc, Track, identity::RecordingName};
use search::{Change, TrackSource};

pub(super) const NEXT_REVISIONS: &str = "UPDATE track_revision SET value = value + $1 RETURNING value";

/// Reserves `$n` revisions and answers the first. The counter's row lock is held to the end of the transaction.
macro_rules! first_of {
    ($tx:ident, $n:expr) => {{
        let n = $n as i64;
        let (last,): (i64,) =
            sqlx::query_as($crate::store::tracks::NEXT_REVISIONS).bind(n).fetch_one(&mut *$tx).await?;
        last - n + 1
    }};
}
pub(super) use first_of;

impl Store {
    /// The revision of the newest change.
    pub(crate) async fn track_revision(&self) -> Result<i64, StoreError> {
        const SQL: &str = "SELECT value FROM track_revision";
        let (value,): (i64,) = reading!(self, |db| sqlx::query_as(SQL).fetch_one(db).await)?;
        Ok(value)
    }

    /// Keeps these tracks as they are now. What has not changed keeps its revision. Answers how many changed.
    pub async fn put_tracks(&self, tracks: &[Track]) -> Result<u64, StoreError> {
        const SQL: &str =
            "INSERT INTO tracks (isrc, revision, recording, track, updated_at) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (isrc) DO UPDATE SET revision = excluded.revision, recording = excluded.recording,
                track = excluded.track, updated_at = excluded.updated_at
            WHERE tracks.track IS DISTINCT FROM excluded.track";
        let mut n_changed = 0;
        in_transaction!(self, |tx| {
            let mut revision = first_of!(tx, tracks.len());
            for track in tracks {
                let done = sqlx::query(SQL)
                    .bind(track.isrc.as_str())
                    .bind(revision)
                    .bind(track.recording_name().to_string())
                    .bind(Json(track))
                    .bind(now())
                    .execute(&mut *tx)
                    .await?;
                n_changed += done.rows_affected();
                revision += 1;
            }
        });
        Ok(n_changed)
    }

    /// Takes tracks away. An index sees it as a change like any other.
    pub async fn delete_tracks(&self, isrcs: &[Isrc]) -> Result<(), StoreError> {
        const SQL: &str =
            "UPDATE tracks SET track = NULL, revision = $2, updated_at = $3 WHERE isrc = $1 AND track IS NOT NULL";
        in_transaction!(self, |tx| {
            let mut revision = first_of!(tx, isrcs.len());
            for isrc in isrcs {
                sqlx::query(SQL).bind(isrc.as_str()).bind(revision).bind(now()).execute(&mut *tx).await?;
                revision += 1;
            }
        });
        Ok(())
    }

    pub async fn n_tracks(&self) -> Result<i64, StoreError> {
        const SQL: &str = "SELECT COUNT(*) FROM tracks WHERE track IS NOT NULL";
        let (n,): (i64,) = reading!(self, |db| sqlx::query_as(SQL).fetch_one(db).await)?;
        Ok(n)
    }

    /// How many changes an index that stands at a revision has yet to read.
    pub async fn n_changes_after(&self, revision: i64) -> Result<u64, StoreError> {
        const SQL: &str = "SELECT COUNT(*) FROM tracks WHERE revision > $1";
        let (n,): (i64,) = reading!(self, |db| sqlx::query_as(SQL).bind(revision).fetch_one(db).await)?;
        Ok(n.unsigned_abs())
    }

    /// Recordings that are known to exist: indexed ones, those on their way, and those the catalogue has shown.
    pub async fn known_tracks(&self, isrcs: &[Isrc]) -> Result<BTreeMap<Isrc, Track>, StoreError> {
        const SQLITE: &str = "SELECT track FROM catalogue_tracks WHERE isrc IN (SELECT value FROM json_each($1))
            UNION ALL SELECT track FROM ingested_tracks WHERE isrc IN (SELECT value FROM json_each($1))
            UNION ALL SELECT track FROM tracks WHERE track IS NOT NULL AND isrc IN (SELECT value FROM json_each($1))";
        const POSTGRES: &str = "SELECT track FROM catalogue_tracks WHERE isrc IN (SELECT jsonb_array_elements_text($1))
            UNION ALL SELECT track FROM ingested_tracks WHERE isrc IN (SELECT jsonb_array_elements_text($1))
            UNION ALL SELECT track FROM tracks WHERE track IS NOT NULL AND isrc IN (SELECT jsonb_array_elements_text($1))";
        let sql = self.in_dialect(SQLITE, POSTGRES);
        let rows: Vec<(Json<Track>,)> = reading!(self, |db| sqlx::query_as(sql).bind(Json(isrcs)).fetch_all(db).await)?;
        // Indexed ones come last and win: they are the fuller description.
        Ok(rows.into_iter().map(|(Json(track),)| (track.isrc.clone(), track)).collect())
    }

    /// Remembers what the catalogue has shown, so that its codes are known later.
    pub async fn remember_catalogue(&self, tracks: &[Track]) -> Result<(), StoreError> {
        const SQL: &str = "INSERT INTO catalogue_tracks (isrc, track, seen_at) VALUES ($1, $2, $3)
            ON CONFLICT (isrc) DO UPDATE SET track = excluded.track, seen_at = excluded.seen_at";
        if tracks.is_empty() {
            return Ok(());
        }
        in_transaction!(self, |tx| {
            for track in tracks {
                sqlx::query(SQL).bind(track.isrc.as_str()).bind(Json(track)).bind(now()).execute(&mut *tx).await?;
            }
        });
        Ok(())
    }

    /// Tracks of this title by this artist, whatever their version: indexed or on their way. The artist may be empty.
    pub(crate) async fn tracks_named(&self, title: &str, artist: &str) -> Result<Vec<Track>, StoreError> {
        const SQLITE: &str = "SELECT track FROM tracks WHERE track IS NOT NULL AND recording >= $1 AND recording < $2
                AND ($3 = '' OR substr(recording, length(recording) - length($3) + 1) = $3)
            UNION ALL SELECT track FROM ingested_tracks WHERE recording >= $1 AND recording < $2
                AND ($3 = '' OR substr(recording, length(recording) - length($3) + 1) = $3) LIMIT 50";
        const POSTGRES: &str = "SELECT track FROM tracks WHERE track IS NOT NULL
                AND recording COLLATE \"C\" >= $1 AND recording COLLATE \"C\" < $2
                AND ($3 = '' OR substr(recording, length(recording) - length($3) + 1) = $3)
            UNION ALL SELECT track FROM ingested_tracks
                WHERE recording COLLATE \"C\" >= $1 AND recording COLLATE \"C\" < $2
                AND ($3 = '' OR substr(recording, length(recording) - length($3) + 1) = $3) LIMIT 50";
        let name = RecordingName::new(title, None, artist);
        // A recording is `title|version|artist`, and `}` is the sign after `|`.
        let (from, to) = (format!("{}|", name.title()), format!("{}}}", name.title()));
        let ending = if name.artist().is_empty() { String::new() } else { format!("|{}", name.artist()) };
        let sql = self.in_dialect(SQLITE, POSTGRES);
        let rows: Vec<(Json<Track>,)> =
            reading!(self, |db| sqlx::query_as(sql).bind(from).bind(to).bind(ending).fetch_all(db).await)?;
        Ok(rows.into_iter().map(|(Json(track),)| track).collect())
    }

    pub(crate) fn in_dialect(&self, sqlite: &'static str, postgres: &'static str) -> &'static str {
        match self.db {
            Db::Sqlite { .. } => sqlite,
            Db::Postgres(_) => postgres,
        }
    }
}

impl TrackSource for Store {
    fn changes_after(&self, revision: i64, limit: usize) -> BoxFuture<'_, anyhow::Result<Vec<Change>>> {
        const SQL: &str = "SELECT revision, isrc, track FROM tracks WHERE revision > $1 ORDER BY revision LIMIT $2";
        Box::pin(async move {
            let rows: Vec<(i64, String, Option<Json<Track>>)> =
                reading!(self, |db| sqlx::query_as(SQL).bind(revision).bind(limit as i64).fetch_all(db).await)?;
            let changes = rows.into_iter().map(|(revision, isrc, track)| {
                Ok(Change { revision, isrc: isrc.parse()?, track: track.map(|json| json.0) })
            });
            changes.collect()
        })
    }
}
