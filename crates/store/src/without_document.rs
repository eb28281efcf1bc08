//! Library tracks without a document: they were added before enrichment existed.

use sqlx::types::Json;

use super::{Priority, Store, StoreError, documents::project, plan::NewDocument, schedule::schedule};
use music::Track;

struct TrackRow {
    user_id: String,
    recording_id: String,
    isrc: Option<String>,
    tidal_id: Option<String>,
    title: String,
    artist: String,
    album: String,
    duration: Option<f64>,
    own: Option<Json<Track>>,
    catalogued: Option<Json<Track>>,
}
from_row!(TrackRow { user_id, recording_id, isrc, tidal_id, title, artist, album, duration, own, catalogued });

impl TrackRow {
    /// The data of a catalogue is public; all other data belongs to the owner.
    fn document(self) -> Result<NewDocument, sqlx::Error> {
        if let Some(Json(track)) = self.catalogued {
            return Ok(NewDocument::public(track));
        }
        let track = match self.own {
            Some(Json(track)) => track,
            None => {
                let decode = |error: Box<dyn std::error::Error + Send + Sync>| sqlx::Error::Decode(error);
                let id = self.recording_id.parse().map_err(|error| decode(Box::new(error)))?;
                let isrc = self.isrc.map(|isrc| isrc.parse()).transpose().map_err(|error| decode(Box::new(error)))?;
                let named = Track::with_id(id, self.title, self.artist, self.album);
                Track { isrc, duration: self.duration, tidal_id: self.tidal_id, ..named }
            }
        };
        Ok(NewDocument { owner: self.user_id, is_overlay: false, track })
    }
}

impl Store {
    /// Schedules tracks of libraries and saved albums that have no document. Returns how many there were.
    pub async fn schedule_tracks_without_document(&self, limit: u32) -> Result<usize, StoreError> {
        const TRACKS: &str = "SELECT l.user_id, l.recording_id, l.isrc, l.tidal_id, l.title, l.artist, l.album,
                l.duration, l.own, c.track AS catalogued
            FROM library_tracks l LEFT JOIN catalogue_tracks c ON c.isrc = l.isrc
            WHERE l.removed_at IS NULL AND NOT EXISTS (SELECT 1 FROM ingested_tracks i
                    WHERE i.recording_id = l.recording_id AND i.owner IN ('', l.user_id))
                AND NOT EXISTS (SELECT 1 FROM documents d
                    WHERE d.recording_id = l.recording_id AND d.owner IN ('', l.user_id) AND d.track IS NOT NULL)
            ORDER BY l.recording_id LIMIT $1";
        const ON_ALBUMS: &str = "SELECT c.track FROM library_album_tracks t JOIN catalogue_tracks c ON c.isrc = t.isrc
            JOIN library_albums a ON a.user_id = t.user_id AND a.album_id = t.album_id AND a.removed_at IS NULL
            WHERE NOT EXISTS (SELECT 1 FROM ingested_tracks i WHERE i.recording_id = t.recording_id AND i.owner = '')
                AND NOT EXISTS (SELECT 1 FROM documents d
                    WHERE d.recording_id = t.recording_id AND d.owner = '' AND d.track IS NOT NULL) LIMIT $1";
        let rows: Vec<TrackRow> = self.read(TRACKS).bind(i64::from(limit)).fetch_all().await?;
        let mut documents = rows.into_iter().map(TrackRow::document).collect::<Result<Vec<_>, _>>()?;
        let rows: Vec<(Json<Track>,)> = self.read(ON_ALBUMS).bind(i64::from(limit)).fetch_all().await?;
        documents.extend(rows.into_iter().map(|(Json(track),)| NewDocument::public(track)));
        if documents.is_empty() {
            return Ok(0);
        }
        let mut tx = self.begin().await?;
        schedule(&mut tx, &documents, Priority::Import, "").await?;
        let recordings: Vec<_> = documents.iter().map(|document| document.track.id.to_string()).collect();
        project(&mut tx, &recordings).await?;
        tx.commit().await?;
        Ok(documents.len())
    }
}
