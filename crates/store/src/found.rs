//! What the steps found about a track, and the track they make together.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use music::{AudioFeatures, Track};

/// The words, or the knowledge that there are none: an instrumental is an answer, not a failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "camelCase")]
pub enum LyricsFound {
    Words { lyrics: String },
    Instrumental,
    NotFound,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FeaturesFound {
    pub features: Option<AudioFeatures>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Description {
    pub short_description: String,
    pub interpretation: String,
    /// Words to find it by, beside those that came with it.
    #[serde(default)]
    pub tags: Vec<String>,
    /// `extract v1`, or a model and the version of its prompt.
    pub made_by: String,
}

/// The results there are so far, each with its day.
#[derive(Clone, Debug, Default)]
pub struct Found {
    pub lyrics: Option<(LyricsFound, DateTime<Utc>)>,
    pub features: Option<(FeaturesFound, DateTime<Utc>)>,
    pub description: Option<Description>,
}

/// The track as the file or the catalogue gave it, with what the steps found. Every field says where it came from.
pub fn assembled(mut track: Track, found: Found) -> Track {
    let mut say = |field: &str, source: String| _ = track.provenance.insert(field.to_owned(), source);
    if let Some((lyrics, at)) = found.lyrics {
        let source = format!("LRCLIB {}", at.format("%Y-%m-%d"));
        match lyrics {
            LyricsFound::Words { lyrics } => {
                track.lyrics = Some(lyrics);
                say("lyrics", source);
            }
            LyricsFound::Instrumental => say("lyrics", format!("{source}: instrumental")),
            LyricsFound::NotFound => say("lyrics", format!("{source}: not found")),
        }
    }
    if let Some((FeaturesFound { features }, at)) = found.features {
        let source = format!("ReccoBeats {}", at.format("%Y-%m-%d"));
        match features {
            Some(features) => {
                track.audio_features = Some(features);
                say("audioFeatures", source);
            }
            None => say("audioFeatures", format!("{source}: not found")),
        }
    }
    if let Some(description) = found.description {
        say("shortDescription", description.made_by.clone());
        say("interpretation", description.made_by.clone());
        if !description.tags.is_empty() {
            say("tags", description.made_by);
        }
        track.short_description = Some(description.short_description);
        track.interpretation = Some(description.interpretation);
        let new = description.tags.into_iter().filter(|tag| !track.tags.contains(tag)).collect::<Vec<_>>();
        track.tags.extend(new);
    }
    track
}

/// What a second file adds to what is known: gaps are filled, nothing is replaced.
pub fn with_gaps_filled(mut known: Track, more: &Track) -> Track {
    let said = |field: &str| more.provenance.get(field).cloned();
    let mut filled = vec![];
    if known.lyrics.is_none() && more.lyrics.is_some() {
        known.lyrics = more.lyrics.clone();
        filled.push("lyrics");
    }
    if known.audio_features.is_none() && more.audio_features.is_some() {
        known.audio_features = more.audio_features.clone();
        filled.push("audioFeatures");
    }
    if known.duration.is_none() && more.duration.is_some() {
        known.duration = more.duration;
        filled.push("duration");
    }
    if known.album.is_empty() && !more.album.is_empty() {
        known.album = more.album.clone();
        filled.push("album");
    }
    known.release_date = known.release_date.or_else(|| more.release_date.clone());
    known.artwork_url = known.artwork_url.or_else(|| more.artwork_url.clone());
    known.tidal_id = known.tidal_id.or_else(|| more.tidal_id.clone());
    if known.tags.is_empty() {
        known.tags = more.tags.clone();
    }
    for field in filled {
        if let Some(source) = said(field) {
            known.provenance.insert(field.to_owned(), source);
        }
    }
    known
}
