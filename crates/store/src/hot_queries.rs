//! Queries whose cost must not grow with the size of a library, and their query plans. For tests.

use super::{
    LibrarySort, Store, StoreError,
    db::Db,
    documents::{DOCUMENTS, KNOWN, OWNERS},
    export_pages::{OPEN_ENTRIES_AFTER, OWN_FACTS_AFTER, TRACKS_AFTER},
    fingerprints::{NEXT_UNCOMPARED, SIMILAR},
    listing_statements::{By, COUNT_GROUP, COUNT_WORDS, EVERY_TRACK},
    open_entries::OPEN_ENTRIES,
    owned::OWNED,
    sample::HAS_SAMPLE,
    tasks, uploads,
    views::{ALBUM, ALBUMS, ARTISTS, DECADES, GENRES, N_ARTISTS},
};

pub struct HotQuery {
    pub name: String,
    sqlite: &'static str,
    postgres: &'static str,
    /// Values for $1, $2 and so on, as SQL.
    values: &'static [&'static str],
    /// Whether it sorts the few rows that it finds.
    pub sorts: bool,
}

pub fn hot_queries() -> Vec<HotQuery> {
    use LibrarySort::{Added, Album, Artist, Plays, Title, Year};
    let both = |name: String, sql, values| HotQuery { name, sqlite: sql, postgres: sql, values, sorts: false };
    let mut all: Vec<_> = [Added, Title, Artist, Album, Year, Plays]
        .map(|sort| both(format!("a page of the library by {sort:?}"), EVERY_TRACK.by(sort), &["'u'", "50", "0"]))
        .into();
    all.push(both("the number of tracks of a group".into(), COUNT_GROUP, &["'u'", "'genre'", "'jazz'"]));
    const FILTERED: &[&str] = &["'u'", "NULL", "'a'", "'b'", "'c'", "1990", "1990", "50", "0"];
    for by in [By::Artist, By::Album, By::Genre, By::Year, By::Decade] {
        let few = by.few(false);
        let page = both(format!("a page of few tracks by {by:?}"), few.page.by(Title), FILTERED);
        all.push(HotQuery { sorts: true, ..page });
        let count = both(format!("the number of few tracks by {by:?}"), &few.count, FILTERED);
        // Names of two kinds are combined to one set.
        all.push(HotQuery { sorts: by == By::Artist, ..count });
    }
    all.extend(by_words());
    let page = |name: &str, sql| HotQuery { sorts: true, ..both(name.into(), sql, &["'u'", "NULL", "50", "0"]) };
    all.push(page("a page of artists", ARTISTS));
    all.push(both("the number of artists".into(), N_ARTISTS, &["'u'", "NULL"]));
    all.push(page("a page of albums", &ALBUMS));
    all.push(both("an album by its names".into(), &ALBUM, &["'u'", "'a'", "'b'", "'|'"]));
    all.push(both("a page of open entries".into(), OPEN_ENTRIES, &["'u'", "50", "0"]));
    all.push(both("whether the sample is there".into(), HAS_SAMPLE, &["'u'"]));
    all.push(HotQuery { sorts: true, ..both("genres".into(), GENRES, &["'u'"]) });
    all.push(HotQuery { sorts: true, ..both("decades".into(), DECADES, &["'u'"]) });
    const LISTS: &[&str] = &["'u'", "'[\"a\"]'", "'[\"a\"]'", "'[\"a\"]'", "'[\"a\"]'"];
    all.push(both("which of these are in the library".into(), &OWNED, LISTS));
    const IDS: &[&str] = &["'[\"a\"]'"];
    all.push(both("the enrichment of some recordings".into(), &KNOWN, IDS));
    // The owners of tracks and of albums are combined to one set.
    all.push(HotQuery { sorts: true, ..both("the owners of some recordings".into(), OWNERS, IDS) });
    all.push(both("the documents of some recordings".into(), DOCUMENTS, IDS));
    all.push(both("a page of tasks in one state".into(), &tasks::IN_STATE, &["'u'", "50", "TRUE"]));
    all.push(both("tracks of an export".into(), &TRACKS_AFTER, &["'u'", "'a'", "100"]));
    all.push(both("own facts of an export".into(), OWN_FACTS_AFTER, &["'u'", "'a'", "100"]));
    const ENTRIES: &[&str] = &["'u'", "'01a1e2b6-c3a5-7468-82d8-346b854bcd89'", "100"];
    all.push(both("open entries of an export".into(), OPEN_ENTRIES_AFTER, ENTRIES));
    const UNCOMPARED: &[&str] = &["'u'", "'01a1e2b6-c3a5-7468-82d8-346b854bcd89'", "'a'"];
    all.push(both("the next file to compare".into(), &NEXT_UNCOMPARED, UNCOMPARED));
    const SOUND: &[&str] = &["'u'", "'[1]'", "10", "20", "'r'", "50"];
    all.push(HotQuery { sorts: true, ..both("files with a similar sound".into(), &SIMILAR, SOUND) });
    all.push(HotQuery { sorts: true, ..both("uploads with a similar sound".into(), &uploads::SIMILAR, SOUND) });
    all
}

/// The index of words differs between the databases.
fn by_words() -> [HotQuery; 3] {
    const VALUES: &[&str] = &["'u'", "'% lo% ti%'", "NULL", "NULL", "NULL", "NULL", "NULL", "50", "0"];
    let [sqlite, postgres] = [false, true].map(|is_postgres| By::Words.few(is_postgres));
    let title = LibrarySort::Title;
    let query =
        |name: &str, sqlite, postgres, values, sorts| HotQuery { name: name.into(), sqlite, postgres, values, sorts };
    [
        query("a page of few tracks by words", sqlite.page.by(title), postgres.page.by(title), VALUES, true),
        query("the number of few tracks by words", &sqlite.count, &postgres.count, VALUES, false),
        query("the number of tracks with words", &COUNT_WORDS.sqlite, &COUNT_WORDS.postgres, &VALUES[..2], false),
    ]
}

/// The statement with its arguments as text. A list is bound as JSONB, but a text of SQL could be of any type.
fn filled(sql: &str, values: &[&str], db: &Db) -> String {
    let typed = |value: &str| match db {
        Db::Postgres { .. } if value.starts_with("'[") => format!("{value}::jsonb"),
        _ => value.to_owned(),
    };
    let numbered = values.iter().enumerate().rev();
    numbered.fold(sql.to_owned(), |sql, (n, value)| sql.replace(&format!("${}", n + 1), &typed(value)))
}

impl Store {
    /// The query plan of the database, one line for each step.
    pub async fn plan_of(&self, query: &HotQuery) -> Result<Vec<String>, StoreError> {
        let sql = self.in_dialect(query.sqlite, query.postgres);
        let sql = filled(sql, query.values, &self.db);
        match &self.db {
            Db::Sqlite { read, .. } => {
                let sql = sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"));
                let mut lent = read.lend().await?;
                let rows: Vec<(i64, i64, i64, String)> = sqlx::query_as(sql).fetch_all(&mut *lent).await?;
                Ok(rows.into_iter().map(|(.., step)| step).collect())
            }
            Db::Postgres { pool, .. } => {
                // Closed afterwards, with the setting.
                let mut connection = pool.lend().await?.closes_unless_given_back();
                // The tables of a test are small, and PostgreSQL reads small tables completely. The test checks whether
                // an index could be used.
                sqlx::query("SET enable_seqscan = off").execute(&mut *connection).await?;
                let sql = sqlx::AssertSqlSafe(format!("EXPLAIN {sql}"));
                let rows: Vec<(String,)> = sqlx::query_as(sql).fetch_all(&mut *connection).await?;
                Ok(rows.into_iter().map(|(step,)| step).collect())
            }
        }
    }
}
