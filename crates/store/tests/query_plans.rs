//! Hot queries read only the rows they return: no scan of a user's library and no sort, on SQLite and on PostgreSQL.

use store::{Store, hot_queries};

async fn wrong_with(store: &Store) -> Vec<String> {
    let mut wrong = Vec::new();
    for query in hot_queries() {
        let plan = store.plan_of(&query).await.expect("the database explains it");
        // SQLite: SCAN and TEMP B-TREE; PostgreSQL: Seq Scan and Sort. Only arguments and what was found may be scanned.
        let is_slow = |step: &&String| {
            let is_argument = ["json_each", "VIRTUAL TABLE", "SCAN found"].iter().any(|name| step.contains(name));
            let scans = step.contains("SCAN") && !is_argument;
            // Duplicates among a few rows are found in a tree too.
            let is_small = step.contains("UNION") || step.contains("count(DISTINCT)");
            let sorts = (step.contains("TEMP B-TREE") && !is_small)
                || step.trim_start_matches([' ', '-', '>']).starts_with("Sort");
            // A function that PostgreSQL calls, in place of its SELECT, is planned without knowledge of its argument.
            let is_called = step.contains("Function Scan on json_each");
            scans || is_called || step.contains("Seq Scan") || (sorts && !query.sorts)
        };
        // A few rows are found by their filter, not met while the library is read in the order of the page.
        let sorts = plan.iter().any(|step| step.contains("TEMP B-TREE FOR ORDER BY") || step.contains("Sort Key"));
        if query.name.starts_with("a page of few") && !sorts {
            wrong.push(format!("{}: it reads the whole library in order", query.name));
        }
        if query.name.ends_with("in one state") && !plan.iter().any(|step| step.contains("_in_state")) {
            wrong.push(format!("{}: it reads those in other states too: {plan:?}", query.name));
        }
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
