//! What the audio of a user's files sounds like, and which of the user's files may sound the same.

use std::collections::BTreeMap;

use engine::UserId;
use schemars::JsonSchema;
use serde::Serialize;
use sqlx::types::Json;
use uuid::Uuid;

use super::{Store, StoreError, db::Sql};
use music::Fingerprint;

/// A file whose sound has not been compared since it was last read.
#[derive(Clone, Debug)]
pub struct UncomparedFile {
    pub path: String,
    pub content_hash: String,
    pub size: i64,
    pub modified_ms: i64,
}
from_row!(UncomparedFile { path, content_hash, size, modified_ms });

/// What is known about the sound of a file.
#[derive(Clone, Debug)]
pub enum Sound {
    Known(Fingerprint),
    /// The file says nothing about its recording: it is silent, short, or of a format without a decoder.
    None(String),
    /// The file cannot be decoded, and why.
    Damaged(String),
}

/// A file of the same user with a similar sound.
#[derive(Clone, Debug)]
pub struct SimilarFile {
    pub recording_id: String,
    pub fingerprint: Fingerprint,
}

/// How far the comparison of the files of a folder has come.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FolderSound {
    /// Files whose sound will be compared.
    pub waiting: i64,
    /// Files that cannot be decoded, and why; the first hundred.
    pub undecodable: BTreeMap<String, String>,
}

/// Files or uploads that are compared at most, the most similar first.
const MOST_SIMILAR: i64 = 50;

/// The condition of the index `library_files_uncompared`.
const UNCOMPARED: &str =
    "NOT is_compared AND missing_at IS NULL AND problem IS NULL AND part = 0 AND content_hash IS NOT NULL";

pub(crate) static NEXT_UNCOMPARED: Sql = Sql::new(|| {
    format!(
        "SELECT path, content_hash, size, modified_ms FROM library_files
            WHERE user_id = $1 AND source_id = $2 AND path > $3 AND {UNCOMPARED} ORDER BY path LIMIT 1"
    )
});

/// One shared key is chance: many recordings begin with the same silence.
pub(crate) const WITH_SHARED_KEYS: &str = "(SELECT k.fingerprint_id, COUNT(*) AS n_shared FROM fingerprint_keys k
    WHERE k.key IN (SELECT CAST(value AS BIGINT) FROM json_each($2))
        AND EXISTS (SELECT 1 FROM fingerprints o WHERE o.id = k.fingerprint_id AND o.user_id = $1)
    GROUP BY k.fingerprint_id HAVING COUNT(*) > 1) found";

pub(crate) static SIMILAR: Sql = Sql::new(|| {
    format!(
        "SELECT f.recording_id, p.seconds, p.words FROM {WITH_SHARED_KEYS}
        JOIN fingerprints p ON p.id = found.fingerprint_id
        JOIN library_files f ON f.user_id = p.user_id AND f.content_hash = p.content_hash
        WHERE p.user_id = $1 AND p.seconds BETWEEN $3 AND $4 AND f.part = 0 AND f.missing_at IS NULL
            AND f.recording_id <> $5 AND f.recording_id <> ''
        ORDER BY found.n_shared DESC, f.path LIMIT $6"
    )
});

impl Store {
    /// The next file of a folder that must be compared, in the order of paths.
    pub async fn next_uncompared(
        &self,
        owner: &UserId,
        source: Uuid,
        after: &str,
    ) -> Result<Option<UncomparedFile>, StoreError> {
        Ok(self.read(&NEXT_UNCOMPARED).bind(owner.as_str()).bind(source).bind(after).fetch_optional().await?)
    }

    /// The sound of a file, if it was decoded before.
    pub async fn sound(&self, owner: &UserId, content_hash: &str) -> Result<Option<Sound>, StoreError> {
        const SQL: &str = "SELECT state, seconds, words, problem FROM fingerprints
            WHERE user_id = $1 AND content_hash = $2";
        type Row = (String, Option<f64>, Option<Vec<u8>>, Option<String>);
        let row: Option<Row> = self.read(SQL).bind(owner.as_str()).bind(content_hash).fetch_optional().await?;
        // Bytes that are no fingerprint (any more) are computed again.
        Ok(row.and_then(|(state, seconds, words, problem)| match (state.as_str(), words.zip(seconds)) {
            ("done", Some((words, seconds))) => Fingerprint::from_bytes(&words, seconds).map(Sound::Known),
            ("done", None) => None,
            ("damaged", _) => Some(Sound::Damaged(problem.unwrap_or_default())),
            _ => Some(Sound::None(problem.unwrap_or_default())),
        }))
    }

    pub async fn keep_sound(&self, owner: &UserId, content_hash: &str, sound: &Sound) -> Result<(), StoreError> {
        const PUT: &str = "INSERT INTO fingerprints (user_id, content_hash, state, seconds, words, problem, made_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (user_id, content_hash) DO UPDATE SET
                state = excluded.state, seconds = excluded.seconds, words = excluded.words,
                problem = excluded.problem, made_at = excluded.made_at
            RETURNING id";
        const FORGET: &str = "DELETE FROM fingerprint_keys WHERE fingerprint_id = $1";
        const PUT_KEYS: &str = "INSERT INTO fingerprint_keys (key, fingerprint_id)
            SELECT CAST(value AS BIGINT), $1 FROM json_each($2)";
        let (state, known, problem) = match sound {
            Sound::Known(known) => ("done", Some(known), None),
            Sound::None(why) => ("none", None, Some(why.as_str())),
            Sound::Damaged(why) => ("damaged", None, Some(why.as_str())),
        };
        let mut tx = self.begin().await?;
        let query = tx.query(PUT).bind(owner.as_str()).bind(content_hash).bind(state);
        let query = query.bind(known.map(Fingerprint::seconds)).bind(known.map(Fingerprint::to_bytes)).bind(problem);
        let (id,): (i64,) = query.bind_now().fetch_one().await?;
        tx.query(FORGET).bind(id).execute().await?;
        if let Some(known) = known {
            tx.query(PUT_KEYS).bind(id).bind(Json(known.keys())).execute().await?;
        }
        tx.commit().await
    }

    /// Files of this user with other recordings whose sound shares keys with this one and whose length is nearly the same.
    pub async fn similar_files(
        &self,
        owner: &UserId,
        recording: &str,
        sound: &Fingerprint,
    ) -> Result<Vec<SimilarFile>, StoreError> {
        self.similar_sounds(&SIMILAR, owner, recording, sound).await
    }

    /// The result of one of the queries for similar sounds.
    pub(crate) async fn similar_sounds(
        &self,
        sql: &'static str,
        owner: &UserId,
        recording: &str,
        sound: &Fingerprint,
    ) -> Result<Vec<SimilarFile>, StoreError> {
        // Wider than the comparison, which decides.
        let (least, most) = (sound.seconds() - 5.0, sound.seconds() + 5.0);
        let query = self.read(sql).bind(owner.as_str()).bind(Json(sound.keys()));
        let rows: Vec<(String, f64, Vec<u8>)> =
            query.bind(least).bind(most).bind(recording).bind(MOST_SIMILAR).fetch_all().await?;
        let similar = rows.into_iter().filter_map(|(recording_id, seconds, words)| {
            Some(SimilarFile { recording_id, fingerprint: Fingerprint::from_bytes(&words, seconds)? })
        });
        Ok(similar.collect())
    }

    /// The recording of a file, if the file has this sound and is still to be compared.
    pub async fn recording_to_compare(
        &self,
        owner: &UserId,
        path: &str,
        content_hash: &str,
    ) -> Result<Option<String>, StoreError> {
        static SQL: Sql = Sql::new(|| {
            format!(
                "SELECT recording_id FROM library_files
                    WHERE user_id = $1 AND path = $2 AND content_hash = $3 AND {UNCOMPARED}"
            )
        });
        let query = self.read(&SQL).bind(owner.as_str()).bind(path).bind(content_hash);
        let row: Option<(String,)> = query.fetch_optional().await?;
        Ok(row.map(|(recording,)| recording))
    }

    /// The sound of a file was compared: not again until the file is read again.
    pub async fn set_compared(&self, owner: &UserId, path: &str, content_hash: &str) -> Result<(), StoreError> {
        const SQL: &str = "UPDATE library_files SET is_compared = TRUE
            WHERE user_id = $1 AND path = $2 AND part = 0 AND content_hash = $3";
        self.write(SQL).bind(owner.as_str()).bind(path).bind(content_hash).execute().await?;
        Ok(())
    }

    pub async fn folder_sound(&self, owner: &UserId, source: Uuid) -> Result<FolderSound, StoreError> {
        static WAITING: Sql = Sql::new(|| {
            format!("SELECT COUNT(*) FROM library_files WHERE user_id = $1 AND source_id = $2 AND {UNCOMPARED}")
        });
        const DAMAGED: &str = "SELECT f.path, COALESCE(p.problem, '') FROM fingerprints p
            JOIN library_files f ON f.user_id = p.user_id AND f.content_hash = p.content_hash
            WHERE p.user_id = $1 AND p.state = 'damaged' AND f.source_id = $2 AND f.missing_at IS NULL
            ORDER BY f.path LIMIT 100";
        let (waiting,): (i64,) = self.read(&WAITING).bind(owner.as_str()).bind(source).fetch_one().await?;
        let rows: Vec<(String, String)> = self.read(DAMAGED).bind(owner.as_str()).bind(source).fetch_all().await?;
        Ok(FolderSound { waiting, undecodable: rows.into_iter().collect() })
    }
}
