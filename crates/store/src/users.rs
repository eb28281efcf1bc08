//! Built-in accounts and their credentials.

use chrono::{DateTime, TimeDelta, Utc};
use engine::UserId;
use schemars::JsonSchema;
use serde::Serialize;
use unicode_normalization::UnicodeNormalization;
use uuid::Uuid;

use super::{
    Store, StoreError,
    documents::project,
    locks::{lock_conversations, lock_documents, lock_entries, lock_library},
    schedule::park,
};

/// The hash of a secret. The secret itself is never stored.
pub type Hash = [u8; 32];

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Account {
    pub id: Uuid,
    pub name: String,
    pub created_at: DateTime<Utc>,
    /// Whether the account may change the settings of the installation, also without `SEGUE_OPERATORS`.
    pub is_operator: bool,
}
from_row!(Account { id, name, created_at, is_operator });

impl Account {
    /// The user id that owns this person's data.
    pub fn owner(&self) -> UserId {
        UserId::new(self.id.to_string())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// Used by the web page, in a cookie.
    Session,
    /// Used by scripts, in the `Authorization` header.
    Token,
}

impl KeyKind {
    fn as_str(self) -> &'static str {
        match self {
            KeyKind::Session => "session",
            KeyKind::Token => "token",
        }
    }
}

/// A new credential.
pub struct NewKey {
    pub hash: Hash,
    pub kind: KeyKind,
    /// How long it is valid, from now by the clock of the database. `None`: until it is revoked.
    pub lasts: Option<TimeDelta>,
}

#[derive(Clone, Debug)]
pub struct KeyHolder {
    pub id: Uuid,
    pub name: String,
    pub is_operator: bool,
    /// How long the key is still valid. `None`: until it is revoked.
    pub remains: Option<TimeDelta>,
}

#[derive(Clone, Debug)]
pub struct Credentials {
    pub id: Uuid,
    pub name: String,
    pub password_hash: String,
    pub is_operator: bool,
}
from_row!(Credentials { id, name, password_hash, is_operator });

/// The statements that delete all data of a user, children first. A test fails if a table with a `user_id` is missing
/// here.
const DELETE_OWNED: &[&str] = &[
    // Those of turns go with their conversations.
    "DELETE FROM tool_calls WHERE message_id IS NULL AND user_id = $1",
    "DELETE FROM turns WHERE user_id = $1",
    "DELETE FROM consents WHERE user_id = $1",
    "DELETE FROM conversations WHERE user_id = $1",
    "DELETE FROM feedback WHERE user_id = $1",
    "DELETE FROM tasks WHERE user_id = $1",
    "DELETE FROM playlists WHERE user_id = $1",
    "DELETE FROM long_texts WHERE user_id = $1",
    "DELETE FROM undos WHERE user_id = $1",
    "DELETE FROM library_album_tracks WHERE user_id = $1",
    "DELETE FROM library_albums WHERE user_id = $1",
    "DELETE FROM library_tracks WHERE user_id = $1",
    // After the tracks, whose triggers write to it.
    "DELETE FROM library_groups WHERE user_id = $1",
    "DELETE FROM library_files WHERE user_id = $1",
    "DELETE FROM fingerprints WHERE user_id = $1",
    "DELETE FROM library_playlist_files WHERE user_id = $1",
    "DELETE FROM own_names WHERE user_id = $1",
    "DELETE FROM track_merges WHERE user_id = $1",
    "DELETE FROM library_sources WHERE user_id = $1",
    "DELETE FROM sample_removals WHERE user_id = $1",
    "DELETE FROM open_entries WHERE user_id = $1",
    "DELETE FROM imports WHERE user_id = $1",
    "DELETE FROM token_days WHERE user_id = $1",
    "DELETE FROM rate_events WHERE user_id = $1",
];

/// All recordings whose documents or steps the removal changes, so that their documents are locked in order.
const OWNED_RECORDINGS: &str = "SELECT recording_id FROM library_tracks WHERE user_id = $1
    UNION SELECT recording_id FROM library_album_tracks WHERE user_id = $1
    UNION SELECT recording_id FROM documents WHERE owner = $1
    UNION SELECT recording_id FROM ingested_tracks WHERE owner = $1
    UNION SELECT i.recording_id FROM ingested_tracks i JOIN ingest_steps s ON s.document_id = i.id WHERE s.for_user = $1
    ORDER BY recording_id";

/// Texts from the user's files. The rows that tell an index to delete them are kept without text.
const FORGET_WORDS: &str = "DELETE FROM ingested_tracks WHERE owner = $1";
/// Enrichment of public documents continues for their other owners.
const FORGET_QUEUE: &str = "UPDATE ingest_steps SET for_user = '' WHERE for_user = $1";

const INSERT: &str = "INSERT INTO accounts (id, name, name_key, password_hash, created_at, is_operator)
    VALUES ($1, $2, $3, $4, $5, $6) RETURNING id, name, created_at, is_operator";

const NAME_TAKEN: &str = "this name is taken";

impl Store {
    pub async fn add_account(&self, name: &str, password_hash: &str) -> Result<Account, StoreError> {
        self.insert_account(name, password_hash, false).await
    }

    pub async fn add_operator(&self, name: &str, password_hash: &str) -> Result<Account, StoreError> {
        self.insert_account(name, password_hash, true).await
    }

    async fn insert_account(&self, name: &str, password_hash: &str, is_operator: bool) -> Result<Account, StoreError> {
        let added = self
            .write(INSERT)
            .bind(Uuid::now_v7())
            .bind(name)
            .bind(name_key(name))
            .bind(password_hash)
            .bind(self.clock.now())
            .bind(is_operator)
            .fetch_one()
            .await;
        added.map_err(name_taken)
    }

    pub async fn accounts(&self) -> Result<Vec<Account>, StoreError> {
        const SQL: &str = "SELECT id, name, created_at, is_operator FROM accounts ORDER BY name_key";
        Ok(self.read(SQL).fetch_all().await?)
    }

    pub async fn account(&self, name: &str) -> Result<Account, StoreError> {
        const SQL: &str = "SELECT id, name, created_at, is_operator FROM accounts WHERE name_key = $1";
        let found = self.read(SQL).bind(name_key(name)).fetch_optional().await?;
        found.ok_or(StoreError::NotFound)
    }

    pub async fn credentials(&self, name: &str) -> Result<Option<Credentials>, StoreError> {
        const SQL: &str = "SELECT id, name, password_hash, is_operator FROM accounts WHERE name_key = $1";
        Ok(self.read(SQL).bind(name_key(name)).fetch_optional().await?)
    }

    /// Removes an account with all its credentials and everything it owns.
    pub async fn remove_account(&self, account: &Account) -> Result<(), StoreError> {
        const SQL: &str = "DELETE FROM accounts WHERE id = $1";
        let owner = account.owner();
        let mut tx = self.begin().await?;
        lock_conversations(&mut tx, owner.as_str()).await?;
        lock_library(&mut tx, owner.as_str()).await?;
        lock_entries(&mut tx, owner.as_str()).await?;
        let recordings: Vec<(String,)> = tx.query(OWNED_RECORDINGS).bind(owner.as_str()).fetch_all().await?;
        let recordings: Vec<String> = recordings.into_iter().map(|(id,)| id).collect();
        lock_documents(&mut tx, &recordings).await?;
        for sql in DELETE_OWNED {
            tx.query(sql).bind(owner.as_str()).execute().await?;
        }
        tx.query(FORGET_WORDS).bind(owner.as_str()).execute().await?;
        tx.query(FORGET_QUEUE).bind(owner.as_str()).execute().await?;
        // Recordings that only this user had are removed from the search of other users too.
        park(&mut tx, &recordings).await?;
        project(&mut tx, &recordings).await?;
        tx.query(SQL).bind(account.id).execute().await?;
        tx.commit().await?;
        Ok(())
    }

    pub async fn add_key(&self, account: Uuid, key: &NewKey) -> Result<(), StoreError> {
        const SQL: &str =
            "INSERT INTO keys (hash, account_id, kind, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)";
        self.write(SQL)
            .bind(&key.hash[..])
            .bind(account)
            .bind(key.kind.as_str())
            .bind(self.clock.now())
            .bind(key.lasts.map(|lasts| self.clock.now() + lasts))
            .execute()
            .await?;
        Ok(())
    }

    /// The owner of this key, unless it has expired or was revoked.
    pub async fn key_holder(&self, hash: &Hash, kind: KeyKind) -> Result<Option<KeyHolder>, StoreError> {
        const SQL: &str =
            "SELECT a.id, a.name, a.is_operator, k.expires_at FROM keys k JOIN accounts a ON a.id = k.account_id
            WHERE k.hash = $1 AND k.kind = $2 AND (k.expires_at IS NULL OR k.expires_at > $3)";
        let now = self.clock.now();
        let row: Option<(Uuid, String, bool, Option<DateTime<Utc>>)> =
            self.read(SQL).bind(&hash[..]).bind(kind.as_str()).bind(now).fetch_optional().await?;
        Ok(row.map(|(id, name, is_operator, expires_at)| KeyHolder {
            id,
            name,
            is_operator,
            remains: expires_at.map(|at| at - now),
        }))
    }

    /// Makes a key valid for this long, from now on.
    pub async fn extend_key(&self, hash: &Hash, lasts: TimeDelta) -> Result<(), StoreError> {
        const SQL: &str = "UPDATE keys SET expires_at = $2 WHERE hash = $1";
        self.write(SQL).bind(&hash[..]).bind(self.clock.now() + lasts).execute().await?;
        Ok(())
    }

    pub async fn take_key_back(&self, hash: &Hash) -> Result<(), StoreError> {
        const SQL: &str = "DELETE FROM keys WHERE hash = $1";
        self.write(SQL).bind(&hash[..]).execute().await?;
        Ok(())
    }

    /// Revokes every session and every token of an account.
    pub async fn take_all_keys_back(&self, account: Uuid) -> Result<(), StoreError> {
        self.write(DELETE_KEYS).bind(account).execute().await?;
        Ok(())
    }

    /// Changes a password. It revokes all sessions and tokens; `key` is the new session of the user who changed it.
    pub async fn change_password(&self, account: Uuid, password_hash: &str, key: &NewKey) -> Result<(), StoreError> {
        const UPDATE: &str = "UPDATE accounts SET password_hash = $2 WHERE id = $1";
        const INSERT_KEY: &str =
            "INSERT INTO keys (hash, account_id, kind, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)";
        let mut tx = self.begin().await?;
        tx.query(UPDATE).bind(account).bind(password_hash).execute().await?;
        tx.query(DELETE_KEYS).bind(account).execute().await?;
        tx.query(INSERT_KEY)
            .bind(&key.hash[..])
            .bind(account)
            .bind(key.kind.as_str())
            .bind(self.clock.now())
            .bind(key.lasts.map(|lasts| self.clock.now() + lasts))
            .execute()
            .await?;
        tx.commit().await?;
        Ok(())
    }

    /// Stores an invitation. Returns when it expires.
    pub async fn add_invitation(&self, hash: &Hash, lasts: TimeDelta) -> Result<DateTime<Utc>, StoreError> {
        const SQL: &str = "INSERT INTO invitations (hash, expires_at) VALUES ($1, $2)";
        let expires_at = self.clock.now() + lasts;
        self.write(SQL).bind(&hash[..]).bind(expires_at).execute().await?;
        Ok(expires_at)
    }

    /// Whether an invitation can still be accepted.
    pub async fn is_invited(&self, hash: &Hash) -> Result<bool, StoreError> {
        const SQL: &str = "SELECT expires_at FROM invitations WHERE hash = $1 AND expires_at > $2";
        let row: Option<(DateTime<Utc>,)> =
            self.read(SQL).bind(&hash[..]).bind(self.clock.now()).fetch_optional().await?;
        Ok(row.is_some())
    }

    /// Creates an account and deletes the invitation, in one transaction. `NotFound` if the invitation is invalid or
    /// used.
    pub async fn accept_invitation(&self, hash: &Hash, name: &str, password_hash: &str) -> Result<Account, StoreError> {
        const USE_UP: &str = "DELETE FROM invitations WHERE hash = $1 AND expires_at > $2 RETURNING expires_at";
        let mut tx = self.begin().await?;
        let used: Option<(DateTime<Utc>,)> =
            tx.query(USE_UP).bind(&hash[..]).bind(self.clock.now()).fetch_optional().await?;
        if used.is_none() {
            return Err(StoreError::NotFound);
        }
        let insert = tx.query(INSERT).bind(Uuid::now_v7()).bind(name).bind(name_key(name));
        let insert = insert.bind(password_hash).bind(self.clock.now()).bind(false);
        let account = insert.fetch_one().await.map_err(name_taken)?;
        tx.commit().await?;
        Ok(account)
    }

    pub async fn forget_expired_keys(&self) -> Result<(), StoreError> {
        const KEYS: &str = "DELETE FROM keys WHERE expires_at < $1";
        const INVITATIONS: &str = "DELETE FROM invitations WHERE expires_at < $1";
        for sql in [KEYS, INVITATIONS] {
            self.write(sql).bind(self.clock.now()).execute().await?;
        }
        self.forget_old_attempts().await
    }
}

const DELETE_KEYS: &str = "DELETE FROM keys WHERE account_id = $1";

/// Two names that look the same or differ only in case are the same name.
pub fn name_key(name: &str) -> String {
    name.nfkc().collect::<String>().to_lowercase()
}

fn name_taken(error: sqlx::Error) -> StoreError {
    match error.as_database_error() {
        Some(cause) if cause.is_unique_violation() => StoreError::Conflict(NAME_TAKEN),
        _ => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn removing_an_account_deletes_from_every_table_with_an_owner() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&format!("sqlite:{}", folder.path().join("t.db").display()), 1).await.unwrap();
        // Triggers of `library_tracks` delete the rows of `library_word_rows`.
        let sql = "SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c ON c.name = 'user_id'
            WHERE m.type = 'table' AND m.name <> 'library_word_rows' ORDER BY m.name";
        let tables: Vec<(String,)> = store.read(sql).fetch_all().await.unwrap();
        let mut known: Vec<_> = DELETE_OWNED.iter().filter_map(|sql| sql.split(' ').nth(2)).collect();
        known.sort_unstable();
        assert_eq!(tables.iter().map(|(name,)| name.as_str()).collect::<Vec<_>>(), known);
    }
}
