//! The results of the enrichment steps of a track, and the track that they form.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use music::{AudioFeatures, Track};

/// The lyrics, or the fact that there are none: an instrumental is a valid result.
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
    /// Search words in addition to the tags of the track.
    #[serde(default)]
    pub tags: Vec<String>,
    /// `extract v1`, or a model and the version of its prompt.
    pub made_by: String,
}

/// The results so far, each with its date.
#[derive(Clone, Debug, Default)]
pub struct StepResults {
    pub lyrics: Option<(LyricsFound, DateTime<Utc>)>,
    pub features: Option<(FeaturesFound, DateTime<Utc>)>,
    pub description: Option<Description>,
}

/// The track of the file or catalogue with the results of its steps. Every field has its source.
pub fn assembled(mut track: Track, found: StepResults) -> Track {
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

/// Adds the data of a second file: it fills missing fields and replaces none.
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

/// The user's own data over the public data, for that user only: where both have a field, the file's value is used.
pub fn overlaid(own: &Track, public: &Track) -> Track {
    let mut track = public.clone();
    let mut say = |field: &str| {
        if let Some(source) = own.provenance.get(field) {
            track.provenance.insert(field.to_owned(), source.clone());
        }
    };
    ["title", "duration", "lyrics", "audioFeatures"].into_iter().for_each(&mut say);
    if !own.title.is_empty() {
        track.title.clone_from(&own.title);
    }
    if !own.artist.is_empty() {
        track.artist.clone_from(&own.artist);
    }
    if !own.album.is_empty() {
        track.album.clone_from(&own.album);
    }
    track.isrc = own.isrc.clone().or(track.isrc);
    track.track_number = own.track_number.or(track.track_number);
    track.duration = own.duration.or(track.duration);
    track.release_date = own.release_date.clone().or(track.release_date);
    track.lyrics = own.lyrics.clone().or(track.lyrics);
    track.audio_features = own.audio_features.clone().or(track.audio_features);
    track.language = own.language.clone().or(track.language);
    track.explicit = own.explicit.or(track.explicit);
    let more = public.genres.iter().filter(|genre| !own.genres.contains(genre)).cloned();
    track.genres = own.genres.iter().cloned().chain(more).collect();
    let more = public.tags.iter().filter(|tag| !own.tags.contains(tag)).cloned();
    track.tags = own.tags.iter().cloned().chain(more).collect();
    track
}

/// Whether a search could distinguish the user's own data from the public data.
pub fn differs(own: &Track, public: &Track) -> bool {
    let seen = overlaid(own, public);
    let album = |track: &Track| music::identity::fold(&track.album);
    seen.recording_name() != public.recording_name()
        || album(&seen) != album(public)
        || seen.lyrics != public.lyrics
        || seen.audio_features != public.audio_features
        || seen.release_date != public.release_date
        || seen.language != public.language
        || seen.tags.len() != public.tags.len()
        || seen.genres.len() != public.genres.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(json: serde_json::Value) -> Track {
        let mut all = serde_json::json!({"isrc": "XSGUE2690001", "title": "Title", "artist": "Artist", "album": ""});
        all.as_object_mut().unwrap().extend(json.as_object().unwrap().clone());
        serde_json::from_value(all).unwrap()
    }

    #[test]
    fn own_data_replaces_public_data_for_its_owner_and_missing_fields_are_filled() {
        let public = track(serde_json::json!({"album": "Public", "lyrics": "la", "tags": ["rock"], "duration": 100.0}));
        let own = track(serde_json::json!({"album": "Mine", "tags": ["live"]}));
        let seen = overlaid(&own, &public);
        assert_eq!((seen.album.as_str(), seen.lyrics.as_deref(), seen.duration), ("Mine", Some("la"), Some(100.0)));
        assert_eq!(seen.tags, ["live", "rock"]);
    }

    #[test]
    fn a_copy_with_other_capital_letters_does_not_differ() {
        let public = track(serde_json::json!({"album": "Homogenic", "lyrics": "la"}));
        assert!(!differs(&track(serde_json::json!({"title": "TITLE", "album": "homogenic"})), &public));
        assert!(!differs(&track(serde_json::json!({})), &public), "a missing field is no difference");
        for own in [serde_json::json!({"lyrics": "other"}), serde_json::json!({"title": "Title (Live)"})] {
            assert!(differs(&track(own.clone()), &public), "{own}");
        }
    }
}
