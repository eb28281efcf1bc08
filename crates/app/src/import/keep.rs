//! What is kept of an import: tracks and playlists for the library, and what is still open, all in one piece.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use engine::UserId;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::{
    catalogue::Matches,
    matching::{Match, Outcome},
};
use formats::{Gathered, ImportedTrack, Kind};
use music::{Isrc, Track};
use store::{NewImport, NewOpenEntry, Store, StoreError};

/// One file, ready to be kept.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Import {
    pub file: String,
    pub kind: Kind,
    /// Each recording once, in the order of the file.
    pub tracks: Vec<Track>,
    /// In playing order; entries that are still open are missing and come in when they are matched.
    pub playlists: BTreeMap<String, Vec<Isrc>>,
    /// Ambiguous and unmatched entries: shown, exportable, tried again later.
    pub open: Vec<OpenEntry>,
    /// Entries that are matched now: if an earlier import left them open, they no longer are.
    #[serde(skip)]
    pub settled: Vec<Uuid>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenEntry {
    pub entry: ImportedTrack,
    pub found: Match,
    /// Playlists of the file it belongs to.
    pub playlists: BTreeSet<String>,
}

/// What keeping changed; a second import of the same file changes nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Kept {
    pub n_added: u64,
    pub n_already_there: u64,
}

impl Import {
    pub fn new(owner: &UserId, file: &str, kind: Kind, gathered: &Gathered, matches: &Matches) -> Self {
        let found = || gathered.tracks.iter().zip(&matches.matches);
        let mut seen = BTreeSet::new();
        let tracks = found().filter_map(|(entry, found)| {
            let isrc = found.isrc.clone()?;
            seen.insert(isrc.clone()).then(|| track_of(entry, isrc, found, kind))
        });
        let playlists = gathered.playlists.iter().map(|(name, positions)| {
            let codes = positions.iter().filter_map(|n| matches.matches.get(*n)?.isrc.clone());
            (name.clone(), codes.collect())
        });
        let settled = found().filter(|(_, found)| found.outcome == Outcome::Matched);
        let open = found().enumerate().filter(|(_, (_, found))| found.outcome != Outcome::Matched);
        let mut holding: HashMap<usize, BTreeSet<String>> = HashMap::new();
        for (name, positions) in &gathered.playlists {
            for n in positions {
                holding.entry(*n).or_default().insert(name.clone());
            }
        }
        Self {
            file: file.into(),
            kind,
            tracks: tracks.collect(),
            playlists: playlists.collect(),
            settled: settled.map(|(entry, _)| entry_id(owner, entry)).collect(),
            open: open
                .map(|(n, (entry, found))| OpenEntry {
                    entry: entry.clone(),
                    found: found.clone(),
                    playlists: holding.remove(&n).unwrap_or_default(),
                })
                .collect(),
        }
    }

    /// Keeps all of it or nothing, in one transaction, with the report that tells of it.
    pub(crate) async fn keep(&self, store: &Store, owner: &UserId, report: &Value) -> Result<Kept, StoreError> {
        let open = self.open.iter().map(|open| {
            let (entry, found) = (encoded(&open.entry)?, encoded(&open.found)?);
            Ok(NewOpenEntry { id: open.id(owner), entry, found, playlists: &open.playlists })
        });
        let import = NewImport {
            file: &self.file,
            kind: &kind_id(self.kind)?,
            tracks: &self.tracks,
            playlists: &self.playlists,
            open: open.collect::<Result<_, StoreError>>()?,
            settled: &self.settled,
        };
        let n_added = store.keep_import(owner, &import, report).await?;
        Ok(Kept { n_added, n_already_there: self.tracks.len() as u64 - n_added })
    }
}

/// The name of a format in the database.
pub(crate) fn kind_id(kind: Kind) -> Result<String, StoreError> {
    match encoded(&kind)? {
        Value::String(id) => Ok(id),
        other => Err(sqlx::Error::Encode(format!("a format has a name, not {other}").into()).into()),
    }
}

/// The format with this name in the database.
pub(crate) fn kind_of(id: &str) -> Result<Kind, StoreError> {
    serde_json::from_value(id.into()).map_err(|error| sqlx::Error::Decode(error.into()).into())
}

pub(crate) fn encoded(value: &impl Serialize) -> Result<Value, StoreError> {
    serde_json::to_value(value).map_err(|error| sqlx::Error::Encode(error.into()).into())
}

impl OpenEntry {
    pub fn id(&self, owner: &UserId) -> Uuid {
        entry_id(owner, &self.entry)
    }
}

/// The same entry of the same listener has the same id, in whichever file it stands.
fn entry_id(owner: &UserId, entry: &ImportedTrack) -> Uuid {
    let ImportedTrack { title, artists, album, duration, isrcs, ids, .. } = entry;
    let seconds = duration.map(|seconds| seconds.round() as u64);
    let says = format!("{title}\n{artists:?}\n{album:?}\n{seconds:?}\n{isrcs:?}\n{:?}", ids.spotify);
    Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("{owner}\n{says}").to_lowercase().as_bytes())
}

/// The file's own words first: they are what the listener calls it. The catalogue fills what the file leaves open.
pub fn track_of(entry: &ImportedTrack, isrc: Isrc, found: &Match, kind: Kind) -> Track {
    let known = found.recording.as_ref();
    let from_file = format!("{kind}, imported");
    let mut provenance = BTreeMap::new();
    let mut say = |field: &str, is_from_file: bool| {
        let source = known.filter(|_| !is_from_file).map_or(from_file.as_str(), |known| known.source.as_ref());
        provenance.insert(field.to_owned(), source.to_owned());
    };
    // A line written title first was turned round by whoever matched it, so the catalogue's words are the right ones.
    let is_turned = entry.either_way && known.is_some();
    let has_names = !entry.title.is_empty() && !entry.artists.is_empty() && !is_turned;
    say("title", has_names);
    let (title, artist) = match known {
        Some(known) if !has_names => (known.full_title(), known.artist.clone()),
        _ => (entry.title.clone(), entry.artist()),
    };
    if entry.duration.is_some() || known.is_some_and(|known| known.duration.is_some()) {
        say("duration", entry.duration.is_some());
    }
    for (field, is_there) in [("lyrics", entry.lyrics.is_some()), ("audioFeatures", entry.audio_features.is_some())] {
        if is_there {
            say(field, true);
        }
    }
    Track {
        isrc,
        title,
        artist,
        album: entry.album.clone().or_else(|| known?.album.clone()).unwrap_or_default(),
        track_number: entry.track_number,
        duration: entry.duration.or_else(|| known?.duration),
        release_date: entry.release_date.clone(),
        artwork_url: None,
        tidal_id: entry.ids.tidal.clone(),
        lyrics: entry.lyrics.clone(),
        interpretation: None,
        short_description: None,
        tags: entry.tags.clone(),
        genres: Vec::new(),
        language: None,
        explicit: None,
        audio_features: entry.audio_features.clone(),
        provenance,
    }
}
