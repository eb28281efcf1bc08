//! The store: functions in place of macros, and pairs of statements that decision 001 lists with their cause.

use std::{collections::BTreeSet, fs, path::Path};

use crate::{crates_dir, sources_of};

/// The sources of the store by file name.
fn store_sources() -> Vec<(String, String)> {
    let mut paths = Vec::new();
    sources_of(&crates_dir().join("store/src"), &mut paths);
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    paths.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn the_store_has_no_macro_but_those_of_decision_001() {
    let sources = store_sources();
    let definitions = sources.iter().flat_map(|(_, text)| text.lines().map(str::trim));
    let macros: BTreeSet<_> = definitions.filter_map(|line| line.strip_prefix("macro_rules! ")).collect();
    assert_eq!(macros, BTreeSet::from(["from_row {"]));
}

#[test]
fn decision_001_lists_every_file_with_a_pair_of_statements() {
    let decisions = crates_dir().join("../docs/decisions");
    let decision = fs::read_dir(decisions).unwrap().map(|entry| entry.unwrap().path());
    let is_001 = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("001-"));
    let text = fs::read_to_string(decision.into_iter().find(|path| is_001(path)).unwrap()).unwrap();
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    let listed: BTreeSet<_> = rows
        .flat_map(|row| row.split('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2))
        .map(str::to_owned)
        .collect();
    // `db.rs` and `dialects.rs` define them, and `hot_queries.rs` is for tests.
    let others = store_sources()
        .into_iter()
        .filter(|(name, _)| !["db.rs", "dialects.rs", "hot_queries.rs"].contains(&name.as_str()));
    let is_pair =
        |text: &str| [".in_dialect(", ".write_together(", "Dialects {"].iter().any(|pair| text.contains(pair));
    let found: BTreeSet<_> = others.filter(|(_, text)| is_pair(text)).map(|(name, _)| name).collect();
    assert_eq!(found, listed);
}
