//! The recording of an entry in the owner's library: an existing one, the one that its code refers to, or a new one.

use std::collections::HashMap;

use engine::UserId;

use super::matching::{Match, MatchOutcome};
use formats::ImportedTrack;
use music::{
    Isrc, TrackId,
    identity::{RecordingName, same_length},
};
use store::{OwnTrack, Store, StoreError};

/// The owner's tracks with the names and codes of one file.
#[derive(Default)]
pub struct OwnTracks {
    by_name: HashMap<String, Vec<OwnTrack>>,
    by_id: HashMap<TrackId, String>,
    /// By MusicBrainz id, as in the owner's files.
    by_recording_id: HashMap<String, TrackId>,
    /// Recordings that the owner merged into another.
    merged: HashMap<TrackId, TrackId>,
    /// Entries that are already tracks, by their position.
    same: HashMap<usize, TrackId>,
}

impl OwnTracks {
    pub(crate) async fn read(
        store: &Store,
        owner: &UserId,
        entries: &[ImportedTrack],
        matches: &[Match],
    ) -> Result<Self, StoreError> {
        let names: Vec<String> = entries.iter().map(|entry| name_of(entry).to_string()).collect();
        let isrcs: Vec<&Isrc> = matches.iter().filter_map(|found| found.isrc.as_ref()).collect();
        let mut own = Self::default();
        for (names, isrcs) in names.chunks(AT_ONCE).zip(isrcs.chunks(AT_ONCE).chain(std::iter::repeat(&[][..]))) {
            for track in store.own_tracks(owner, isrcs, names).await? {
                own.add(track);
            }
        }
        let ids: Vec<String> =
            entries.iter().filter_map(|entry| Some(entry.ids.music_brainz.as_ref()?.to_lowercase())).collect();
        for ids in ids.chunks(AT_ONCE) {
            own.by_recording_id.extend(store.own_named(owner, "mbid", ids).await?);
        }
        own.merged = store.merged(owner).await?;
        Ok(own)
    }

    pub(crate) fn with_same(self, same: HashMap<usize, TrackId>) -> Self {
        Self { same, ..self }
    }

    /// The recording of the entry at a position, after the owner's merges.
    pub(super) fn identify_at(&mut self, n: usize, owner: &UserId, entry: &ImportedTrack, found: &Match) -> Identity {
        if let Some(id) = self.same.get(&n).copied() {
            let is_open = found.outcome != MatchOutcome::Matched;
            self.add(OwnTrack { id, name: name_of(entry).to_string(), duration: entry.duration, is_open });
            return Identity { id, was: None };
        }
        let identity = self.identify(owner, entry, found);
        match self.merged.get(&identity.id) {
            Some(into) => Identity { id: *into, was: None },
            None => identity,
        }
    }

    fn add(&mut self, track: OwnTrack) {
        self.by_id.insert(track.id, track.name.clone());
        let of_name = self.by_name.entry(track.name.clone()).or_default();
        if of_name.iter().all(|other| other.id != track.id) {
            of_name.push(track);
        }
    }

    /// The owner's track with this name and length, if it is unambiguous: an open entry, or the only such track.
    fn named(&self, name: &str, duration: Option<f64>) -> Option<&OwnTrack> {
        let mut same = self.by_name.get(name)?.iter().filter(|track| same_length(track.duration, duration));
        if let Some(open) = same.clone().find(|track| track.is_open) {
            return Some(open);
        }
        let only = same.next();
        only.filter(|_| same.next().is_none())
    }

    /// The recording of an entry. Entries with the same name and length are the same track, in any file.
    pub(super) fn identify(&mut self, owner: &UserId, entry: &ImportedTrack, found: &Match) -> Identity {
        let name = name_of(entry);
        let text = name.to_string();
        // A title without an artist does not identify a track: "Track 01" is on every album.
        let is_named = !name.title().is_empty() && !name.artist().is_empty();
        let known = self.named(&text, entry.duration).filter(|_| is_named).cloned();
        let id = match (found.outcome, &found.isrc) {
            (MatchOutcome::Matched, Some(isrc)) => self.of_code(isrc, &name, found.recording.is_some()),
            _ => match (
                &known.as_ref().map(|known| known.id).or_else(|| self.of_recording_id(entry)),
                entry.isrcs.first(),
            ) {
                (Some(known), _) => *known,
                (None, Some(isrc)) if name.title().is_empty() => TrackId::of_isrc(isrc),
                (None, Some(isrc)) => TrackId::of_shared_isrc(isrc, &name),
                (None, None) => TrackId::of_owner(owner.as_str(), &says(entry, &text)),
            },
        };
        let was = known.filter(|known| known.is_open && known.id != id && found.outcome == MatchOutcome::Matched);
        let is_open = found.outcome != MatchOutcome::Matched;
        self.add(OwnTrack { id, name: text, duration: entry.duration, is_open });
        // Two files of one import with the same MusicBrainz id are one recording too.
        self.by_recording_id.extend(entry.ids.music_brainz.as_ref().map(|name| (name.to_lowercase(), id)));
        Identity { id, was: was.map(|known| known.id) }
    }

    fn of_recording_id(&self, entry: &ImportedTrack) -> Option<TrackId> {
        self.by_recording_id.get(&entry.ids.music_brainz.as_ref()?.to_lowercase()).copied()
    }

    /// Only the id; no track is moved.
    pub(crate) fn id_of(&mut self, owner: &UserId, entry: &ImportedTrack, found: &Match) -> TrackId {
        self.identify(owner, entry, found).id
    }

    /// If a code already refers to another recording of this owner, several recordings share the code, unless a
    /// catalogue confirms that they are one.
    fn of_code(&self, isrc: &Isrc, name: &RecordingName, is_confirmed: bool) -> TrackId {
        let first = TrackId::of_isrc(isrc);
        let text = name.to_string();
        // An entry with only a code has the code as its title.
        let placeholder = RecordingName::new(isrc.as_str(), None, "").to_string();
        let is_other = |other: &String| *other != text && *other != placeholder;
        match self.by_id.get(&first) {
            Some(other) if !is_confirmed && is_other(other) && !name.title().is_empty() => {
                TrackId::of_shared_isrc(isrc, name)
            }
            _ => first,
        }
    }
}

pub(super) struct Identity {
    pub(super) id: TrackId,
    /// The earlier id of the same track, before a catalogue or its file identified the recording.
    pub(super) was: Option<TrackId>,
}

/// How many names are looked up at once.
const AT_ONCE: usize = 2000;

fn name_of(entry: &ImportedTrack) -> RecordingName {
    RecordingName::new(&entry.title, None, &entry.artist())
}

/// What identifies a track without a code: its name and length; without an artist, also its file. An upload has no path, so its
/// audio identifies it.
fn says(entry: &ImportedTrack, name: &str) -> String {
    let seconds = entry.duration.map_or(0, |seconds| seconds.round() as u64);
    let place = if entry.artists.is_empty() || entry.title.is_empty() {
        let file = if entry.ids.location.is_some() { &entry.ids.location } else { &entry.ids.audio };
        let ids = [&entry.album, file, &entry.ids.spotify, &entry.ids.tidal, &entry.ids.music_brainz];
        ids.into_iter().flatten().cloned().collect::<Vec<_>>().join("\n")
    } else {
        String::new()
    };
    format!("{name}\n{seconds}\n{place}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(title: &str, isrc: Option<&str>) -> ImportedTrack {
        let isrcs = isrc.map(|isrc| isrc.parse().unwrap()).into_iter().collect();
        ImportedTrack { title: title.into(), artists: vec!["Ensemble".into()], isrcs, ..ImportedTrack::default() }
    }

    fn identified(own: &mut OwnTracks, entry: &ImportedTrack) -> TrackId {
        let found = super::super::judge(entry, &[]);
        own.identify(&UserId::new("ann"), entry, &found).id
    }

    #[test]
    fn movements_with_a_shared_code_are_separate_tracks_and_a_repeated_entry_is_the_same_track() {
        let own = &mut OwnTracks::default();
        let code = Some("GBAYE6800001");
        let first = identified(own, &entry("I. Allegro", code));
        let second = identified(own, &entry("II. Adagio", code));
        assert_ne!(first, second);
        assert_eq!(identified(own, &entry("I. Allegro", code)), first);
        assert_eq!(identified(own, &entry("II. Adagio", code)), second);
    }

    #[test]
    fn a_track_without_a_code_is_identified_by_name_and_length() {
        let own = &mut OwnTracks::default();
        let long = |seconds| ImportedTrack { duration: Some(seconds), ..entry("Memo", None) };
        let memo = identified(own, &long(100.0));
        assert_eq!(identified(own, &long(101.0)), memo);
        assert_eq!(identified(own, &entry("memo", None)), memo, "an unknown length does not contradict a known one");
        assert_ne!(identified(own, &long(200.0)), memo, "another take");
        let other =
            OwnTracks::default().identify(&UserId::new("bob"), &long(100.0), &super::super::judge(&long(100.0), &[]));
        assert_ne!(other.id, memo, "another user's track is another recording");
    }

    #[test]
    fn an_upload_without_an_artist_is_identified_by_its_audio_too() {
        let own = &mut OwnTracks::default();
        let upload = |title: &str, audio: &str| {
            let mut upload = ImportedTrack { title: title.into(), duration: Some(20.0), ..ImportedTrack::default() };
            upload.ids.audio = Some(audio.into());
            upload
        };
        let first = identified(own, &upload("track 01", "aa"));
        assert_eq!(identified(own, &upload("track 01", "aa")), first);
        assert_ne!(identified(own, &upload("track 01", "bb")), first);
        let named = |audio| ImportedTrack { artists: vec!["Ensemble".into()], ..upload("Memo", audio) };
        assert_eq!(identified(own, &named("aa")), identified(own, &named("bb")), "two encodings have one name");
        let at = |audio| {
            let mut file = upload("track 01", audio);
            file.ids.location = Some("/music/track 01.wav".into());
            file
        };
        assert_eq!(identified(own, &at("aa")), identified(own, &at("bb")), "the file at a path may change");
    }

    #[test]
    fn a_corrected_line_with_a_code_replaces_the_open_entry() {
        let own = &mut OwnTracks::default();
        let before = identified(own, &entry("Memo", None));
        let corrected = entry("Memo", Some("GBAYE6800001"));
        let found = super::super::judge(&corrected, &[]);
        let Identity { id, was } = own.identify(&UserId::new("ann"), &corrected, &found);
        assert_eq!((id, was), (TrackId::of_isrc(&corrected.isrcs[0]), Some(before)));
    }
}
