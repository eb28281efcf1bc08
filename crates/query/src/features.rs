//! Audio features: ranges for filters, and the words of a query that describe sound.

use std::{collections::HashMap, sync::LazyLock};

use music::AudioFeatures;
pub use music::Feature;

/// Both ends are included. A track with an unknown value is outside every range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeatureRange {
    pub feature: Feature,
    pub min: Option<f64>,
    pub max: Option<f64>,
}

/// A preference about sound: this feature should be high (or low).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoundPreference {
    pub feature: Feature,
    pub side: Side,
    /// "Calmer": relative to a seed, or to the results that were shown before.
    pub is_relative: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Low,
    High,
}

impl Side {
    pub fn flipped(self) -> Self {
        match self {
            Low => High,
            High => Low,
        }
    }
}

/// The preferences about sound in a query. Of several preferences about one feature, the first is used.
pub fn sound_preferences(query: &str) -> Vec<SoundPreference> {
    crate::plan::parse(query, 2000).sounds
}

/// The preference in one word, by its exact form: `driving` describes a sound, `drive` does not.
pub(crate) fn sound_word(word: &str) -> Option<SoundPreference> {
    static BY_WORD: LazyLock<HashMap<&'static str, SoundPreference>> = LazyLock::new(|| {
        let spelled = |table: &'static [(&'static str, Feature, Side)], is_relative: bool| {
            table.iter().flat_map(move |&(forms, feature, side)| {
                forms.split_whitespace().map(move |form| (form, SoundPreference { feature, side, is_relative }))
            })
        };
        spelled(SPOKEN, false).chain(spelled(COMPARED, true)).collect()
    });
    BY_WORD.get(word).copied()
}

use Feature::{Acousticness, Danceability, Energy, Instrumentalness, Liveness, Speechiness, Tempo, Valence};
use Side::{High, Low};

/// Exact forms, lower case without accents, in English, German, French and Spanish.
const SPOKEN: &[(&str, Feature, Side)] = &[
    (
        "calm calming peaceful quiet relaxing relaxed soft soothing gentle mellow sleep sleepy sleeping lullaby ambient chill chilled \
         ruhig ruhige ruhiges ruhigen leise leises sanft sanfte sanftes entspannt entspannte entspannend entspannende einschlafen schlaflied \
         calme calmes doux douce douces apaisant apaisante tranquille tranquilles berceuse relaxant relaxante \
         tranquilo tranquila tranquilos tranquilas suave suaves calmado calmada relajante relajantes nana",
        Energy,
        Low,
    ),
    (
        "energetic powerful intense loud aggressive wild workout driving pumping explosive \
         energisch energische energiegeladen energiegeladene kraftvoll kraftvolle laut laute lautes wild wilde aggressiv aggressive \
         energique energiques puissant puissante bruyant bruyante intense sauvage \
         energico energica energicas energicos potente potentes fuerte fuertes intensa intenso ruidoso ruidosa",
        Energy,
        High,
    ),
    (
        "happy joy joyful joyous cheerful upbeat euphoric sunny playful fun uplifting \
         frohlich frohliche frohliches glucklich gluckliche heiter heitere lustig lustige gutgelaunt \
         joyeux joyeuse joyeuses gai gaie heureux heureuse festif festive enjoue \
         alegre alegres feliz felices divertida divertido contenta contento animada animado",
        Valence,
        High,
    ),
    (
        "sad sadness melancholy melancholic gloomy depressing sorrow sorrowful mournful heartbroken mourning grief \
         traurig traurige trauriges traurigen melancholisch melancholische wehmutig wehmutige duster dustere trauer \
         triste tristes melancolique melancoliques sombre sombres tristesse \
         melancolico melancolica melancolicas tristeza sombrio sombria deprimente",
        Valence,
        Low,
    ),
    (
        "danceable groovy groove dancefloor disco tanzbar tanzbare tanzbares tanzen dansant dansante dansantes danser \
         bailable bailables bailar",
        Danceability,
        High,
    ),
    (
        "acoustic unplugged akustisch akustische akustisches acoustique acoustiques acustico acustica acusticas",
        Acousticness,
        High,
    ),
    (
        "electronic synthetic elektronisch elektronische electronique electroniques electronico electronica",
        Acousticness,
        Low,
    ),
    ("instrumental wordless", Instrumentalness, High),
    ("concert audience", Liveness, High),
    ("spoken rap gesprochen parle hablado", Speechiness, High),
    (
        "slow downtempo langsam langsame langsames langsamen lent lente lents lentes lento lenta lentos lentas",
        Tempo,
        Low,
    ),
    (
        "fast quick uptempo schnell schnelle schnelles schnellen rapide rapides rapido rapida rapidos rapidas",
        Tempo,
        High,
    ),
];

/// Comparative forms.
const COMPARED: &[(&str, Feature, Side)] = &[
    ("calmer quieter softer gentler mellower ruhiger leiser sanfter entspannter", Energy, Low),
    ("louder harder wilder heavier lauter harter energischer", Energy, High),
    ("happier brighter sunnier frohlicher heiterer", Valence, High),
    ("sadder gloomier darker trauriger dusterer dunkler melancholischer", Valence, Low),
    ("groovier tanzbarer", Danceability, High),
    ("slower langsamer", Tempo, Low),
    ("faster quicker schneller", Tempo, High),
];

impl SoundPreference {
    /// From -1 (the opposite) to 1 (exactly as preferred).
    fn fit(self, value: f64) -> f32 {
        // Beats per minute: "slow" means 60 and "fast" means 180.
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

/// How well the features of a track fit all preferences, from -1 to 1; 0 without preferences or without known features.
pub fn sound_fit(preferences: &[SoundPreference], value: impl Fn(Feature) -> Option<f64>) -> f32 {
    let fits = preferences.iter().filter_map(|preference| Some(preference.fit(value(preference.feature)?)));
    fits.sum::<f32>() / preferences.len().max(1) as f32
}

/// The features that fit the preferences, for display: `low energy (0.12)`.
pub fn fitting_features(preferences: &[SoundPreference], features: Option<&AudioFeatures>) -> Vec<String> {
    let Some(features) = features else { return Vec::new() };
    let fits = |preference: &&SoundPreference| {
        preference.feature.of(features).is_some_and(|value| preference.fit(value) > 0.2)
    };
    let told = |preference: &SoundPreference| {
        let value = preference.feature.of(features)?;
        let side = match preference.side {
            Low => "low",
            High => "high",
        };
        let value = if preference.feature == Tempo { format!("{value:.0} BPM") } else { format!("{value:.2}") };
        Some(format!("{side} {} ({value})", preference.feature.name()))
    };
    preferences.iter().filter(fits).filter_map(told).collect()
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
            let preferences = sound_preferences(query);
            assert!(sound_fit(&preferences, |feature| feature.of(better)) > 0.5, "{query}");
            assert!(sound_fit(&preferences, |feature| feature.of(worse)) < -0.5, "{query}");
        }
        assert_eq!(sound_fit(&sound_preferences("songs about the sea"), |feature| feature.of(&wild)), 0.0);
        assert_eq!(sound_fit(&sound_preferences("calm"), |_| None), 0.0);
        for (denied, feature, side) in [
            ("hopeful rather than sad", Valence, High),
            ("not too loud", Energy, Low),
            ("nicht so traurig", Valence, High),
            ("less energetic", Energy, Low),
        ] {
            let preferences = sound_preferences(denied);
            assert_eq!(
                (preferences.len(), preferences[0].feature, preferences[0].side),
                (1, feature, side),
                "{denied}"
            );
        }
        for other in ["rainy night drive", "summer dancing shoes on a bright corner", "dark chocolate"] {
            assert_eq!(sound_preferences(other), [], "{other}");
        }
        assert_eq!(
            fitting_features(&sound_preferences("slow, relaxing"), Some(&slow_and_calm)),
            ["low tempo (70 BPM)", "low energy (0.10)"]
        );
    }
}
