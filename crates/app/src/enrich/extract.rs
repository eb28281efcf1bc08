//! A description without a model: tags, audio features and the first lines of the lyrics, marked as an extract.

use music::{AudioFeatures, Track};
use store::Description;

/// Increase this with every change of the texts below: extracts of older versions are then repeated.
pub(super) const VERSION: u32 = 1;

const FIRST_LINES: usize = 4;

pub(super) fn extract(track: &Track) -> Description {
    let sound = track.audio_features.as_ref().map(sound).unwrap_or_default();
    let mut facts = vec![];
    if !track.tags.is_empty() {
        facts.push(track.tags.join(", "));
    }
    facts.extend((!sound.is_empty()).then(|| sound.join(", ")));
    facts.push(words(track));
    let short = sentence(&facts.join("; "));
    let mut whole = vec![format!("From its tags, its sound and its words, without an interpretation: {short}")];
    if let Some(lyrics) = &track.lyrics {
        let lines = lyrics.lines().map(str::trim).filter(|line| !line.is_empty());
        let first: Vec<&str> = lines.take(FIRST_LINES).collect();
        whole.push(format!("It begins: {}.", first.join(" / ")));
    }
    Description {
        short_description: short,
        interpretation: whole.join(" "),
        tags: vec![],
        made_by: format!("extract v{VERSION}, no model"),
    }
}

fn words(track: &Track) -> String {
    let is_instrumental = track.provenance.get("lyrics").is_some_and(|source| source.ends_with(": instrumental"));
    match &track.lyrics {
        Some(lyrics) => {
            let first = lyrics.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
            format!("sung, beginning “{first}”")
        }
        None if is_instrumental => "instrumental".into(),
        None => "no lyrics known".into(),
    }
}

/// The audio features in words. Values in the middle of their scale are left out.
fn sound(features: &AudioFeatures) -> Vec<String> {
    let scales = [
        (features.energy, "calm", "energetic"),
        (features.valence, "sad or dark", "cheerful"),
        (features.danceability, "", "danceable"),
        (features.acousticness, "electric or electronic", "acoustic"),
        (features.instrumentalness, "", "mostly without voice"),
        (features.speechiness, "", "spoken"),
        (features.liveness, "", "live before an audience"),
    ];
    let mut words: Vec<String> = scales
        .into_iter()
        .filter_map(|(value, low, high)| match value? {
            value if value >= 0.66 => Some(high),
            value if value <= 0.33 => Some(low),
            _ => None,
        })
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    if let Some(tempo) = features.tempo {
        let pace = match tempo {
            ..90.0 => "slow",
            90.0..130.0 => "at a walking pace",
            _ => "fast",
        };
        words.push(format!("{pace} ({tempo:.0} beats a minute)"));
    }
    words.extend(features.mode.map(|mode| if mode == 1 { "in a major key" } else { "in a minor key" }.to_owned()));
    words
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let capital = letters.next().map(|first| first.to_uppercase().collect::<String>()).unwrap_or_default();
    format!("{capital}{}.", letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extract_contains_the_known_data_and_is_marked_as_no_interpretation() {
        let named = |title: &str| {
            Track::named("XSGUE2600001".parse().unwrap(), title.into(), "Ivy Marlow".into(), "Quay".into())
        };
        let sung = Track {
            lyrics: Some("\nLow tide\nagain".into()),
            tags: vec!["folk".into()],
            audio_features: Some(AudioFeatures {
                energy: Some(0.1),
                tempo: Some(72.4),
                mode: Some(0),
                valence: Some(0.5),
                ..AudioFeatures::default()
            }),
            ..named("Low Tide")
        };
        let said = extract(&sung);
        assert_eq!(
            said.short_description,
            "Folk; calm, slow (72 beats a minute), in a minor key; sung, beginning “Low tide”."
        );
        assert!(said.interpretation.contains("without an interpretation") && said.made_by.contains("no model"));
        assert!(said.interpretation.ends_with("It begins: Low tide / again."));
        assert_eq!(extract(&named("Low Tide")).short_description, "No lyrics known.");
        let mut hummed = named("Hum");
        hummed.provenance.insert("lyrics".into(), "LRCLIB 2026-11-15: instrumental".into());
        assert_eq!(extract(&hummed).short_description, "Instrumental.");
    }
}
