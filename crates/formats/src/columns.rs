//! The meaning of the columns of a table, for every service that writes one.

use csv::StringRecord;

use super::{formula::without_formula_guard, headers::HEADERS};
use music::Feature;

/// The meaning of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Title,
    Artist,
    Album,
    Isrc,
    Milliseconds,
    Duration,
    AddedAt,
    PlayedAt,
    /// How long the track was played, in milliseconds or in seconds.
    PlayedMilliseconds,
    PlayedSeconds,
    PlayCount,
    /// Artist and title as one text.
    Description,
    Playlist,
    Link,
    SpotifyId,
    TidalId,
    DeezerId,
    AppleId,
    MusicBrainzId,
    YouTubeId,
    /// An id; the column `Platform` names its service.
    TrackId,
    Platform,
    /// Favourite, playlist, album, artist …
    Type,
    Genres,
    ReleaseDate,
    TrackNumber,
    Feature(Feature),
}

/// Exportify's columns in their fixed order. Its headers are translated into twelve languages; the order is always
/// the same.
const EXPORTIFY: [Option<Column>; 19] = [
    Some(Column::Link),
    Some(Column::Title),
    None,
    Some(Column::Artist),
    None,
    Some(Column::Album),
    None,
    None,
    Some(Column::ReleaseDate),
    None,
    None,
    Some(Column::TrackNumber),
    Some(Column::Milliseconds),
    None,
    None,
    None,
    Some(Column::Isrc),
    None,
    Some(Column::AddedAt),
];

/// Exportify's optional columns of audio features, in order.
const EXPORTIFY_FEATURES: [Column; 11] = [
    Column::Feature(Feature::Danceability),
    Column::Feature(Feature::Energy),
    Column::Feature(Feature::Key),
    Column::Feature(Feature::Loudness),
    Column::Feature(Feature::Mode),
    Column::Feature(Feature::Speechiness),
    Column::Feature(Feature::Acousticness),
    Column::Feature(Feature::Instrumentalness),
    Column::Feature(Feature::Liveness),
    Column::Feature(Feature::Valence),
    Column::Feature(Feature::Tempo),
];

/// The meaning of each column of one table; `None` for a column that is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Columns(Vec<Option<Column>>);

impl Columns {
    /// Determined by the headers.
    pub(super) fn named(header: &StringRecord) -> Self {
        let meaning = |name: &str| {
            let name = name.trim().trim_start_matches('\u{feff}').to_lowercase();
            let known = HEADERS.iter().find(|(_, names)| names.contains(&name.as_str()));
            known.map(|(column, _)| *column).or_else(|| is_numbered_artist(&name).then_some(Column::Artist))
        };
        Self(header.iter().map(meaning).collect())
    }

    /// Exportify's columns, in every language. Headers that are recognised take precedence.
    pub(super) fn exportify(header: &StringRecord) -> Self {
        let mut columns = Self::named(header).0;
        for (column, known) in columns.iter_mut().zip(EXPORTIFY) {
            *column = known;
        }
        // Optional blocks in this order: one column of genres, twelve of features, three of album data.
        let n_extra = columns.len().saturating_sub(EXPORTIFY.len());
        let has_genres = matches!(n_extra, 1 | 4 | 13 | 16);
        if has_genres {
            columns[EXPORTIFY.len()] = Some(Column::Genres);
        }
        if n_extra >= 12 {
            let at = EXPORTIFY.len() + usize::from(has_genres);
            for (column, feature) in columns[at..].iter_mut().zip(EXPORTIFY_FEATURES) {
                *column = Some(feature);
            }
        }
        Self(columns)
    }

    /// `artist, album, track, time`: the format of several Last.fm exporters without a header.
    pub(super) fn headerless_scrobbles() -> Self {
        Self([Column::Artist, Column::Album, Column::Title, Column::PlayedAt].map(Some).to_vec())
    }

    pub(super) fn has(&self, column: Column) -> bool {
        self.0.contains(&Some(column))
    }

    pub(super) fn n_known(&self) -> usize {
        self.0.iter().flatten().count()
    }

    /// The first non-empty cell with this meaning.
    pub(super) fn cell<'r>(&self, record: &'r StringRecord, column: Column) -> Option<&'r str> {
        self.cells(record, column).next()
    }

    /// Every non-empty cell with this meaning.
    pub(super) fn cells<'r>(&self, record: &'r StringRecord, column: Column) -> impl Iterator<Item = &'r str> {
        let cells = self.0.iter().zip(record.iter());
        let filled = cells.filter(move |(known, cell)| **known == Some(column) && !cell.trim().is_empty());
        filled.map(|(_, cell)| without_formula_guard(cell.trim()))
    }
}

/// `artist name 1`, `artist name 2`: one column for each artist.
fn is_numbered_artist(name: &str) -> bool {
    name.strip_prefix("artist name ").is_some_and(|n| !n.is_empty() && n.bytes().all(|c| c.is_ascii_digit()))
}
