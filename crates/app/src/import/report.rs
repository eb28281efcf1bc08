//! The report of an import: the counts of each outcome and the remaining work, for a terminal or a program.

use std::{
    collections::BTreeMap,
    fmt::{self, Write},
};

use serde::Serialize;

use super::{
    catalogue::Matches,
    matching::{Match, MatchOutcome},
};
use formats::{FormatKind, Gathered, ImportedTrack, LineError};

/// The report of one file.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportReport {
    pub file: String,
    pub kind: FormatKind,
    /// Lines, plays or rows of the file.
    pub n_entries: u64,
    /// Different tracks among them.
    pub n_tracks: usize,
    pub n_matched: usize,
    pub n_ambiguous: usize,
    pub n_unmatched: usize,
    /// The number of unusable entries; the first ones are in `unusable`.
    pub n_unusable: u64,
    pub left_out: BTreeMap<&'static str, u64>,
    pub rows: Vec<Row>,
    pub unusable: Vec<LineError>,
    /// Catalogues that could not be asked, and why.
    pub silent: BTreeMap<&'static str, String>,
    /// Why the file contains no entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// The outcome of one track.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    pub line: u64,
    pub title: String,
    pub artist: String,
    #[serde(flatten)]
    pub found: Match,
}

impl ImportReport {
    pub fn new(file: &str, kind: FormatKind, gathered: &Gathered, matches: Matches) -> Self {
        let row = |(track, found): (&ImportedTrack, Match)| Row {
            line: track.line,
            title: track.title.clone(),
            artist: track.artist(),
            found,
        };
        let rows: Vec<Row> = gathered.tracks.iter().zip(matches.matches).map(row).collect();
        let n = |outcome| rows.iter().filter(|row| row.found.outcome == outcome).count();
        Self {
            file: file.into(),
            kind,
            n_entries: gathered.n_entries,
            n_tracks: rows.len(),
            n_matched: n(MatchOutcome::Matched),
            n_ambiguous: n(MatchOutcome::Ambiguous),
            n_unmatched: n(MatchOutcome::Unmatched),
            n_unusable: gathered.n_unusable,
            left_out: gathered.left_out.clone(),
            rows,
            unusable: gathered.unusable.clone(),
            silent: matches.silent,
            warning: gathered.warning(kind),
        }
    }

    fn rows_of(&self, outcome: MatchOutcome) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.found.outcome == outcome)
    }

    fn write_counts(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [
            ("entries", self.n_entries),
            ("different tracks", self.n_tracks as u64),
            ("matched", self.n_matched as u64),
            ("ambiguous", self.n_ambiguous as u64),
            ("unmatched", self.n_unmatched as u64),
            ("unusable", self.n_unusable),
        ];
        let left_out = self.left_out.iter().map(|(why, n)| (*why, *n));
        for (what, n) in counts.into_iter().chain(left_out).filter(|(_, n)| *n > 0) {
            writeln!(f, "{n:>9}  {what}")?;
        }
        Ok(())
    }

    fn write_rows(&self, f: &mut fmt::Formatter<'_>, outcome: MatchOutcome, heading: &str) -> fmt::Result {
        let rows: Vec<&Row> = self.rows_of(outcome).collect();
        if rows.is_empty() {
            return Ok(());
        }
        writeln!(f, "\n{heading}")?;
        for row in rows.iter().take(MOST_ROWS) {
            writeln!(f, "  {:>6}  {}  {}", row.line, fitted(&row.name(), NAME_WIDTH), row.found.reason)?;
            for scored in &row.found.candidates {
                let known = &scored.candidate;
                let name = format!("{} - {}", known.artist, known.full_title());
                let length = known.duration.map(minutes).unwrap_or_default();
                let name = fitted(&name, NAME_WIDTH - 2);
                writeln!(f, "          {} {name} {length:>6} {:.0}%", known.isrc, scored.confidence * 100.0)?;
            }
        }
        write_rest(f, rows.len())
    }
}

impl Row {
    fn name(&self) -> String {
        match (self.artist.is_empty(), self.title.is_empty()) {
            (false, false) => format!("{} - {}", self.artist, self.title),
            (true, false) => self.title.clone(),
            _ => "(no title)".into(),
        }
    }
}

const MOST_ROWS: usize = 20;
const NAME_WIDTH: usize = 44;

/// The text for a terminal: counts, then the entries that need a user's action.
impl fmt::Display for ImportReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.file, self.kind)?;
        self.write_counts(f)?;
        if let Some(warning) = &self.warning {
            writeln!(f, "\nWarning: {warning}")?;
        }
        for (name, why) in &self.silent {
            writeln!(f, "\n{name} could not be asked: {why}. What is unmatched will be tried again.")?;
        }
        self.write_rows(f, MatchOutcome::Ambiguous, "Ambiguous: choose one of the candidates")?;
        self.write_rows(f, MatchOutcome::Unmatched, "Unmatched: kept, and tried again later")?;
        if !self.unusable.is_empty() {
            writeln!(f, "\nUnusable: correct these lines in the file")?;
            for error in self.unusable.iter().take(MOST_ROWS) {
                writeln!(f, "  {:>6}  {}", error.line, error.problem)?;
            }
            write_rest(f, self.n_unusable as usize)?;
        }
        Ok(())
    }
}

fn write_rest(f: &mut fmt::Formatter<'_>, n: usize) -> fmt::Result {
    if n > MOST_ROWS { writeln!(f, "          … and {} more; --json lists all", n - MOST_ROWS) } else { Ok(()) }
}

/// Cut or padded to a width, in characters.
fn fitted(text: &str, width: usize) -> String {
    format!("{:<width$}", text::shortened(text, width))
}

fn minutes(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    let mut text = String::new();
    write!(text, "{}:{:02}", seconds / 60, seconds % 60).expect("writing to a string cannot fail");
    text
}
