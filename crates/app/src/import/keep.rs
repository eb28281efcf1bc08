//! Stores an import: every entry as a library track, the playlists, and the entries that no catalogue has confirmed.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use engine::UserId;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::{
    catalogue::Matches,
    identity::{Identity, OwnTracks},
    known::HOME,
    matching::{Candidate, Match, MatchOutcome},
};
use formats::{FormatKind, Gathered, ImportedTrack};
use music::{AudioFeatures, Isrc, Track, TrackId};
use store::{NewImport, NewLibraryTrack, NewOpenEntry, Store, StoreError, with_gaps_filled};

/// One file, ready to be stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    pub file: String,
    pub kind: FormatKind,
    /// Each recording once, in the order of the file.
    pub tracks: Vec<NewLibraryTrack>,
    /// The track of each entry, in the order of the file.
    pub ids: Vec<TrackId>,
    /// In playing order.
    pub playlists: BTreeMap<String, Vec<TrackId>>,
    /// Ambiguous and unmatched entries. They are tracks too, and Segue searches for them again later.
    pub open: Vec<UnmatchedEntry>,
    /// Tracks that an earlier import left open under another id.
    pub moves: Vec<(TrackId, TrackId)>,
    /// Recordings that are matched now. Open entries of earlier imports for them are closed.
    pub settled: Vec<TrackId>,
    /// Whether the import is the scan of a synchronised folder.
    pub is_sync: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct UnmatchedEntry {
    pub entry: ImportedTrack,
    pub found: Match,
    pub track: TrackId,
    /// The playlists of the file that contain it.
    pub playlists: BTreeSet<String>,
}

/// The changes of an import; a second import of the same file changes nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Kept {
    pub n_added: u64,
    pub n_already_there: u64,
}

impl Import {
    pub fn new(
        owner: &UserId,
        file: &str,
        kind: FormatKind,
        gathered: &Gathered,
        matches: &Matches,
        mut own: OwnTracks,
    ) -> Self {
        let mut import = Self {
            file: file.into(),
            kind,
            tracks: vec![],
            ids: vec![],
            playlists: BTreeMap::new(),
            open: vec![],
            moves: vec![],
            settled: vec![],
            is_sync: false,
        };
        let lists = lists_of(gathered);
        let mut places: HashMap<TrackId, usize> = HashMap::new();
        for (n, (entry, found)) in gathered.tracks.iter().zip(&matches.matches).enumerate() {
            let Identity { id, was } = own.identify_at(n, owner, entry, found);
            import.ids.push(id);
            let new = new_track(entry, id, found, kind);
            match places.get(&id) {
                // A second file of the same recording fills fields that the first leaves empty.
                Some(place) => {
                    let known = &mut import.tracks[*place];
                    known.track = with_gaps_filled(known.track.clone(), &new.track);
                }
                None => {
                    places.insert(id, import.tracks.len());
                    import.tracks.push(new);
                }
            }
            import.moves.extend(was.map(|was| (was, id)));
            if found.outcome == MatchOutcome::Matched {
                import.settled.push(id);
                continue;
            }
            let playlists = lists.get(&n).cloned().unwrap_or_default();
            import.open.push(UnmatchedEntry { entry: entry.clone(), found: found.clone(), track: id, playlists });
        }
        let in_order = |list: &Vec<usize>| list.iter().filter_map(|n| import.ids.get(*n).copied()).collect();
        let lists = gathered.playlists.iter().map(|(name, list)| (name.clone(), in_order(list)));
        import.playlists = lists.collect();
        import
    }

    /// Stores the import with its report.
    pub(crate) async fn keep(&self, store: &Store, owner: &UserId, report: &Value) -> Result<Kept, StoreError> {
        let open = self.open.iter().map(|open| {
            let (entry, found) = (encoded(&open.entry)?, encoded(&open.found)?);
            Ok(NewOpenEntry { id: open.id(owner), recording: open.track, entry, found, playlists: &open.playlists })
        });
        let import = NewImport {
            file: &self.file,
            kind: &kind_id(self.kind)?,
            tracks: &self.tracks,
            playlists: &self.playlists,
            open: open.collect::<Result<_, StoreError>>()?,
            moves: &self.moves,
            settled: &self.settled,
            is_sync: self.is_sync,
        };
        let n_added = store.keep_import(owner, &import, report).await?;
        Ok(Kept { n_added, n_already_there: self.tracks.len() as u64 - n_added })
    }
}

/// The playlists of each position. They are computed once, because a file may be one list of a million entries.
fn lists_of(gathered: &Gathered) -> HashMap<usize, BTreeSet<String>> {
    let mut lists: HashMap<usize, BTreeSet<String>> = HashMap::new();
    for (name, positions) in &gathered.playlists {
        for position in positions {
            lists.entry(*position).or_default().insert(name.clone());
        }
    }
    lists
}

/// An entry as a library track: the data of the file belongs to the owner, the data of the catalogue is public.
pub(crate) fn new_track(entry: &ImportedTrack, id: TrackId, found: &Match, kind: FormatKind) -> NewLibraryTrack {
    let isrc = found.isrc.clone().or_else(|| entry.isrcs.first().cloned());
    let external = found.recording.as_ref().filter(|known| known.source != HOME);
    NewLibraryTrack {
        public: external.map(|known| catalogued(known, id)),
        track: track_of(entry, id, isrc, found, kind),
        is_own: true,
        album_artist: album_artist(entry),
        disc_number: entry.details.disc_number,
        n_plays: entry.n_plays,
        first_played_at: entry.first_played_at,
        played_at: entry.played_at,
        added_at: entry.added_at,
        location: entry.ids.location.clone(),
        names: names_of(entry),
    }
}

/// The ids of the recording in the file, besides its first code.
fn names_of(entry: &ImportedTrack) -> Vec<(&'static str, String)> {
    let further = entry.isrcs.iter().skip(1).map(|isrc| ("isrc", isrc.to_string()));
    let recording = entry.ids.music_brainz.iter().map(|id| ("mbid", id.to_lowercase()));
    let audio = entry.ids.audio.iter().map(|hash| ("audio", hash.clone()));
    recording.chain(further).chain(audio).collect()
}

fn album_artist(entry: &ImportedTrack) -> Option<String> {
    let details = &entry.details;
    details.album_artist.clone().or_else(|| details.compilation.then(|| "Various Artists".to_owned()))
}

/// The catalogue's data about a recording.
fn catalogued(known: &Candidate, id: TrackId) -> Track {
    let album = known.album.clone().unwrap_or_default();
    let named = Track::named(known.isrc.clone(), known.full_title(), known.artist.clone(), album);
    let provenance = [("names".to_owned(), known.source.to_string())].into();
    Track { id, duration: known.duration, provenance, ..named }
}

/// The name of a format in the database.
pub(crate) fn kind_id(kind: FormatKind) -> Result<String, StoreError> {
    match encoded(&kind)? {
        Value::String(id) => Ok(id),
        other => Err(sqlx::Error::Encode(format!("a format has a name, not {other}").into()).into()),
    }
}

/// The format with this name in the database.
pub(crate) fn kind_of(id: &str) -> Result<FormatKind, StoreError> {
    serde_json::from_value(id.into()).map_err(|error| sqlx::Error::Decode(error.into()).into())
}

pub(crate) fn encoded(value: &impl Serialize) -> Result<Value, StoreError> {
    serde_json::to_value(value).map_err(|error| sqlx::Error::Encode(error.into()).into())
}

impl UnmatchedEntry {
    pub fn id(&self, owner: &UserId) -> Uuid {
        entry_id(owner, &self.entry)
    }
}

/// The same entry of the same user has the same id, in any file.
fn entry_id(owner: &UserId, entry: &ImportedTrack) -> Uuid {
    let ImportedTrack { title, artists, album, duration, isrcs, ids, .. } = entry;
    let seconds = duration.map(|seconds| seconds.round() as u64);
    let mut says = format!("{title}\n{artists:?}\n{album:?}\n{seconds:?}\n{isrcs:?}\n{:?}", ids.spotify);
    // Uploads without an artist are different tracks if their audio differs.
    if let (true, None, Some(audio)) = (artists.is_empty(), &ids.location, &ids.audio) {
        says.push_str(audio);
    }
    Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("{owner}\n{says}").to_lowercase().as_bytes())
}

/// Uses the names of the file, because the user knows the track by them. The catalogue fills empty fields.
pub fn track_of(entry: &ImportedTrack, id: TrackId, isrc: Option<Isrc>, found: &Match, kind: FormatKind) -> Track {
    let known = found.recording.as_ref();
    let from_file = format!("{kind}, imported");
    let mut provenance = BTreeMap::new();
    let mut say = |field: &str, is_from_file: bool| {
        let source = known.filter(|_| !is_from_file).map_or(from_file.as_str(), |known| known.source.as_ref());
        provenance.insert(field.to_owned(), source.to_owned());
    };
    // The matcher swapped title and artist of this line, so the catalogue's names are used.
    let is_turned = entry.either_way && known.is_some();
    let has_names = !entry.title.is_empty() && !entry.artists.is_empty() && !is_turned;
    say("title", has_names);
    let (title, artist) = match known {
        Some(known) if !has_names => (known.full_title(), known.artist.clone()),
        _ => (titled(entry), entry.artist()),
    };
    if entry.duration.is_some() || known.is_some_and(|known| known.duration.is_some()) {
        say("duration", entry.duration.is_some());
    }
    for (field, is_there) in [("lyrics", entry.lyrics.is_some()), ("audioFeatures", entry.audio_features.is_some())] {
        if is_there {
            say(field, true);
        }
    }
    let album = entry.album.clone().or_else(|| known?.album.clone()).unwrap_or_default();
    Track {
        isrc,
        track_number: entry.track_number,
        duration: entry.duration.or_else(|| known?.duration),
        release_date: entry.release_date.clone(),
        tidal_id: entry.ids.tidal.clone(),
        lyrics: entry.lyrics.clone(),
        tags: entry.tags.clone(),
        audio_features: entry.audio_features.clone().or_else(|| tagged_features(entry)),
        language: entry.details.language.clone().filter(|code| code.len() == 2),
        provenance,
        ..Track::with_id(id, title, artist, album)
    }
}

/// Audio features from tags, for tracks without a code, which no source can look up.
fn tagged_features(entry: &ImportedTrack) -> Option<AudioFeatures> {
    let tempo = entry.details.bpm.filter(|_| entry.isrcs.is_empty())?;
    Some(AudioFeatures { tempo: Some(tempo), ..AudioFeatures::default() })
}

/// An entry with only a code or an id has it as its title until a catalogue provides the title.
fn titled(entry: &ImportedTrack) -> String {
    let ids = &entry.ids;
    let file = ids.location.as_deref().and_then(|path| path.rsplit(['/', '\\']).next());
    let code = entry.isrcs.first().map(|isrc| isrc.as_str());
    let title = Some(entry.title.as_str()).filter(|title| !title.is_empty());
    title.or(file).or(code).or(ids.spotify.as_deref()).or(ids.tidal.as_deref()).unwrap_or("Untitled").to_owned()
}
