//! LRCLIB: the lyrics of a song, or the information that it is an instrumental.

use serde::Deserialize;

use http_client::service::{Rate, Service, SourceError};
use music::{
    identity::{RecordingName, same_length},
    lrc::plain_lyrics,
};

pub const DEFAULT_URL: &str = "https://lrclib.net";

/// LRCLIB publishes no limit; this rate is a moderate load.
pub const RATE: Rate = Rate { per_second: 20.0, burst: 10 };

/// The service refuses lengths outside this range.
const LENGTHS: std::ops::RangeInclusive<f64> = 1.0..=3600.0;

pub struct Lrclib(Service);

/// What we know about the song.
#[derive(Clone, Copy, Debug)]
pub struct Song<'a> {
    pub title: &'a str,
    pub artist: &'a str,
    pub album: Option<&'a str>,
    /// Seconds.
    pub duration: Option<f64>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Lyrics {
    /// Plain words, one line each.
    Words(String),
    /// The song has no lyrics. This is a result, not a miss.
    Instrumental,
}

impl Lrclib {
    pub fn new(base: &str, rate: Rate) -> anyhow::Result<Self> {
        Ok(Self(Service::new("LRCLIB", base, rate)?))
    }

    /// LRCLIB matches exactly, so the queries get less strict: with the album, without it, without featured artists,
    /// and last a search whose results are checked here.
    pub async fn lyrics(&self, song: Song<'_>) -> Result<Option<Lyrics>, SourceError> {
        for question in questions(song) {
            let answer = self.0.get(&["api", "get"], &question.parameters()).await?;
            // LRCLIB refuses some unusual queries, for example a title of symbols only; the next query may succeed.
            if answer.status.as_u16() == 400 {
                continue;
            }
            if let Some(lyrics) = answer.found::<Record>()?.and_then(Record::lyrics) {
                return Ok(Some(lyrics));
            }
        }
        self.search(song).await
    }

    async fn search(&self, song: Song<'_>) -> Result<Option<Lyrics>, SourceError> {
        let (title, artist) = (without_featured(song.title), first_artist(song.artist));
        let answer = self.0.get(&["api", "search"], &[("track_name", title), ("artist_name", artist)]).await?;
        let records: Vec<Record> = answer.found()?.unwrap_or_default();
        let wanted = RecordingName::new(song.title, None, song.artist);
        let is_it = |record: &Record| {
            let name = RecordingName::new(&record.track_name, None, &record.artist_name);
            name == wanted && same_length(record.duration, song.duration)
        };
        Ok(records.into_iter().filter(is_it).find_map(Record::lyrics))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    #[serde(default)]
    track_name: String,
    #[serde(default)]
    artist_name: String,
    duration: Option<f64>,
    #[serde(default)]
    instrumental: bool,
    plain_lyrics: Option<String>,
    synced_lyrics: Option<String>,
}

impl Record {
    /// `None` for a record without content.
    fn lyrics(self) -> Option<Lyrics> {
        if self.instrumental {
            return Some(Lyrics::Instrumental);
        }
        let words = [self.plain_lyrics, self.synced_lyrics].into_iter().flatten();
        words.filter_map(|text| plain_lyrics(&text)).next().map(Lyrics::Words)
    }
}

#[derive(Clone, PartialEq)]
struct Question<'a> {
    title: &'a str,
    artist: &'a str,
    album: Option<&'a str>,
    duration: Option<String>,
}

impl Question<'_> {
    fn parameters(&self) -> Vec<(&str, &str)> {
        let mut parameters = vec![("track_name", self.title), ("artist_name", self.artist)];
        parameters.extend(self.album.map(|album| ("album_name", album)));
        parameters.extend(self.duration.as_deref().map(|duration| ("duration", duration)));
        parameters
    }
}

/// The queries from strict to loose, without repetitions.
fn questions(song: Song<'_>) -> Vec<Question<'_>> {
    let length = song.duration.filter(|seconds| LENGTHS.contains(seconds));
    let duration = length.map(|seconds| (seconds.round() as u64).to_string());
    let album = song.album.filter(|album| !album.trim().is_empty());
    let full = Question { title: song.title, artist: song.artist, album, duration };
    let without_album = Question { album: None, ..full.clone() };
    let (title, artist) = (without_featured(song.title), first_artist(song.artist));
    let bare = Question { title, artist, ..without_album.clone() };
    let mut questions = vec![full];
    for question in [without_album, bare] {
        if !questions.contains(&question) {
            questions.push(question);
        }
    }
    questions
}

/// The title without featured artists: `Tide (feat. Ann)` and `Tide ft. Ann` become `Tide`.
fn without_featured(title: &str) -> &str {
    const MARKS: [&str; 8] = ["(feat", "[feat", "(ft", "[ft", "(with ", " feat. ", " ft. ", " featuring "];
    let lower = title.to_ascii_lowercase();
    let cut = MARKS.iter().filter_map(|mark| lower.find(mark)).filter(|at| *at > 0).min();
    cut.map_or(title, |at| title[..at].trim_end())
}

fn first_artist(artist: &str) -> &str {
    let first = without_featured(artist).split([',', ';']).next().unwrap_or(artist).trim();
    if first.is_empty() { artist } else { first }
}
