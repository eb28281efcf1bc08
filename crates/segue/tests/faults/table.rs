//! What a rehearsal showed, as a row.

use std::time::Duration;

pub(crate) struct Row {
    /// What the user saw while it lasted.
    pub(crate) seen: String,
    pub(crate) kept: String,
    /// From the mending to the next good answer.
    pub(crate) well_after: Duration,
    /// Invariants that did not hold.
    pub(crate) broken: Vec<String>,
}

impl Row {
    pub(crate) fn failed(why: String) -> Self {
        Self { seen: String::new(), kept: String::new(), well_after: Duration::ZERO, broken: vec![why] }
    }

    pub(crate) fn verdict(&self) -> String {
        if self.broken.is_empty() { "all held".into() } else { format!("BROKEN: {}", self.broken.join("; ")) }
    }
}

pub(crate) fn print(database: &str, rows: &[(&str, Row)]) {
    println!(
        "\n| fault ({database}) | what the user saw | what was kept | well again after | invariants |\n|---|---|---|---|---|"
    );
    for (name, row) in rows {
        let well = format!("{:.1} s", row.well_after.as_secs_f64());
        println!("| {name} | {} | {} | {well} | {} |", row.seen, row.kept, row.verdict());
    }
}
