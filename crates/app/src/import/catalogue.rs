//! Matches entries to recordings: which catalogues are asked, in which order, and where their answers are stored.

use std::collections::{BTreeMap, HashMap};

use futures::future::BoxFuture;

use super::{
    known::HOME,
    matching::{Candidate, Match, MatchOutcome, codes_to_ask, judge},
};
use formats::{Gathered, ImportedTrack};
use music::Isrc;

/// The recordings that a catalogue finds.
pub(crate) type Candidates<'a> = BoxFuture<'a, Result<Vec<Candidate>, CannotAsk>>;

/// A catalogue of recordings: the library and the index of this server, or Tidal, Deezer and MusicBrainz.
///
/// A recording that is not found is absent from the answer.
pub trait Catalogue: Send + Sync {
    /// The name in reports.
    fn name(&self) -> &'static str;

    /// At most [`MOST_CODES`] codes at a time.
    fn by_isrc<'a>(&'a self, isrcs: &'a [Isrc]) -> Candidates<'a>;

    /// All recordings that could be this title by this artist, including versions and takes; the artist may be empty.
    fn by_name<'a>(&'a self, title: &'a str, artist: &'a str) -> Candidates<'a>;
}

/// Why a catalogue gave no answer. The entries are searched for again later.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotAsk {
    /// It rejected this request; the next one may succeed.
    #[error("{0}")]
    This(String),
    /// It does not answer, so it is not asked again for this file.
    #[error("{0}")]
    Anything(String),
}

pub const MOST_CODES: usize = 100;

/// The match of each track of a file, in the order of the tracks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matches {
    pub matches: Vec<Match>,
    /// Catalogues that could not be asked, and why.
    pub silent: BTreeMap<&'static str, String>,
}

/// Matches every track. The first catalogue is asked about all tracks, so it should be the local database. Each further
/// one is asked only about tracks without a match.
pub async fn match_all(gathered: &Gathered, catalogues: &[&dyn Catalogue]) -> Matches {
    let mut asking = Asking::new(&gathered.tracks);
    for (n, catalogue) in catalogues.iter().enumerate() {
        let open = if n == 0 { (0..gathered.tracks.len()).collect() } else { asking.open() };
        if let Err(why) = asking.ask(*catalogue, &open).await {
            asking.silent.insert(catalogue.name(), why.to_string());
        }
        asking.judge(&open);
    }
    if catalogues.is_empty() {
        asking.judge(&asking.open());
    }
    asking.tell_who_was_not_asked(catalogues);
    Matches { matches: asking.matches.into_iter().flatten().collect(), silent: asking.silent }
}

struct Asking<'a> {
    tracks: &'a [ImportedTrack],
    candidates: Vec<Vec<Candidate>>,
    matches: Vec<Option<Match>>,
    silent: BTreeMap<&'static str, String>,
}

impl<'a> Asking<'a> {
    fn new(tracks: &'a [ImportedTrack]) -> Self {
        let n = tracks.len();
        Self { tracks, candidates: vec![vec![]; n], matches: vec![None; n], silent: BTreeMap::new() }
    }

    /// The positions of the tracks without a match.
    fn open(&self) -> Vec<usize> {
        let is_open = |found: &Option<Match>| found.as_ref().is_none_or(|found| found.outcome != MatchOutcome::Matched);
        self.matches.iter().enumerate().filter(|(_, found)| is_open(found)).map(|(n, _)| n).collect()
    }

    /// Sets the reason for tracks about which no catalogue was asked: "no catalogue has it" would be wrong for them.
    fn tell_who_was_not_asked(&mut self, catalogues: &[&dyn Catalogue]) {
        let names: Vec<_> = catalogues.iter().map(|catalogue| catalogue.name()).filter(|name| *name != HOME).collect();
        let reason = if names.is_empty() {
            "no catalogue was asked: every one is switched off"
        } else if names.iter().all(|name| self.silent.contains_key(name)) {
            "no catalogue could be asked; it is tried again"
        } else {
            return;
        };
        let open = self.matches.iter_mut().flatten().filter(|found| found.outcome == MatchOutcome::Unmatched);
        for found in open.filter(|found| found.candidates.is_empty()) {
            found.reason = reason.into();
        }
    }

    fn judge(&mut self, open: &[usize]) {
        for &n in open {
            self.matches[n] = Some(judge(&self.tracks[n], &self.candidates[n]));
        }
    }

    async fn ask(&mut self, catalogue: &dyn Catalogue, open: &[usize]) -> Result<(), CannotAsk> {
        self.ask_codes(catalogue, open).await?;
        for &n in open {
            let track = &self.tracks[n];
            let is_known = judge(track, &self.candidates[n]).outcome == MatchOutcome::Matched;
            if is_known || track.title.is_empty() {
                continue;
            }
            match ask_by_name(catalogue, track).await {
                Ok(found) => self.candidates[n].extend(found),
                Err(CannotAsk::This(why)) => _ = self.silent.insert(catalogue.name(), why),
                Err(error @ CannotAsk::Anything(_)) => return Err(error),
            }
        }
        Ok(())
    }

    async fn ask_codes(&mut self, catalogue: &dyn Catalogue, open: &[usize]) -> Result<(), CannotAsk> {
        let mut wanted: HashMap<Isrc, Vec<usize>> = HashMap::new();
        let mut codes = vec![];
        for &n in open {
            for code in codes_to_ask(&self.tracks[n]) {
                let tracks = wanted.entry(code.clone()).or_default();
                if tracks.is_empty() {
                    codes.push(code);
                }
                tracks.push(n);
            }
        }
        for batch in codes.chunks(MOST_CODES) {
            for candidate in catalogue.by_isrc(batch).await? {
                for &n in wanted.get(&candidate.isrc).into_iter().flatten() {
                    self.candidates[n].push(candidate.clone());
                }
            }
        }
        Ok(())
    }
}

async fn ask_by_name(catalogue: &dyn Catalogue, track: &ImportedTrack) -> Result<Vec<Candidate>, CannotAsk> {
    let artist = track.artists.first().map_or("", String::as_str);
    let mut found = catalogue.by_name(&track.title, artist).await?;
    if track.either_way {
        found.extend(catalogue.by_name(artist, &track.title).await?);
    }
    Ok(found)
}
