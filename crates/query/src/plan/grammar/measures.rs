//! Phrases that limit a length or a tempo: "under three minutes", "around 120 bpm".

use super::{Phrases, Rule};

/// The phrases before a length or a tempo. Both use this list.
pub(crate) const COMPARING: Phrases = &[
    (
        Rule::Below,
        &[
            "under",
            "below",
            "less than",
            "shorter than",
            "slower than",
            "unter",
            "kurzer als",
            "weniger als",
            "langsamer als",
            "moins de",
            "plus courte|courtes|court|courts que|de",
            "plus lent|lente|lents|lentes que|de",
            "menos de",
            "mas corta|cortas|corto|cortos que|de",
            "mas lenta|lentas|lento|lentos que|de",
            "bajo",
        ],
    ),
    (
        Rule::Most,
        &[
            "at most",
            "up to",
            "no|not more|longer|faster than",
            "max|maximum|maximal|hochstens",
            "bis zu",
            "nicht langer|schneller als",
            "nicht mehr als",
            "au plus",
            "pas plus de",
            "no mas de",
            "como maximo",
            "a lo sumo",
            "maximo",
        ],
    ),
    (
        Rule::Above,
        &[
            "over",
            "above",
            "more than",
            "longer than",
            "faster than",
            "uber",
            "langer als",
            "mehr als",
            "schneller als",
            "plus de",
            "plus longue|longues|long|longs que|de",
            "plus rapide|rapides que|de",
            "mas de",
            "mas larga|largas|largo|largos que|de",
            "mas rapida|rapidas|rapido|rapidos que|de",
        ],
    ),
    (
        Rule::Least,
        &[
            "at least",
            "no|not less|shorter|slower than",
            "min|minimum|mindestens",
            "nicht kurzer|langsamer als",
            "au moins",
            "al menos",
            "por lo menos",
            "como minimo",
            "minimo",
        ],
    ),
    (
        Rule::Around,
        &[
            "around|about|roughly|approximately|circa|ca|approx",
            "etwa|ungefahr|rund|um",
            "um die",
            "environ",
            "autour de",
            "a peu pres",
            "unos|unas",
            "alrededor de",
            "aproximadamente",
            "cerca de",
            "sobre los?",
        ],
    ),
];

/// Optional words after a length or a tempo.
pub(crate) const AFTER_MEASURE: &str = "long|lang|largo|longue|dauer|duration|length?";
