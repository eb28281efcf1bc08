//! Which tracks are on their way into the index: scheduled with what puts them into a library, in its transaction.

use sqlx::types::Json;

use super::{Store, StoreError, reading};
use music::{Isrc, Track};

/// What is known, and how it is to change. A track that is indexed without our doing (the sample) is left alone.
pub(super) const KNOWN_SQLITE: &str = "SELECT isrc, track, TRUE FROM ingested_tracks
        WHERE isrc IN (SELECT value FROM json_each($1))
    UNION ALL SELECT isrc, NULL, FALSE FROM tracks WHERE track IS NOT NULL AND isrc IN (SELECT value FROM json_each($1))
        AND isrc NOT IN (SELECT isrc FROM ingested_tracks WHERE isrc IN (SELECT value FROM json_each($1)))";
pub(super) const KNOWN_POSTGRES: &str = "SELECT isrc, track, TRUE FROM ingested_tracks
        WHERE isrc IN (SELECT jsonb_array_elements_text($1))
    UNION ALL SELECT isrc, NULL::jsonb, FALSE FROM tracks t
        WHERE track IS NOT NULL AND isrc IN (SELECT jsonb_array_elements_text($1))
        AND NOT EXISTS (SELECT 1 FROM ingested_tracks i WHERE i.isrc = t.isrc)";
/// Serialises what two nodes do to one track: the row is locked to the end of the transaction.
pub(super) const LOCK: &str = "UPDATE ingested_tracks SET updated_at = $2 WHERE isrc = $1";
pub(super) const INSERT_TRACK: &str = "INSERT INTO ingested_tracks (isrc, recording, track, updated_at)
    VALUES ($1, $2, $3, $4) ON CONFLICT (isrc) DO UPDATE SET track = excluded.track, updated_at = excluded.updated_at";
/// All four steps at once. What the file brought along needs no source; the last two wait for the first two.
pub(super) const INSERT_STEPS: &str = "INSERT INTO ingest_steps
        (isrc, step, state, priority, tries, due_at, version, settled_at) VALUES
    ($1, 'lyrics', $4, $2, 0, $3, $5, $6), ($1, 'features', $7, $2, 0, $3, $8, $9),
    ($1, 'describe', $10, $2, 0, $3, NULL, NULL), ($1, 'index', 'blocked', $2, 0, $3, NULL, NULL)
    ON CONFLICT (isrc, step) DO NOTHING";
/// A file brought what was to be looked up.
pub(super) const BROUGHT: &str =
    "UPDATE ingest_steps SET state = 'done', version = 'file', result = NULL, error = NULL,
        settled_at = $3, node = NULL, lease_until = NULL WHERE isrc = $1 AND step = $2";
pub(super) const DESCRIBE_AGAIN: &str =
    "UPDATE ingest_steps SET state = 'waiting', tries = 0, due_at = $2, node = NULL, lease_until = NULL
    WHERE isrc = $1 AND step = 'describe' AND NOT EXISTS (SELECT 1 FROM ingest_steps e WHERE e.isrc = $1
        AND e.step IN ('lyrics', 'features') AND e.settled_at IS NULL)";
/// It is in somebody's library (again): what was put aside goes on, and what was found before is indexed as it is.
pub(super) const WAKE: &str = "UPDATE ingest_steps SET due_at = $2, node = NULL, lease_until = NULL,
        state = CASE WHEN state = 'parked' AND step = 'index' THEN 'blocked'
            WHEN step = 'describe' AND EXISTS (SELECT 1 FROM ingest_steps e WHERE e.isrc = $1
                AND e.step IN ('lyrics', 'features') AND e.settled_at IS NULL) THEN 'blocked'
            ELSE 'waiting' END
    WHERE isrc = $1 AND (state = 'parked' OR (step = 'index' AND state IN ('done', 'running')
        AND NOT EXISTS (SELECT 1 FROM tracks t WHERE t.isrc = $1 AND t.track IS NOT NULL)))";
/// It left a library: if that was the last one, nobody is asked about it any more and it leaves the index.
pub(super) const PARK: &str = "UPDATE ingest_steps SET due_at = $2, node = NULL, lease_until = NULL,
        state = CASE WHEN step = 'index' AND state <> 'blocked' THEN 'waiting' ELSE 'parked' END
    WHERE isrc = $1 AND ((step = 'index' AND state <> 'parked') OR (step <> 'index' AND state IN ('waiting', 'blocked')))
        AND NOT EXISTS (SELECT 1 FROM library_tracks o WHERE o.isrc = $1 AND o.removed_at IS NULL)
        AND NOT EXISTS (SELECT 1 FROM library_album_tracks o JOIN library_albums a ON a.user_id = o.user_id
            AND a.album_id = o.album_id AND a.removed_at IS NULL WHERE o.isrc = $1)";

/// Schedules tracks inside a transaction that puts them into a library.
macro_rules! schedule {
    ($store:expr, $tx:ident, $tracks:expr, $priority:expr) => {{
        use $crate::store::schedule as texts;
        let tracks: &[music::Track] = $tracks;
        // Everywhere in the same order, and the track before its steps, or two nodes could wait for each other.
        let mut tracks: Vec<_> = tracks.iter().collect();
        tracks.sort_by(|a, b| a.isrc.cmp(&b.isrc));
        let sql = $store.in_dialect(texts::KNOWN_SQLITE, texts::KNOWN_POSTGRES);
        let codes: Vec<&str> = tracks.iter().map(|track| track.isrc.as_str()).collect();
        let known: Vec<texts::KnownRow> =
            sqlx::query_as(sql).bind(sqlx::types::Json(&codes)).fetch_all(&mut *$tx).await?;
        let known: std::collections::HashMap<String, texts::KnownRow> =
            known.into_iter().map(|row| (row.0.clone(), row)).collect();
        let now = $crate::store::now();
        for track in tracks {
            let isrc = track.isrc.as_str();
            let merged = match known.get(isrc) {
                // Indexed, and none of ours.
                Some((_, _, false)) => continue,
                Some((_, Some(sqlx::types::Json(old)), _)) => {
                    let merged = $crate::enrich::with_gaps_filled(old.clone(), track);
                    sqlx::query(texts::LOCK).bind(isrc).bind(now).execute(&mut *$tx).await?;
                    sqlx::query(texts::WAKE).bind(isrc).bind(now).execute(&mut *$tx).await?;
                    if merged == *old {
                        continue;
                    }
                    merged
                }
                _ => track.clone(),
            };
            sqlx::query(texts::INSERT_TRACK)
                .bind(isrc)
                .bind(merged.recording_name().to_string())
                .bind(sqlx::types::Json(&merged))
                .bind(now)
                .execute(&mut *$tx)
                .await?;
            let state = |is_there: bool| if is_there { "done" } else { "waiting" };
            let (has_words, has_sound) = (merged.lyrics.is_some(), merged.audio_features.is_some());
            let is_whole = has_words && has_sound;
            let done = sqlx::query(texts::INSERT_STEPS)
                .bind(isrc)
                .bind($priority as i32)
                .bind(now)
                .bind(state(has_words))
                .bind(has_words.then_some("file"))
                .bind(has_words.then_some(now))
                .bind(state(has_sound))
                .bind(has_sound.then_some("file"))
                .bind(has_sound.then_some(now))
                .bind(if is_whole { "waiting" } else { "blocked" })
                .execute(&mut *$tx)
                .await?;
            if done.rows_affected() == 0 {
                for (step, is_there) in [("lyrics", has_words), ("features", has_sound)] {
                    if is_there {
                        sqlx::query(texts::BROUGHT).bind(isrc).bind(step).bind(now).execute(&mut *$tx).await?;
                    }
                }
                sqlx::query(texts::DESCRIBE_AGAIN).bind(isrc).bind(now).execute(&mut *$tx).await?;
            }
        }
    }};
}

/// Puts tracks aside inside a transaction that takes them out of a library.
macro_rules! park {
    ($tx:ident, $isrcs:expr) => {
        for isrc in $isrcs {
            let now = $crate::store::now();
            sqlx::query($crate::store::schedule::PARK).bind(isrc).bind(now).execute(&mut *$tx).await?;
        }
    };
}

/// Wakes tracks inside a transaction that brings them back into a library.
macro_rules! wake {
    ($tx:ident, $isrcs:expr) => {
        for isrc in $isrcs {
            let now = $crate::store::now();
            sqlx::query($crate::store::schedule::WAKE).bind(isrc).bind(now).execute(&mut *$tx).await?;
        }
    };
}
pub(super) use {park, schedule, wake};

/// Code, what is known, and whether it is ours to ingest.
pub(super) type KnownRow = (String, Option<Json<Track>>, bool);

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
    pub(crate) async fn forgotten_tracks(&self, limit: u32) -> Result<Vec<Track>, StoreError> {
        const SQL: &str = "SELECT l.isrc, l.tidal_id, l.title, l.artist, l.album, l.duration, c.track
            FROM library_tracks l LEFT JOIN catalogue_tracks c ON c.isrc = l.isrc
            WHERE l.removed_at IS NULL AND NOT EXISTS (SELECT 1 FROM ingested_tracks i WHERE i.isrc = l.isrc)
                AND NOT EXISTS (SELECT 1 FROM tracks t WHERE t.isrc = l.isrc AND t.track IS NOT NULL)
            ORDER BY l.isrc LIMIT $1";
        let rows: Vec<ForgottenRow> =
            reading!(self, |db| sqlx::query_as(SQL).bind(i64::from(limit)).fetch_all(db).await)?;
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
