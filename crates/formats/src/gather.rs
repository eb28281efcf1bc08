//! A whole file as distinct tracks: repeated plays are counted, playlists keep their order.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::{
    format::FormatKind,
    track::{Entry, ImportedTrack, LineError, Problem},
};

/// Everything that was read from one file. Its size depends on the number of distinct tracks, not on the size of the
/// file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Gathered {
    /// In the order of their first appearance.
    pub tracks: Vec<ImportedTrack>,
    /// Entries that name a whole album. They are also counted in `left_out`, because only tracks are matched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub albums: Vec<ImportedTrack>,
    /// Positions in `tracks`, in playing order.
    pub playlists: BTreeMap<String, Vec<usize>>,
    pub n_entries: u64,
    /// How many entries were left out on purpose, by reason.
    pub left_out: BTreeMap<&'static str, u64>,
    pub n_unusable: u64,
    /// The first unusable entries. The list is limited, so that a file without any usable entry does not fill the
    /// memory.
    pub unusable: Vec<LineError>,
}

const MOST_COMPLAINTS: usize = 1000;

/// Maximum number of distinct tracks, and of playlist entries, in one file. Repeated plays are not limited.
pub const MOST_TRACKS: usize = 200_000;

/// Lyrics of one track, in bytes. They are stored, indexed, and part of every result with the track. The longest songs have
/// about 20 KB.
pub const MOST_LYRICS: usize = 32 << 10;

/// A file of one track in each of a million lists would otherwise be a million playlists.
const MOST_PLAYLISTS: usize = 1000;

const TOO_MANY: &str = "beyond the limit of 200,000 tracks for one file";
const TOO_LONG: &str = "not on their playlist, which is at its limit of 10,000 tracks or 4 MB of names";
const TOO_MANY_LISTS: &str = "not on their playlist, beyond the limit of 1,000 playlists for one file";
const LONG_LYRICS: &str = "with lyrics that were cut at 32 KB";
const ALBUM: &str = "an album, not a track";

/// Reads all entries. A file that breaks off is rejected as a whole, so that no file is imported in part.
pub fn gather(entries: impl Iterator<Item = Entry>) -> Result<Gathered, LineError> {
    gather_playlist(entries, None)
}

/// The same; entries without a playlist are added to `playlist`.
pub(crate) fn gather_playlist(
    entries: impl Iterator<Item = Entry>,
    playlist: Option<&str>,
) -> Result<Gathered, LineError> {
    let mut gathering = Gathering { playlist, ..Gathering::default() };
    for entry in entries {
        gathering.gathered.n_entries += 1;
        match entry {
            Ok(track) => gathering.add(track),
            Err(error) => gathering.gathered.refuse(error)?,
        }
    }
    Ok(gathering.gathered)
}

#[derive(Default)]
struct Gathering<'a> {
    gathered: Gathered,
    playlist: Option<&'a str>,
    known: HashMap<String, usize>,
    n_places: usize,
    /// By playlist.
    name_bytes: HashMap<String, usize>,
}

impl Gathering<'_> {
    fn add(&mut self, mut track: ImportedTrack) {
        if track.n_plays == 1 && track.first_played_at.is_none() {
            track.first_played_at = track.played_at;
        }
        if track.is_album() {
            self.gathered.add_album(track);
            return;
        }
        if track.cut_lyrics() {
            self.gathered.leave_out(LONG_LYRICS);
        }
        let playlist = track.playlist.take().or_else(|| self.playlist.map(str::to_owned));
        let tracks = &mut self.gathered.tracks;
        let position = match self.known.entry(key_of(&track)) {
            std::collections::hash_map::Entry::Occupied(first) => {
                let position = *first.get();
                tracks[position].fold_in(track);
                position
            }
            std::collections::hash_map::Entry::Vacant(_) if tracks.len() >= MOST_TRACKS => {
                self.gathered.leave_out(TOO_MANY);
                return;
            }
            std::collections::hash_map::Entry::Vacant(empty) => {
                tracks.push(track);
                *empty.insert(tracks.len() - 1)
            }
        };
        if let Some(playlist) = playlist {
            self.list(playlist, position);
        }
    }

    /// Adds a track to a playlist. What a playlist has no room for is a track of the import nevertheless.
    fn list(&mut self, playlist: String, position: usize) {
        let playlists = &mut self.gathered.playlists;
        let n_playlists = playlists.len();
        let (is_new, n_tracks) = playlists.get(&playlist).map_or((true, 0), |list| (false, list.len()));
        let used = self.name_bytes.get(&playlist).copied().unwrap_or_default();
        let used = used + self.gathered.tracks[position].name_bytes();
        let too_much = match (is_new, n_tracks) {
            _ if self.n_places >= MOST_TRACKS => Some(TOO_MANY),
            (true, _) if n_playlists >= MOST_PLAYLISTS => Some(TOO_MANY_LISTS),
            (_, music::playlist::MOST_TRACKS..) => Some(TOO_LONG),
            _ if used > music::playlist::MOST_NAME_BYTES => Some(TOO_LONG),
            _ => None,
        };
        if let Some(why) = too_much {
            return self.gathered.leave_out(why);
        }
        self.n_places += 1;
        self.name_bytes.insert(playlist.clone(), used);
        playlists.entry(playlist).or_default().push(position);
    }
}

impl Gathered {
    /// Why this file cannot produce any track, if that is so: an import of nothing is not a success.
    pub fn warning(&self, kind: FormatKind) -> Option<String> {
        if !self.tracks.is_empty() || !self.albums.is_empty() {
            return None;
        }
        let why = if let Some(first) = self.unusable.first() {
            format!("none of {} entries can be used; {first}", self.n_entries)
        } else if let Some((why, n)) = self.left_out.iter().max_by_key(|(_, n)| **n) {
            format!("{n} of {} entries were left out: {why}", self.n_entries)
        } else {
            format!(
                "it was read as \"{kind}\" and contains no track; export it again, or as CSV with the columns Title and Artist"
            )
        };
        Some(format!("no entries found: {why}"))
    }

    fn add_album(&mut self, album: ImportedTrack) {
        let is_known = |known: &ImportedTrack| known.title == album.title && known.artists == album.artists;
        match self.albums.len() {
            MOST_TRACKS.. => self.leave_out(TOO_MANY),
            _ if self.albums.last().is_some_and(is_known) => {}
            _ => {
                self.leave_out(ALBUM);
                self.albums.push(album);
            }
        }
    }

    pub(crate) fn leave_out(&mut self, why: &'static str) {
        *self.left_out.entry(why).or_default() += 1;
    }

    pub(crate) fn refuse(&mut self, error: LineError) -> Result<(), LineError> {
        match error.problem {
            Problem::LeftOut(why) => self.leave_out(why),
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
    /// See [`music::playlist::name_bytes`].
    fn name_bytes(&self) -> usize {
        let artists: usize = self.artists.iter().map(String::len).sum();
        self.title.len() + artists + self.album.as_ref().map_or(0, String::len)
    }

    /// Cuts lyrics that are too long, after a line if possible. Returns whether it did.
    fn cut_lyrics(&mut self) -> bool {
        let Some(lyrics) = self.lyrics.as_mut().filter(|lyrics| lyrics.len() > MOST_LYRICS) else { return false };
        let cut = lyrics.floor_char_boundary(MOST_LYRICS);
        lyrics.truncate(lyrics[..cut].rfind('\n').filter(|line| *line > 0).unwrap_or(cut));
        true
    }

    /// Merges a repetition of the same track: plays are added, missing fields are filled, the earliest addition and
    /// the first and last play are kept.
    fn fold_in(&mut self, again: Self) {
        self.n_plays = self.n_plays.saturating_add(again.n_plays);
        self.first_played_at = [self.first_played_at, again.first_played_at].into_iter().flatten().min();
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

/// The key by which two entries of one file are the same: the strongest identifier, as the file spells it. Matching
/// decides later whether two spellings mean one recording.
fn key_of(track: &ImportedTrack) -> String {
    if let Some(isrc) = track.isrcs.first() {
        // The movements of one work share a code.
        return format!("isrc {isrc}\n{}", track.title.to_lowercase());
    }
    if let Some(id) = &track.ids.spotify {
        return format!("spotify {id}");
    }
    let seconds = track.duration.map_or(0, |seconds| seconds.round() as u64);
    let album = track.album.as_deref().unwrap_or_default();
    let named = format!("{}\n{}\n{album}\n{seconds}", track.title, track.artist()).to_lowercase();
    // A title without an artist names no recording: "Track 01" is on every disc.
    match &track.ids.location {
        Some(file) if track.artists.is_empty() => format!("{named}\n{file}"),
        _ => named,
    }
}
