//! One user's changes to a library that happen at once: none fails, and none is lost. On PostgreSQL rows are locked one
//! by one, so that two transactions could wait for each other.

mod cancelled;
mod lock_order;
mod long_work;

use std::collections::{BTreeMap, BTreeSet};

use engine::UserId;
use music::{Track, TrackId, TrackRef};
use serde_json::json;
use store::{
    Ending, Listing, LyricsFound, NewImport, NewLibraryTrack, NewOpenEntry, NewTask, Step, Store, StoreError,
    TaskFilter,
};
use uuid::Uuid;

/// Fits into one transaction of an import.
const N_ROWS: usize = 16;
const ROUNDS: usize = 5;

async fn stores(folder: &tempfile::TempDir) -> Vec<Store> {
    let url = format!("sqlite:{}", folder.path().join("concurrent.db").display());
    let mut stores = vec![Store::open(&url, 4).await.expect("the database opens")];
    if let Ok(cluster) = std::env::var("SEGUE_TEST_POSTGRES") {
        stores.push(on_postgres(&cluster).await);
    }
    stores
}

async fn on_postgres(cluster: &str) -> Store {
    Store::open(&fresh_schema(cluster).await, 6).await.expect("the database opens")
}

/// The URL of a separate schema.
async fn fresh_schema(cluster: &str) -> String {
    use sqlx::{Connection, Executor};
    let name = format!("c_{}", Uuid::new_v4().simple());
    let mut connection = sqlx::PgConnection::connect(cluster).await.expect("the test cluster answers");
    let create = sqlx::AssertSqlSafe(format!("CREATE SCHEMA {name}"));
    connection.execute(create).await.expect("a schema can be made");
    let separator = if cluster.contains('?') { '&' } else { '?' };
    format!("{cluster}{separator}options=-csearch_path%3D{name}")
}

fn track(n: usize, title: &str) -> Track {
    let isrc = format!("QZTWO24{n:05}");
    serde_json::from_value(json!({"isrc": isrc, "title": format!("{title} {n}"), "artist": "A", "album": "B"}))
        .expect("a track")
}

/// Rows of a file: each second one is known to a catalogue too.
fn rows(title: &str) -> Vec<NewLibraryTrack> {
    let row = |n: usize| {
        let own = NewLibraryTrack { is_own: true, ..NewLibraryTrack::catalogued(track(n, title)) };
        NewLibraryTrack { public: own.public.filter(|_| n.is_multiple_of(2)).map(|_| track(n, "public")), ..own }
    };
    (0..N_ROWS).map(row).collect()
}

fn reversed<T>(mut rows: Vec<T>) -> Vec<T> {
    rows.reverse();
    rows
}

fn entries(none: &BTreeSet<String>) -> Vec<NewOpenEntry<'_>> {
    let entry = |n: usize| NewOpenEntry {
        id: Uuid::from_u128(n as u128),
        recording: TrackId::of_owner("ann", &n.to_string()),
        entry: json!({"line": n}),
        found: json!({}),
        playlists: none,
    };
    (0..N_ROWS).map(entry).collect()
}

async fn import(
    store: &Store,
    owner: &UserId,
    tracks: &[NewLibraryTrack],
    open: Vec<NewOpenEntry<'_>>,
) -> Result<u64, StoreError> {
    let (file, kind, playlists) = ("file.csv", "csv", BTreeMap::new());
    // Closing entries of earlier imports takes further writes.
    let settled = if open.is_empty() { &[][..] } else { tracks };
    let settled: Vec<TrackId> = settled.iter().map(|new| new.track.id).collect();
    let playlists = &playlists;
    let import = NewImport { file, kind, tracks, playlists, open, moves: &[], settled: &settled, is_sync: false };
    store.keep_import(owner, &import, &json!({})).await
}

async fn n_listed(store: &Store, owner: &UserId) -> i64 {
    store.library_tracks(owner, Listing { limit: 1, ..Listing::default() }).await.expect("the library is listed").1
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_imports_of_the_same_rows_in_opposite_order_are_both_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let none = BTreeSet::new();
    for store in stores(&folder).await {
        for round in 0..ROUNDS {
            let ann = UserId::new("ann");
            let (first, second) = (rows(&format!("Title {round}")), reversed(rows(&format!("Other title {round}"))));
            let (first, second) = tokio::join!(
                import(&store, &ann, &first, entries(&none)),
                import(&store, &ann, &second, reversed(entries(&none))),
            );
            assert!(first.is_ok() && second.is_ok(), "{}: {first:?} {second:?}", store.kind());
            let n_added = first.expect("kept") + second.expect("kept");
            assert_eq!(n_added, if round == 0 { N_ROWS as u64 } else { 0 }, "{}: each row is new once", store.kind());
            assert_eq!(n_listed(&store, &ann).await, N_ROWS as i64, "{}", store.kind());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_while_the_trash_is_emptied_keeps_every_row() {
    let folder = tempfile::tempdir().expect("a folder");
    for store in stores(&folder).await {
        let (ann, bob) = (UserId::new("ann"), UserId::new("bob"));
        import(&store, &bob, &rows("Title"), vec![]).await.expect("another user has the same recordings");
        import(&store, &ann, &rows("Title"), vec![]).await.expect("the import is kept");
        let names: Vec<TrackRef> = rows("Title").iter().map(|new| TrackRef::Id(new.track.id)).collect();
        for round in 0..ROUNDS {
            store.remove_all_from_library(&ann, &names).await.expect("all are removed");
            let rows = if round.is_multiple_of(2) { rows("Title") } else { reversed(rows("Title")) };
            let node = format!("node {round}");
            let (kept, emptied, claimed) =
                tokio::join!(import(&store, &ann, &rows, vec![]), store.empty_trash(&ann), enrich(&store, &node),);
            assert!(kept.is_ok() && emptied.is_ok(), "{}: {kept:?} {emptied:?}", store.kind());
            claimed.expect("steps are settled meanwhile");
            assert_eq!(n_listed(&store, &ann).await, N_ROWS as i64, "{}", store.kind());
            let trash = store.trash(&ann, None, 100).await.expect("the trash is listed");
            assert_eq!(trash, [], "{}", store.kind());
            let n_lost = store.schedule_tracks_without_document(100).await.expect("the database answers");
            assert_eq!(n_lost, 0, "{}: every track keeps the data of its file", store.kind());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_users_write_while_a_large_import_is_stored() {
    let folder = tempfile::tempdir().expect("a folder");
    for store in stores(&folder).await {
        let (ann, bob) = (UserId::new("ann"), UserId::new("bob"));
        let many: Vec<_> = (0..2000).map(|n| NewLibraryTrack::catalogued(track(n, "Title"))).collect();
        let writes = async {
            for _ in 0..1000 {
                let task = NewTask { title: "water the plants", ..NewTask::default() };
                store.add_task(&bob, task, None).await.expect("the task is added");
            }
        };
        let importing = import(&store, &ann, &many, vec![]);
        tokio::pin!(writes, importing);
        // If one transaction held the only writer of SQLite, a task or two could be added before it and after it.
        tokio::select! {
            () = &mut writes => {}
            kept = &mut importing => {
                kept.expect("the import is kept");
                let tasks = store.tasks(&bob, TaskFilter::All).await.expect("tasks are listed");
                assert!(tasks.len() > 6, "{}: {} tasks were added meanwhile", store.kind(), tasks.len());
            }
        }
    }
}

/// Claims and settles steps of all documents, as a node does all the time.
async fn enrich(store: &Store, node: &str) -> Result<(), StoreError> {
    let claimed = store.claim_steps(Step::Lyrics, node, 3 * N_ROWS).await?;
    let not_found = serde_json::to_value(LyricsFound::NotFound).expect("a result");
    let done = || Ending::Done { result: not_found.clone(), version: "test".into() };
    store.settle_steps(Step::Lyrics, node, claimed.into_iter().map(|step| (step.id, done())).collect()).await
}
