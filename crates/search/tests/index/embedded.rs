//! The embedded index: the contract, and the handling of its files.

use std::{
    fs,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use search::{
    EmbeddedIndex, IndexError, LiveIndex, SearchPlan, TrackIndex, catch_up,
    embed::{Embedder, StaticTable},
};
use tempfile::TempDir;

use crate::support::{Better, Slow, Truth, deletion, document, small_library, takes_over, track, upserts};

struct Fresh {
    index: EmbeddedIndex,
    _dir: TempDir,
}

impl Fresh {
    async fn done(self) {}
}

async fn fresh(_: &str) -> Fresh {
    let dir = tempfile::tempdir().unwrap();
    Fresh { index: open(&dir).unwrap(), _dir: dir }
}

fn open(dir: &TempDir) -> Result<EmbeddedIndex, IndexError> {
    let embedder: Arc<dyn Embedder> = Arc::new(StaticTable::built_in().unwrap());
    EmbeddedIndex::open(dir.path(), embedder)
}

mod contract {
    crate::contract::contract_of!(super::fresh);
}

#[tokio::test]
async fn a_typo_is_corrected_to_the_most_similar_word() {
    let fresh = fresh("").await;
    crate::words::typos_are_read_as_the_nearest_word(&fresh.index).await;
}

#[tokio::test]
async fn other_languages_are_understood() {
    let dir = tempfile::tempdir().unwrap();
    let index = EmbeddedIndex::open(dir.path(), crate::words::bridged()).unwrap();
    crate::words::other_languages_are_understood(&index).await;
}

async fn titles(index: &impl TrackIndex, query: &str) -> Vec<String> {
    index.search(&SearchPlan::new(query, 3)).await.unwrap().into_iter().map(|hit| hit.track.title).collect()
}

#[tokio::test]
async fn written_tracks_are_there_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let before = {
        let index = open(&dir).unwrap();
        index.apply(&upserts(&small_library(), 1)).await.unwrap();
        index.search(&SearchPlan::new("boats on the river", 5)).await.unwrap()
    };
    let index = open(&dir).unwrap();
    assert_eq!(index.info().await.unwrap().revision, 8);
    assert_eq!(index.search(&SearchPlan::new("boats on the river", 5)).await.unwrap(), before);
}

#[tokio::test]
async fn catching_up_reads_only_new_changes_and_a_lost_index_is_rebuilt() {
    let dir = tempfile::tempdir().unwrap();
    let truth = Truth::default();
    *truth.changes.lock().unwrap() = upserts(&small_library(), 1);
    let index = open(&dir).unwrap();
    assert_eq!(catch_up(&index, &truth).await.unwrap(), 8);
    truth.changes.lock().unwrap().push(deletion(2, 9));
    assert_eq!(catch_up(&index, &truth).await.unwrap(), 1);
    assert_eq!(catch_up(&index, &truth).await.unwrap(), 0);
    drop(index);
    fs::remove_dir_all(dir.path()).unwrap();
    let index = open(&dir).unwrap();
    assert_eq!(catch_up(&index, &truth).await.unwrap(), 9);
    assert_eq!(index.info().await.unwrap().n_tracks, 7);
}

#[tokio::test]
async fn a_damaged_index_is_rebuilt() {
    for damage in ["meta.json", "vectors.i16"] {
        let dir = tempfile::tempdir().unwrap();
        open(&dir).unwrap().apply(&upserts(&small_library(), 1)).await.unwrap();
        let home = fs::read_dir(dir.path()).unwrap().next().unwrap().unwrap().path();
        fs::write(home.join(damage), "damaged").unwrap();
        let index = open(&dir).unwrap();
        assert_eq!(index.info().await.unwrap().revision, 0, "{damage}");
        let truth = Truth { changes: upserts(&small_library(), 1).into() };
        catch_up(&index, &truth).await.unwrap();
        assert_eq!(titles(&index, "folding boats").await[0], "Paper Boats");
    }
}

#[tokio::test]
async fn a_second_process_reads_and_takes_over_after_the_first_has_ended() {
    let dir = tempfile::tempdir().unwrap();
    let first = open(&dir).unwrap();
    first.apply(&upserts(&small_library()[..4], 1)).await.unwrap();
    let second = open(&dir).unwrap();
    assert!(!second.info().await.unwrap().writable);
    assert!(matches!(second.apply(&[deletion(1, 99)]).await, Err(IndexError::ReadOnly)));
    first.apply(&upserts(&small_library()[4..], 5)).await.unwrap();
    assert_eq!(
        titles(&second, "folding boats").await[0],
        "Paper Boats",
        "the second process sees the writes of the owner"
    );
    drop(first);
    second.apply(&[deletion(8, 9)]).await.unwrap();
    let info = second.info().await.unwrap();
    assert_eq!((info.n_tracks, info.revision, info.writable), (7, 9, true));
}

#[tokio::test]
async fn an_index_of_an_earlier_version_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let old = dir.path().join("v1-segue-static-256-0");
    fs::create_dir_all(&old).unwrap();
    fs::write(old.join("meta.json"), "{}").unwrap();
    open(&dir).unwrap();
    assert!(!old.exists());
}

/// A score means the same in a small and in a large library.
#[tokio::test]
async fn a_score_does_not_depend_on_the_size_of_the_library() {
    let mut scores = Vec::new();
    for n_others in [10, 400] {
        let dir = tempfile::tempdir().unwrap();
        let index = open(&dir).unwrap();
        let mut tracks = small_library();
        tracks.extend(
            (100..100 + n_others)
                .map(|n| track(n, &format!("Number {n}"), "Counter", &format!("The one about item{n}x."))),
        );
        index.apply(&upserts(&tracks, 1)).await.unwrap();
        scores.push(index.search(&SearchPlan::new("Paper Boats by Mira Voss", 1)).await.unwrap()[0].score);
    }
    assert!((scores[0] - scores[1]).abs() < 0.1, "{scores:?}");
}

#[tokio::test]
async fn vectors_of_unchanged_text_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let index = open(&dir).unwrap();
    index.apply(&upserts(&small_library(), 1)).await.unwrap();
    let before = index.memory_bytes();
    let mut same_words = small_library();
    same_words.iter_mut().for_each(|track| track.artwork_url = Some("https://example.org/cover.jpg".into()));
    for round in 0..5 {
        index.apply(&upserts(&same_words, 100 + round * 10)).await.unwrap();
    }
    assert_eq!(index.memory_bytes(), before);
    assert_eq!(index.get(&[document(4)]).await.unwrap()[0].artwork_url, same_words[3].artwork_url);
    assert_eq!(titles(&index, "folding boats").await[0], "Paper Boats");
}

#[tokio::test]
async fn many_small_writes_keep_every_track_findable() {
    let dir = tempfile::tempdir().unwrap();
    let index = open(&dir).unwrap();
    for n in 0..40 {
        let one = track(n, &format!("Number {n}"), "Counter", &format!("The one about item{n}x."));
        index.apply(&upserts(&[one], i64::from(n) + 1)).await.unwrap();
    }
    for n in [0, 17, 39] {
        assert_eq!(titles(&index, &format!("item{n}x")).await[0], format!("Number {n}"));
    }
}

#[tokio::test]
async fn the_index_of_a_new_embedder_is_filled_beside_the_old_one_and_then_replaces_it() {
    let dir = tempfile::tempdir().unwrap();
    let truth = Truth { changes: upserts(&small_library(), 1).into() };
    let before = open(&dir).unwrap();
    catch_up(&before, &truth).await.unwrap();
    let better = || EmbeddedIndex::open(dir.path(), Arc::new(Better(StaticTable::built_in().unwrap()))).unwrap();
    takes_over(Arc::new(before), Arc::new(better()), &truth).await;
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "the old index is deleted");
    assert_eq!(better().info().await.unwrap().n_tracks, 7);
}

/// The table of the binary reads tracks at once, and serves until a slow model has read them: the first ones, and those
/// of a large import later. A few changes are left to the model.
#[tokio::test]
async fn many_new_tracks_are_found_before_a_slow_model_has_read_them() {
    let dir = tempfile::tempdir().unwrap();
    let (truth, is_ready) = (Truth::default(), Arc::new(AtomicBool::new(false)));
    let slow = Slow { table: StaticTable::built_in().unwrap(), is_ready: is_ready.clone() };
    let wanted = Arc::new(EmbeddedIndex::open(dir.path(), Arc::new(slow)).unwrap());
    let live = LiveIndex::with_fast(wanted, Arc::new(open(&dir).unwrap())).await.unwrap();
    let add = |first: u32, n: u32| {
        let mut changes = truth.changes.lock().unwrap();
        let (newest, tracks) = (changes.len() as i64, (first..first + n).map(numbered).collect::<Vec<_>>());
        changes.extend(upserts(&tracks, newest + 1));
    };
    let finds = async |n: u32| titles(&live, &format!("item{n}x")).await.first() == Some(&format!("Number {n}"));
    let serves = async || live.info().await.unwrap().embedder.model;
    assert_eq!(live.follow(&truth).await.unwrap(), 0, "there are no tracks yet");
    for (first, n) in [(0, 3), (3, 20)] {
        add(first, n);
        live.follow(&truth).await.unwrap_err();
        assert!(finds(first + n - 1).await, "{n} new tracks");
        assert_eq!(
            (serves().await.as_str(), live.wanted().await.unwrap().embedder.model.as_str()),
            ("segue-static", "slow")
        );
        is_ready.store(true, Ordering::Relaxed);
        assert_eq!(live.follow(&truth).await.unwrap(), 0, "the table has read them");
        assert!(finds(first + n - 1).await, "{n} tracks that the model has read");
        assert_eq!(serves().await, "slow");
        is_ready.store(false, Ordering::Relaxed);
    }
    add(23, 1);
    live.follow(&truth).await.unwrap_err();
    assert_eq!(serves().await, "slow", "the ranking does not change for one track");
}

/// Not a test: [`a_kill_loses_no_acknowledged_write`] starts this as a process and kills it.
#[tokio::test]
async fn writes_until_it_is_killed() {
    let Ok(dir) = std::env::var("SEGUE_TEST_INDEX_DIR") else { return };
    let index = EmbeddedIndex::open(dir.as_ref(), Arc::new(StaticTable::built_in().unwrap())).unwrap();
    for n in 0.. {
        let changes = upserts(&[numbered(2 * n), numbered(2 * n + 1)], 2 * i64::from(n) + 1);
        index.apply(&changes).await.unwrap();
        println!("acknowledged {}", 2 * n + 2);
    }
}

fn numbered(n: u32) -> music::Track {
    track(n, &format!("Number {n}"), "Counter", &format!("The one about item{n}x."))
}

#[tokio::test]
async fn a_kill_loses_no_acknowledged_write() {
    let dir = tempfile::tempdir().unwrap();
    let truth = Truth { changes: upserts(&(0..500).map(numbered).collect::<Vec<_>>(), 1).into() };
    for n_acknowledged in [1, 4, 9] {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "embedded::writes_until_it_is_killed", "--nocapture"])
            .env("SEGUE_TEST_INDEX_DIR", dir.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let acknowledged =
            lines.map_while(Result::ok).filter_map(|line| line.split("acknowledged ").nth(1)?.parse::<u32>().ok());
        let last = acknowledged.take(n_acknowledged).last().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let index = open(&dir).unwrap();
        let there = index.info().await.unwrap();
        assert!(there.revision >= i64::from(last) && there.n_tracks >= u64::from(last), "{there:?} after {last}");
        assert_eq!(titles(&index, &format!("item{}x", last - 1)).await[0], format!("Number {}", last - 1));
    }
    let index = open(&dir).unwrap();
    catch_up(&index, &truth).await.unwrap();
    assert_eq!(index.info().await.unwrap().n_tracks, 500);
    assert_eq!(titles(&index, "item499x").await[0], "Number 499");
}
