//! The result of an import, for programs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::{Imported, OpenLine};
use crate::import::{ImportReport, MatchOutcome};

/// The result of an import: counts, then the entries that need a user's action.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportAnswer {
    /// Lines, plays or rows that were read.
    pub read: u64,
    /// Different tracks among them.
    pub tracks: u64,
    pub matched: u64,
    /// Tracks that were not in the library before.
    pub added: u64,
    /// Tracks that were already in the library.
    pub already_there: u64,
    /// Entries that match several recordings, the first thousand: choose one with `POST /api/library/unmatched/{id}`. `files` has
    /// the counts, and `GET /api/library/unmatched` all entries.
    pub ambiguous: Vec<OpenItem>,
    /// Entries that no catalogue has confirmed, the first thousand. They are tracks of the library, and Segue searches for them
    /// again.
    pub unmatched: Vec<OpenItem>,
    /// Entries that cannot be used, by line; the first thousand.
    pub failures: Vec<LineFailure>,
    pub files: Vec<FileCounts>,
}

/// An entry that is still open.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenItem {
    pub id: Uuid,
    /// The track that represents the entry: it can be found, played and listed like any other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub track_id: Option<String>,
    pub file: String,
    pub line: u64,
    pub title: String,
    pub artist: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub album: Option<String>,
    /// Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<f64>,
    /// `ambiguous` or `unmatched`.
    pub outcome: &'static str,
    /// The reason.
    pub reason: String,
    /// The possible recordings, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<CandidateItem>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CandidateItem {
    pub isrc: String,
    pub title: String,
    pub artist: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub album: Option<String>,
    /// Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<f64>,
    /// The catalogue that has it.
    pub source: String,
    /// 0 to 1.
    pub confidence: f64,
    pub reason: String,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LineFailure {
    pub file: String,
    pub line: u64,
    pub reason: String,
}

/// The counts of one file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileCounts {
    pub file: String,
    /// The format of the file, for people.
    pub kind: String,
    pub read: u64,
    pub tracks: u64,
    pub matched: u64,
    pub ambiguous: u64,
    pub unmatched: u64,
    /// Entries that cannot be used.
    pub unusable: u64,
    /// Entries that were left out on purpose, by reason.
    pub left_out: BTreeMap<String, u64>,
    /// Catalogues that could not be asked, and why.
    pub silent: BTreeMap<String, String>,
}

impl ImportAnswer {
    pub fn of(imported: &[Imported]) -> Self {
        let mut answer = Self::default();
        for Imported { report, kept, open, .. } in imported {
            answer.read += report.n_entries;
            answer.tracks += report.n_tracks as u64;
            answer.matched += report.n_matched as u64;
            answer.added += kept.n_added;
            answer.already_there += kept.n_already_there;
            for item in open.iter().map(OpenItem::from) {
                let list = if item.outcome == AMBIGUOUS { &mut answer.ambiguous } else { &mut answer.unmatched };
                if list.len() < MOST_LISTED {
                    list.push(item);
                }
            }
            answer.failures.extend(report.unusable.iter().map(|error| LineFailure {
                file: report.file.clone(),
                line: error.line,
                reason: error.problem.to_string(),
            }));
            // An import without any entry is reported as a failure of the whole file.
            answer.failures.extend(report.warning.iter().map(|warning| LineFailure {
                file: report.file.clone(),
                line: 0,
                reason: warning.clone(),
            }));
            answer.files.push(FileCounts::of(report));
        }
        answer
    }
}

impl FileCounts {
    pub(crate) fn of(report: &ImportReport) -> Self {
        let owned = |(why, n): (&&'static str, &u64)| ((*why).to_owned(), *n);
        Self {
            file: report.file.clone(),
            kind: report.kind.to_string(),
            read: report.n_entries,
            tracks: report.n_tracks as u64,
            matched: report.n_matched as u64,
            ambiguous: report.n_ambiguous as u64,
            unmatched: report.n_unmatched as u64,
            unusable: report.n_unusable,
            left_out: report.left_out.iter().map(owned).collect(),
            silent: report.silent.iter().map(|(name, why)| ((*name).to_owned(), why.clone())).collect(),
        }
    }
}

const AMBIGUOUS: &str = "ambiguous";
/// How many entries of one outcome an answer lists, of all files.
const MOST_LISTED: usize = 1000;

impl From<&OpenLine> for OpenItem {
    fn from(open: &OpenLine) -> Self {
        let candidates = open.found.candidates.iter().map(|scored| CandidateItem {
            isrc: scored.candidate.isrc.to_string(),
            title: scored.candidate.full_title(),
            artist: scored.candidate.artist.clone(),
            album: scored.candidate.album.clone(),
            duration: scored.candidate.duration,
            source: scored.candidate.source.to_string(),
            confidence: scored.confidence,
            reason: scored.reason.clone(),
        });
        Self {
            id: open.id,
            track_id: open.track_id.clone(),
            file: open.file.clone(),
            line: open.entry.line,
            title: open.entry.title.clone(),
            artist: open.entry.artist(),
            album: open.entry.album.clone(),
            duration: open.entry.duration,
            outcome: if open.found.outcome == MatchOutcome::Ambiguous { AMBIGUOUS } else { "unmatched" },
            reason: open.found.reason.clone(),
            candidates: candidates.collect(),
        }
    }
}

/// The first line of the CSV file of open entries, which the user can correct and import again.
pub(crate) const CSV_HEADING: &str = "Title,Artist,Album,Duration,ISRC,Outcome,Reason,File,Line\n";

/// Lines of that file.
pub(crate) fn csv_lines(open: &[OpenLine]) -> String {
    let mut table = csv::Writer::from_writer(vec![]);
    let rows = open.iter().map(|open| {
        let OpenItem { title, artist, album, duration, outcome, reason, file, line, .. } = OpenItem::from(open);
        let seconds = duration.map(|seconds| format!("{seconds:.0}")).unwrap_or_default();
        let isrcs: Vec<_> = open.entry.isrcs.iter().map(ToString::to_string).collect();
        let album = album.unwrap_or_default();
        [title, artist, album, seconds, isrcs.join(" "), outcome.into(), reason, file, line.to_string()]
            .map(|text| formats::formula_guarded(&text).into_owned())
    });
    for row in rows {
        table.write_record(row).expect("writing to memory does not fail, and all rows have the same length");
    }
    let bytes = table.into_inner().expect("writing to memory does not fail");
    String::from_utf8(bytes).expect("made of strings")
}
