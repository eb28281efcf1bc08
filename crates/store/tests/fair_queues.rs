//! One user's large import does not delay another user's few tracks, on SQLite and on PostgreSQL.

use std::collections::{BTreeMap, BTreeSet};

use engine::UserId;
use music::{Track, TrackId};
use serde_json::{Value, json};
use store::{NewImport, NewLibraryTrack, NewOpenEntry, Step, Store};
use uuid::Uuid;

async fn stores(folder: &tempfile::TempDir) -> Vec<Store> {
    let url = format!("sqlite:{}", folder.path().join("fair.db").display());
    let mut stores = vec![Store::open(&url, 2).await.expect("the database opens")];
    if let Ok(cluster) = std::env::var("SEGUE_TEST_POSTGRES") {
        stores.push(on_postgres(&cluster).await);
    }
    stores
}

async fn on_postgres(cluster: &str) -> Store {
    use sqlx::{Connection, Executor};
    let name = format!("f_{}", Uuid::new_v4().simple());
    let mut connection = sqlx::PgConnection::connect(cluster).await.expect("the test cluster answers");
    let create = sqlx::AssertSqlSafe(format!("CREATE SCHEMA {name}"));
    connection.execute(create).await.expect("a schema can be made");
    let separator = if cluster.contains('?') { '&' } else { '?' };
    Store::open(&format!("{cluster}{separator}options=-csearch_path%3D{name}"), 2).await.expect("the database opens")
}

fn tracks(prefix: &str, n_tracks: usize) -> Vec<Track> {
    let track = |n: usize| {
        let title = format!("{prefix} {n}");
        let isrc = format!("{prefix}{n:05}");
        serde_json::from_value(json!({"isrc": isrc, "title": title, "artist": "A", "album": "B"})).expect("a track")
    };
    (0..n_tracks).map(track).collect()
}

/// Tracks that only the owner's file knows.
fn own(track: Track) -> NewLibraryTrack {
    NewLibraryTrack { public: None, is_own: true, ..NewLibraryTrack::catalogued(track) }
}

async fn import(store: &Store, owner: &UserId, tracks: &[NewLibraryTrack], open: Vec<NewOpenEntry<'_>>) {
    let playlists = BTreeMap::new();
    let (file, kind) = ("file.csv", "csv");
    let import =
        NewImport { file, kind, tracks, playlists: &playlists, open, moves: &[], settled: &[], is_sync: false };
    store.keep_import(owner, &import, &json!({})).await.expect("the import is kept");
}

async fn claimed(store: &Store, n_steps: usize) -> Vec<String> {
    let claimed = store.claim_steps(Step::Lyrics, "node", n_steps).await.expect("steps can be claimed");
    claimed.into_iter().map(|claimed| claimed.track.title).collect()
}

fn count(titles: &[String], prefix: &str) -> usize {
    titles.iter().filter(|title| title.starts_with(prefix)).count()
}

#[tokio::test]
async fn a_large_import_does_not_delay_another_users_few_tracks() {
    let folder = tempfile::tempdir().expect("a folder");
    for store in stores(&folder).await {
        let (ann, bob) = (UserId::new("ann".to_owned()), UserId::new("bob".to_owned()));
        let many: Vec<_> = tracks("QZANN24", 300).into_iter().map(own).collect();
        import(&store, &ann, &many, vec![]).await;
        assert_eq!(count(&claimed(&store, 32).await, "QZANN24"), 32, "{}: one user has all places", store.kind());
        let few: Vec<_> = tracks("QZBOB24", 10).into_iter().map(own).collect();
        import(&store, &bob, &few, vec![]).await;
        let next = claimed(&store, 32).await;
        assert_eq!((count(&next, "QZANN24"), count(&next, "QZBOB24")), (22, 10), "{}", store.kind());
        assert_eq!(count(&claimed(&store, 32).await, "QZANN24"), 32, "{}: the rest is one user's again", store.kind());
    }
}

#[tokio::test]
async fn a_public_track_waits_in_the_shorter_queue_of_those_who_ask_for_it() {
    let folder = tempfile::tempdir().expect("a folder");
    for store in stores(&folder).await {
        let (ann, bob) = (UserId::new("ann".to_owned()), UserId::new("bob".to_owned()));
        let known = tracks("QZPUB24", 200);
        let many: Vec<_> = known.iter().cloned().map(NewLibraryTrack::catalogued).collect();
        import(&store, &ann, &many, vec![]).await;
        let wanted = many.last().expect("many").clone();
        import(&store, &bob, std::slice::from_ref(&wanted), vec![]).await;
        let first = claimed(&store, 2).await;
        assert!(first.contains(&wanted.track.title), "{}: {first:?}", store.kind());
        // A long queue takes nothing out of a short one.
        let single = NewLibraryTrack::catalogued(tracks("QZONE24", 1).remove(0));
        import(&store, &bob, std::slice::from_ref(&single), vec![]).await;
        import(&store, &ann, std::slice::from_ref(&single), vec![]).await;
        let next = claimed(&store, 2).await;
        assert!(next.contains(&single.track.title), "{}: {next:?}", store.kind());
    }
}

#[tokio::test]
async fn open_entries_are_looked_for_in_turn() {
    let folder = tempfile::tempdir().expect("a folder");
    for store in stores(&folder).await {
        let none = BTreeSet::new();
        for (name, n_entries) in [("ann", 100), ("bob", 3)] {
            let owner = UserId::new(name.to_owned());
            let entries = (0..n_entries).map(|n| NewOpenEntry {
                id: Uuid::new_v4(),
                recording: TrackId::of_owner(name, &n.to_string()),
                entry: json!({"line": n}),
                found: json!({}),
                playlists: &none,
            });
            import(&store, &owner, &[], entries.collect()).await;
        }
        let claims = store.claim_entries::<Value>("node", 16).await.expect("entries can be claimed");
        let n_of = |name: &str| claims.iter().filter(|claim| claim.owner.as_str() == name).count();
        assert_eq!((n_of("ann"), n_of("bob")), (13, 3), "{}", store.kind());
    }
}
