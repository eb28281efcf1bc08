//! An empty database with all migrations, made once per process: migrating takes longer than most tests.

use std::{path::Path, process::Command};

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

/// A separate schema in the test cluster, if there is a cluster. Returns its URL.
pub(super) async fn schema() -> Option<String> {
    static STATEMENTS: OnceCell<String> = OnceCell::const_new();
    let cluster = std::env::var("SEGUE_TEST_POSTGRES").ok()?;
    let statements = STATEMENTS.get_or_init(|| statements(&cluster)).await;
    let name = format!("t_{}", uuid::Uuid::new_v4().simple());
    let mut connection = PgConnection::connect(&cluster).await.expect("the test cluster accepts connections");
    let create = AssertSqlSafe(statements.replace(MODEL, &name));
    connection.execute(create).await.expect("a schema can be created");
    Some(url(&cluster, &name))
}

/// A schema without tables, if there is a cluster. Returns its URL.
pub(super) async fn schema_without_tables() -> Option<String> {
    let cluster = std::env::var("SEGUE_TEST_POSTGRES").ok()?;
    let name = format!("b_{}", uuid::Uuid::new_v4().simple());
    create(&cluster, &name).await;
    Some(url(&cluster, &name))
}

async fn create(cluster: &str, name: &str) {
    let mut connection = PgConnection::connect(cluster).await.expect("the test cluster accepts connections");
    connection.execute(AssertSqlSafe(format!("CREATE SCHEMA {name}"))).await.expect("a schema can be created");
}

/// The name of the schema in the statements.
const MODEL: &str = "model_of_all_schemas";

/// The statements that create a schema with all tables.
async fn statements(cluster: &str) -> String {
    let name = format!("m_{}", uuid::Uuid::new_v4().simple());
    create(cluster, &name).await;
    let dir = TempDir::new().expect("a temporary folder");
    migrate(dir.path(), Some(&url(cluster, &name)));
    let bin = std::env::var("SEGUE_TEST_POSTGRES_BIN").expect("tools/with-postgres sets it");
    let mut dump = Command::new(format!("{bin}/pg_dump"));
    let dump = dump.args(["--no-owner", "--inserts", "--schema", &name, cluster]).output().expect("pg_dump runs");
    assert!(dump.status.success(), "{}", String::from_utf8_lossy(&dump.stderr));
    let text = String::from_utf8(dump.stdout).expect("statements");
    // Commands of psql, and settings that would outlive the statements.
    let is_statement =
        |line: &&str| !line.starts_with(['\\', '-']) && !line.starts_with("SET ") && !line.starts_with("SELECT ");
    text.lines().filter(is_statement).collect::<Vec<_>>().join("\n").replace(&name, MODEL)
}

fn url(cluster: &str, schema: &str) -> String {
    let separator = if cluster.contains('?') { '&' } else { '?' };
    format!("{cluster}{separator}options=-csearch_path%3D{schema}")
}

/// A command that opens the database and changes nothing.
fn migrate(data_dir: &Path, database_url: Option<&str>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_segue"));
    command.args(["user", "list"]).env("SEGUE_DATA_DIR", data_dir).env("SEGUE_AUTH", "accounts");
    command.envs(database_url.map(|url| ("DATABASE_URL", url)));
    let done = command.output().expect("segue runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
