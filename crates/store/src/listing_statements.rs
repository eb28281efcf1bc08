//! The statements of a listing: one for each sort order, made once, so that each connection prepares each of them once.

use std::sync::LazyLock;

use super::{LibrarySort, db::Dialects, library::columns};

const FILTERS: &str = " AND ($2 IS NULL OR searchable LIKE $2)
    AND ($3 IS NULL OR LOWER(artist) = LOWER($3) OR LOWER(album_artist) = LOWER($3))
    AND ($4 IS NULL OR LOWER(album) = LOWER($4)) AND ($5 IS NULL OR LOWER(genre) = LOWER($5))
    AND ($6 IS NULL OR year = $6) AND ($7 IS NULL OR (year >= $7 AND year < $7 + 10))";

/// A statement for each sort order.
pub(crate) struct InOrder {
    added: String,
    title: String,
    artist: String,
    album: String,
    year: String,
    plays: String,
}

impl InOrder {
    /// Each order has an index (migration 0015), so that a page without filters reads only its own rows. Names are compared by
    /// their first hundred letters, because the size of an index entry is limited.
    fn new(select: impl Fn(&str) -> String) -> Self {
        let (title, artist, album) = ("LOWER(SUBSTR(title, 1, 100))", "LOWER(SUBSTR(artist, 1, 100))", ALBUM_NAME);
        Self {
            added: select("added_at DESC, recording_id DESC"),
            title: select(&format!("{title}, recording_id")),
            artist: select(&format!("{artist}, {album}, disc_number, track_number, recording_id")),
            album: select(&format!("{album}, disc_number, track_number, recording_id")),
            year: select(&format!("COALESCE(year, 0) DESC, {album}, track_number, recording_id")),
            plays: select(&format!("n_plays DESC, {title}, recording_id")),
        }
    }

    pub(crate) fn by(&self, sort: LibrarySort) -> &str {
        match sort {
            LibrarySort::Added => &self.added,
            LibrarySort::Title => &self.title,
            LibrarySort::Artist => &self.artist,
            LibrarySort::Album => &self.album,
            LibrarySort::Year => &self.year,
            LibrarySort::Plays => &self.plays,
        }
    }
}

const ALBUM_NAME: &str = "LOWER(SUBSTR(album, 1, 100))";

/// A page of a listing without filters.
pub(crate) static EVERY_TRACK: LazyLock<InOrder> = LazyLock::new(|| {
    let columns = columns("library_tracks");
    InOrder::new(|order| {
        format!(
            "SELECT {columns} FROM library_tracks WHERE user_id = $1 AND removed_at IS NULL
            ORDER BY {order} LIMIT $2 OFFSET $3"
        )
    })
});

/// Reads the rows in the order of the page and applies the filters to each.
pub(crate) static MANY: LazyLock<InOrder> = LazyLock::new(|| {
    let columns = columns("library_tracks");
    InOrder::new(|order| {
        format!(
            "SELECT {columns} FROM library_tracks WHERE user_id = $1 AND removed_at IS NULL{FILTERS}
            ORDER BY {order} LIMIT $8 OFFSET $9"
        )
    })
});

/// Statements that read only the rows that a filter finds.
pub(crate) struct Few {
    pub(crate) page: InOrder,
    pub(crate) count: String,
}

impl Few {
    /// `ids` finds recordings by an index.
    fn with_ids(ids: &str) -> Self {
        Self::with_rows(&format!(
            "library_tracks WHERE user_id = $1 AND removed_at IS NULL AND recording_id IN ({ids})"
        ))
    }

    /// The inner limit prevents SQLite from reading the whole library in the order of the page.
    fn with_rows(rows: &str) -> Self {
        let (columns, found) = (columns("found"), format!("(SELECT * FROM {rows}{FILTERS} LIMIT 1000000000) AS found"));
        let page = InOrder::new(|order| format!("SELECT {columns} FROM {found} ORDER BY {order} LIMIT $8 OFFSET $9"));
        Self { page, count: format!("SELECT COUNT(*) FROM {found}") }
    }
}

fn own_rows(condition: &str) -> String {
    format!("SELECT recording_id FROM library_tracks WHERE user_id = $1 AND removed_at IS NULL AND {condition}")
}

/// A filter with an index, or with a stored number of tracks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Artist,
    Album,
    Genre,
    Year,
    Decade,
    Words,
}

impl By {
    pub(crate) fn few(self, is_postgres: bool) -> &'static Few {
        match self {
            Self::Artist => &BY_ARTIST,
            Self::Album => &BY_ALBUM,
            Self::Genre => &BY_GENRE,
            Self::Year => &BY_YEAR,
            Self::Decade => &BY_DECADE,
            Self::Words if is_postgres => &BY_WORDS_POSTGRES,
            Self::Words => &BY_WORDS_SQLITE,
        }
    }
}

static BY_ARTIST: LazyLock<Few> = LazyLock::new(|| {
    let artist = own_rows("LOWER(SUBSTR(artist, 1, 100)) = LOWER(SUBSTR($3, 1, 100))");
    let album_artist =
        own_rows("album_artist IS NOT NULL AND LOWER(SUBSTR(album_artist, 1, 100)) = LOWER(SUBSTR($3, 1, 100))");
    Few::with_ids(&format!("{artist} UNION {album_artist}"))
});
static BY_ALBUM: LazyLock<Few> =
    LazyLock::new(|| Few::with_ids(&own_rows(&format!("{ALBUM_NAME} = LOWER(SUBSTR($4, 1, 100))"))));
static BY_GENRE: LazyLock<Few> = LazyLock::new(|| {
    Few::with_ids(&own_rows("genre IS NOT NULL AND LOWER(SUBSTR(genre, 1, 100)) = LOWER(SUBSTR($5, 1, 100))"))
});
static BY_YEAR: LazyLock<Few> = LazyLock::new(|| Few::with_ids(&own_rows("COALESCE(year, 0) = $6")));
static BY_DECADE: LazyLock<Few> =
    LazyLock::new(|| Few::with_ids(&own_rows("COALESCE(year, 0) >= $7 AND COALESCE(year, 0) < $7 + 10")));
static BY_WORDS_SQLITE: LazyLock<Few> = LazyLock::new(|| {
    Few::with_ids(&format!(
        "SELECT r.recording_id FROM library_words CROSS JOIN library_word_rows r ON r.id = library_words.rowid
            AND r.user_id = $1 WHERE {MATCH_SQLITE}"
    ))
});
static BY_WORDS_POSTGRES: LazyLock<Few> = LazyLock::new(|| Few::with_rows(ROWS_BY_WORDS));

/// Entries of the index of words: those of the owner, whose id is a word of each, with words that begin as in the pattern.
const MATCH_SQLITE: &str =
    "library_words MATCH 'owner:' || HEX($1) || ' AND words:(' || REPLACE(SUBSTR($2, 3), '%', '*') || ')'";

/// The owner is a part of each word. PostgreSQL does not know how rare a word is: if the owner were a condition of the
/// inner query, or if its rows were joined, it would read all tracks. OFFSET keeps the queries apart.
const ROWS_BY_WORDS: &str = "(SELECT * FROM library_tracks WHERE removed_at IS NULL AND searchable LIKE ' %'
    AND library_lexemes(user_id, searchable) @@ library_query($1, $2) OFFSET 0) AS by_words WHERE user_id = $1";

pub(crate) const COUNT_GROUP: &str = "SELECT CAST(COALESCE(SUM(n_tracks), 0) AS BIGINT) FROM library_groups
    WHERE user_id = $1 AND kind = $2 AND key = LOWER(SUBSTR($3, 1, 400))";
pub(crate) const COUNT_YEARS: &str = "SELECT CAST(COALESCE(SUM(n_tracks), 0) AS BIGINT) FROM library_groups
    WHERE user_id = $1 AND kind = 'year' AND year >= $2 AND year < $3";
pub(crate) static COUNT_WORDS: LazyLock<Dialects> = LazyLock::new(|| Dialects {
    sqlite: format!("SELECT COUNT(*) FROM library_words WHERE {MATCH_SQLITE}"),
    postgres: format!("SELECT COUNT(*) FROM {ROWS_BY_WORDS}"),
});
