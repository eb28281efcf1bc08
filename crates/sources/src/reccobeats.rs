//! ReccoBeats: eleven audio features of a recording, and the code of a Spotify id.

use std::collections::BTreeMap;

use serde::Deserialize;

use http_client::service::{Rate, Service, SourceError};
use music::{AudioFeatures, Isrc};

pub const DEFAULT_URL: &str = "https://api.reccobeats.com";

/// ReccoBeats publishes no limit. One call carries forty tracks, so this rate is enough.
pub const RATE: Rate = Rate { per_second: 4.0, burst: 4 };

/// The maximum number of ids in one call.
pub const BATCH: usize = 40;

pub struct ReccoBeats(Service);

impl ReccoBeats {
    pub fn new(base: &str, rate: Rate) -> anyhow::Result<Self> {
        Ok(Self(Service::new("ReccoBeats", base, rate)?))
    }

    /// The features of the recordings that ReccoBeats has. It omits the others, answers in any order, and may have
    /// several rows for one code; then the most popular row is used.
    pub async fn features(&self, isrcs: &[Isrc]) -> Result<BTreeMap<Isrc, AudioFeatures>, SourceError> {
        let mut found = BTreeMap::new();
        for batch in isrcs.chunks(BATCH) {
            let rows: Vec<FeatureRow> = self.ask("audio-features", batch.iter().map(Isrc::as_str)).await?;
            let mut by_code: BTreeMap<Isrc, Vec<FeatureRow>> = BTreeMap::new();
            for row in rows {
                if let Some(isrc) = row.isrc.as_deref().and_then(|code| code.parse().ok())
                    && batch.contains(&isrc)
                {
                    by_code.entry(isrc).or_default().push(row);
                }
            }
            let popularity = self.popularity_of_rivals(&by_code).await?;
            for (isrc, mut rows) in by_code {
                let rank = |row: &FeatureRow| popularity.get(&row.id).copied().unwrap_or(-1.0);
                rows.sort_by(|a, b| rank(b).total_cmp(&rank(a)).then_with(|| a.id.cmp(&b.id)));
                found.extend(rows.first().map(|row| (isrc, row.features())));
            }
        }
        Ok(found)
    }

    /// The codes of Spotify ids, if ReccoBeats has them.
    pub async fn codes_of_spotify_ids(&self, ids: &[String]) -> Result<BTreeMap<String, Isrc>, SourceError> {
        let mut codes = BTreeMap::new();
        for batch in ids.chunks(BATCH) {
            let rows: Vec<TrackRow> = self.ask("track", batch.iter().map(String::as_str)).await?;
            for row in rows {
                // The response contains ReccoBeats' own ids; the Spotify id is in the link.
                let spotify_id = row.href.as_deref().and_then(|href| href.rsplit('/').next());
                let isrc = row.isrc.as_deref().and_then(|code| code.parse().ok());
                if let (Some(id), Some(isrc)) = (spotify_id, isrc)
                    && batch.iter().any(|asked| asked == id)
                {
                    codes.insert(id.to_owned(), isrc);
                }
            }
        }
        Ok(codes)
    }

    /// Called only if rows conflict: the same code with different numbers.
    async fn popularity_of_rivals(
        &self,
        by_code: &BTreeMap<Isrc, Vec<FeatureRow>>,
    ) -> Result<BTreeMap<String, f64>, SourceError> {
        let differ = |rows: &&Vec<FeatureRow>| rows.iter().any(|row| row.features() != rows[0].features());
        let rivals: Vec<&str> =
            by_code.values().filter(differ).flat_map(|rows| rows.iter().map(|row| row.id.as_str())).collect();
        let mut popularity = BTreeMap::new();
        for batch in rivals.chunks(BATCH) {
            let rows: Vec<TrackRow> = self.ask("track", batch.iter().copied()).await?;
            popularity.extend(rows.into_iter().filter_map(|row| Some((row.id, row.popularity?))));
        }
        Ok(popularity)
    }

    async fn ask<'a, T: serde::de::DeserializeOwned>(
        &self,
        what: &str,
        ids: impl Iterator<Item = &'a str>,
    ) -> Result<Vec<T>, SourceError> {
        let ids = ids.collect::<Vec<_>>().join(",");
        if ids.is_empty() {
            return Ok(vec![]);
        }
        let answer = self.0.get(&["v1", what], &[("ids", &ids)]).await?;
        Ok(answer.found::<Content<T>>()?.map_or_else(Vec::new, |content| content.content))
    }
}

#[derive(Deserialize)]
struct Content<T> {
    #[serde(default = "Vec::new")]
    content: Vec<T>,
}

#[derive(Deserialize)]
struct TrackRow {
    id: String,
    isrc: Option<String>,
    href: Option<String>,
    popularity: Option<f64>,
}

#[derive(Deserialize)]
struct FeatureRow {
    id: String,
    isrc: Option<String>,
    acousticness: Option<f64>,
    danceability: Option<f64>,
    energy: Option<f64>,
    instrumentalness: Option<f64>,
    key: Option<f64>,
    liveness: Option<f64>,
    loudness: Option<f64>,
    mode: Option<f64>,
    speechiness: Option<f64>,
    tempo: Option<f64>,
    valence: Option<f64>,
}

impl FeatureRow {
    /// Real masters may be louder than 0 dB and faster than 250 beats per minute. Such a row is valid; only the value
    /// out of range is removed. A key of -1 means unknown.
    fn features(&self) -> AudioFeatures {
        let share = |value: Option<f64>| value.map(|value| value.clamp(0.0, 1.0));
        let whole = |value: Option<f64>, top: i32| value.map(|n| n as i32).filter(|n| (0..=top).contains(n));
        AudioFeatures {
            acousticness: share(self.acousticness),
            danceability: share(self.danceability),
            energy: share(self.energy),
            instrumentalness: share(self.instrumentalness),
            key: whole(self.key, 11),
            liveness: share(self.liveness),
            loudness: self.loudness.map(|decibels| decibels.clamp(-60.0, 0.0)),
            mode: whole(self.mode, 1),
            speechiness: share(self.speechiness),
            tempo: self.tempo.filter(|tempo| *tempo > 0.0).map(|tempo| tempo.min(250.0)),
            valence: share(self.valence),
        }
    }
}
