//! Rules that the compiler does not check: the dependencies between crates, the vocabulary, and documents that must match
//! the code.
#![allow(clippy::unwrap_used)]

#[path = "tidy/commands.rs"]
mod commands;
#[path = "tidy/modules.rs"]
mod modules;
#[path = "tidy/names.rs"]
mod names;
#[path = "tidy/requirements.rs"]
mod requirements;
#[path = "tidy/store.rs"]
mod store;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use app::config::SETTINGS;

/// The crates of the workspace, and every workspace crate that each may depend on. Tests may use `doubles` too.
const CRATES: &[(&str, &[&str])] = &[
    ("background", &[]),
    ("text", &[]),
    ("engine", &["text"]),
    ("music", &["text"]),
    ("http_client", &[]),
    ("query", &["music", "text"]),
    ("formats", &["music", "text"]),
    ("offline", &["engine", "music", "query", "text"]),
    ("providers", &["engine", "http_client"]),
    ("sources", &["engine", "http_client", "music", "text"]),
    ("search", &["background", "engine", "http_client", "music", "query"]),
    ("store", &["background", "engine", "music"]),
    (
        "app",
        &[
            "background",
            "engine",
            "formats",
            "http_client",
            "music",
            "offline",
            "providers",
            "query",
            "search",
            "sources",
            "store",
            "text",
        ],
    ),
    ("segue", &["app", "background", "engine", "http_client", "music", "text"]),
    ("doubles", &[]),
    ("bench", &["doubles", "engine", "music", "providers", "search", "store"]),
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

/// Former private names for concepts with a common name; see the style section of CONTRIBUTING.md.
const FORMER_NAMES: &[&str] = &["Doors", "Shelf", "Desk", "Polite", "Farewell", "WhileWeMay", "outfit"];

#[test]
fn private_vocabulary_stays_out_of_the_code() {
    let mut sources = Vec::new();
    sources_of(&crates_dir(), &mut sources);
    for path in sources.iter().filter(|path| !path.ends_with("tests/tidy.rs")) {
        let text = fs::read_to_string(path).unwrap();
        for word in text.split(|c: char| !c.is_alphanumeric() && c != '_') {
            assert!(!FORMER_NAMES.contains(&word), "{} contains the former name {word}", path.display());
        }
    }
}

/// The sources of the product that are not `http_client`.
fn product_sources() -> Vec<PathBuf> {
    let mut sources = Vec::new();
    for (name, _) in CRATES.iter().filter(|(name, _)| !["http_client", "doubles", "bench"].contains(name)) {
        sources_of(&crates_dir().join(name).join("src"), &mut sources);
    }
    assert!(sources.len() > 100);
    sources
}

/// One HTTP client: its TLS settings read the certificates of the system once.
#[test]
fn only_http_client_builds_http_clients() {
    for path in product_sources() {
        let text = fs::read_to_string(&path).unwrap();
        let product = text.split("#[cfg(test)]").next().unwrap_or_default();
        let is_own = ["Client::builder()", "Client::new()"].iter().any(|call| product.contains(call));
        assert!(!is_own, "{}: please use http_client::client_builder", path.display());
    }
}

/// A body that is read without a limit lets another server fill the memory.
#[test]
fn only_http_client_reads_whole_bodies() {
    /// It reads a stream piece by piece and has a limit for a frame.
    const STREAMS: &str = "providers/src/answer.rs";
    /// A request of a client, which has the limit of an upload.
    const UPLOADS: &str = "segue/src/api/upload.rs";
    for path in product_sources() {
        if path.ends_with(STREAMS) || path.ends_with(UPLOADS) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let product = text.split("#[cfg(test)]").next().unwrap_or_default();
        let is_own = [".chunk().await", ".bytes().await", ".text().await", ".json().await"]
            .iter()
            .any(|call| product.contains(call));
        assert!(!is_own, "{}: please use http_client::read_at_most", path.display());
    }
}

/// The table in docs/configure.md is generated from the list of settings: UPDATE_EXPECT=1 writes it.
#[test]
fn configure_lists_every_setting() {
    const MARK: &str = "<!-- The rest of this page is written from the list of settings: UPDATE_EXPECT=1 cargo test --workspace --test tidy -->\n";
    let path = crates_dir().join("../docs/configure.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, written) = page.split_once(MARK).expect("the page has its mark");
    let mut table = String::from("\n| variable | default | meaning |\n|---|---|---|\n");
    for setting in SETTINGS {
        let default = if setting.default.is_empty() { String::new() } else { format!("`{}`", setting.default) };
        table.push_str(&format!("| `{}` | {default} | {} |\n", setting.name, setting.help.replace('|', "\\|")));
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, format!("{before}{MARK}{table}")).unwrap();
        return;
    }
    assert!(written == table, "docs/configure.md is out of date: run this test with UPDATE_EXPECT=1");
}

/// Names in backquotes in the first column of the tables above the list of refused crates.
fn reasons() -> BTreeSet<String> {
    let page = fs::read_to_string(crates_dir().join("../docs/decisions/022-dependencies.md")).unwrap();
    let (kept, _) = page.split_once("## Weighed and refused").unwrap();
    let first_cells = kept.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    first_cells.flat_map(|cell| cell.split('`').step_by(2).map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[test]
fn every_dependency_has_a_reason() {
    let root = crates_dir().join("..");
    let workspace = manifest(&root.join("Cargo.toml"));
    let ours: BTreeSet<_> = CRATES.iter().map(|(name, _)| *name).collect();
    let crates = workspace["workspace"]["dependencies"].as_table().unwrap().keys();
    let mut used: BTreeSet<String> = crates.filter(|name| !ours.contains(name.as_str())).cloned().collect();
    let page: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(root.join("web/package.json")).unwrap()).unwrap();
    used.extend(page["dependencies"].as_object().unwrap().keys().cloned());
    let reasons = reasons();
    let missing: Vec<_> = used.difference(&reasons).collect();
    let unused: Vec<_> = reasons.difference(&used).collect();
    assert!(missing.is_empty() && unused.is_empty(), "without a reason: {missing:?}; no longer used: {unused:?}");
}

/// Chooses the version of a crate that other crates use; no code names it.
const ONLY_A_VERSION: &str = "idna_adapter";

#[test]
fn a_crate_uses_every_dependency_that_it_names() {
    for (name, _) in CRATES {
        let folder = crates_dir().join(name);
        let mut sources = Vec::new();
        sources_of(&folder.join("src"), &mut sources);
        let code: String = sources.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
        let manifest = manifest(&folder.join("Cargo.toml"));
        for dependency in manifest["dependencies"].as_table().unwrap().keys().filter(|key| *key != ONLY_A_VERSION) {
            let is_used = code.contains(&format!("{}::", dependency.replace('-', "_")));
            assert!(is_used, "{name} does not use its dependency {dependency}");
        }
    }
}

#[test]
fn the_diagram_in_the_architecture_shows_every_dependency() {
    let page = fs::read_to_string(crates_dir().join("../ARCHITECTURE.md")).unwrap();
    let arrows = page.lines().filter_map(|line| line.trim().split_once(" --> "));
    let drawn: BTreeSet<_> = arrows.map(|(from, to)| (from.to_owned(), to.to_owned())).collect();
    let mut real = BTreeSet::new();
    for (name, _) in CRATES.iter().filter(|(name, _)| !["doubles", "bench"].contains(name)) {
        let manifest = manifest(&crates_dir().join(name).join("Cargo.toml"));
        let used = manifest["dependencies"].as_table().unwrap().keys();
        let used = used.filter(|used| CRATES.iter().any(|(ours, _)| ours == used));
        real.extend(used.map(|used| ((*name).to_owned(), used.clone())));
    }
    assert_eq!(drawn, real);
}
