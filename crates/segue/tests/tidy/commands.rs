//! The two commands of a new machine. They are not run here: `make --dry-run` says what they would do, and `.ci/run` runs
//! one of them.

use std::{fs, process::Command};

use super::crates_dir;

/// The commands that `make` would run for a target.
fn recipe(target: &str) -> String {
    let arguments = ["--dry-run", "--always-make", "--no-print-directory", target];
    let output = Command::new("make").args(arguments).current_dir(crates_dir().join("..")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// These steps, in this order.
fn assert_steps(recipe: &str, steps: &[&str]) {
    let mut rest = recipe;
    for step in steps {
        let at = rest.find(step).unwrap_or_else(|| panic!("'{step}' is missing, or comes too early:\n{recipe}"));
        rest = &rest[at + step.len()..];
    }
}

#[test]
fn make_run_installs_what_running_needs_builds_the_page_and_the_server_and_starts_it() {
    let recipe = recipe("run");
    assert_steps(&recipe, &["tools/setup run", "npm", "cargo build --profile quick", "segue serve"]);
    assert!(!recipe.contains("tools/setup test"), "no browser and no PostgreSQL to run it:\n{recipe}");
    let setup = fs::read_to_string(crates_dir().join("../tools/setup")).unwrap();
    let (for_running, for_tests) = setup.split_once("= test ]").expect("what only the tests need");
    for package in ["chromium", "postgresql", "haproxy"] {
        // The first lines of the script describe it.
        let is_installed = for_running.lines().any(|line| !line.starts_with('#') && line.contains(package));
        assert!(!is_installed && for_tests.contains(package), "{package}");
    }
}

#[test]
fn make_test_installs_what_the_tests_need_and_is_what_the_checks_run() {
    assert_steps(&recipe("test"), &["tools/setup test", "npm", "tools/test"]);
    let ci = fs::read_to_string(crates_dir().join("../.ci/run")).unwrap();
    assert_eq!(ci.lines().last(), Some("make test"));
    let test = fs::read_to_string(crates_dir().join("../tools/test")).unwrap();
    for step in ["tools/cargo-test", "tools/with-postgres", "tools/with-qdrant", "clients/run", "e2e"] {
        assert!(test.contains(step), "{step}");
    }
}
