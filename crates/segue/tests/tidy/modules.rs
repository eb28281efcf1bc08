//! The walls inside `app`: which module may use which, and methods of services that can be traced.

use std::{collections::BTreeSet, fs, path::Path};

use crate::{crates_dir, sources_of};

/// The modules of `app`, and every module of `app` that each uses. A module uses only modules above it in this table.
const MODULES: &[(&str, &[&str])] = &[
    ("agents", &[]),
    ("count", &[]),
    ("decided", &[]),
    ("networks", &[]),
    ("node", &[]),
    ("old_results", &[]),
    ("per_user", &[]),
    ("text_limit", &[]),
    ("claims", &["agents"]),
    ("config", &["agents", "networks"]),
    ("error", &["count", "text_limit"]),
    ("history", &["old_results"]),
    ("backup", &["config", "node"]),
    ("export_conversation", &["error"]),
    ("import", &["error"]),
    ("index_sync", &["config"]),
    ("mcp_client", &["config"]),
    ("operator", &["config"]),
    ("models", &["config", "error", "operator"]),
    ("turns", &["error"]),
    ("usage_today", &["error", "models"]),
    ("connections", &["config", "error", "models", "operator"]),
    ("observe", &["config", "turns"]),
    ("readiness", &["index_sync", "turns"]),
    ("turn_journal", &["turns"]),
    ("host", &["agents", "observe", "run_turn", "turns"]),
    ("metered", &["observe"]),
    ("enrich", &["config", "import", "metered", "models", "observe", "turns"]),
    ("titles", &["metered"]),
    ("wordings", &["metered", "observe"]),
    ("library", &["count", "enrich", "error", "import", "per_user"]),
    ("run_turn", &["agents", "claims", "decided", "history", "host", "observe", "titles", "turn_journal", "turns"]),
    (
        "converse",
        &[
            "agents",
            "decided",
            "error",
            "host",
            "observe",
            "per_user",
            "run_turn",
            "text_limit",
            "turn_journal",
            "turns",
        ],
    ),
    ("export", &["error", "export_conversation", "library", "per_user"]),
    ("recovery", &["agents", "host", "observe", "run_turn", "turns"]),
    ("sample", &["error", "library", "operator"]),
    (
        "services",
        &[
            "config",
            "connections",
            "converse",
            "enrich",
            "error",
            "export",
            "export_conversation",
            "import",
            "index_sync",
            "library",
            "models",
            "node",
            "operator",
            "per_user",
            "text_limit",
            "turns",
        ],
    ),
    (
        "service_access",
        &["config", "connections", "error", "export", "import", "library", "models", "services", "usage_today"],
    ),
    ("tools", &["count", "error", "library", "services", "text_limit", "wordings"]),
];

/// Arrows against the order of the table. A turn and its host call each other: the host runs the turn and stores its end,
/// and the turn asks its host, which is a trait so that the simulation can replace it.
const KNOWN_CYCLES: &[(&str, &str)] = &[("host", "run_turn")];

/// Modules with methods of `App`, which has every service.
const EXTEND_APP: &[&str] = &["converse", "index_sync", "readiness", "run_turn", "service_access", "services"];

/// Names that lib.rs exports from a module, and that modules use without its name.
const EXPORTED: &[(&str, &str)] =
    &[("Ask", "converse"), ("Count", "count"), ("Error", "error"), ("Operator", "operator"), ("Text", "text_limit")];

fn app_sources() -> Vec<(String, String)> {
    let root = crates_dir().join("app/src");
    let mut paths = Vec::new();
    sources_of(&root, &mut paths);
    let read = |path: &Path| {
        let relative = path.strip_prefix(&root).unwrap();
        let module = relative.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs").to_owned();
        let text = fs::read_to_string(path).unwrap();
        let product = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let code: Vec<_> = product.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        (module, code.join("\n"))
    };
    let sources = paths.iter().map(|path| read(path));
    sources.filter(|(module, _)| !["lib", "simulation"].contains(&module.as_str())).collect()
}

/// The first names after `crate::`, in `crate::a::b` and in `crate::{a::b, c}`.
fn names_used(code: &str) -> BTreeSet<String> {
    let first = |text: &str| text.trim().split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap().to_owned();
    let mut names = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        let Some(list) = rest.strip_prefix('{') else {
            names.insert(first(rest));
            continue;
        };
        let (mut depth, mut item) = (1, String::new());
        for c in list.chars() {
            depth += i32::from(c == '{') - i32::from(c == '}');
            if depth == 0 {
                break;
            }
            if c == ',' && depth == 1 {
                names.insert(first(&std::mem::take(&mut item)));
            } else {
                item.push(c);
            }
        }
        names.insert(first(&item));
    }
    names.remove("");
    names
}

#[test]
fn a_module_of_app_uses_only_the_modules_below_it() {
    let mut real: BTreeSet<(String, String)> = BTreeSet::new();
    let mut extends_app = BTreeSet::new();
    for (module, code) in app_sources() {
        assert!(MODULES.iter().any(|(name, _)| *name == module), "the module {module} has no row in MODULES");
        for name in names_used(&code) {
            let exported = EXPORTED.iter().find(|(short, _)| *short == name);
            let used = exported.map_or(name.as_str(), |(_, module)| module);
            if used == "App" {
                extends_app.insert(module.clone());
            } else if used != module {
                real.insert((module.clone(), used.to_owned()));
            }
        }
    }
    let rows = MODULES.iter().flat_map(|(module, uses)| uses.iter().map(move |used| (module, used)));
    let allowed: BTreeSet<_> = rows.map(|(module, used)| ((*module).to_owned(), (*used).to_owned())).collect();
    let extra: Vec<_> = real.difference(&allowed).collect();
    let unused: Vec<_> = allowed.difference(&real).collect();
    assert!(extra.is_empty() && unused.is_empty(), "not in MODULES: {extra:?}; in MODULES, but not used: {unused:?}");
    assert_eq!(extends_app.iter().map(String::as_str).collect::<Vec<_>>(), EXTEND_APP);
}

#[test]
fn the_modules_of_app_have_no_cycles_but_the_known_ones() {
    let place = |module: &str| MODULES.iter().position(|(name, _)| *name == module);
    let arrows = MODULES.iter().flat_map(|(module, uses)| uses.iter().map(move |used| (*module, *used)));
    let against: Vec<_> = arrows.filter(|(module, used)| place(used) >= place(module)).collect();
    assert_eq!(against, KNOWN_CYCLES);
}

/// Folders and files with methods for routes, tools and commands.
const SERVICES: &[&str] =
    &["services", "library", "connections", "converse", "sample", "service_access", "usage_today"];

/// A slow or failed request is found by the span of the service method and the id of its user.
#[test]
fn every_public_method_of_a_service_has_a_span() {
    let mut n_methods = 0;
    for (module, code) in app_sources().iter().filter(|(module, _)| SERVICES.contains(&module.as_str())) {
        for (before, after) in code.match_indices("pub async fn ").map(|(at, _)| code.split_at(at)) {
            // Methods are separated by blank lines.
            let has_span = before.rsplit("\n\n").next().unwrap_or_default().contains("instrument(");
            assert!(has_span, "{module}: please add #[instrument] to {}", after.lines().next().unwrap_or_default());
            n_methods += 1;
        }
    }
    assert!(n_methods > 100, "{n_methods}");
}
