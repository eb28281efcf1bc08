//! The scope of a caller, and the documents that the caller's names refer to.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use engine::UserId;
use sqlx::types::Json;

use super::{
    Store, StoreError,
    db::{Dialects, Sql},
};
use music::{DocumentId, Isrc, Track, TrackId, TrackRef, scope::Scope};

/// A document that the caller may read.
#[derive(Clone, Debug)]
pub struct Visible {
    pub document: DocumentId,
    pub track: Track,
}

struct VisibleRow {
    id: String,
    track: Json<Track>,
}
from_row!(VisibleRow { id, track });

/// $2 are marks of which a reader has one, $3 is a mark that no reader has.
fn visible(condition: &str) -> String {
    format!(
        "SELECT d.id, d.track FROM documents d WHERE d.track IS NOT NULL AND {condition}
            AND EXISTS (SELECT 1 FROM json_each(d.readers) r WHERE r.value IN (SELECT value FROM json_each($2)))
            AND NOT EXISTS (SELECT 1 FROM json_each(d.readers) r WHERE r.value = $3) ORDER BY d.id"
    )
}

static BY_ID: Sql = Sql::new(|| visible("d.recording_id IN (SELECT value FROM json_each($1))"));
static BY_ISRC: Sql = Sql::new(|| {
    visible(
        "d.recording_id IN (SELECT recording_id FROM recording_names
                WHERE kind = 'isrc' AND value IN (SELECT value FROM json_each($1))
            UNION SELECT recording_id FROM library_tracks WHERE isrc IN (SELECT value FROM json_each($1)))",
    )
});

/// SQLite compares the bytes of texts. PostgreSQL does so in this collation, which is that of the index.
static BY_NAME: LazyLock<Dialects> =
    LazyLock::new(|| Dialects { sqlite: by_name("d.name"), postgres: by_name("d.name COLLATE \"C\"") });

fn by_name(name: &str) -> String {
    let named = visible(&format!(
        "{name} >= ($1 ->> 0) AND {name} < ($1 ->> 1) AND (($1 ->> 2) = ''
            OR substr(d.name, length(d.name) - length($1 ->> 2) + 1) = ($1 ->> 2))"
    ));
    named + " LIMIT 50"
}

impl Store {
    /// The scope of a user. `shared`: tracks that a catalogue confirmed are visible to every user of the installation.
    pub async fn scope_of(&self, owner: &UserId, shared: bool) -> Result<Scope, StoreError> {
        const SQL: &str = "SELECT removed_at FROM sample_removals WHERE user_id = $1";
        let removed: Option<(chrono::DateTime<chrono::Utc>,)> =
            self.read(SQL).bind(owner.as_str()).fetch_optional().await?;
        Ok(Scope::of(owner.as_str(), removed.is_none(), shared))
    }

    /// The documents in scope that these names refer to, by name. A code may refer to several recordings.
    pub async fn visible(
        &self,
        scope: &Scope,
        names: &[TrackRef],
    ) -> Result<BTreeMap<TrackRef, Vec<Visible>>, StoreError> {
        let (mut codes, mut ids): (BTreeSet<&Isrc>, BTreeSet<TrackId>) = Default::default();
        for name in names {
            match name {
                TrackRef::Isrc(isrc) => _ = codes.insert(isrc),
                TrackRef::Id(id) => _ = ids.insert(*id),
            }
        }
        let mut visible: BTreeMap<TrackRef, Vec<Visible>> = BTreeMap::new();
        if !ids.is_empty() {
            for found in self.look_up(&BY_ID, Json(&ids), scope).await? {
                visible.entry(TrackRef::Id(found.track.id)).or_default().push(found);
            }
        }
        if !codes.is_empty() {
            for found in self.look_up(&BY_ISRC, Json(&codes), scope).await? {
                if let Some(isrc) = found.track.isrc.clone().filter(|isrc| codes.contains(isrc)) {
                    visible.entry(TrackRef::Isrc(isrc)).or_default().push(found);
                }
            }
        }
        Ok(visible)
    }

    /// Tracks in scope with this title by this artist, in any version. The artist may be empty.
    pub async fn visible_named(&self, scope: &Scope, title: &str, artist: &str) -> Result<Vec<Track>, StoreError> {
        let name = music::identity::RecordingName::new(title, None, artist);
        // A name is `title|version|artist`, and `}` is the character after `|`.
        let (from, to) = (format!("{}|", name.title()), format!("{}}}", name.title()));
        let ending = if name.artist().is_empty() { String::new() } else { format!("|{}", name.artist()) };
        let found = self.look_up(self.text_of(&BY_NAME), Json([from, to, ending]), scope).await?;
        Ok(found.into_iter().map(|found| found.track).collect())
    }

    async fn look_up<T>(&self, sql: &'static str, asked: Json<T>, scope: &Scope) -> Result<Vec<Visible>, StoreError>
    where
        T: serde::Serialize + Send + Sync,
    {
        let Scope::Marked { any, none } = scope else { return Ok(vec![]) };
        let asked = serde_json::to_value(&asked.0).map_err(|error| sqlx::Error::Encode(error.into()))?;
        let rows: Vec<VisibleRow> = self.read(sql).bind(Json(asked)).bind(Json(any)).bind(none).fetch_all().await?;
        let visible = rows.into_iter().map(|row| {
            let document = row.id.parse().map_err(|error| sqlx::Error::Decode(Box::new(error)))?;
            Ok(Visible { document, track: row.track.0 })
        });
        visible.collect()
    }

    /// How many documents in the scope changed after a revision.
    pub async fn n_visible(&self, scope: &Scope, after: i64) -> Result<u64, StoreError> {
        const SQL: &str = "SELECT COUNT(*) FROM documents d WHERE d.track IS NOT NULL
            AND EXISTS (SELECT 1 FROM json_each(d.readers) r WHERE r.value IN (SELECT value FROM json_each($1)))
            AND NOT EXISTS (SELECT 1 FROM json_each(d.readers) r WHERE r.value = $2) AND d.revision > $3";
        let Scope::Marked { any, none } = scope else { return Ok(0) };
        let (n,): (i64,) = self.read(SQL).bind(Json(any)).bind(none).bind(after).fetch_one().await?;
        Ok(n.unsigned_abs())
    }
}
