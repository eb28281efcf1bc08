//! The order in which transactions lock rows, so that two of them cannot deadlock on PostgreSQL. SQLite has one writer
//! and needs none of it.
//!
//! 1. The library of one user: two imports of a user, and an import and a removal, run one after the other.
//! 2. Enrichment documents, by recording and owner. Their steps belong to them and are not locked separately.
//! 3. The revision counter (`documents::project`), last: a transaction that has it waits for no other row.

use sqlx::types::Json;

use super::{StoreError, db::Tx};

/// The class of the advisory locks of libraries.
const LIBRARIES: i32 = 17;

/// `hashtext` gives two users one lock now and then. They wait for each other then, and nothing else.
const LIBRARY: &str = "SELECT pg_advisory_xact_lock($1, hashtext($2)) IS NULL";
const BY_RECORDING: &str = "SELECT id FROM ingested_tracks WHERE recording_id IN (SELECT jsonb_array_elements_text($1))
    ORDER BY recording_id COLLATE \"C\", owner COLLATE \"C\" FOR UPDATE";
const BY_ID: &str = "SELECT id FROM ingested_tracks WHERE id IN (SELECT jsonb_array_elements_text($1))
    ORDER BY recording_id COLLATE \"C\", owner COLLATE \"C\" FOR UPDATE";

/// Locks the library of a user until the end of the transaction.
pub(crate) async fn lock_library(tx: &mut Tx, owner: &str) -> Result<(), StoreError> {
    if tx.is_postgres() {
        let _: (bool,) = tx.query(LIBRARY).bind(LIBRARIES).bind(owner).fetch_one().await?;
    }
    Ok(())
}

/// Locks the enrichment documents of these recordings until the end of the transaction.
pub(crate) async fn lock_documents(tx: &mut Tx, recordings: &[String]) -> Result<(), StoreError> {
    lock_rows(tx, BY_RECORDING, recordings).await
}

/// Locks these enrichment documents until the end of the transaction.
pub(crate) async fn lock_documents_by_id(tx: &mut Tx, ids: &[String]) -> Result<(), StoreError> {
    lock_rows(tx, BY_ID, ids).await
}

async fn lock_rows(tx: &mut Tx, sql: &'static str, keys: &[String]) -> Result<(), StoreError> {
    if tx.is_postgres() && !keys.is_empty() {
        let _: Vec<(String,)> = tx.query(sql).bind(Json(keys)).fetch_all().await?;
    }
    Ok(())
}
