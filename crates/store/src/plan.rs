//! The enrichment plan: what must change when tracks enter a library. Pure: `schedule` reads what is known and writes
//! what is planned.

use std::{borrow::Cow, collections::HashMap};

use super::found::with_gaps_filled;
use music::Track;

/// What the database knows about a track that enters a library.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Known {
    /// It is in the index and was not enriched here (the sample library): it is left alone.
    Indexed,
    /// It is being enriched, or was.
    Enriched(Box<Track>),
}

#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a change is written and dropped before the next one is planned")]
pub(crate) enum Change<'t> {
    /// Steps that were parked when the last owner removed the track go on.
    Wake { isrc: &'t str },
    /// The track is kept with these steps. Steps that exist learn what the file brought.
    Put { track: Cow<'t, Track>, steps: Steps },
}

/// The first states of the steps of a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Steps {
    /// The file brought the lyrics: no source is asked.
    pub(crate) has_lyrics: bool,
    /// The file brought the audio features: no source is asked.
    pub(crate) has_features: bool,
}

impl Steps {
    fn of(track: &Track) -> Self {
        Self { has_lyrics: track.lyrics.is_some(), has_features: track.audio_features.is_some() }
    }

    pub(crate) fn lyrics_state(self) -> &'static str {
        if self.has_lyrics { "done" } else { "waiting" }
    }

    pub(crate) fn features_state(self) -> &'static str {
        if self.has_features { "done" } else { "waiting" }
    }

    /// A description needs the answers of both sources.
    pub(crate) fn describe_state(self) -> &'static str {
        if self.has_lyrics && self.has_features { "waiting" } else { "blocked" }
    }

    /// The steps that the file has answered.
    pub(crate) fn brought(self) -> impl Iterator<Item = &'static str> {
        [("lyrics", self.has_lyrics), ("features", self.has_features)]
            .into_iter()
            .filter_map(|(step, is_there)| is_there.then_some(step))
    }
}

/// What must change so that these tracks are enriched, in the order of their codes: transactions that change several
/// tracks lock them in one order, so that two nodes cannot wait for each other.
pub(crate) fn plan<'t>(
    known: &'t HashMap<String, Known>,
    tracks: &'t [Track],
) -> impl Iterator<Item = Change<'t>> + Send {
    let mut tracks: Vec<&Track> = tracks.iter().collect();
    tracks.sort_by(|a, b| a.isrc.cmp(&b.isrc));
    tracks.into_iter().flat_map(|track| plan_one(known.get(track.isrc.as_str()), track))
}

fn plan_one<'t>(known: Option<&Known>, new: &'t Track) -> Vec<Change<'t>> {
    match known {
        Some(Known::Indexed) => vec![],
        None => vec![put(Cow::Borrowed(new))],
        Some(Known::Enriched(old)) => {
            let wake = Change::Wake { isrc: new.isrc.as_str() };
            let merged = with_gaps_filled(Track::clone(old), new);
            if merged == **old { vec![wake] } else { vec![wake, put(Cow::Owned(merged))] }
        }
    }
}

fn put(track: Cow<'_, Track>) -> Change<'_> {
    Change::Put { steps: Steps::of(&track), track }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn track(isrc: &str) -> Track {
        serde_json::from_value(json!({"isrc": isrc, "title": "Title", "artist": "Artist", "album": ""})).unwrap()
    }

    fn with_lyrics(isrc: &str) -> Track {
        Track { lyrics: Some("la la".into()), ..track(isrc) }
    }

    fn known(isrc: &str, what: Known) -> HashMap<String, Known> {
        [(isrc.to_owned(), what)].into()
    }

    fn planned<'t>(known: &'t HashMap<String, Known>, tracks: &'t [Track]) -> Vec<Change<'t>> {
        plan(known, tracks).collect()
    }

    const A: &str = "XSGUE2690001";
    const B: &str = "XSGUE2690002";

    #[test]
    fn a_new_track_is_put_with_the_steps_its_file_leaves_open() {
        let features = serde_json::from_value(json!({"energy": 0.5})).unwrap();
        let whole = Track { audio_features: Some(features), ..with_lyrics(A) };
        let cases = [
            (track(A), ("waiting", "waiting", "blocked"), vec![]),
            (with_lyrics(A), ("done", "waiting", "blocked"), vec!["lyrics"]),
            (whole, ("done", "done", "waiting"), vec!["lyrics", "features"]),
        ];
        for (new, states, brought) in cases {
            let known = HashMap::new();
            let changes: Vec<_> = plan(&known, std::slice::from_ref(&new)).collect();
            let [Change::Put { track, steps }] = &changes[..] else { panic!("{changes:?}") };
            assert_eq!(**track, new);
            assert_eq!((steps.lyrics_state(), steps.features_state(), steps.describe_state()), states);
            assert_eq!(steps.brought().collect::<Vec<_>>(), brought);
        }
    }

    #[test]
    fn a_known_track_is_only_woken_when_the_file_says_nothing_new() {
        let known = known(A, Known::Enriched(Box::new(with_lyrics(A))));
        assert_eq!(planned(&known, &[track(A)]), [Change::Wake { isrc: A }]);
        let other_lyrics = Track { lyrics: Some("other".into()), ..track(A) };
        assert_eq!(planned(&known, &[other_lyrics]), [Change::Wake { isrc: A }], "nothing is replaced");
    }

    #[test]
    fn a_known_track_is_woken_and_put_again_when_the_file_fills_a_gap() {
        let known = known(A, Known::Enriched(Box::new(Track { album: "Kept".into(), ..track(A) })));
        let new = Track { album: "Other".into(), ..with_lyrics(A) };
        let merged = Track { album: "Kept".into(), ..with_lyrics(A) };
        let put = Change::Put { track: Cow::Owned(merged), steps: Steps { has_lyrics: true, has_features: false } };
        assert_eq!(planned(&known, &[new]), [Change::Wake { isrc: A }, put]);
    }

    #[test]
    fn a_track_that_was_indexed_without_enrichment_is_left_alone() {
        assert_eq!(planned(&known(A, Known::Indexed), &[with_lyrics(A)]), []);
    }

    #[test]
    fn changes_come_in_the_order_of_the_codes() {
        let (known, tracks) = (HashMap::new(), [track(B), track(A)]);
        let changes = planned(&known, &tracks);
        let codes = changes.iter().map(|change| match change {
            Change::Put { track, .. } => track.isrc.as_str(),
            Change::Wake { isrc } => isrc,
        });
        assert_eq!(codes.collect::<Vec<_>>(), [A, B]);
    }
}
