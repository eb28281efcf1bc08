//! Matching: which recording an entry refers to, with a confidence and a reason.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::score;
use formats::ImportedTrack;
use music::{
    Isrc,
    identity::{RecordingName, same_length},
    isrc::IsrcDoubt,
};

/// A recording of a catalogue: the library, the index, Tidal, Deezer or MusicBrainz.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    pub isrc: Isrc,
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    pub artist: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub album: Option<String>,
    /// Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<f64>,
    /// The catalogue that has it.
    pub source: Cow<'static, str>,
}

impl Candidate {
    /// Title and version as one text.
    pub fn full_title(&self) -> String {
        match &self.version {
            Some(version) => format!("{} ({version})", self.title),
            None => self.title.clone(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MatchOutcome {
    Matched,
    /// Several recordings match, or one with a low confidence: the user chooses.
    Ambiguous,
    /// Stored, and searched for again later.
    Unmatched,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Match {
    pub outcome: MatchOutcome,
    /// The recording, if there is a match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isrc: Option<Isrc>,
    /// The catalogue's data about it; absent if only the file has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recording: Option<Candidate>,
    /// 0 to 1.
    pub confidence: f64,
    pub reason: String,
    /// The candidates for an ambiguous entry, best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<ScoredMatch>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScoredMatch {
    #[serde(flatten)]
    pub candidate: Candidate,
    pub confidence: f64,
    pub reason: String,
}

/// From this confidence on, no further catalogue is asked.
const SURE: f64 = 0.85;
/// From this confidence on, an entry is ambiguous and the user chooses. Below, it is unmatched.
const POSSIBLE: f64 = 0.5;
const MOST_CANDIDATES: usize = 5;

/// Judges one entry by the candidates of all catalogues.
pub fn judge(track: &ImportedTrack, candidates: &[Candidate]) -> Match {
    if let Some(found) = by_code(track, candidates) {
        return found;
    }
    let scored = by_name(track, candidates);
    let Some(best) = scored.first().cloned() else {
        return by_file_alone(track).unwrap_or_else(|| nothing_found(track));
    };
    if best.confidence >= SURE {
        let rival = scored.iter().find(|other| other.confidence >= SURE && !is_same_recording(&best, other));
        return match rival {
            None => matched(&best.candidate, best.confidence, best.reason),
            Some(_) => {
                let reason = "several recordings have this title and artist; the length or album would tell".into();
                ambiguous(best.confidence, reason, scored)
            }
        };
    }
    if let Some(found) = by_file_alone(track) {
        return found;
    }
    if best.confidence >= POSSIBLE {
        return ambiguous(best.confidence, best.reason, scored);
    }
    Match { candidates: shortlist(scored), ..unmatched(best.confidence, best.reason) }
}

/// The codes for the lookup of an entry: its own, and probable corrections of a misread one.
pub(crate) fn codes_to_ask(track: &ImportedTrack) -> Vec<Isrc> {
    let repaired = track.isrcs.iter().filter_map(|isrc| match isrc.doubt() {
        Some(IsrcDoubt::Misread(repaired)) => Some(repaired),
        _ => None,
    });
    track.isrcs.iter().cloned().chain(repaired).collect()
}

fn by_code(track: &ImportedTrack, candidates: &[Candidate]) -> Option<Match> {
    let codes = codes_to_ask(track);
    let known = codes.iter().find_map(|code| candidates.iter().find(|candidate| candidate.isrc == *code))?;
    if score::is_other_recording(track, known) {
        let reason = format!("the code {} is \"{}\" by {} at {}", known.isrc, known.title, known.artist, known.source);
        let scored = ScoredMatch { candidate: known.clone(), confidence: POSSIBLE, reason: reason.clone() };
        return Some(ambiguous(POSSIBLE, reason, vec![scored]));
    }
    if !track.isrcs.contains(&known.isrc) {
        return Some(matched(known, 0.9, format!("ISRC, read as {}", known.isrc)));
    }
    Some(match (track.duration, known.duration) {
        (Some(a), Some(b)) if (a - b).abs() > 10.0 => {
            matched(known, 0.9, format!("ISRC, though the lengths differ by {:.0} s", (a - b).abs()))
        }
        _ => matched(known, 1.0, "ISRC".into()),
    })
}

/// A valid code next to a title needs no catalogue: the file itself identifies the recording.
fn by_file_alone(track: &ImportedTrack) -> Option<Match> {
    let isrc = track.isrcs.iter().find(|isrc| isrc.doubt().is_none())?;
    (!track.title.is_empty()).then(|| Match {
        outcome: MatchOutcome::Matched,
        isrc: Some(isrc.clone()),
        ..unmatched(0.95, "ISRC in the file".into())
    })
}

fn by_name(track: &ImportedTrack, candidates: &[Candidate]) -> Vec<ScoredMatch> {
    let mut scored: Vec<ScoredMatch> = candidates
        .iter()
        .filter_map(|candidate| {
            let (confidence, reason) = score::score(track, candidate)?;
            Some(ScoredMatch { candidate: candidate.clone(), confidence, reason })
        })
        .collect();
    // A stable sort, so that among equal candidates the first catalogue is preferred.
    scored.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    let mut seen = std::collections::HashSet::new();
    scored.retain(|scored| seen.insert(scored.candidate.isrc.clone()));
    scored
}

/// One recording may have several codes; then any of them is correct.
fn is_same_recording(a: &ScoredMatch, b: &ScoredMatch) -> bool {
    let name = |it: &ScoredMatch| {
        let it = &it.candidate;
        RecordingName::new(&it.title, it.version.as_deref(), &it.artist)
    };
    name(a) == name(b) && same_length(a.candidate.duration, b.candidate.duration)
}

fn matched(known: &Candidate, confidence: f64, reason: String) -> Match {
    Match {
        outcome: MatchOutcome::Matched,
        isrc: Some(known.isrc.clone()),
        recording: Some(known.clone()),
        ..unmatched(confidence, reason)
    }
}

fn ambiguous(confidence: f64, reason: String, scored: Vec<ScoredMatch>) -> Match {
    Match { outcome: MatchOutcome::Ambiguous, candidates: shortlist(scored), ..unmatched(confidence, reason) }
}

fn shortlist(mut scored: Vec<ScoredMatch>) -> Vec<ScoredMatch> {
    scored.truncate(MOST_CANDIDATES);
    scored
}

fn nothing_found(track: &ImportedTrack) -> Match {
    let reason = match (&track.refused_isrc, track.isrcs.first()) {
        (Some(refused), _) if track.title.is_empty() => refused.clone(),
        (_, Some(isrc)) if track.title.is_empty() => format!("no catalogue knows {isrc}"),
        _ if track.title.is_empty() => "only an id of another service, and no catalogue knows it".into(),
        _ if track.artists.is_empty() => "no artist, and nothing with this title and length".into(),
        _ => "no catalogue has this title by this artist".into(),
    };
    unmatched(0.0, reason)
}

fn unmatched(confidence: f64, reason: String) -> Match {
    Match { outcome: MatchOutcome::Unmatched, isrc: None, recording: None, confidence, reason, candidates: vec![] }
}
