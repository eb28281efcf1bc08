//! The result of a fault test, as a row of the table.

use std::time::Duration;

pub(crate) struct Row {
    /// What the user saw during the fault.
    pub(crate) seen: String,
    pub(crate) kept: String,
    /// Time from the end of the fault to the next good answer.
    pub(crate) recovery: Duration,
    /// Violated invariants.
    pub(crate) broken: Vec<String>,
}

impl Row {
    pub(crate) fn failed(why: String) -> Self {
        Self { seen: String::new(), kept: String::new(), recovery: Duration::ZERO, broken: vec![why] }
    }

    pub(crate) fn verdict(&self) -> String {
        if self.broken.is_empty() { "all held".into() } else { format!("BROKEN: {}", self.broken.join("; ")) }
    }
}

pub(crate) fn print(database: &str, rows: &[(&str, Row)]) {
    println!(
        "\n| fault ({database}) | what the user saw | what was stored | recovery time | invariants |\n|---|---|---|---|---|"
    );
    for (name, row) in rows {
        let recovery = format!("{:.1} s", row.recovery.as_secs_f64());
        println!("| {name} | {} | {} | {recovery} | {} |", row.seen, row.kept, row.verdict());
    }
}
