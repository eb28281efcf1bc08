//! The scope of a caller, and the documents that the caller's names refer to.

use std::collections::{BTreeMap, BTreeSet};

use engine::UserId;
use sqlx::types::Json;

use super::{Store, StoreError};
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

macro_rules! visible_sqlite {
    ($condition:literal) => {
        concat!(
            "SELECT d.id, d.track FROM documents d WHERE d.track IS NOT NULL AND ",
            $condition,
            " AND EXISTS (SELECT 1 FROM json_each(d.readers) r WHERE r.value IN (SELECT value FROM json_each($2)))
              AND NOT EXISTS (SELECT 1 FROM json_each(d.readers) r WHERE r.value = $3) ORDER BY d.id"
        )
    };
}

macro_rules! visible_postgres {
    ($condition:literal) => {
        concat!(
            "SELECT d.id, d.track FROM documents d WHERE d.track IS NOT NULL AND ",
            $condition,
            " AND EXISTS (SELECT 1 FROM jsonb_array_elements_text(d.readers) r
                    WHERE r IN (SELECT jsonb_array_elements_text($2)))
              AND NOT EXISTS (SELECT 1 FROM jsonb_array_elements_text(d.readers) r WHERE r = $3) ORDER BY d.id"
        )
    };
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
        const BY_ID_SQLITE: &str = visible_sqlite!("d.recording_id IN (SELECT value FROM json_each($1))");
        const BY_ID_POSTGRES: &str = visible_postgres!("d.recording_id IN (SELECT jsonb_array_elements_text($1))");
        const BY_ISRC_SQLITE: &str = visible_sqlite!(
            "d.recording_id IN (SELECT recording_id FROM recording_names
                    WHERE kind = 'isrc' AND value IN (SELECT value FROM json_each($1))
                UNION SELECT recording_id FROM library_tracks WHERE isrc IN (SELECT value FROM json_each($1)))"
        );
        const BY_ISRC_POSTGRES: &str = visible_postgres!(
            "d.recording_id IN (SELECT recording_id FROM recording_names
                    WHERE kind = 'isrc' AND value IN (SELECT jsonb_array_elements_text($1))
                UNION SELECT recording_id FROM library_tracks WHERE isrc IN (SELECT jsonb_array_elements_text($1)))"
        );
        let (mut codes, mut ids): (BTreeSet<&Isrc>, BTreeSet<TrackId>) = Default::default();
        for name in names {
            match name {
                TrackRef::Isrc(isrc) => _ = codes.insert(isrc),
                TrackRef::Id(id) => _ = ids.insert(*id),
            }
        }
        let mut visible: BTreeMap<TrackRef, Vec<Visible>> = BTreeMap::new();
        if !ids.is_empty() {
            let sql = self.in_dialect(BY_ID_SQLITE, BY_ID_POSTGRES);
            for found in self.look_up(sql, Json(&ids), scope).await? {
                visible.entry(TrackRef::Id(found.track.id)).or_default().push(found);
            }
        }
        if !codes.is_empty() {
            let sql = self.in_dialect(BY_ISRC_SQLITE, BY_ISRC_POSTGRES);
            for found in self.look_up(sql, Json(&codes), scope).await? {
                if let Some(isrc) = found.track.isrc.clone().filter(|isrc| codes.contains(isrc)) {
                    visible.entry(TrackRef::Isrc(isrc)).or_default().push(found);
                }
            }
        }
        Ok(visible)
    }

    /// Tracks in scope with this title by this artist, in any version. The artist may be empty.
    pub async fn visible_named(&self, scope: &Scope, title: &str, artist: &str) -> Result<Vec<Track>, StoreError> {
        const SQLITE: &str = concat!(
            visible_sqlite!(
                "d.name >= json_extract($1, '$[0]') AND d.name < json_extract($1, '$[1]')
                 AND (json_extract($1, '$[2]') = ''
                    OR substr(d.name, length(d.name) - length(json_extract($1, '$[2]')) + 1) = json_extract($1, '$[2]'))"
            ),
            " LIMIT 50"
        );
        const POSTGRES: &str = concat!(
            visible_postgres!(
                "d.name COLLATE \"C\" >= ($1::jsonb ->> 0) AND d.name COLLATE \"C\" < ($1::jsonb ->> 1)
                 AND (($1::jsonb ->> 2) = ''
                    OR substr(d.name, length(d.name) - length($1::jsonb ->> 2) + 1) = ($1::jsonb ->> 2))"
            ),
            " LIMIT 50"
        );
        let name = music::identity::RecordingName::new(title, None, artist);
        // A name is `title|version|artist`, and `}` is the character after `|`.
        let (from, to) = (format!("{}|", name.title()), format!("{}}}", name.title()));
        let ending = if name.artist().is_empty() { String::new() } else { format!("|{}", name.artist()) };
        let sql = self.in_dialect(SQLITE, POSTGRES);
        let found = self.look_up(sql, Json([from, to, ending]), scope).await?;
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
        const SQLITE: &str = "SELECT COUNT(*) FROM documents d WHERE d.track IS NOT NULL
            AND EXISTS (SELECT 1 FROM json_each(d.readers) r WHERE r.value IN (SELECT value FROM json_each($1)))
            AND NOT EXISTS (SELECT 1 FROM json_each(d.readers) r WHERE r.value = $2) AND d.revision > $3";
        const POSTGRES: &str = "SELECT COUNT(*) FROM documents d WHERE d.track IS NOT NULL
            AND EXISTS (SELECT 1 FROM jsonb_array_elements_text(d.readers) r
                WHERE r IN (SELECT jsonb_array_elements_text($1)))
            AND NOT EXISTS (SELECT 1 FROM jsonb_array_elements_text(d.readers) r WHERE r = $2)
            AND d.revision > $3";
        let Scope::Marked { any, none } = scope else { return Ok(0) };
        let (n,): (i64,) =
            self.read(self.in_dialect(SQLITE, POSTGRES)).bind(Json(any)).bind(none).bind(after).fetch_one().await?;
        Ok(n.unsigned_abs())
    }
}
