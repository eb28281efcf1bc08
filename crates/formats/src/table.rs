//! Tables: comma, semicolon or tab separated files of every service that writes them.

use std::io::Read;

use csv::{Reader, ReaderBuilder, StringRecord};

use super::{
    Kind,
    columns::{Column, Columns, Feature},
    spelling::{clean, milliseconds, moment, seconds},
    track::{Entry, ImportedTrack, LineError},
};
use music::AudioFeatures;

/// Shorter plays are skips, by the rule the services themselves use.
pub(super) const SHORTEST_PLAY_MS: f64 = 30_000.0;

pub(super) const PLAYED_TOO_SHORT: &str = "played for less than 30 seconds";

/// The entries of one table, read row by row.
pub(super) struct Table<R> {
    reader: Reader<R>,
    kind: Kind,
    columns: Option<Columns>,
    record: StringRecord,
    ended: bool,
}

impl<R: Read> Table<R> {
    pub(super) fn new(kind: Kind, delimiter: u8, source: R) -> Self {
        let reader = ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(source);
        let columns = (kind == Kind::LastFmWithoutHeader).then(Columns::headerless_scrobbles);
        Self { reader, kind, columns, record: StringRecord::new(), ended: false }
    }

    fn read_header(&mut self) -> Result<(), LineError> {
        if self.columns.is_some() || !self.read_record()? {
            return Ok(());
        }
        let is_exportify = self.kind == Kind::Exportify;
        let read = if is_exportify { Columns::exportify } else { Columns::named };
        self.columns = Some(read(&self.record));
        Ok(())
    }

    fn read_record(&mut self) -> Result<bool, LineError> {
        let read = self.reader.read_record(&mut self.record);
        read.map_err(|error| LineError::broken(self.reader.position().line(), error))
    }
}

impl<R: Read> Iterator for Table<R> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        if self.ended {
            return None;
        }
        match self.read_header().and_then(|()| self.read_record()) {
            Ok(true) => {}
            Ok(false) => {
                self.ended = true;
                return None;
            }
            Err(error) => {
                self.ended = true;
                return Some(Err(error));
            }
        }
        let line = self.record.position().map_or(0, csv::Position::line);
        let columns = self.columns.as_ref()?;
        Some(Row { kind: self.kind, line, columns, record: &self.record }.entry())
    }
}

struct Row<'a> {
    kind: Kind,
    line: u64,
    columns: &'a Columns,
    record: &'a StringRecord,
}

impl Row<'_> {
    fn entry(&self) -> Entry {
        if let Some(why) = self.left_out() {
            return Err(LineError::left_out(self.line, why));
        }
        let mut track = ImportedTrack::at(self.line);
        self.names(&mut track);
        self.codes(&mut track);
        track.duration = self.cell(Column::Milliseconds).and_then(milliseconds);
        track.duration = track.duration.or_else(|| self.cell(Column::Duration).and_then(seconds));
        track.added_at = self.cell(Column::AddedAt).and_then(moment);
        track.playlist = self.cell(Column::Playlist).and_then(clean);
        track.release_date = self.cell(Column::ReleaseDate).and_then(clean);
        track.track_number = self.cell(Column::TrackNumber).and_then(|number| number.parse().ok());
        track.tags = self.cell(Column::Genres).map(genres).unwrap_or_default();
        track.audio_features = self.audio_features();
        if self.kind.is_history() {
            track.n_plays = 1;
            track.played_at = self.cell(Column::PlayedAt).and_then(moment);
        }
        track.finish()
    }

    fn left_out(&self) -> Option<&'static str> {
        if self.record.iter().all(|cell| cell.trim().is_empty()) {
            return Some("an empty row");
        }
        let number = |column| self.cell(column).and_then(|cell| cell.parse::<f64>().ok());
        let played = number(Column::PlayedMilliseconds).or(number(Column::PlayedSeconds).map(|s| s * 1000.0));
        if played.is_some_and(|ms| ms < SHORTEST_PLAY_MS) {
            return Some(PLAYED_TOO_SHORT);
        }
        let kind = self.cell(Column::Type).unwrap_or_default().to_lowercase();
        matches!(kind.as_str(), "album" | "artist" | "podcast" | "episode").then_some("not a track")
    }

    fn names(&self, track: &mut ImportedTrack) {
        track.album = self.cell(Column::Album).and_then(clean);
        let title = self.cell(Column::Title).unwrap_or_default();
        match self.cell(Column::Artist) {
            Some(artist) if self.kind == Kind::Exportify => {
                track.artists = comma_list(artist);
                track.set_title(title);
            }
            Some(artist) => {
                track.set_artists(artist);
                track.set_title(title);
            }
            // Videos have no artist: their name says both.
            None => track.set_both(title),
        }
    }

    fn codes(&self, track: &mut ImportedTrack) {
        if let Some(field) = self.cell(Column::Isrc) {
            track.set_isrcs(field);
        }
        if let Some(link) = self.cell(Column::Link) {
            track.set_link(link);
        }
        let platform = self.cell(Column::Platform).unwrap_or_default().to_lowercase();
        let id = |own: Column, name: &str| {
            let foreign = self.cell(Column::TrackId).filter(|_| platform.starts_with(name));
            self.cell(own).or(foreign).and_then(clean)
        };
        let ids = &mut track.ids;
        ids.spotify = id(Column::SpotifyId, "spotify").or(ids.spotify.take());
        ids.tidal = id(Column::TidalId, "tidal").or(ids.tidal.take());
        ids.deezer = id(Column::DeezerId, "deezer").or(ids.deezer.take());
        ids.apple = id(Column::AppleId, "apple").or(ids.apple.take());
        ids.music_brainz = id(Column::MusicBrainzId, "musicbrainz").or(ids.music_brainz.take());
    }

    fn audio_features(&self) -> Option<AudioFeatures> {
        let number = |feature| self.cell(Column::Feature(feature))?.parse::<f64>().ok().filter(|n| n.is_finite());
        let share = |feature| number(feature).map(|n| n.clamp(0.0, 1.0));
        let features = AudioFeatures {
            acousticness: share(Feature::Acousticness),
            danceability: share(Feature::Danceability),
            energy: share(Feature::Energy),
            instrumentalness: share(Feature::Instrumentalness),
            key: number(Feature::Key).map(|n| n as i32).filter(|key| (0..=11).contains(key)),
            liveness: share(Feature::Liveness),
            loudness: number(Feature::Loudness),
            mode: number(Feature::Mode).map(|n| n as i32).filter(|mode| (0..=1).contains(mode)),
            speechiness: share(Feature::Speechiness),
            tempo: number(Feature::Tempo).filter(|tempo| *tempo > 0.0),
            valence: share(Feature::Valence),
        };
        (features != AudioFeatures::default()).then_some(features)
    }

    fn cell(&self, column: Column) -> Option<&str> {
        self.columns.cell(self.record, column)
    }
}

/// Exportify joins artists with commas and writes a comma inside a name as `\,`.
fn comma_list(text: &str) -> Vec<String> {
    let (mut names, mut name) = (vec![], String::new());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&',') => name.extend(chars.next()),
            ',' => names.extend(clean(&std::mem::take(&mut name))),
            _ => name.push(c),
        }
    }
    names.extend(clean(&name));
    names
}

fn genres(text: &str) -> Vec<String> {
    text.split([',', ';']).filter_map(clean).take(20).collect()
}
