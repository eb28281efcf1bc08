//! Tables: files of every service with comma, semicolon, tab or bar as separator.

use std::io::{BufRead, Read};

use csv::{Reader, ReaderBuilder, StringRecord};

use super::{
    columns::{Column, Columns},
    format::{Entries, Source},
    spelling::{clean, milliseconds, moment, seconds},
    track::{Entry, ImportedTrack, LineError},
};
use music::{AudioFeatures, Feature};

/// Shorter plays are skips, by the rule that the services themselves use.
pub(super) const SHORTEST_PLAY_MS: f64 = 30_000.0;

pub(super) const PLAYED_TOO_SHORT: &str = "played for less than 30 seconds";

/// How the table of one format differs from the default.
#[derive(Clone, Copy)]
pub(super) struct Dialect {
    pub(super) is_history: bool,
    /// The meaning of the columns, from the header.
    pub(super) columns: fn(&StringRecord) -> Columns,
    /// Set if the table has no header row.
    pub(super) without_header: Option<fn() -> Columns>,
    /// Number of lines before the header.
    pub(super) n_lines_before: u64,
    /// Reads the columns that are specific to this service, after the common columns.
    pub(super) adjust: fn(&Row, &mut ImportedTrack),
}

impl Default for Dialect {
    fn default() -> Self {
        Self { is_history: false, columns: Columns::named, without_header: None, n_lines_before: 0, adjust: |_, _| {} }
    }
}

/// The entries of one table, read row by row.
pub(super) fn entries(mut source: Source, dialect: Dialect) -> Entries {
    for line in 1..=dialect.n_lines_before {
        if let Err(error) = source.read_line(&mut String::new()) {
            return Box::new(std::iter::once(Err(LineError::broken(line, error))));
        }
    }
    let delimiter = delimiter(&first_line(&mut source));
    Box::new(Table::new(dialect, delimiter, source))
}

/// The buffered part of the first line. A read error occurs again when the entries are read, and is reported then.
fn first_line(text: &mut impl BufRead) -> String {
    let buffered = text.fill_buf().unwrap_or_default();
    String::from_utf8_lossy(buffered).trim_start().lines().next().unwrap_or_default().to_owned()
}

/// The most frequent of comma, semicolon, tab and bar in the first line, outside quotes.
pub(super) fn delimiter(start: &str) -> u8 {
    const DELIMITERS: [char; 4] = [',', ';', '\t', '|'];
    let (mut counts, mut quoted) = ([0_usize; 4], false);
    for c in start.lines().next().unwrap_or_default().chars() {
        if c == '"' {
            quoted = !quoted;
        } else if let Some(n) = DELIMITERS.iter().position(|delimiter| *delimiter == c && !quoted) {
            counts[n] += 1;
        }
    }
    // The first of equals wins, so that a line without a separator is one cell of a comma-separated table.
    let best = (0..counts.len()).rev().max_by_key(|n| counts[*n]).unwrap_or_default();
    DELIMITERS[best] as u8
}

struct Table<R> {
    reader: Reader<R>,
    dialect: Dialect,
    columns: Option<Columns>,
    record: StringRecord,
    ended: bool,
}

impl<R: Read> Table<R> {
    fn new(dialect: Dialect, delimiter: u8, source: R) -> Self {
        let reader = ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(source);
        let columns = dialect.without_header.map(|columns| columns());
        Self { reader, dialect, columns, record: StringRecord::new(), ended: false }
    }

    fn read_header(&mut self) -> Result<(), LineError> {
        if self.columns.is_some() || !self.read_record()? {
            return Ok(());
        }
        self.columns = Some((self.dialect.columns)(&self.record));
        Ok(())
    }

    fn read_record(&mut self) -> Result<bool, LineError> {
        let read = self.reader.read_record(&mut self.record);
        read.map_err(|error| LineError::broken(self.reader.position().line() + self.dialect.n_lines_before, error))
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
        let line = self.record.position().map_or(0, csv::Position::line) + self.dialect.n_lines_before;
        let columns = self.columns.as_ref()?;
        Some(Row { dialect: &self.dialect, line, columns, record: &self.record }.entry())
    }
}

pub(super) struct Row<'a> {
    dialect: &'a Dialect,
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
        if self.dialect.is_history {
            let count = self.cell(Column::PlayCount).and_then(|count| count.parse().ok());
            track.n_plays = count.unwrap_or(1);
            track.played_at = self.cell(Column::PlayedAt).and_then(moment);
        }
        (self.dialect.adjust)(self, &mut track);
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
            Some(artist) => {
                track.set_artists(artist);
                track.set_title(title);
            }
            // Videos have no artist: their title contains both.
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
            let platform_id = self.cell(Column::TrackId).filter(|_| platform.starts_with(name));
            self.cell(own).or(platform_id).and_then(clean)
        };
        let ids = &mut track.ids;
        ids.spotify = id(Column::SpotifyId, "spotify").or(ids.spotify.take());
        ids.tidal = id(Column::TidalId, "tidal").or(ids.tidal.take());
        ids.deezer = id(Column::DeezerId, "deezer").or(ids.deezer.take());
        ids.apple = id(Column::AppleId, "apple").or(ids.apple.take());
        ids.music_brainz = id(Column::MusicBrainzId, "musicbrainz").or(ids.music_brainz.take());
        ids.youtube = id(Column::YouTubeId, "youtube").or(ids.youtube.take());
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

    pub(super) fn cell(&self, column: Column) -> Option<&str> {
        self.columns.cell(self.record, column)
    }

    /// Every non-empty cell with this meaning, in the order of the columns.
    pub(super) fn cells(&self, column: Column) -> impl Iterator<Item = &str> {
        self.columns.cells(self.record, column)
    }
}

fn genres(text: &str) -> Vec<String> {
    text.split([',', ';']).filter_map(clean).take(20).collect()
}
