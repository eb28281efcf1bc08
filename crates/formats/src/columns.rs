//! Which column of a table means what, in the words of every service that writes one.

use csv::StringRecord;

/// What a column can tell.
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
    /// How long it was listened to, in milliseconds and in seconds.
    PlayedMilliseconds,
    PlayedSeconds,
    Playlist,
    Link,
    SpotifyId,
    TidalId,
    DeezerId,
    AppleId,
    MusicBrainzId,
    /// An id whose owner stands in `Platform`.
    TrackId,
    Platform,
    /// Favourite, playlist, album, artist …
    Type,
    Genres,
    ReleaseDate,
    TrackNumber,
    Feature(Feature),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feature {
    Acousticness,
    Danceability,
    Energy,
    Instrumentalness,
    Key,
    Liveness,
    Loudness,
    Mode,
    Speechiness,
    Tempo,
    Valence,
}

/// Headers in lower case. Where two columns of one table mean the same, the first that is filled counts.
const HEADERS: &[(Column, &[&str])] = &[
    (
        Column::Title,
        &["title", "track name", "track", "track title", "track_title", "song", "song title", "song name", "name"],
    ),
    (Column::Artist, &["artist", "artist name(s)", "artist name", "artists", "artist_name", "creator", "album artist"]),
    (Column::Album, &["album", "album name", "album title", "album_title", "release"]),
    (Column::Isrc, &["isrc", "isrcs", "isrc code"]),
    (Column::Milliseconds, &["track duration (ms)", "duration (ms)", "duration_ms", "duration ms"]),
    (Column::Duration, &["duration", "duration (s)", "length", "time"]),
    (Column::AddedAt, &["added at", "addeddate", "added date", "date added", "added_at", "date_added"]),
    (Column::PlayedAt, &["uts", "date", "entry_date", "listened_at"]),
    (Column::PlayedMilliseconds, &["stream_duration_ms", "ms played", "ms_played"]),
    (Column::PlayedSeconds, &["listening time"]),
    (Column::Playlist, &["playlist name", "playlist", "playlist title", "playlistname"]),
    (Column::Link, &["track uri", "uri", "spotify uri", "url", "link", "location"]),
    (Column::SpotifyId, &["spotify - id", "spotify id", "spotify_id"]),
    (Column::TidalId, &["tidal - id", "tidal id", "tidal_id"]),
    (Column::DeezerId, &["deezer - id", "deezer id", "deezer_id"]),
    (Column::AppleId, &["apple - id", "apple music - id", "apple id"]),
    (Column::MusicBrainzId, &["track_mbid", "recording_mbid", "musicbrainz id"]),
    (Column::TrackId, &["trackid", "track id"]),
    (Column::Platform, &["platform"]),
    (Column::Type, &["type"]),
    (Column::Genres, &["artist genres", "genres", "genre"]),
    (Column::ReleaseDate, &["album release date", "release date"]),
    (Column::TrackNumber, &["track number"]),
    (Column::Feature(Feature::Acousticness), &["acousticness"]),
    (Column::Feature(Feature::Danceability), &["danceability"]),
    (Column::Feature(Feature::Energy), &["energy"]),
    (Column::Feature(Feature::Instrumentalness), &["instrumentalness"]),
    (Column::Feature(Feature::Key), &["key"]),
    (Column::Feature(Feature::Liveness), &["liveness"]),
    (Column::Feature(Feature::Loudness), &["loudness"]),
    (Column::Feature(Feature::Mode), &["mode"]),
    (Column::Feature(Feature::Speechiness), &["speechiness"]),
    (Column::Feature(Feature::Tempo), &["tempo"]),
    (Column::Feature(Feature::Valence), &["valence"]),
];

/// Exportify's columns in their fixed order: its headers are translated into twelve languages, the order is not.
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

/// Exportify's optional columns of features, in order.
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

/// What each column of one table means; `None` is a column we do not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Columns(Vec<Option<Column>>);

impl Columns {
    /// By their headers.
    pub(super) fn named(header: &StringRecord) -> Self {
        let meaning = |name: &str| {
            let name = name.trim().trim_start_matches('\u{feff}').to_lowercase();
            HEADERS.iter().find(|(_, names)| names.contains(&name.as_str())).map(|(column, _)| *column)
        };
        Self(header.iter().map(meaning).collect())
    }

    /// Exportify's, whatever language its headers are in. The headers still count where they can be read.
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

    /// `artist, album, track, moment`: what several Last.fm exporters write without any header.
    pub(super) fn headerless_scrobbles() -> Self {
        Self([Column::Artist, Column::Album, Column::Title, Column::PlayedAt].map(Some).to_vec())
    }

    pub(super) fn has(&self, column: Column) -> bool {
        self.0.contains(&Some(column))
    }

    pub(super) fn n_known(&self) -> usize {
        self.0.iter().flatten().count()
    }

    /// The filled cell that means this, if any.
    pub(super) fn cell<'r>(&self, record: &'r StringRecord, column: Column) -> Option<&'r str> {
        let cells = self.0.iter().zip(record.iter());
        let mut filled = cells.filter(|(known, cell)| **known == Some(column) && !cell.trim().is_empty());
        filled.next().map(|(_, cell)| without_formula_guard(cell.trim()))
    }
}

/// Spreadsheets run what begins with `=`, so careful exporters, ours among them, put an apostrophe before it.
fn without_formula_guard(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(rest) if rest.starts_with(['=', '+', '-', '@']) => rest,
        _ => cell,
    }
}
