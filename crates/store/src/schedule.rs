//! Which tracks are on their way into the index: scheduled with what puts them into a library, in its transaction.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use sqlx::types::Json;

use super::{
    Store, StoreError,
    db::Tx,
    now,
    plan::{Change, Known, Steps, plan},
    step::Priority,
};
use music::{Isrc, Track};

/// What is known about tracks. One that is indexed and was not enriched here (the sample) has no description.
const KNOWN_SQLITE: &str = "SELECT isrc, track FROM ingested_tracks
        WHERE isrc IN (SELECT value FROM json_each($1))
    UNION ALL SELECT isrc, NULL FROM tracks WHERE track IS NOT NULL AND isrc IN (SELECT value FROM json_each($1))
        AND isrc NOT IN (SELECT isrc FROM ingested_tracks WHERE isrc IN (SELECT value FROM json_each($1)))";
const KNOWN_POSTGRES: &str = "SELECT isrc, track FROM ingested_tracks
        WHERE isrc IN (SELECT jsonb_array_elements_text($1))
    UNION ALL SELECT isrc, NULL::jsonb FROM tracks t
        WHERE track IS NOT NULL AND isrc IN (SELECT jsonb_array_elements_text($1))
        AND NOT EXISTS (SELECT 1 FROM ingested_tracks i WHERE i.isrc = t.isrc)";
const LOCK: &str = "UPDATE ingested_tracks SET updated_at = $2 WHERE isrc = $1";
const INSERT_TRACK: &str = "INSERT INTO ingested_tracks (isrc, recording, track, updated_at)
    VALUES ($1, $2, $3, $4) ON CONFLICT (isrc) DO UPDATE SET track = excluded.track, updated_at = excluded.updated_at";
/// All four steps at once. What the file brought along needs no source; the last two wait for the first two.
const INSERT_STEPS: &str = "INSERT INTO ingest_steps
        (isrc, step, state, priority, tries, due_at, version, settled_at) VALUES
    ($1, 'lyrics', $4, $2, 0, $3, $5, $6), ($1, 'features', $7, $2, 0, $3, $8, $9),
    ($1, 'describe', $10, $2, 0, $3, NULL, NULL), ($1, 'index', 'blocked', $2, 0, $3, NULL, NULL)
    ON CONFLICT (isrc, step) DO NOTHING";
/// A file brought what was to be looked up.
const BROUGHT: &str = "UPDATE ingest_steps SET state = 'done', version = 'file', result = NULL, error = NULL,
        settled_at = $3, node = NULL, lease_until = NULL WHERE isrc = $1 AND step = $2";
const DESCRIBE_AGAIN: &str =
    "UPDATE ingest_steps SET state = 'waiting', tries = 0, due_at = $2, node = NULL, lease_until = NULL
    WHERE isrc = $1 AND step = 'describe' AND NOT EXISTS (SELECT 1 FROM ingest_steps e WHERE e.isrc = $1
        AND e.step IN ('lyrics', 'features') AND e.settled_at IS NULL)";
/// It is in somebody's library (again): what was put aside goes on, and what was found before is indexed as it is.
const WAKE: &str = "UPDATE ingest_steps SET due_at = $2, node = NULL, lease_until = NULL,
        state = CASE WHEN state = 'parked' AND step = 'index' THEN 'blocked'
            WHEN step = 'describe' AND EXISTS (SELECT 1 FROM ingest_steps e WHERE e.isrc = $1
                AND e.step IN ('lyrics', 'features') AND e.settled_at IS NULL) THEN 'blocked'
            ELSE 'waiting' END
    WHERE isrc = $1 AND (state = 'parked' OR (step = 'index' AND state IN ('done', 'running')
        AND NOT EXISTS (SELECT 1 FROM tracks t WHERE t.isrc = $1 AND t.track IS NOT NULL)))";
/// It left a library: if that was the last one, nobody is asked about it any more and it leaves the index.
const PARK: &str = "UPDATE ingest_steps SET due_at = $2, node = NULL, lease_until = NULL,
        state = CASE WHEN step = 'index' AND state <> 'blocked' THEN 'waiting' ELSE 'parked' END
    WHERE isrc = $1 AND ((step = 'index' AND state <> 'parked') OR (step <> 'index' AND state IN ('waiting', 'blocked')))
        AND NOT EXISTS (SELECT 1 FROM library_tracks o WHERE o.isrc = $1 AND o.removed_at IS NULL)
        AND NOT EXISTS (SELECT 1 FROM library_album_tracks o JOIN library_albums a ON a.user_id = o.user_id
            AND a.album_id = o.album_id AND a.removed_at IS NULL WHERE o.isrc = $1)";

/// Schedules the enrichment of tracks, inside the transaction that puts them into a library.
pub(crate) async fn schedule(tx: &mut Tx, tracks: &[Track], priority: Priority) -> Result<(), StoreError> {
    let known = known(tx, tracks).await?;
    let now = now();
    for change in plan(&known, tracks) {
        match change {
            Change::Wake { isrc } => {
                lock(tx, isrc).await?;
                tx.query(WAKE).bind(isrc).bind(now).execute().await?;
            }
            Change::Put { track, steps } => put(tx, &track, steps, priority, now).await?,
        }
    }
    Ok(())
}

async fn known(tx: &mut Tx, tracks: &[Track]) -> Result<HashMap<String, Known>, StoreError> {
    let codes: Vec<&str> = tracks.iter().map(|track| track.isrc.as_str()).collect();
    let sql = tx.in_dialect(KNOWN_SQLITE, KNOWN_POSTGRES);
    let rows: Vec<(String, Option<Json<Track>>)> = tx.query(sql).bind(Json(&codes)).fetch_all().await?;
    let known =
        |track: Option<Json<Track>>| track.map_or(Known::Indexed, |Json(track)| Known::Enriched(Box::new(track)));
    Ok(rows.into_iter().map(|(isrc, track)| (isrc, known(track))).collect())
}

async fn put(
    tx: &mut Tx,
    track: &Track,
    steps: Steps,
    priority: Priority,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let isrc = track.isrc.as_str();
    let recording = track.recording_name().to_string();
    tx.query(INSERT_TRACK).bind(isrc).bind(recording).bind(Json(track)).bind(now).execute().await?;
    let n_new = tx
        .query(INSERT_STEPS)
        .bind(isrc)
        .bind(priority as i32)
        .bind(now)
        .bind(steps.lyrics_state())
        .bind(steps.has_lyrics.then_some("file"))
        .bind(steps.has_lyrics.then_some(now))
        .bind(steps.features_state())
        .bind(steps.has_features.then_some("file"))
        .bind(steps.has_features.then_some(now))
        .bind(steps.describe_state())
        .execute()
        .await?;
    if n_new > 0 {
        return Ok(());
    }
    for step in steps.brought() {
        tx.query(BROUGHT).bind(isrc).bind(step).bind(now).execute().await?;
    }
    tx.query(DESCRIBE_AGAIN).bind(isrc).bind(now).execute().await?;
    Ok(())
}

/// Serialises what two nodes do to one track: the row is locked to the end of the transaction.
pub(crate) async fn lock(tx: &mut Tx, isrc: &str) -> Result<(), StoreError> {
    tx.query(LOCK).bind(isrc).bind(now()).execute().await?;
    Ok(())
}

/// Parks the enrichment of tracks, inside the transaction that takes them out of a library.
pub(crate) async fn park(tx: &mut Tx, isrcs: impl IntoIterator<Item = &str>) -> Result<(), StoreError> {
    for isrc in isrcs {
        tx.query(PARK).bind(isrc).bind(now()).execute().await?;
    }
    Ok(())
}

/// Goes on with the enrichment of tracks, inside the transaction that brings them back into a library.
pub(crate) async fn wake(tx: &mut Tx, isrcs: impl IntoIterator<Item = &str>) -> Result<(), StoreError> {
    for isrc in isrcs {
        tx.query(WAKE).bind(isrc).bind(now()).execute().await?;
    }
    Ok(())
}

/// A track that is in a library and on no way into the index.
#[derive(sqlx::FromRow)]
struct ForgottenRow {
    isrc: String,
    tidal_id: Option<String>,
    title: String,
    artist: String,
    album: String,
    duration: Option<f64>,
    track: Option<Json<Track>>,
}

impl Store {
    /// Tracks of libraries that nobody has scheduled: added before there was a pipeline.
    pub async fn forgotten_tracks(&self, limit: u32) -> Result<Vec<Track>, StoreError> {
        const SQL: &str = "SELECT l.isrc, l.tidal_id, l.title, l.artist, l.album, l.duration, c.track
            FROM library_tracks l LEFT JOIN catalogue_tracks c ON c.isrc = l.isrc
            WHERE l.removed_at IS NULL AND NOT EXISTS (SELECT 1 FROM ingested_tracks i WHERE i.isrc = l.isrc)
                AND NOT EXISTS (SELECT 1 FROM tracks t WHERE t.isrc = l.isrc AND t.track IS NOT NULL)
            ORDER BY l.isrc LIMIT $1";
        let rows: Vec<ForgottenRow> = self.read(SQL).bind(i64::from(limit)).fetch_all().await?;
        let tracks = rows.into_iter().map(|row| {
            if let Some(Json(track)) = row.track {
                return Ok(track);
            }
            let isrc: Isrc = row.isrc.parse().map_err(|error| sqlx::Error::Decode(Box::new(error)))?;
            Ok(Track {
                duration: row.duration,
                tidal_id: row.tidal_id,
                ..Track::named(isrc, row.title, row.artist, row.album)
            })
        });
        tracks.collect()
    }
}
