//! Walls that the compiler cannot keep: which crate may depend on which, and which words stay out of the code.
#![allow(clippy::unwrap_used)]

#[path = "tidy/requirements.rs"]
mod requirements;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// The crates of the workspace, and every workspace crate that each may depend on. Tests may use `doubles` too.
const CRATES: &[(&str, &[&str])] = &[
    ("engine", &[]),
    ("music", &[]),
    ("http_client", &[]),
    ("query", &["music"]),
    ("formats", &["music"]),
    ("offline", &["engine", "music", "query"]),
    ("providers", &["engine", "http_client"]),
    ("sources", &["engine", "http_client", "music"]),
    ("search", &["engine", "http_client", "music", "query"]),
    ("store", &["engine", "music"]),
    (
        "app",
        &["engine", "formats", "http_client", "music", "offline", "providers", "query", "search", "sources", "store"],
    ),
    ("segue", &["app", "engine", "music"]),
    ("doubles", &[]),
    ("bench", &["doubles"]),
];

fn crates_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn manifest(path: &Path) -> toml::Table {
    fs::read_to_string(path).unwrap().parse().unwrap()
}

fn sources_of(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources_of(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn a_crate_depends_only_on_the_crates_below_it() {
    let allowed: BTreeMap<_, _> = CRATES.iter().copied().collect();
    let ours: BTreeSet<_> = allowed.keys().copied().collect();
    for entry in fs::read_dir(crates_dir()).unwrap() {
        let folder = entry.unwrap().path();
        let manifest = manifest(&folder.join("Cargo.toml"));
        let name = manifest["package"]["name"].as_str().unwrap();
        let may = allowed.get(name).unwrap_or_else(|| panic!("the crate {name} has no row in CRATES"));
        let dependencies = manifest["dependencies"].as_table().unwrap();
        for dependency in dependencies.keys().filter(|dependency| ours.contains(dependency.as_str())) {
            assert!(may.contains(&dependency.as_str()), "{name} must not depend on {dependency}");
        }
    }
}

/// Names that once stood for something the ecosystem has a word for; see the style section of CONTRIBUTING.md.
const FORMER_NAMES: &[&str] = &["Doors", "Shelf", "Desk", "Polite", "Farewell", "WhileWeMay", "outfit"];

#[test]
fn private_vocabulary_stays_out_of_the_code() {
    let mut sources = Vec::new();
    sources_of(&crates_dir(), &mut sources);
    for path in sources.iter().filter(|path| !path.ends_with("tests/tidy.rs")) {
        let text = fs::read_to_string(path).unwrap();
        for word in text.split(|c: char| !c.is_alphanumeric() && c != '_') {
            assert!(!FORMER_NAMES.contains(&word), "{} says {word}", path.display());
        }
    }
}
