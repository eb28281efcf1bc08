//! Tracks: what is known about recordings, for everyone, with revisions that an index can follow.

use std::collections::BTreeMap;

use sqlx::types::Json;

use super::{Store, StoreError, db::Tx, now};
use music::{Isrc, Track, identity::RecordingName};

/// A change of a track. None: it was taken away.
#[derive(Clone, Debug)]
pub struct TrackChange {
    pub revision: i64,
    pub isrc: Isrc,
    pub track: Option<Track>,
}

const NEXT_REVISIONS: &str = "UPDATE track_revision SET value = value + $1 RETURNING value";

const PUT: &str = "INSERT INTO tracks (isrc, revision, recording, track, updated_at) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (isrc) DO UPDATE SET revision = excluded.revision, recording = excluded.recording,
        track = excluded.track, updated_at = excluded.updated_at
    WHERE tracks.track IS DISTINCT FROM excluded.track";

const TAKE_AWAY: &str =
    "UPDATE tracks SET track = NULL, revision = $2, updated_at = $3 WHERE isrc = $1 AND track IS NOT NULL";

/// Reserves `n` revisions and returns the first. The counter's row lock is held to the end of the transaction.
pub(crate) async fn reserve_revisions(tx: &mut Tx, n: usize) -> Result<i64, StoreError> {
    let n = n as i64;
    let (last,): (i64,) = tx.query(NEXT_REVISIONS).bind(n).fetch_one().await?;
    Ok(last - n + 1)
}

/// Keeps a track as it is now, under this revision if it has changed. Returns how many rows changed.
pub(crate) async fn put_track(tx: &mut Tx, track: &Track, revision: i64) -> Result<u64, StoreError> {
    let query = tx.query(PUT).bind(track.isrc.as_str()).bind(revision).bind(track.recording_name().to_string());
    Ok(query.bind(Json(track)).bind(now()).execute().await?)
}

/// Takes a track away. An index sees it as a change like any other.
pub(crate) async fn take_track_away(tx: &mut Tx, isrc: &str, revision: i64) -> Result<(), StoreError> {
    tx.query(TAKE_AWAY).bind(isrc).bind(revision).bind(now()).execute().await?;
    Ok(())
}

impl Store {
    /// The revision of the newest change.
    pub async fn track_revision(&self) -> Result<i64, StoreError> {
        const SQL: &str = "SELECT value FROM track_revision";
        let (value,): (i64,) = self.read(SQL).fetch_one().await?;
        Ok(value)
    }

    /// Keeps these tracks as they are now. What has not changed keeps its revision. Returns how many changed.
    pub async fn put_tracks(&self, tracks: &[Track]) -> Result<u64, StoreError> {
        let mut n_changed = 0;
        let mut tx = self.begin().await?;
        let first = reserve_revisions(&mut tx, tracks.len()).await?;
        for (revision, track) in (first..).zip(tracks) {
            n_changed += put_track(&mut tx, track, revision).await?;
        }
        tx.commit().await?;
        Ok(n_changed)
    }

    pub async fn delete_tracks(&self, isrcs: &[Isrc]) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        let first = reserve_revisions(&mut tx, isrcs.len()).await?;
        for (revision, isrc) in (first..).zip(isrcs) {
            take_track_away(&mut tx, isrc.as_str(), revision).await?;
        }
        tx.commit().await
    }

    pub async fn n_tracks(&self) -> Result<i64, StoreError> {
        const SQL: &str = "SELECT COUNT(*) FROM tracks WHERE track IS NOT NULL";
        let (n,): (i64,) = self.read(SQL).fetch_one().await?;
        Ok(n)
    }

    /// How many changes an index that stands at a revision has yet to read.
    pub async fn n_changes_after(&self, revision: i64) -> Result<u64, StoreError> {
        const SQL: &str = "SELECT COUNT(*) FROM tracks WHERE revision > $1";
        let (n,): (i64,) = self.read(SQL).bind(revision).fetch_one().await?;
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
        let rows: Vec<(Json<Track>,)> = self.read(sql).bind(Json(isrcs)).fetch_all().await?;
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
        let mut tx = self.begin().await?;
        for track in tracks {
            tx.query(SQL).bind(track.isrc.as_str()).bind(Json(track)).bind(now()).execute().await?;
        }
        tx.commit().await?;
        Ok(())
    }

    /// Tracks of this title by this artist, whatever their version: indexed or on their way. The artist may be empty.
    pub async fn tracks_named(&self, title: &str, artist: &str) -> Result<Vec<Track>, StoreError> {
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
        let rows: Vec<(Json<Track>,)> = self.read(sql).bind(from).bind(to).bind(ending).fetch_all().await?;
        Ok(rows.into_iter().map(|(Json(track),)| track).collect())
    }

    /// The changes after a revision, in its order, at most `limit` of them.
    pub async fn track_changes(&self, revision: i64, limit: usize) -> Result<Vec<TrackChange>, StoreError> {
        const SQL: &str = "SELECT revision, isrc, track FROM tracks WHERE revision > $1 ORDER BY revision LIMIT $2";
        let rows: Vec<(i64, String, Option<Json<Track>>)> =
            self.read(SQL).bind(revision).bind(limit as i64).fetch_all().await?;
        let changes = rows.into_iter().map(|(revision, isrc, track)| {
            let isrc = isrc.parse().map_err(|error| sqlx::Error::Decode(Box::new(error)))?;
            Ok(TrackChange { revision, isrc, track: track.map(|json| json.0) })
        });
        changes.collect()
    }
}
