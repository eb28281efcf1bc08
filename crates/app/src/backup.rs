//! Backup and restore: a consistent copy of the database, made while the server runs and restored while it is
//! stopped.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail, ensure};
use serde::Serialize;
use sqlx::{ConnectOptions, Connection, SqliteConnection, sqlite::SqliteConnectOptions};

use crate::{config::Config, node::Node};
use store;

/// The content of a copy.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Inventory {
    pub path: PathBuf,
    pub bytes: u64,
    pub conversations: i64,
    pub messages: i64,
    pub tasks: i64,
    pub tracks: i64,
}

/// Copies the database to a new file, in its current state. Concurrent writes are not blocked.
pub async fn backup(config: &Config, to: &Path) -> anyhow::Result<Inventory> {
    let from = sqlite_file(config, "pg_dump --format=custom --file=segue.dump \"$DATABASE_URL\"")?;
    ensure!(from.exists(), "there is no database at {}", from.display());
    ensure!(!to.exists(), "{} exists already; choose another name", to.display());
    let mut connection = open(&from).await?;
    let text = to.to_str().context("the name of the file must be UTF-8")?;
    // `VACUUM INTO` may fill an empty file, so the file has the right permissions before it contains any data.
    store::private_file(to).with_context(|| to.display().to_string())?;
    sqlx::query("VACUUM INTO $1").bind(text).execute(&mut connection).await.context("the copy could not be written")?;
    connection.close().await?;
    File::open(to)?.sync_all()?;
    inspect(to).await
}

/// Replaces the database by a copy. The old database is kept beside it; the index is rebuilt from the copy.
pub async fn restore(config: &Config, from: &Path, replaces: Replaces) -> anyhow::Result<Inventory> {
    let to = sqlite_file(config, "pg_restore --clean --if-exists --dbname=\"$DATABASE_URL\" segue.dump")?;
    let inventory = inspect(from).await?;
    let folder = to.parent().context("the database is in a folder")?;
    fs::create_dir_all(folder)?;
    let _alone = Node::alone_in(&config.data_dir)
        .context("a server is using the data directory; stop it first, then restore")?;
    if to.exists() {
        let hint = format!("there is a database at {}; with --force it is renamed and replaced", to.display());
        ensure!(replaces == Replaces::WhatIsThere, hint);
        move_aside(&to)?;
    }
    // Copied to a temporary name first and renamed afterwards, so that an interrupted restore leaves no partial
    // database.
    let beside = to.with_extension("restoring");
    fs::copy(from, &beside)?;
    store::private_file(&beside)?;
    File::open(&beside)?.sync_all()?;
    fs::rename(&beside, &to)?;
    let index = config.data_dir.join("index");
    if index.exists() {
        fs::remove_dir_all(&index).context("the old index could not be removed")?;
    }
    store::Store::open(&config.database_url, 1)
        .await
        .context("the copy could not be brought up to date")?
        .close()
        .await;
    Ok(Inventory { path: to, ..inventory })
}

/// What to do with an existing database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaces {
    Nothing,
    WhatIsThere,
}

fn sqlite_file(config: &Config, on_postgres: &str) -> anyhow::Result<PathBuf> {
    if config.database_url.starts_with("postgres") {
        bail!(
            "PostgreSQL has its own tools, which are consistent while Segue runs: {on_postgres} (docs/operations.md)"
        );
    }
    Ok(store::sqlite_path(&config.database_url).into())
}

/// Checks that a file is a complete Segue database, and counts its content.
async fn inspect(path: &Path) -> anyhow::Result<Inventory> {
    const COUNT: &str =
        "SELECT (SELECT COUNT(*) FROM conversations WHERE deleted_at IS NULL), (SELECT COUNT(*) FROM messages),
        (SELECT COUNT(*) FROM tasks WHERE deleted_at IS NULL), (SELECT COUNT(*) FROM documents WHERE track IS NOT NULL)";
    let bytes = fs::metadata(path).with_context(|| path.display().to_string())?.len();
    let not_ours = || format!("{} is not a Segue database", path.display());
    let mut connection = open(path).await.with_context(not_ours)?;
    let (said,): (String,) =
        sqlx::query_as("PRAGMA integrity_check").fetch_one(&mut connection).await.with_context(not_ours)?;
    ensure!(said == "ok", "{} is damaged: {said}", path.display());
    let (newest,): (Option<i64>,) = sqlx::query_as("SELECT MAX(version) FROM _sqlx_migrations")
        .fetch_one(&mut connection)
        .await
        .with_context(not_ours)?;
    ensure!(
        newest <= store::newest_schema(),
        "{} was written by a newer version of Segue; update Segue first",
        path.display()
    );
    let (conversations, messages, tasks, tracks) =
        sqlx::query_as(COUNT).fetch_one(&mut connection).await.with_context(not_ours)?;
    connection.close().await?;
    Ok(Inventory { path: path.to_owned(), bytes, conversations, messages, tasks, tracks })
}

async fn open(path: &Path) -> anyhow::Result<SqliteConnection> {
    Ok(SqliteConnectOptions::new().filename(path).read_only(true).connect().await?)
}

fn move_aside(database: &Path) -> anyhow::Result<()> {
    let stamp = chrono::Utc::now().format("%Y%m%dT%H%M%SZ");
    // The newest data may still be in the write-ahead log, so all three files are moved.
    for ending in ["", "-wal", "-shm"] {
        let file = PathBuf::from(format!("{}{ending}", database.display()));
        if file.exists() {
            fs::rename(&file, format!("{}.before-{stamp}{ending}", database.display()))?;
        }
    }
    Ok(())
}
