//! Ten thousand generated queries with limits in four languages: counts the results that violate a limit.

use search::EmbeddedIndex;

use crate::own::{Limited, find};

const N_QUERIES: usize = 10_000;

/// The themes in English, German, French and Spanish.
const THEMES: [[&str; 4]; 8] = [
    ["songs about rain", "Lieder über den Regen", "des chansons sur la pluie", "canciones sobre la lluvia"],
    ["the sea", "das Meer", "la mer", "el mar"],
    ["sad songs", "traurige Lieder", "des chansons tristes", "canciones tristes"],
    ["night", "Nacht", "la nuit", "la noche"],
    ["something calm", "etwas Ruhiges", "quelque chose de calme", "algo tranquilo"],
    ["dance music", "Tanzmusik", "de la musique pour danser", "música para bailar"],
    ["summer songs", "Sommerlieder", "des chansons d'été", "canciones de verano"],
    ["family", "Familie", "la famille", "la familia"],
];

pub(crate) async fn evaluate(index: &EmbeddedIndex) -> anyhow::Result<()> {
    let mut dice = Dice(26);
    let (mut violations, mut places, mut empty, mut shown) = (0, 0, 0, Vec::new());
    for _ in 0..N_QUERIES {
        let limited = limited(&mut dice);
        let found = find(index, &limited.query, 5).await?;
        places += found.hits.len();
        empty += usize::from(found.hits.is_empty());
        let broken = found.hits.iter().filter(|hit| !limited.admits(&hit.track)).count();
        violations += broken;
        if broken > 0 && shown.len() < 5 {
            shown.push(limited.query.clone());
        }
    }
    println!(
        "generated queries: violations {violations} of {places} places, {empty} of {N_QUERIES} without a result {}",
        shown.join(" · ")
    );
    Ok(())
}

fn limited(dice: &mut Dice) -> Limited {
    let language = dice.below(4);
    let theme = THEMES[dice.below(THEMES.len())][language];
    let mut limited = Limited::default();
    let mut said = vec![theme.to_owned()];
    let first = dice.below(5);
    for maker in [first, (first + 1 + dice.below(4)) % 5].into_iter().take(1 + dice.below(2)) {
        said.push(limit(dice, language, maker, &mut limited));
    }
    limited.query = said.join(", ");
    limited
}

fn limit(dice: &mut Dice, language: usize, maker: usize, limited: &mut Limited) -> String {
    match maker {
        0 => {
            let decade = 1960 + 10 * dice.below(7) as i32;
            limited.years = Some((decade, decade + 9));
            let (from, to) = (decade, decade + 9);
            [
                format!("from {from} to {to}"),
                format!("zwischen {from} und {to}"),
                format!("entre {from} et {to}"),
                format!("entre {from} y {to}"),
            ][language]
                .clone()
        }
        1 => {
            let bpm = 70 + 10 * dice.below(9);
            limited.tempo = Some((0.0, bpm as f64 - 1e-9));
            let under = ["under", "unter", "moins de", "menos de"][language];
            format!("{under} {bpm} bpm")
        }
        2 => {
            let minutes = 3 + dice.below(4);
            limited.seconds = Some((0.0, 60.0 * minutes as f64 - 1e-9));
            let words = [("under", "minutes"), ("unter", "Minuten"), ("moins de", "minutes"), ("menos de", "minutos")];
            let (under, unit) = words[language];
            format!("{under} {minutes} {unit}")
        }
        3 => {
            let languages = [
                ("fr", ["in French", "auf Französisch", "en français", "en francés"]),
                ("es", ["in Spanish", "auf Spanisch", "en espagnol", "en español"]),
                ("de", ["in German", "auf Deutsch", "en allemand", "en alemán"]),
            ];
            let (code, words) = languages[dice.below(languages.len())];
            limited.language = Some(code.to_owned());
            words[language].to_owned()
        }
        _ => {
            let denied = [
                ("piano", ["without piano", "ohne Klavier", "sans piano", "sin piano"]),
                ("guitar", ["without guitar", "ohne Gitarre", "sans guitare", "sin guitarra"]),
                ("drums", ["without drums", "ohne Schlagzeug", "sans batterie", "sin batería"]),
                ("accordion", ["without accordion", "ohne Akkordeon", "sans accordéon", "sin acordeón"]),
            ];
            let (tag, words) = denied[dice.below(denied.len())];
            limited.without.push(tag.to_owned());
            words[language].to_owned()
        }
    }
}

/// Deterministic pseudo-random numbers.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}
