//! Deezer's public catalogue: names and lengths by code, and codes by names. It needs no API key.

use std::time::Duration;

use serde::Deserialize;

use http_client::service::{Rate, Service, SourceError};
use music::Isrc;

pub const DEFAULT_URL: &str = "https://api.deezer.com";

/// The published limit is 50 calls in 5 seconds per IP address. We stay below it, because other clients may share our
/// address.
pub const RATE: Rate = Rate { per_second: 8.0, burst: 8 };

/// The time window of Deezer's quota.
const QUOTA_WINDOW: Duration = Duration::from_secs(5);

/// Search results contain no code, so the best few are fetched one by one.
const MOST_LOOKUPS: usize = 3;

pub struct Deezer(Service);

#[derive(Clone, Debug, PartialEq)]
pub struct DeezerTrack {
    pub id: u64,
    pub isrc: Option<Isrc>,
    pub title: String,
    /// For example "Live at the Quay"; never empty.
    pub version: Option<String>,
    pub artist: String,
    pub album: Option<String>,
    /// Seconds.
    pub duration: Option<f64>,
    pub release_date: Option<String>,
    /// Beats per minute. Deezer sends 0 for unknown.
    pub tempo: Option<f64>,
}

impl Deezer {
    pub fn new(base: &str, rate: Rate) -> anyhow::Result<Self> {
        Ok(Self(Service::new("Deezer", base, rate)?))
    }

    pub async fn by_isrc(&self, isrc: &Isrc) -> Result<Option<DeezerTrack>, SourceError> {
        let body = self.ask(&["track", &format!("isrc:{isrc}")], &[]).await?;
        Ok(body.map(TrackBody::read))
    }

    /// Tracks of this title by this artist; the best few have their codes.
    pub async fn search(&self, title: &str, artist: &str) -> Result<Vec<DeezerTrack>, SourceError> {
        let mut query = format!("track:\"{}\"", unquoted(title));
        if !artist.is_empty() {
            query = format!("artist:\"{}\" {query}", unquoted(artist));
        }
        let results: Option<Data> = self.ask(&["search"], &[("q", &query)]).await?;
        let mut tracks = vec![];
        for result in results.map_or_else(Vec::new, |data| data.data).into_iter().take(MOST_LOOKUPS) {
            let whole: Option<TrackBody> = self.ask(&["track", &result.id.to_string()], &[]).await?;
            tracks.extend(whole.map(TrackBody::read));
        }
        Ok(tracks)
    }

    /// Deezer sends errors with status 200: `{"error": {"code": 800}}` means not found, 4 means too many calls.
    async fn ask<T: serde::de::DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<Option<T>, SourceError> {
        let answer = self.0.get(path, query).await?;
        let error = answer.found::<MaybeError>()?.and_then(|body| body.error);
        match error {
            None => answer.found(),
            Some(error) => match error.code {
                Some(NO_DATA) => Ok(None),
                Some(QUOTA) => Err(self.0.throttled("its request quota is used up", QUOTA_WINDOW)),
                Some(BUSY) => Err(self.0.unavailable("it reports that it is busy".into(), None)),
                _ => Err(answer.refused(error.message.unwrap_or_else(|| "no reason given".into()))),
            },
        }
    }
}

const QUOTA: i64 = 4;
const BUSY: i64 = 700;
const NO_DATA: i64 = 800;

/// Deezer's search syntax has no escape for quotes.
fn unquoted(text: &str) -> String {
    text.replace('"', " ")
}

#[derive(Deserialize)]
struct MaybeError {
    error: Option<ErrorBody>,
}

#[derive(Deserialize)]
struct ErrorBody {
    code: Option<i64>,
    message: Option<String>,
}

#[derive(Deserialize)]
struct Data {
    #[serde(default)]
    data: Vec<Hit>,
}

#[derive(Deserialize)]
struct Hit {
    id: u64,
}

#[derive(Deserialize)]
struct TrackBody {
    id: u64,
    isrc: Option<String>,
    #[serde(default)]
    title: String,
    title_short: Option<String>,
    title_version: Option<String>,
    duration: Option<f64>,
    release_date: Option<String>,
    bpm: Option<f64>,
    artist: Option<Named>,
    album: Option<Titled>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Deserialize)]
struct Titled {
    title: String,
}

impl TrackBody {
    fn read(self) -> DeezerTrack {
        // `title` is `title_short` followed by `title_version`, so only the parts are used.
        let version = self.title_version.filter(|version| !version.trim().is_empty());
        let title = if version.is_some() { self.title_short.unwrap_or(self.title) } else { self.title };
        DeezerTrack {
            id: self.id,
            isrc: self.isrc.and_then(|code| code.parse().ok()),
            title,
            version: version.map(|version| version.trim().trim_matches(['(', ')']).to_owned()),
            artist: self.artist.map_or_else(String::new, |artist| artist.name),
            album: self.album.map(|album| album.title),
            duration: self.duration.filter(|seconds| *seconds > 0.0),
            release_date: self.release_date,
            tempo: self.bpm.filter(|bpm| *bpm > 0.0),
        }
    }
}
