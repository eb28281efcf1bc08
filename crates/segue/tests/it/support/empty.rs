//! An empty database with all migrations, made once per process: migrating takes longer than most tests.

use std::{
    path::Path,
    process::Command,
    sync::{LazyLock, mpsc},
};

use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use tempfile::TempDir;
use tokio::sync::OnceCell;

/// Puts an empty SQLite database into a data directory.
pub(super) async fn sqlite(data_dir: &Path) {
    static FILE: OnceCell<Vec<u8>> = OnceCell::const_new();
    let file = FILE.get_or_init(async || {
        let dir = TempDir::new().expect("a temporary folder");
        migrate(dir.path(), None);
        std::fs::read(dir.path().join("segue.db")).expect("the database of the command")
    });
    let path = data_dir.join("segue.db");
    std::fs::write(&path, file.await).expect("the data directory is writable");
    let owner_only = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&path, owner_only).expect("the file is ours");
}

/// A copy of an empty database with all tables in the test cluster, if there is a cluster. Returns its URL.
///
/// Copying its files takes a third of the time of creating its tables. A schema per test would also make the catalogue of
/// one database slower with every test.
pub(super) async fn postgres() -> Option<String> {
    static MODEL: OnceCell<String> = OnceCell::const_new();
    let cluster = cluster()?;
    let model = MODEL.get_or_init(async || {
        let url = create(&cluster, "m", "").await;
        let dir = TempDir::new().expect("a temporary folder");
        migrate(dir.path(), Some(&url));
        name_of(&url).to_owned()
    });
    let model = model.await;
    // PostgreSQL 14 and earlier copy files in any case.
    let is_copy_chosen = server_version(&cluster).await >= 150_000;
    let strategy = if is_copy_chosen { " STRATEGY file_copy" } else { "" };
    Some(create(&cluster, "t", &format!(" TEMPLATE {model}{strategy}")).await)
}

/// A database without tables, if there is a cluster. Returns its URL.
pub(super) async fn postgres_without_tables() -> Option<String> {
    Some(create(&cluster()?, "b", "").await)
}

/// Deletes a database in the background. Nobody waits for it: the cluster is deleted after the tests.
pub(super) fn delete(url: &str) {
    static NAMES: LazyLock<mpsc::Sender<String>> = LazyLock::new(|| {
        let (names, received) = mpsc::channel();
        std::thread::spawn(move || delete_all(&received));
        names
    });
    // The thread ends only if the cluster is gone.
    let _ = NAMES.send(name_of(url).to_owned());
}

fn delete_all(names: &mpsc::Receiver<String>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let Some(cluster) = cluster() else { return };
    for name in names {
        runtime.block_on(async {
            // Tests stop and restart the cluster, so that no connection is kept.
            let Ok(mut connection) = PgConnection::connect(&cluster).await else { return };
            let sql = AssertSqlSafe(format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
            let _ = connection.execute(sql).await;
        });
    }
}

fn cluster() -> Option<String> {
    std::env::var("SEGUE_TEST_POSTGRES").ok()
}

async fn connect(cluster: &str) -> PgConnection {
    PgConnection::connect(cluster).await.expect("the test cluster accepts connections")
}

async fn server_version(cluster: &str) -> i64 {
    static NUMBER: OnceCell<i64> = OnceCell::const_new();
    let number = NUMBER.get_or_init(async || {
        let sql = "SELECT current_setting('server_version_num')::bigint";
        sqlx::query_scalar(sql).fetch_one(&mut connect(cluster).await).await.expect("a version")
    });
    *number.await
}

async fn create(cluster: &str, kind: &str, options: &str) -> String {
    let name = format!("{kind}_{}", uuid::Uuid::new_v4().simple());
    let sql = AssertSqlSafe(format!("CREATE DATABASE {name}{options}"));
    connect(cluster).await.execute(sql).await.expect("a database can be created");
    let (server, _) = cluster.rsplit_once('/').expect("the URL names a database");
    format!("{server}/{name}")
}

fn name_of(url: &str) -> &str {
    url.rsplit('/').next().unwrap_or_default()
}

/// A command that opens the database and changes nothing.
fn migrate(data_dir: &Path, database_url: Option<&str>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_segue"));
    command.args(["user", "list"]).env("SEGUE_DATA_DIR", data_dir).env("SEGUE_AUTH", "accounts");
    command.envs(database_url.map(|url| ("DATABASE_URL", url)));
    let done = command.output().expect("segue runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
