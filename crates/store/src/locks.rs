//! The order in which transactions lock rows, so that two of them cannot deadlock on PostgreSQL. SQLite has one writer
//! and needs none of it.
//!
//! 1. The library of one user: two imports of a user, and an import and a removal, run one after the other.
//! 2. Open entries, by id. A transaction that locks entries and documents of a user has locked the library.
//! 3. Enrichment documents, by recording and owner. Their steps belong to them and are not locked separately: a transaction that
//!    changes steps of several documents locks the documents first.
//! 4. The revision counter (`documents::project`), last: a transaction that has it waits for no other row.
//!
//! Claims of steps and of open entries skip rows that are locked, so they wait for no row and need no order.

use sqlx::types::Json;
use uuid::Uuid;

use super::{
    StoreError,
    db::{Dialects, Sql, Tx},
};

/// An UPDATE of the steps that `which` selects, of any number of documents. On PostgreSQL the statement locks the documents
/// first, in their order.
pub(crate) fn update_steps(set: &str, which: &str) -> Dialects {
    let sqlite = format!("UPDATE ingest_steps SET {set} WHERE {which}");
    let postgres = format!(
        "WITH locked AS (SELECT id FROM ingested_tracks
            WHERE id IN (SELECT document_id FROM ingest_steps WHERE {which}) {IN_ORDER})
        {sqlite} AND document_id IN (SELECT id FROM locked)"
    );
    Dialects { sqlite, postgres }
}

/// The order in which documents are locked.
const IN_ORDER: &str = "ORDER BY recording_id COLLATE \"C\", owner COLLATE \"C\" FOR UPDATE";

/// The class of the advisory locks of libraries.
const LIBRARIES: i32 = 17;

/// `hashtext` gives two users one lock now and then. They wait for each other then, and nothing else.
const LIBRARY: &str = "SELECT pg_advisory_xact_lock($1, hashtext($2)) IS NULL";
const ENTRIES: &str = "SELECT id FROM open_entries WHERE user_id = $1 ORDER BY id FOR UPDATE";
static BY_RECORDING: Sql = Sql::new(|| {
    format!("SELECT id FROM ingested_tracks WHERE recording_id IN (SELECT value FROM json_each($1)) {IN_ORDER}")
});
static BY_ID: Sql =
    Sql::new(|| format!("SELECT id FROM ingested_tracks WHERE id IN (SELECT value FROM json_each($1)) {IN_ORDER}"));

/// Locks the library of a user until the end of the transaction.
pub(crate) async fn lock_library(tx: &mut Tx, owner: &str) -> Result<(), StoreError> {
    if tx.is_postgres() {
        let _: (bool,) = tx.query(LIBRARY).bind(LIBRARIES).bind(owner).fetch_one().await?;
    }
    Ok(())
}

/// Prevents other transactions from counting events of this user until this one ends.
pub(crate) async fn lock_user(tx: &mut Tx, owner: &str) -> Result<(), StoreError> {
    const SQL: &str = "SELECT 1 FROM (SELECT pg_advisory_xact_lock(hashtextextended($1, 0))) AS lock";
    if tx.is_postgres() {
        tx.query(SQL).bind(owner).execute().await?;
    }
    Ok(())
}

/// Locks the open entries of a user until the end of the transaction.
pub(crate) async fn lock_entries(tx: &mut Tx, owner: &str) -> Result<(), StoreError> {
    if tx.is_postgres() {
        let _: Vec<(Uuid,)> = tx.query(ENTRIES).bind(owner).fetch_all().await?;
    }
    Ok(())
}

/// Locks the enrichment documents of these recordings until the end of the transaction.
pub(crate) async fn lock_documents(tx: &mut Tx, recordings: &[String]) -> Result<(), StoreError> {
    lock_rows(tx, &BY_RECORDING, recordings).await
}

/// Locks these enrichment documents until the end of the transaction.
pub(crate) async fn lock_documents_by_id(tx: &mut Tx, ids: &[String]) -> Result<(), StoreError> {
    lock_rows(tx, &BY_ID, ids).await
}

async fn lock_rows(tx: &mut Tx, sql: &'static str, keys: &[String]) -> Result<(), StoreError> {
    if tx.is_postgres() && !keys.is_empty() {
        let _: Vec<(String,)> = tx.query(sql).bind(Json(keys)).fetch_all().await?;
    }
    Ok(())
}

/// Locks the conversations of a user until the end of the transaction. Start and end of a turn lock the conversation before
/// the turn and its calls.
pub(crate) async fn lock_conversations(tx: &mut Tx, owner: &str) -> Result<(), StoreError> {
    const SQL: &str = "SELECT id FROM conversations WHERE user_id = $1 ORDER BY id FOR UPDATE";
    if tx.is_postgres() {
        let _locked: Vec<(Uuid,)> = tx.query(SQL).bind(owner).fetch_all().await?;
    }
    Ok(())
}
