//! One name for one concept: a public type has its name for itself.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use crate::{CRATES, crates_dir, sources_of};

/// Names in two crates, and why.
const SHARED: &[(&str, &str)] = &[
    ("ConversationChange", "a request as `app` checks it, and what `store` writes"),
    ("NewTask", "a request as `app` checks it, and what `store` writes"),
    ("TaskChange", "a request as `app` checks it, and what `store` writes"),
];

/// The public types of a source, by name.
fn public_types(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix("pub ")?;
        let (kind, rest) = rest.split_once(' ')?;
        let is_type = ["struct", "enum", "trait", "type"].contains(&kind);
        is_type.then(|| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()).flatten()
    })
}

#[test]
fn a_public_type_name_belongs_to_one_crate() {
    let mut crates_of: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for (name, _) in CRATES.iter().filter(|(name, _)| !["doubles", "bench"].contains(name)) {
        let mut sources = Vec::new();
        sources_of(&crates_dir().join(name).join("src"), &mut sources);
        for path in sources {
            for found in public_types(&fs::read_to_string(path).unwrap()) {
                crates_of.entry(found.to_owned()).or_default().insert(name);
            }
        }
    }
    assert!(crates_of.len() > 300, "{}", crates_of.len());
    let shared: BTreeMap<_, _> = crates_of.iter().filter(|(_, crates)| crates.len() > 1).collect();
    let expected: BTreeSet<_> = SHARED.iter().map(|(name, _)| *name).collect();
    let names: BTreeSet<_> = shared.keys().map(|name| name.as_str()).collect();
    assert_eq!(names, expected, "{shared:?}");
}
