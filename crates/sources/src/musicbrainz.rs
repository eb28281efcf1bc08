//! MusicBrainz: recordings by code or name, with their tags.

use serde::Deserialize;

use http_client::service::{Rate, Service, SourceError};
use music::Isrc;

pub const DEFAULT_URL: &str = "https://musicbrainz.org";

/// The published limit.
pub const RATE: Rate = Rate { per_second: 1.0, burst: 1 };

pub struct MusicBrainz(Service);

/// A recording in MusicBrainz.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    pub id: String,
    pub title: String,
    /// "live, 1999-07-14", "demo"; empty for the original recording.
    pub disambiguation: String,
    pub artist: String,
    /// Seconds.
    pub duration: Option<f64>,
    /// Empty if the request did not include them.
    pub isrcs: Vec<Isrc>,
    /// Tags by users, most votes first.
    pub tags: Vec<String>,
}

impl MusicBrainz {
    pub fn new(base: &str, rate: Rate) -> anyhow::Result<Self> {
        Ok(Self(Service::new("MusicBrainz", base, rate)?))
    }

    /// The recordings with this code: usually one, none for codes that MusicBrainz does not contain.
    pub async fn by_isrc(&self, isrc: &Isrc) -> Result<Vec<Recording>, SourceError> {
        let inc = [("fmt", "json"), ("inc", "artist-credits isrcs tags")];
        let answer = self.0.get(&["ws", "2", "isrc", isrc.as_str()], &inc).await?;
        Ok(answer.found::<Recordings>()?.map_or_else(Vec::new, Recordings::read))
    }

    /// Recordings of this title by this artist.
    pub async fn search(&self, title: &str, artist: &str) -> Result<Vec<Recording>, SourceError> {
        let mut query = format!("recording:{}", quoted(title));
        if !artist.is_empty() {
            query += &format!(" AND artist:{}", quoted(artist));
        }
        let parameters = [("fmt", "json"), ("limit", "25"), ("query", &query)];
        let answer = self.0.get(&["ws", "2", "recording"], &parameters).await?;
        Ok(answer.found::<Recordings>()?.map_or_else(Vec::new, Recordings::read))
    }
}

/// A phrase in MusicBrainz search syntax.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[derive(Deserialize)]
struct Recordings {
    #[serde(default)]
    recordings: Vec<RecordingBody>,
}

impl Recordings {
    fn read(self) -> Vec<Recording> {
        self.recordings.into_iter().filter(|body| body.video != Some(true)).map(RecordingBody::read).collect()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct RecordingBody {
    id: String,
    #[serde(default)]
    title: String,
    disambiguation: Option<String>,
    /// Milliseconds.
    length: Option<f64>,
    video: Option<bool>,
    #[serde(default)]
    artist_credit: Vec<Credit>,
    #[serde(default)]
    isrcs: Vec<String>,
    #[serde(default)]
    tags: Vec<Tag>,
    #[serde(default)]
    genres: Vec<Tag>,
}

#[derive(Deserialize)]
struct Credit {
    #[serde(default)]
    name: String,
    #[serde(default)]
    joinphrase: String,
}

#[derive(Deserialize)]
struct Tag {
    name: String,
    #[serde(default)]
    count: i64,
}

impl RecordingBody {
    fn read(self) -> Recording {
        let mut tags: Vec<Tag> = self.genres.into_iter().chain(self.tags).filter(|tag| tag.count >= 0).collect();
        tags.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
        tags.dedup_by(|a, b| a.name == b.name);
        Recording {
            id: self.id,
            title: self.title,
            disambiguation: self.disambiguation.unwrap_or_default(),
            artist: self.artist_credit.iter().map(|credit| format!("{}{}", credit.name, credit.joinphrase)).collect(),
            duration: self.length.map(|ms| ms / 1000.0).filter(|seconds| *seconds > 0.0),
            isrcs: self.isrcs.iter().filter_map(|code| code.parse().ok()).collect(),
            tags: tags.into_iter().map(|tag| tag.name).collect(),
        }
    }
}
