//! The priority of the threads that compute searches. A process of its own: they are started once.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::{fs, sync::Arc};

use search::{EmbeddedIndex, embed::StaticTable, vectors::Vectors};

/// The name and the nice value of each thread of this process.
fn threads() -> Vec<(String, i64)> {
    let stats =
        fs::read_dir("/proc/self/task").unwrap().map(|task| fs::read_to_string(task.unwrap().path().join("stat")));
    let parsed = stats.filter_map(|stat| {
        let stat = stat.ok()?;
        let (name, fields) = stat.split_once('(')?.1.rsplit_once(") ")?;
        // The 19th field of the line; the name is the 2nd.
        Some((name.to_owned(), fields.split(' ').nth(16)?.parse().ok()?))
    });
    parsed.collect()
}

#[test]
fn searches_have_normal_priority_although_the_first_vectors_come_from_the_background() {
    let normal = threads()[0].1;
    let dir = tempfile::tempdir().unwrap();
    let _index = EmbeddedIndex::open(dir.path(), Arc::new(StaticTable::built_in().unwrap())).unwrap();
    background::run(|| {
        let vectors = Vectors::open(&dir.path().join("v"), 64, 0).unwrap();
        vectors.append(&[vec![0.5; 64], vec![0.25; 64]]).unwrap();
    });
    let searching: Vec<_> = threads().into_iter().filter(|(name, _)| name == "search").collect();
    assert!(!searching.is_empty());
    assert!(searching.iter().all(|(_, nice)| *nice == normal), "{searching:?}");
}
