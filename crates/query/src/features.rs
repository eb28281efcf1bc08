//! Audio features: ranges to filter by, and the words of a query that speak about sound.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use crate::words::words;
use music::AudioFeatures;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    Acousticness,
    Danceability,
    Energy,
    Instrumentalness,
    Key,
    Liveness,
    Loudness,
    Mode,
    Speechiness,
    Tempo,
    Valence,
}

/// Both ends are included; a track whose feature is unknown is outside of every range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeatureRange {
    pub feature: Feature,
    pub min: Option<f64>,
    pub max: Option<f64>,
}

impl Feature {
    pub const ALL: [Self; 11] = [
        Self::Acousticness,
        Self::Danceability,
        Self::Energy,
        Self::Instrumentalness,
        Self::Key,
        Self::Liveness,
        Self::Loudness,
        Self::Mode,
        Self::Speechiness,
        Self::Tempo,
        Self::Valence,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Acousticness => "acousticness",
            Self::Danceability => "danceability",
            Self::Energy => "energy",
            Self::Instrumentalness => "instrumentalness",
            Self::Key => "key",
            Self::Liveness => "liveness",
            Self::Loudness => "loudness",
            Self::Mode => "mode",
            Self::Speechiness => "speechiness",
            Self::Tempo => "tempo",
            Self::Valence => "valence",
        }
    }

    pub fn of(self, features: &AudioFeatures) -> Option<f64> {
        match self {
            Self::Acousticness => features.acousticness,
            Self::Danceability => features.danceability,
            Self::Energy => features.energy,
            Self::Instrumentalness => features.instrumentalness,
            Self::Key => features.key.map(f64::from),
            Self::Liveness => features.liveness,
            Self::Loudness => features.loudness,
            Self::Mode => features.mode.map(f64::from),
            Self::Speechiness => features.speechiness,
            Self::Tempo => features.tempo,
            Self::Valence => features.valence,
        }
    }
}

/// A wish about sound: this feature should be high (or low).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoundWish {
    feature: Feature,
    side: Side,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Side {
    Low,
    High,
}

/// What a query says about sound, if anything.
pub fn sound_wishes(query: &str) -> Vec<SoundWish> {
    static BY_TERM: LazyLock<HashMap<String, SoundWish>> = LazyLock::new(|| {
        let spelled = |&(spellings, feature, side): &(&'static str, Feature, Side)| {
            words(spellings).into_iter().map(move |word| (word.term, SoundWish { feature, side }))
        };
        SPOKEN.iter().flat_map(spelled).collect()
    });
    static DENYING: LazyLock<HashSet<String>> =
        LazyLock::new(|| words(DENYING_WORDS).into_iter().map(|word| word.term).collect());
    let said = words(query);
    let mut wishes: Vec<SoundWish> = Vec::new();
    for (at, word) in said.iter().enumerate() {
        let Some(wish) = BY_TERM.get(&word.term) else { continue };
        let is_denied = said[at.saturating_sub(2)..at].iter().any(|before| DENYING.contains(&before.term));
        if !is_denied && wishes.iter().all(|other| other.feature != wish.feature) {
            wishes.push(*wish);
        }
    }
    wishes
}

/// "Hopeful rather than sad", "not too loud", "nicht so traurig": what comes right after is what nobody wants.
const DENYING_WORDS: &str = "not no never without than less nicht ohne kein keine sans pas sin";

use Feature::{Acousticness, Danceability, Energy, Instrumentalness, Liveness, Speechiness, Tempo, Valence};
use Side::{High, Low};

const SPOKEN: &[(&str, Feature, Side)] = &[
    (
        "calm calmer calming peaceful quiet relaxing soft soothing gentle mellow sleep sleepy lullaby ambient",
        Energy,
        Low,
    ),
    ("energetic energy powerful intense loud aggressive wild workout driving pumping anthem explosive", Energy, High),
    ("happy joy joyful joyous cheerful upbeat euphoric bright sunny playful fun uplifting", Valence, High),
    ("sad sadness melancholy melancholic gloomy dark depressing sorrow lonely heartbreak mourning grief", Valence, Low),
    ("dance dancing danceable groovy groove club party disco", Danceability, High),
    ("acoustic unplugged", Acousticness, High),
    ("electronic synthetic", Acousticness, Low),
    ("instrumental wordless", Instrumentalness, High),
    ("concert audience", Liveness, High),
    ("spoken rap speech", Speechiness, High),
    ("slow slower downtempo", Tempo, Low),
    ("fast faster quick uptempo", Tempo, High),
];

impl SoundWish {
    /// From -1 (the opposite) to 1 (just so).
    fn fit(self, value: f64) -> f32 {
        // Beats per minute: 60 is as slow and 180 as fast as words mean it.
        let share = if self.feature == Tempo { (value - 60.0) / 120.0 } else { value };
        let high = 2.0 * share.clamp(0.0, 1.0) as f32 - 1.0;
        match self.side {
            High => high,
            Low => -high,
        }
    }

    pub fn feature(self) -> Feature {
        self.feature
    }
}

/// How well a sound fits all wishes, -1 to 1; 0 when nothing was wished or nothing is known.
pub fn sound_fit(wishes: &[SoundWish], value: impl Fn(Feature) -> Option<f64>) -> f32 {
    let fits = wishes.iter().filter_map(|wish| Some(wish.fit(value(wish.feature)?)));
    fits.sum::<f32>() / wishes.len().max(1) as f32
}

/// The features that fit, as a listener reads them: `low energy (0.12)`.
pub fn fitting_features(wishes: &[SoundWish], features: Option<&AudioFeatures>) -> Vec<String> {
    let Some(features) = features else { return Vec::new() };
    let fits = |wish: &&SoundWish| wish.feature.of(features).is_some_and(|value| wish.fit(value) > 0.2);
    let told = |wish: &SoundWish| {
        let value = wish.feature.of(features)?;
        let side = match wish.side {
            Low => "low",
            High => "high",
        };
        let value = if wish.feature == Tempo { format!("{value:.0} BPM") } else { format!("{value:.2}") };
        Some(format!("{side} {} ({value})", wish.feature.name()))
    };
    wishes.iter().filter(fits).filter_map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_about_sound_are_understood() {
        let slow_and_calm = AudioFeatures { energy: Some(0.1), tempo: Some(70.0), ..AudioFeatures::default() };
        let wild = AudioFeatures { energy: Some(0.95), tempo: Some(170.0), ..AudioFeatures::default() };
        for (query, better, worse) in [
            ("something calm for sleeping", &slow_and_calm, &wild),
            ("slow songs", &slow_and_calm, &wild),
            ("energetic workout", &wild, &slow_and_calm),
            ("fast and loud", &wild, &slow_and_calm),
        ] {
            let wishes = sound_wishes(query);
            assert!(sound_fit(&wishes, |feature| feature.of(better)) > 0.5, "{query}");
            assert!(sound_fit(&wishes, |feature| feature.of(worse)) < -0.5, "{query}");
        }
        assert_eq!(sound_fit(&sound_wishes("songs about the sea"), |feature| feature.of(&wild)), 0.0);
        assert_eq!(sound_fit(&sound_wishes("calm"), |_| None), 0.0);
        for denied in ["hopeful rather than sad", "not too loud", "without any energy", "nicht so sad"] {
            assert_eq!(sound_wishes(denied), [], "{denied}");
        }
        assert_eq!(
            fitting_features(&sound_wishes("slow, relaxing"), Some(&slow_and_calm)),
            ["low tempo (70 BPM)", "low energy (0.10)"]
        );
    }
}
