//! Import: entries of a user's files, matched to recordings, stored in the library, with a report for each line.
//!
//! [`match_all`] finds the recording of each entry, and [`ImportReport`] contains the results.

mod answer;
mod catalogue;
mod identity;
mod imported;
mod keep;
mod known;
mod matching;
mod remember;
mod report;
mod score;
mod sources;

pub use self::{
    answer::{CandidateItem, FileCounts, ImportAnswer, LineFailure, OpenItem},
    catalogue::{CannotAsk, Catalogue, MOST_CODES, Matches, match_all},
    identity::OwnTracks,
    imported::{Given, ImportFailure, Imported, ImportedAll, OpenLine},
    keep::{Import, Kept, UnmatchedEntry, track_of},
    matching::{Candidate, Match, MatchOutcome, ScoredMatch, judge},
    report::{ImportReport, Row},
    sources::add_codes,
};
pub use formats::ImportError;

pub(crate) use self::{
    answer::{CSV_HEADING, csv_lines},
    keep::{encoded, kind_id, kind_of, new_track},
    known::KnownTracks,
    remember::{Remembering, Until},
};
