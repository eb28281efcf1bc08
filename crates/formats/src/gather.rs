//! A whole file as distinct tracks: repeated plays folded into counts, playlists kept in their order.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::track::{Entry, ImportedTrack, LineError, Problem};

/// Everything one file said. Its size follows from the number of different tracks, not from the size of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Gathered {
    /// In the order of their first appearance.
    pub tracks: Vec<ImportedTrack>,
    /// Positions in `tracks`, in playing order.
    pub playlists: BTreeMap<String, Vec<usize>>,
    pub n_entries: u64,
    /// How many entries were left out on purpose, by reason.
    pub left_out: BTreeMap<&'static str, u64>,
    pub n_unusable: u64,
    /// The first of the unusable entries; a file of nothing else would otherwise fill the memory with complaints.
    pub unusable: Vec<LineError>,
}

const MOST_COMPLAINTS: usize = 1000;

/// Reads to the end. A file that breaks off is refused as a whole, so that nothing is half imported.
pub fn gather(entries: impl Iterator<Item = Entry>) -> Result<Gathered, LineError> {
    let mut gathered = Gathered::default();
    let mut known: HashMap<String, usize> = HashMap::new();
    for entry in entries {
        gathered.n_entries += 1;
        match entry {
            Ok(track) => gathered.add(track, &mut known),
            Err(error) => gathered.refuse(error)?,
        }
    }
    Ok(gathered)
}

impl Gathered {
    fn add(&mut self, mut track: ImportedTrack, known: &mut HashMap<String, usize>) {
        let playlist = track.playlist.take();
        let position = match known.entry(key_of(&track)) {
            std::collections::hash_map::Entry::Occupied(first) => {
                let position = *first.get();
                self.tracks[position].fold_in(track);
                position
            }
            std::collections::hash_map::Entry::Vacant(empty) => {
                self.tracks.push(track);
                *empty.insert(self.tracks.len() - 1)
            }
        };
        if let Some(playlist) = playlist {
            self.playlists.entry(playlist).or_default().push(position);
        }
    }

    fn refuse(&mut self, error: LineError) -> Result<(), LineError> {
        match error.problem {
            Problem::LeftOut(why) => *self.left_out.entry(why).or_default() += 1,
            Problem::Unusable(_) => {
                self.n_unusable += 1;
                if self.unusable.len() < MOST_COMPLAINTS {
                    self.unusable.push(error);
                }
            }
            Problem::Broken(_) => return Err(error),
        }
        Ok(())
    }
}

impl ImportedTrack {
    /// The same track again: plays add up, gaps are filled, the earliest addition and the latest play count.
    fn fold_in(&mut self, again: Self) {
        self.n_plays = self.n_plays.saturating_add(again.n_plays);
        self.played_at = self.played_at.max(again.played_at);
        self.added_at = [self.added_at, again.added_at].into_iter().flatten().min();
        self.album = self.album.take().or(again.album);
        self.duration = self.duration.or(again.duration);
        self.audio_features = self.audio_features.take().or(again.audio_features);
        self.lyrics = self.lyrics.take().or(again.lyrics);
        self.ids.spotify = self.ids.spotify.take().or(again.ids.spotify);
        self.ids.music_brainz = self.ids.music_brainz.take().or(again.ids.music_brainz);
    }
}

/// What makes two entries of one file the same: the strongest name both have in common, as the file spells it.
/// Whether two spellings mean one recording is decided later, by matching.
fn key_of(track: &ImportedTrack) -> String {
    if let Some(isrc) = track.isrcs.first() {
        return format!("isrc {isrc}");
    }
    if let Some(id) = &track.ids.spotify {
        return format!("spotify {id}");
    }
    let seconds = track.duration.map_or(0, |seconds| seconds.round() as u64);
    let album = track.album.as_deref().unwrap_or_default();
    format!("{}\n{}\n{album}\n{seconds}", track.title, track.artist()).to_lowercase()
}
