//! Which column of a table means what, in the words of every service that writes one.

use csv::StringRecord;

use super::formula::without_formula_guard;

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

/// Headers in lower case, also as people write them in other languages than English. Where two columns of one table mean the same, the first that is filled counts.
const HEADERS: &[(Column, &[&str])] = &[
    (
        Column::Title,
        &[
            "title",
            "track name",
            "track",
            "track title",
            "track_title",
            "trackname",
            "song",
            "song title",
            "song name",
            "name",
            "titel",
            "titre",
            "título",
            "titulo",
            "titolo",
            "tytuł",
            "tittel",
            "název",
            "başlık",
            "şarkı",
            "cím",
            "kappale",
            "canción",
            "música",
            "morceau",
            "brano",
            "lied",
            "название",
            "композиция",
            "назва",
            "タイトル",
            "曲名",
            "标题",
            "歌曲",
            "제목",
        ],
    ),
    (
        Column::Artist,
        &[
            "artist",
            "artist name(s)",
            "artist name",
            "artists",
            "artist_name",
            "artistname",
            "artist names",
            "creator",
            "album artist",
            "interpret",
            "interpreten",
            "künstler",
            "kuenstler",
            "artiste",
            "artistes",
            "interprète",
            "artista",
            "artistas",
            "artisti",
            "intérprete",
            "artiest",
            "wykonawca",
            "artysta",
            "kunstner",
            "sanatçı",
            "előadó",
            "esittäjä",
            "исполнитель",
            "артист",
            "виконавець",
            "アーティスト",
            "艺术家",
            "歌手",
            "아티스트",
        ],
    ),
    (
        Column::Album,
        &[
            "album",
            "album name",
            "album title",
            "album_title",
            "albumname",
            "release",
            "álbum",
            "albumtitel",
            "albüm",
            "альбом",
            "アルバム",
            "专辑",
            "앨범",
        ],
    ),
    (Column::Isrc, &["isrc", "isrcs", "isrc code"]),
    (Column::Milliseconds, &["track duration (ms)", "duration (ms)", "duration_ms", "duration ms"]),
    (
        Column::Duration,
        &["duration", "duration (s)", "length", "time", "dauer", "länge", "durée", "duración", "duração", "durata"],
    ),
    (
        Column::AddedAt,
        &[
            "added at",
            "addeddate",
            "added date",
            "date added",
            "added_at",
            "date_added",
            "tagtime",
            "creationdate",
            "hinzugefügt am",
        ],
    ),
    (Column::PlayedAt, &["uts", "date", "entry_date", "listened_at", "date played"]),
    (Column::PlayedMilliseconds, &["stream_duration_ms", "ms played", "ms_played", "play duration milliseconds"]),
    (Column::PlayCount, &["play count"]),
    (Column::Description, &["track description"]),
    (Column::PlayedSeconds, &["listening time"]),
    (Column::Playlist, &["playlist name", "playlist", "playlist title", "playlistname"]),
    (Column::Link, &["track uri", "uri", "spotify uri", "url", "link", "location", "song url"]),
    (Column::SpotifyId, &["spotify - id", "spotify id", "spotify_id"]),
    (Column::TidalId, &["tidal - id", "tidal id", "tidal_id"]),
    (Column::DeezerId, &["deezer - id", "deezer id", "deezer_id"]),
    (Column::AppleId, &["apple - id", "apple music - id", "apple id", "track identifier"]),
    (Column::MusicBrainzId, &["track_mbid", "recording_mbid", "musicbrainz id"]),
    (Column::YouTubeId, &["video id", "youtube id", "youtube - id"]),
    (Column::TrackId, &["trackid", "track id"]),
    (Column::Platform, &["platform"]),
    (Column::Type, &["type"]),
    (Column::Genres, &["artist genres", "genres", "genre", "género", "gênero", "genere", "primarygenre"]),
    (
        Column::ReleaseDate,
        &["album release date", "release date", "released", "year", "jahr", "année", "año", "ano", "anno"],
    ),
    (Column::TrackNumber, &["track number", "track #"]),
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
            let known = HEADERS.iter().find(|(_, names)| names.contains(&name.as_str()));
            known.map(|(column, _)| *column).or_else(|| is_numbered_artist(&name).then_some(Column::Artist))
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
        self.cells(record, column).next()
    }

    /// Every filled cell that means this.
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
