//! Schedules the enrichment of documents, in the transaction that adds tracks to a library.

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, Utc};
use sqlx::types::Json;

use super::{
    StoreError,
    db::Tx,
    locks::lock_documents,
    plan::{Change, Key, Known, NewDocument, Steps, plan},
    step::Priority,
};
use music::{DocumentId, Track};

/// The known data of recordings. A recording that is indexed and was not enriched here (the sample) has no description.
const KNOWN: &str = "SELECT recording_id, owner, is_overlay, track FROM ingested_tracks
        WHERE recording_id IN (SELECT value FROM json_each($1))
    UNION ALL SELECT d.recording_id, d.owner, FALSE, NULL FROM documents d
        WHERE d.track IS NOT NULL AND d.owner = '' AND d.recording_id IN (SELECT value FROM json_each($1))
        AND NOT EXISTS (SELECT 1 FROM ingested_tracks i WHERE i.recording_id = d.recording_id AND i.owner = '')";
const INSERT_TRACK: &str = "INSERT INTO ingested_tracks (id, recording_id, owner, is_overlay, name, track, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (recording_id, owner) DO UPDATE SET name = excluded.name,
        track = excluded.track, is_overlay = excluded.is_overlay, updated_at = excluded.updated_at
    RETURNING id";
/// All four steps in one statement. Data of the file needs no source. The last two steps wait for the first two.
const INSERT_STEPS: &str = "INSERT INTO ingest_steps
        (document_id, step, state, priority, tries, due_at, version, settled_at, for_user) VALUES
    ($1, 'lyrics', $4, $2, 0, $3, $5, $6, $11), ($1, 'features', $7, $2, 0, $3, $8, $9, $11),
    ($1, 'describe', $10, $2, 0, $3, NULL, NULL, $11), ($1, 'index', 'blocked', $2, 0, $3, NULL, NULL, $11)
    ON CONFLICT (document_id, step) DO NOTHING";
/// The owner's file has the data that a source would have provided.
const BROUGHT: &str = "UPDATE ingest_steps SET state = 'done', version = 'file', result = NULL, error = NULL,
        settled_at = $3, node = NULL, lease_until = NULL WHERE document_id = $1 AND step = $2";
const DESCRIBE_AGAIN: &str =
    "UPDATE ingest_steps SET state = 'waiting', tries = 0, due_at = $2, node = NULL, lease_until = NULL
    WHERE document_id = $1 AND step = 'describe' AND NOT EXISTS (SELECT 1 FROM ingest_steps e WHERE e.document_id = $1
        AND e.step IN ('lyrics', 'features') AND e.settled_at IS NULL)";
/// Moves the steps of a public document to the queue of this user, if it waits in a longer queue of another user. Queue
/// lengths are compared up to a thousand. A user with a long queue takes no document from a shorter one.
const HAND_OVER: &str = "UPDATE ingest_steps SET for_user = $2
    WHERE document_id = $1 AND state IN ('waiting', 'blocked') AND for_user <> $2
    AND (SELECT COUNT(*) FROM (SELECT 1 FROM ingest_steps q WHERE q.step = ingest_steps.step
            AND q.state = ingest_steps.state AND q.for_user = ingest_steps.for_user LIMIT 1000) theirs)
        > (SELECT COUNT(*) FROM (SELECT 1 FROM ingest_steps q WHERE q.step = ingest_steps.step
            AND q.state = ingest_steps.state AND q.for_user = $2 LIMIT 1000) own)";
const NO_STEPS: &str = "DELETE FROM ingest_steps WHERE document_id = $1";
/// The recording is in a library (again): resumes its parked steps.
const WAKE: &str = "UPDATE ingest_steps SET due_at = $2, node = NULL, lease_until = NULL,
        state = CASE
            WHEN step = 'index' AND EXISTS (SELECT 1 FROM ingest_steps e WHERE e.document_id = ingest_steps.document_id
                AND e.step = 'describe' AND e.settled_at IS NULL) THEN 'blocked'
            WHEN step = 'describe' AND EXISTS (SELECT 1 FROM ingest_steps e
                WHERE e.document_id = ingest_steps.document_id
                AND e.step IN ('lyrics', 'features') AND e.settled_at IS NULL) THEN 'blocked'
            ELSE 'waiting' END
    WHERE state = 'parked' AND document_id IN (SELECT id FROM ingested_tracks WHERE recording_id = $1)";
/// The recording was removed from a library: a document without owners requests no more data.
const PARK: &str = "UPDATE ingest_steps SET due_at = $2, node = NULL, lease_until = NULL, state = 'parked'
    WHERE state IN ('waiting', 'blocked') AND document_id IN (SELECT i.id FROM ingested_tracks i
        WHERE i.recording_id = $1
        AND NOT EXISTS (SELECT 1 FROM library_tracks o WHERE o.recording_id = $1 AND o.removed_at IS NULL
            AND (i.owner = '' OR o.user_id = i.owner))
        AND NOT EXISTS (SELECT 1 FROM library_album_tracks o JOIN library_albums a ON a.user_id = o.user_id
            AND a.album_id = o.album_id AND a.removed_at IS NULL WHERE o.recording_id = $1
            AND (i.owner = '' OR o.user_id = i.owner)))";

/// Schedules the enrichment of documents for a user, in the transaction that adds their tracks to a library. Without a
/// user, each is done for its owner.
pub(crate) async fn schedule(
    tx: &mut Tx,
    documents: &[NewDocument],
    priority: Priority,
    for_user: &str,
) -> Result<(), StoreError> {
    let recordings: BTreeSet<String> = documents.iter().map(|document| document.track.id.to_string()).collect();
    let recordings: Vec<String> = recordings.into_iter().collect();
    lock_documents(tx, &recordings).await?;
    let known = known_of(tx, &recordings).await?;
    schedule_known(tx, &known, documents, (priority, for_user)).await
}

/// As [`schedule`], with the known data of the recordings. The caller has locked their documents.
pub(crate) async fn schedule_known(
    tx: &mut Tx,
    known: &HashMap<Key, Known>,
    documents: &[NewDocument],
    (priority, for_user): (Priority, &str),
) -> Result<(), StoreError> {
    let now = tx.now();
    for change in plan(known, documents) {
        match change {
            Change::Wake { document } => {
                tx.query(WAKE).bind(document.track.id.to_string()).bind(now).execute().await?;
                if document.owner.is_empty() && !for_user.is_empty() {
                    let id = DocumentId::public(document.track.id).to_string();
                    tx.query(HAND_OVER).bind(id).bind(for_user).execute().await?;
                }
            }
            Change::Put { document, steps } => {
                let for_user = if for_user.is_empty() { document.owner.clone() } else { for_user.to_owned() };
                put(tx, &document, steps, (priority, &for_user), now).await?;
            }
        }
    }
    Ok(())
}

/// The known data of these recordings, for every owner.
pub(crate) async fn known_of(tx: &mut Tx, recordings: &[String]) -> Result<HashMap<Key, Known>, StoreError> {
    let rows: Vec<(String, String, bool, Option<Json<Track>>)> =
        tx.query(KNOWN).bind(Json(recordings)).fetch_all().await?;
    let known = rows.into_iter().map(|(recording, owner, is_overlay, track)| {
        let known = track.map_or(Known::Indexed, |Json(track)| Known::Enriched { is_overlay, track: Box::new(track) });
        ((recording, owner), known)
    });
    Ok(known.collect())
}

async fn put(
    tx: &mut Tx,
    document: &NewDocument,
    steps: Steps,
    queue: (Priority, &str),
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let track = &document.track;
    let id = if document.owner.is_empty() { DocumentId::public(track.id) } else { DocumentId::private() };
    let (id,): (String,) = tx
        .query(INSERT_TRACK)
        .bind(id.to_string())
        .bind(track.id.to_string())
        .bind(&document.owner)
        .bind(document.is_overlay)
        .bind(track.recording_name().to_string())
        .bind(Json(track))
        .bind(now)
        .fetch_one()
        .await?;
    if document.is_overlay {
        tx.query(NO_STEPS).bind(&id).execute().await?;
        return Ok(());
    }
    put_steps(tx, &id, steps, queue, now).await
}

async fn put_steps(
    tx: &mut Tx,
    id: &str,
    steps: Steps,
    (priority, for_user): (Priority, &str),
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let n_new = tx
        .query(INSERT_STEPS)
        .bind(id)
        .bind(priority as i32)
        .bind(now)
        .bind(steps.lyrics_state())
        .bind(steps.has_lyrics.then_some("file"))
        .bind(steps.has_lyrics.then_some(now))
        .bind(steps.features_state())
        .bind(steps.has_features.then_some("file"))
        .bind(steps.has_features.then_some(now))
        .bind(steps.describe_state())
        .bind(for_user)
        .execute()
        .await?;
    if n_new > 0 {
        return Ok(());
    }
    for step in steps.brought() {
        tx.query(BROUGHT).bind(id).bind(step).bind(now).execute().await?;
    }
    tx.query(DESCRIBE_AGAIN).bind(id).bind(now).execute().await?;
    Ok(())
}

/// Parks the enrichment of recordings, in the transaction that removes them from a library.
pub(crate) async fn park(tx: &mut Tx, recordings: &[String]) -> Result<(), StoreError> {
    lock_documents(tx, recordings).await?;
    for recording in recordings {
        tx.query(PARK).bind(recording).bind_now().execute().await?;
    }
    Ok(())
}

/// Resumes the enrichment of recordings, in the transaction that adds them to a library again.
pub(crate) async fn wake(tx: &mut Tx, recordings: &[String]) -> Result<(), StoreError> {
    lock_documents(tx, recordings).await?;
    for recording in recordings {
        tx.query(WAKE).bind(recording).bind_now().execute().await?;
    }
    Ok(())
}
