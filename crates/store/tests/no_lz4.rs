//! A PostgreSQL server that was built without lz4 is upgraded too, and keeps its own compression.

use sqlx::{Connection, Executor, PgConnection};
use store::Store;
use uuid::Uuid;

/// Answers as a server without lz4 does: `SET COMPRESSION lz4` is not supported.
const WITHOUT_LZ4: &str = "CREATE FUNCTION refuse_lz4() RETURNS event_trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF current_query() LIKE '%SET COMPRESSION lz4%' THEN
            RAISE EXCEPTION 'compression method lz4 not supported' USING ERRCODE = 'feature_not_supported';
        END IF;
    END $$;
    CREATE EVENT TRIGGER no_lz4 ON ddl_command_start WHEN TAG IN ('ALTER TABLE') EXECUTE FUNCTION refuse_lz4()";
const COMPRESSION: &str = "SELECT attcompression::TEXT FROM pg_attribute
    WHERE attrelid = 'messages'::regclass AND attname = 'content'";

/// The compression of `messages.content` after all migrations, in a database of its own: an event trigger is for all of it.
async fn compression_after(cluster: &str, before: Option<&'static str>) -> String {
    let name = format!("lz4_{}", Uuid::new_v4().simple());
    let (server, _) = cluster.split('?').next().unwrap_or_default().rsplit_once('/').expect("a database in the url");
    let url = format!("{server}/{name}");
    let mut admin = PgConnection::connect(cluster).await.expect("the test cluster answers");
    admin.execute(sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}"))).await.expect("a database can be made");
    let mut connection = PgConnection::connect(&url).await.expect("the new database answers");
    if let Some(sql) = before {
        sqlx::raw_sql(sql).execute(&mut connection).await.expect("the trigger is made");
    }
    let store = Store::open(&url, 2).await.expect("every migration runs");
    store.close().await;
    let found = sqlx::query_scalar(COMPRESSION).fetch_one(&mut connection).await.expect("the table is there");
    connection.close().await.expect("closed");
    let drop = format!("DROP DATABASE {name} WITH (FORCE)");
    admin.execute(sqlx::AssertSqlSafe(drop)).await.expect("the database is deleted");
    found
}

#[tokio::test]
async fn a_server_without_lz4_keeps_its_own_compression() {
    let Ok(cluster) = std::env::var("SEGUE_TEST_POSTGRES") else { return };
    assert_eq!(compression_after(&cluster, Some(WITHOUT_LZ4)).await, "", "the default of the server");
    assert_eq!(compression_after(&cluster, None).await, "l", "a server with lz4 uses it");
}
