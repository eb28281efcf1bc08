//! The enrichment plan: the changes that are needed when tracks are added to a library. Pure: `schedule` reads the
//! known data and writes the planned changes.

use std::{borrow::Cow, collections::HashMap};

use super::found::with_gaps_filled;
use music::Track;

/// A document that a library needs: public, or private to one user.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NewDocument {
    /// Empty: it is public.
    pub(crate) owner: String,
    /// Whether it is the owner's data over a public document. It gets the enrichment results of the public one.
    pub(crate) is_overlay: bool,
    pub(crate) track: Track,
}

impl NewDocument {
    pub(crate) fn public(track: Track) -> Self {
        Self { owner: String::new(), is_overlay: false, track }
    }

    pub(crate) fn key(&self) -> Key {
        (self.track.id.to_string(), self.owner.clone())
    }
}

/// Recording and owner.
pub(crate) type Key = (String, String);

/// The stored state of a document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Known {
    /// It is indexed and was not enriched here (the sample library). It is not changed.
    Indexed,
    /// It is being enriched, or was.
    Enriched { is_overlay: bool, track: Box<Track> },
}

#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a change is written and dropped before the next one is planned")]
pub(crate) enum Change<'t> {
    /// Resumes the steps that were parked when the last owner removed the track.
    Wake { document: &'t NewDocument },
    /// Stores the document with these steps. Existing steps get the data of the file.
    Put { document: Cow<'t, NewDocument>, steps: Steps },
}

/// The initial states of the steps of a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Steps {
    /// The file has lyrics, so no source is asked.
    pub(crate) has_lyrics: bool,
    /// The file has audio features, so no source is asked.
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

    /// A description needs the results of both sources.
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

/// The changes that enrich these documents, in the order of their keys. Transactions that change several documents lock
/// them in the same order, so that two nodes cannot deadlock.
pub(crate) fn plan<'t>(
    known: &'t HashMap<Key, Known>,
    documents: &'t [NewDocument],
) -> impl Iterator<Item = Change<'t>> + Send {
    let mut documents: Vec<&NewDocument> = documents.iter().collect();
    documents.sort_by_cached_key(|document| document.key());
    documents.into_iter().flat_map(|document| plan_one(known.get(&document.key()), document))
}

fn plan_one<'t>(known: Option<&Known>, new: &'t NewDocument) -> Vec<Change<'t>> {
    match known {
        Some(Known::Indexed) => vec![],
        None => vec![put(Cow::Borrowed(new))],
        // Data that a catalogue confirmed is not changed.
        Some(Known::Enriched { .. }) if new.owner.is_empty() => vec![Change::Wake { document: new }],
        Some(Known::Enriched { is_overlay, track: old }) => {
            // The owner's newest file replaces older data. Fields that only an older file has are kept.
            let track = with_gaps_filled(new.track.clone(), old);
            let wake = Change::Wake { document: new };
            if track == **old && *is_overlay == new.is_overlay {
                return vec![wake];
            }
            vec![wake, put(Cow::Owned(NewDocument { track, ..new.clone() }))]
        }
    }
}

fn put(document: Cow<'_, NewDocument>) -> Change<'_> {
    Change::Put { steps: Steps::of(&document.track), document }
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

    fn own(track: Track) -> NewDocument {
        NewDocument { owner: "ann".into(), is_overlay: false, track }
    }

    fn known(document: &NewDocument, track: Track) -> HashMap<Key, Known> {
        [(document.key(), Known::Enriched { is_overlay: false, track: Box::new(track) })].into()
    }

    fn planned<'t>(known: &'t HashMap<Key, Known>, document: &'t NewDocument) -> Vec<Change<'t>> {
        plan(known, std::slice::from_ref(document)).collect()
    }

    const A: &str = "XSGUE2690001";
    const B: &str = "XSGUE2690002";

    #[test]
    fn a_new_track_is_stored_with_the_steps_that_its_file_does_not_answer() {
        let features = serde_json::from_value(json!({"energy": 0.5})).unwrap();
        let whole = Track { audio_features: Some(features), ..with_lyrics(A) };
        let cases = [
            (track(A), ("waiting", "waiting", "blocked"), vec![]),
            (with_lyrics(A), ("done", "waiting", "blocked"), vec!["lyrics"]),
            (whole, ("done", "done", "waiting"), vec!["lyrics", "features"]),
        ];
        for (new, states, brought) in cases {
            let (known, new) = (HashMap::new(), own(new));
            let changes = planned(&known, &new);
            let [Change::Put { document, steps }] = &changes[..] else { panic!("{changes:?}") };
            assert_eq!(**document, new);
            assert_eq!((steps.lyrics_state(), steps.features_state(), steps.describe_state()), states);
            assert_eq!(steps.brought().collect::<Vec<_>>(), brought);
        }
    }

    #[test]
    fn public_data_is_never_replaced() {
        let new = NewDocument::public(Track { lyrics: Some("other".into()), title: "Other".into(), ..track(A) });
        assert_eq!(planned(&known(&new, track(A)), &new), [Change::Wake { document: &new }]);
    }

    #[test]
    fn a_newer_file_of_the_owner_replaces_an_older_one_and_keeps_its_other_fields() {
        let same = own(track(A));
        assert_eq!(planned(&known(&same, with_lyrics(A)), &same), [Change::Wake { document: &same }]);
        let corrected = own(Track { title: "Corrected".into(), ..track(A) });
        let merged = own(Track { title: "Corrected".into(), ..with_lyrics(A) });
        let put = Change::Put { document: Cow::Owned(merged), steps: Steps { has_lyrics: true, has_features: false } };
        let changes = [Change::Wake { document: &corrected }, put];
        assert_eq!(planned(&known(&corrected, with_lyrics(A)), &corrected), changes);
    }

    #[test]
    fn a_track_that_was_indexed_without_enrichment_is_not_changed() {
        let new = NewDocument::public(with_lyrics(A));
        assert_eq!(planned(&[(new.key(), Known::Indexed)].into(), &new), []);
    }

    #[test]
    fn changes_are_in_the_order_of_the_recordings() {
        let (known, documents) = (HashMap::new(), [own(track(B)), own(track(A))]);
        let ids = plan(&known, &documents).map(|change| match change {
            Change::Put { document, .. } => document.track.isrc_text().to_owned(),
            Change::Wake { .. } => String::new(),
        });
        assert_eq!(ids.collect::<Vec<_>>(), [A, B]);
    }
}
