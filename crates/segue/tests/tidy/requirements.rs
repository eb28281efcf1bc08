//! `docs/requirements.md`, `docs/page-walk.md` and the findings in `docs/security.md`: every row names a test that checks
//! it, and every test that it names exists.

use std::{collections::BTreeSet, fs, path::Path};

use super::{crates_dir, sources_of};

/// A row of the index.
struct Row<'a> {
    ids: Vec<&'a str>,
    text: &'a str,
    tests: Vec<&'a str>,
    is_open: bool,
}

fn rows(document: &str) -> Vec<Row<'_>> {
    let mut is_open = false;
    let mut rows = Vec::new();
    for line in document.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            is_open = heading == "Open";
        }
        let Some(cells) = line.strip_prefix('|').and_then(|line| line.strip_suffix('|')) else { continue };
        let cells: Vec<_> = cells.split('|').map(str::trim).collect();
        let (ids, text, held_by) = match cells[..] {
            [ids, text, held_by] if ids.starts_with(['S', 'C', '§']) => (ids, text, held_by),
            // The walk also says what was seen in 0.1.
            [ids, _, text, held_by] if ids.starts_with(['H', 'M', 'L', 'N', 'F', 'V']) => (ids, text, held_by),
            _ => continue,
        };
        let tests = held_by.split('`').skip(1).step_by(2).collect();
        rows.push(Row { ids: ids.split(' ').collect(), text, tests, is_open });
    }
    rows
}

/// The names of the tests of a file with their crate and its folders before them: `segue::it::turns::name`.
fn rust_tests(path: &Path, found: &mut BTreeSet<String>) {
    let text = fs::read_to_string(path).unwrap();
    let inside = path.strip_prefix(crates_dir()).unwrap().with_extension("");
    let folders = inside.iter().filter_map(|part| part.to_str());
    let folders: Vec<_> = folders.filter(|part| !["src", "tests", "main", "mod", "lib"].contains(part)).collect();
    let mut is_test = false;
    for line in text.lines().map(str::trim_start) {
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            is_test = true;
        } else if let Some(name) = function(line).filter(|_| is_test) {
            found.insert(format!("{}::{name}", folders.join("::")));
            is_test = false;
        } else if !line.starts_with("#[") && !line.is_empty() {
            is_test = false;
        }
    }
}

fn function(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ")?;
    rest.split('(').next()
}

/// `web/e2e/chat.spec.ts: a title`, `clients/python/mcp_check.py: a title`: the file has a test of this title.
fn has_title(root: &Path, test: &str) -> bool {
    let Some((file, title)) = test.split_once(": ") else { return false };
    let Ok(text) = fs::read_to_string(root.join(file)) else { return false };
    let opens = ["it(", "test(", "check(", "check(f", "check(of("].iter();
    let mut quoted = opens.flat_map(|open| ['\'', '"', '`'].map(|quote| format!("{open}{quote}{title}")));
    quoted.any(|opening| text.contains(&opening))
}

#[test]
fn every_requirement_names_a_test_that_exists() {
    check("docs/requirements.md", 100);
}

#[test]
fn every_finding_names_a_test_that_exists() {
    check("docs/security.md", 30);
}

#[test]
fn every_step_of_the_page_walk_names_a_test_that_exists() {
    check("docs/page-walk.md", 60);
}

fn check(document: &str, n_least: usize) {
    let root = crates_dir().join("..");
    let document = fs::read_to_string(root.join(document)).unwrap();
    let (mut sources, mut tests) = (Vec::new(), BTreeSet::new());
    sources_of(&crates_dir(), &mut sources);
    sources.iter().for_each(|path| rust_tests(path, &mut tests));
    let rows = rows(&document);
    assert!(rows.len() > n_least, "only {} rows", rows.len());
    let mut seen = BTreeSet::new();
    for Row { ids, text, tests: named, is_open } in rows {
        for id in &ids {
            assert!(seen.insert(*id), "{id} has two rows");
        }
        if is_open {
            assert!(!text.is_empty(), "{ids:?}: an open requirement says what is missing");
            continue;
        }
        assert!(!named.is_empty(), "{ids:?} has no test: {text}");
        for test in named {
            assert!(tests.contains(test) || has_title(&root, test), "{ids:?} names `{test}`, which does not exist");
        }
    }
}

#[test]
fn a_row_without_a_test_and_a_missing_test_are_found() {
    let rows = rows(
        "| C1-1 | it runs | `a::b` and `c` |\n| C1-2 | it stops | |\n| H1 | it fell | it stands | `d` |\n\
         ## Open\n| C1-3 | it flies | wings |\n",
    );
    let told: Vec<_> = rows.iter().map(|row| (row.ids[0], row.tests.len(), row.is_open)).collect();
    assert_eq!(told, [("C1-1", 2, false), ("C1-2", 0, false), ("H1", 1, false), ("C1-3", 0, true)]);
    let root = crates_dir().join("..");
    assert!(has_title(&root, "clients/python/openapi_check.py: the document is OpenAPI 3.1"));
    assert!(!has_title(&root, "clients/python/openapi_check.py: the document is a poem"));
    let (mut sources, mut tests) = (Vec::new(), BTreeSet::new());
    sources_of(&crates_dir(), &mut sources);
    sources.iter().for_each(|path| rust_tests(path, &mut tests));
    assert!(tests.contains("segue::tidy::a_crate_depends_only_on_the_crates_below_it"));
    assert!(!tests.contains("segue::tidy::sources_of"), "a function without a test attribute is not a test");
}
