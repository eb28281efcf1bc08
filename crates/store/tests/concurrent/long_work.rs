//! Long work of one user is many short transactions: another user writes in between.

use std::collections::BTreeSet;

use engine::UserId;
use serde_json::json;
use store::{NewLibraryTrack, NewOpenEntry, NewTask, Store, StoreError, TaskId};
use uuid::Uuid;

use crate::{import, stores, track};

/// Adds tasks of another user until `work` has ended. Returns in how many transactions the work was done, and what it returned. How
/// many tasks were added in between depends on the machine.
async fn beside<T>(store: &Store, work: impl Future<Output = Result<T, StoreError>>) -> (u64, T) {
    let (count, mut written) = tokio::sync::watch::channel(0_usize);
    // A task of its own: statements of long work block the task that they belong to.
    let writes = tokio::spawn({
        let (store, bob) = (store.clone(), UserId::new("bob"));
        async move {
            loop {
                let task = NewTask { title: "water the plants", ..NewTask::default() };
                store.add_task(&bob, task, None).await.expect("the task is added");
                count.send_modify(|n| *n += 1);
            }
        }
    });
    written.wait_for(|n| *n > 0).await.expect("tasks are added");
    let n_before = store.n_background_writes();
    let done = work.await.expect("the work is done");
    writes.abort();
    (store.n_background_writes() - n_before, done)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_user_writes_while_all_open_entries_are_searched_for_again() {
    let folder = tempfile::tempdir().expect("a folder");
    for store in stores(&folder).await {
        let (ann, none) = (UserId::new("ann"), BTreeSet::new());
        let tracks: Vec<_> = (0..3000).map(|n| NewLibraryTrack::catalogued(track(n, "Title"))).collect();
        let open = tracks.iter().map(|new| NewOpenEntry {
            id: Uuid::now_v7(),
            recording: new.track.id,
            entry: json!({"line": 1}),
            found: json!({"outcome": "unmatched"}),
            playlists: &none,
        });
        import(&store, &ann, &tracks, open.collect()).await.expect("the import is kept");
        let (n_transactions, n_entries) = beside(&store, store.retry_entries(&ann)).await;
        assert_eq!(n_entries, 3000);
        assert!(n_transactions >= 30, "{}: {n_transactions} transactions", store.kind());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_user_writes_while_the_trash_is_emptied() {
    let folder = tempfile::tempdir().expect("a folder");
    for store in stores(&folder).await {
        let ann = UserId::new("ann");
        for _ in 0..300 {
            let task = NewTask { title: "old", ..NewTask::default() };
            let task = store.add_task(&ann, task, None).await.expect("the task is added");
            store.delete_task(&ann, TaskId(task.id), None).await.expect("the task is deleted");
        }
        let (n_transactions, n_erased) = beside(&store, store.empty_trash(&ann)).await;
        assert_eq!(n_erased, 300);
        assert!(n_transactions >= 30, "{}: {n_transactions} transactions", store.kind());
    }
}
