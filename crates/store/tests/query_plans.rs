//! Hot queries read only the rows they return: no scan of a user's library and no sort, on SQLite and on PostgreSQL.

use store::{Store, hot_queries};

async fn wrong_with(store: &Store) -> Vec<String> {
    let mut wrong = Vec::new();
    for query in hot_queries() {
        let plan = store.plan_of(&query).await.expect("the database explains it");
        // SQLite: SCAN and TEMP B-TREE; PostgreSQL: Seq Scan and Sort. Only lists of arguments may be scanned.
        let is_slow = |step: &&String| {
            let scans = step.contains("SCAN") && !step.contains("json_each") && !step.contains("VIRTUAL TABLE");
            scans || step.contains("TEMP B-TREE") || step.contains("Seq Scan") || step.trim().starts_with("Sort")
        };
        wrong.extend(plan.iter().filter(is_slow).map(|step| format!("{}: {step}", query.name)));
    }
    wrong
}

#[tokio::test]
async fn hot_queries_read_only_what_they_return() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("sqlite:{}", folder.path().join("plans.db").display());
    let store = Store::open(&url, 2).await.expect("the database opens");
    assert_eq!(wrong_with(&store).await, [""; 0], "SQLite");
    if let Ok(cluster) = std::env::var("SEGUE_TEST_POSTGRES") {
        let store = on_postgres(&cluster).await;
        assert_eq!(wrong_with(&store).await, [""; 0], "PostgreSQL");
    }
}

async fn on_postgres(cluster: &str) -> Store {
    use sqlx::{Connection, Executor};
    let name = format!("p_{}", uuid::Uuid::new_v4().simple());
    let mut connection = sqlx::PgConnection::connect(cluster).await.expect("the test cluster answers");
    let create = sqlx::AssertSqlSafe(format!("CREATE SCHEMA {name}"));
    connection.execute(create).await.expect("a schema can be made");
    let separator = if cluster.contains('?') { '&' } else { '?' };
    Store::open(&format!("{cluster}{separator}options=-csearch_path%3D{name}"), 2).await.expect("the database opens")
}
