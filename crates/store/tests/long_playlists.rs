//! A long playlist is stored in parts. After a crash at any statement, its owner sees the list before the change or after it, and
//! nothing that no list refers to stays.

use std::{path::Path, process::Command};

use engine::UserId;
use music::{Track, TrackId};
use sqlx::Connection;
use store::{
    ItemId, Playlist, PlaylistContent, PlaylistTrack, Store, StoreError,
    failpoint::{self, Does},
};
use uuid::Uuid;

const FILE: &str = "SEGUE_TEST_CRASH_FILE";
const POINT: &str = "SEGUE_TEST_CRASH_POINT";
const N_TRACKS: usize = 600;

async fn open(file: &Path) -> Store {
    Store::open(&format!("sqlite:{}", file.display()), 2).await.expect("the database opens")
}

fn ann() -> UserId {
    UserId::new("ann")
}

/// A list of several parts.
fn long_list() -> PlaylistContent {
    let item = |n: usize| PlaylistTrack {
        item_id: ItemId(Uuid::from_u128(n as u128)),
        track: Track::with_id(TrackId::of_tidal(&n.to_string()), "a title ".repeat(20), "a".into(), String::new()),
        reasoning: String::new(),
    };
    let tracks = (0..N_TRACKS).map(item).collect();
    PlaylistContent { title: "long".into(), description: String::new(), tracks }
}

fn reversed(now: &Playlist) -> Result<PlaylistContent, StoreError> {
    let mut content = now.content.clone();
    content.tracks.reverse();
    Ok(content)
}

async fn the_list(store: &Store) -> Option<Playlist> {
    let lines = store.playlist_lines(&ann(), None, 10).await.expect("lists are listed").playlists;
    assert!(lines.len() < 2, "{lines:?}");
    let line = lines.first()?;
    let list = store.playlist(&ann(), line.id).await.expect("a list that is listed can be read");
    assert_eq!(line.track_count, list.content.tracks.len());
    Some(list)
}

/// Creates the list, reverses it and takes that back.
async fn change(store: &Store) {
    let made = store.create_playlist(&ann(), long_list(), None).await.expect("the list is created");
    let edited = store.edit_playlist(&ann(), made.playlist.id, None, reversed).await.expect("the list is edited");
    store.undo(&ann(), edited.undo_id).await.expect("the edit is undone");
}

/// The number of texts in parts, of parts, and the longest row of the tables.
async fn rows(file: &Path) -> (i64, i64, i64) {
    let mut database =
        sqlx::SqliteConnection::connect(&format!("sqlite:{}", file.display())).await.expect("a database");
    let sql = "SELECT (SELECT COUNT(*) FROM long_texts), (SELECT COUNT(*) FROM long_text_parts),
        (SELECT COALESCE(MAX(length), 0) FROM (SELECT LENGTH(tracks) AS length FROM playlists
            UNION ALL SELECT LENGTH(change) FROM undos UNION ALL SELECT LENGTH(body) FROM long_text_parts))";
    sqlx::query_as(sql).fetch_one(&mut database).await.expect("numbers")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_row_of_a_long_playlist_or_of_its_undo_is_long() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("s.db");
    let store = open(&file).await;
    change(&store).await;
    let list = the_list(&store).await.expect("a list");
    assert_eq!(list.content, long_list(), "reversed and undone");
    let (n_texts, n_parts, longest) = rows(&file).await;
    assert!(longest < 64 << 10, "a row of {longest} bytes is written in one statement");
    assert!(n_texts == 2 && n_parts > 4, "the list and the undo of the edit: {n_texts} texts, {n_parts} parts");
    store.delete_playlist(&ann(), list.id).await.expect("deleted");
    store.empty_trash(&ann()).await.expect("erased");
    assert_eq!(rows(&file).await.0, 0, "nothing of an erased list stays");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edits_of_a_long_playlist_at_once_are_all_made_and_leave_nothing_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("s.db");
    let store = open(&file).await;
    let made = store.create_playlist(&ann(), long_list(), None).await.expect("the list is created").playlist;
    let edits = (0..6).map(|_| {
        let (store, id) = (store.clone(), made.id);
        tokio::spawn(async move { store.edit_playlist(&ann(), id, None, reversed).await.map(|edited| edited.undo_id) })
    });
    for edit in futures::future::join_all(edits.collect::<Vec<_>>()).await {
        edit.expect("no panic").expect("each edit is made");
    }
    let list = the_list(&store).await.expect("a list");
    assert_eq!((list.revision, list.content), (7, long_list()), "reversed six times");
    // An edit may have left the list of another one behind, which is erased with the next.
    store.erase_expired().await.expect("the sweep runs");
    assert_eq!(rows(&file).await.0, 7, "the list and six undos");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_crash_at_any_statement_a_long_playlist_is_as_before_or_after_a_change() {
    if let Ok(point) = std::env::var(POINT) {
        let store = open(Path::new(&std::env::var(FILE).expect("a file"))).await;
        failpoint::arm(point.parse().expect("a number"), Does::Abort);
        return change(&store).await;
    }
    let (before, after) = (long_list(), reversed_list());
    let (mut n_crashes, mut n_cut) = (0, 0);
    for point in 1.. {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("s.db");
        open(&file).await.close().await;
        let test = "after_a_crash_at_any_statement_a_long_playlist_is_as_before_or_after_a_change";
        let child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", test, "--test-threads=1"])
            .env(FILE, &file)
            .env(POINT, point.to_string())
            .output()
            .expect("the child runs");
        let store = open(&file).await;
        let list = the_list(&store).await;
        if let Some(list) = &list {
            let is_whole = list.content == before || list.content == after;
            assert!(is_whole, "point {point}: {} tracks", list.content.tracks.len());
        }
        let n_unused = rows(&file).await.0;
        store.advance_clock(chrono::TimeDelta::minutes(11));
        store.erase_expired().await.expect("the sweep runs");
        let (n_texts, n_parts, _) = rows(&file).await;
        let n_used = if list.is_some() { 1..=2 } else { 0..=0 };
        assert!(n_used.contains(&n_texts), "point {point}: {n_texts} texts and {n_parts} parts stay");
        n_cut += i64::from(n_unused > n_texts);
        if child.status.success() {
            break;
        }
        n_crashes += 1;
    }
    assert!(n_crashes > 30 && n_cut > 10, "{n_crashes} crashes, {n_cut} of them with parts that nothing refers to");
}

fn reversed_list() -> PlaylistContent {
    let mut content = long_list();
    content.tracks.reverse();
    content
}
