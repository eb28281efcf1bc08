//! The grammar: which words mean which limit, in English, German, French and Spanish. Words are lower case without accents.

use super::{
    pattern::Value,
    types::{Key, Limit, NumberRange, YearRange},
};

/// The meaning of a pattern. Its values come from the slots, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    YearsBetween,
    YearsSince,
    YearsAfter,
    YearsUntil,
    YearsBefore,
    YearsIn,
    Decade,
    DecadesBetween,
    OlderThanYears,
    NewerThanYears,
    Most,
    Below,
    Least,
    Above,
    Between,
    Around,
    Exactly,
    Key,
    MinorKey,
    MajorKey,
    Language,
    NotLanguage,
    Instrumental,
    Vocal,
    Clean,
    Explicit,
    Owned,
    New,
    AtMost,
    PerArtist,
    OnePerArtist,
}

/// The phrases before a length or a tempo. Both use this list.
pub(crate) const COMPARING: &[(Rule, &[&str])] = &[
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

pub(crate) const LIMITS: &[(Rule, &[&str])] = &[
    (
        Rule::YearsBetween,
        &[
            "from|between|of {year} to|until|till|through|and|- {year}",
            "{year} to|through|until|till|bis|- {year}",
            "zwischen {year} und {year}",
            "von|aus {year} bis {year}",
            "entre {year} et|y {year}",
            "de {year} a {year}",
            "desde {year} hasta {year}",
            "aus den jahren {year} bis|- {year}",
        ],
    ),
    (
        Rule::YearsSince,
        &[
            "since {year}",
            "from {year} on|onward|onwards|upward|upwards",
            "from {year} to today|now",
            "seit {year}",
            "ab {year}",
            "depuis {year}",
            "a partir de {year}",
            "desde {year}",
            "{year} or newer|later",
            "not older than {year}",
        ],
    ),
    (
        Rule::YearsAfter,
        &[
            "after {year}",
            "newer|later|younger than {year}",
            "nach {year}",
            "neuer als {year}",
            "apres {year}",
            "despues de {year}",
            "mas reciente|recientes|nueva|nuevas|nuevo|nuevos que|de {year}",
            "plus recent|recente|recents|recentes que {year}",
        ],
    ),
    (
        Rule::YearsUntil,
        &[
            "until|till {year}",
            "up to {year}",
            "bis {year}",
            "jusqu en {year}",
            "hasta {year}",
            "{year} or older|earlier",
            "not newer than {year}",
        ],
    ),
    (
        Rule::YearsBefore,
        &[
            "before|pre {year}",
            "older|earlier than {year}",
            "vor {year}",
            "alter als {year}",
            "avant {year}",
            "antes de {year}",
            "plus ancien|anciens|ancienne|anciennes|vieux|vieille|vieilles que {year}",
            "mas antigua|antiguas|antiguo|antiguos|vieja|viejas|viejo|viejos que|de {year}",
        ],
    ),
    (
        Rule::YearsIn,
        &[
            "from|of|in {year}",
            "released|recorded in {year}",
            "from|in the year {year}",
            "aus|von|im {year}",
            "aus dem jahr|jahre {year}",
            "im jahr|jahre {year}",
            "de {year}",
            "de l annee {year}",
            "del ano {year}",
            "del {year}",
            "sorti|sortis|sorties|sortie en {year}",
            "en {year}",
        ],
    ),
    (
        Rule::DecadesBetween,
        &[
            "from|between the? {decade} to|through|until|and the? {decade}",
            "{decade} to|through|and|or the? {decade}",
            "{decade} und|bis|oder {decade}",
            "{decade} et|ou les? {decade}",
            "{decade} y|o {decade}",
        ],
    ),
    (
        Rule::Decade,
        &[
            "from|in|of|during the? {decade}",
            "the {decade}",
            "aus|in|von den|der? {decade}",
            "der|den {decade}",
            "des|les|dans|de les? {decade}",
            "de los|la {decade}",
            "de {decade}",
            "en los? {decade}",
            "los {decade}",
            "de|en la decada de los? {decade}",
            "{decade}",
        ],
    ),
    (
        Rule::OlderThanYears,
        &[
            "older than {n} years",
            "alter als {n} jahre",
            "plus vieux|vieilles|anciens|anciennes de {n} ans",
            "de mas de {n} anos",
        ],
    ),
    (
        Rule::NewerThanYears,
        &[
            "from|of|in the last|past {n} years",
            "newer than {n} years",
            "aus den letzten {n} jahren",
            "der letzten {n} jahre",
            "des {n} dernieres annees",
            "de los ultimos {n} anos",
        ],
    ),
    (
        Rule::Key,
        &["in the? key? of? {key}", "the? key of {tonic}", "in der? tonart? {key}", "en {key}", "tonart {tonic}"],
    ),
    (Rule::MinorKey, &["in a minor key", "minor key", "in moll", "en tonalite? mineur|mineure", "en tono? menor"]),
    (Rule::MajorKey, &["in a major key", "major key", "in dur", "en tonalite? majeur|majeure", "en tono? mayor"]),
    (
        Rule::NotLanguage,
        &[
            "not|never sung? in {language}",
            "non {language}",
            "no {language} lyrics|songs|vocals|singing|music",
            "nicht auf {language}",
            "keine {language} lieder|songs|texte|musik",
            "pas en {language}",
            "pas de chansons {language}",
            "pas de chansons en {language}",
            "no en {language}",
            "sin canciones en {language}",
            "anything but {language}",
        ],
    ),
    (
        Rule::Language,
        &[
            "sung|singing|only in {language}",
            "in {language}",
            "in? {language} language",
            "with? {language} lyrics|vocals|texts|singing",
            "{language} songs|song|tracks|music|tunes",
            "auf {language}",
            "{language} lieder|songs|musik|texte|texten|stucke",
            "gesungen? auf {language} gesungen?",
            "chante|chantee|chantees|chantes en {language}",
            "en {language}",
            "chansons|chanson|musique|morceaux|titres {language}",
            "cantada|cantadas|cantado|cantados en {language}",
            "canciones|cancion|musica|temas {language}",
        ],
    ),
    (
        Rule::Instrumental,
        &[
            "instrumental|instrumentals|instrumentale|instrumentalen|instrumentales|instrumentaux|instrumentalmusik|instrumentalstucke only?",
            "only instrumental|instrumentals",
            "wordless",
            "no|without any? vocals|vocal|singing|lyrics|singer|singers|voice|voices|words",
            "with no vocals|singing|lyrics|words|voice",
            "ohne gesang|text|texte|stimme|stimmen|worte|sanger",
            "kein|keinen gesang",
            "sans paroles|voix|chant|chanteur",
            "pas de paroles|voix|chant",
            "sin voz|voces|letra|letras|canto|palabras",
        ],
    ),
    (
        Rule::Vocal,
        &[
            "with vocals|singing|lyrics|words",
            "not|no|non|nothing instrumental|instrumentals",
            "mit gesang|text|texten",
            "nicht instrumental",
            "keine instrumentale|instrumentalen|instrumentalmusik|instrumentalstucke",
            "avec des? paroles|voix|chant",
            "pas instrumental|instrumentale|instrumentales",
            "con voz|voces|letra",
            "no instrumental|instrumentales",
        ],
    ),
    (
        Rule::Clean,
        &[
            "no|without any? explicit lyrics|content|songs|tracks|words|language",
            "no|without any? swearing|cursing|swear|curse|profanity|profanities words?",
            "not|non|nothing explicit",
            "clean lyrics|version|versions|songs only?",
            "ohne schimpfworter|fluchen|kraftausdrucke",
            "ohne|keine explizite|expliziten texte|lieder|songs|inhalte",
            "nicht explizit",
            "sans gros mots",
            "sans paroles explicites",
            "pas explicite|explicites",
            "sin palabrotas|groserias",
            "sin letras? explicita|explicitas",
            "no explicita|explicitas",
        ],
    ),
    (
        Rule::Explicit,
        &[
            "only explicit songs|tracks|lyrics?",
            "explicit songs|tracks|lyrics|only|versions",
            "nur explizite lieder|songs|texte",
            "paroles|chansons explicites",
            "letras|canciones explicitas",
        ],
    ),
    (
        Rule::New,
        &[
            "not in|from my library|collection",
            "outside of? my library|collection",
            "that|which? i don t own|have yet?",
            "that|which? i do not own|have yet?",
            "new to me",
            "nicht in|aus meiner sammlung|bibliothek|mediathek",
            "die ich noch? nicht habe|besitze|kenne",
            "que je n ai pas encore?",
            "pas dans ma bibliotheque|collection",
            "que aun|todavia? no tengo",
            "que no estan|esten en mi biblioteca|coleccion",
            "fuera de mi biblioteca|coleccion",
        ],
    ),
    (
        Rule::Owned,
        &[
            "only? in|from|of|within my own? library|collection",
            "that|which|songs|tracks i already? own|have",
            "among my songs|tracks",
            "aus|in meiner sammlung|bibliothek|mediathek",
            "die ich schon? habe|besitze",
            "dans|de ma bibliotheque|collection",
            "que j ai deja?",
            "de|en mi biblioteca|coleccion",
            "que ya? tengo",
        ],
    ),
    (
        Rule::OnePerArtist,
        &[
            "only? one song|track|title? per|by|from each? artist|singer|band",
            "no artist twice",
            "each|all by|from a? different artist|artists",
            "by different artists",
            "nur? ein|einen|eins lied|song|titel? pro|je kunstler|kunstlerin|band",
            "un|une seule|seul? chanson|titre|morceau? par artiste",
            "una|uno|un sola|solo? cancion|tema? por artista",
        ],
    ),
];

/// The phrases before a count.
pub(crate) const COUNTING: &[&str] = &[
    "",
    "at most",
    "max|maximum",
    "up to",
    "no|not more than",
    "only|just",
    "the top|best|first",
    "hochstens|maximal|nur",
    "bis zu",
    "au plus",
    "pas plus de",
    "seulement",
    "como maximo",
    "a lo sumo",
    "maximo|solo",
    "no mas de",
];

/// Nouns that make a number a count of results. Without one, a number is a count only after a phrase of [`COUNTING`].
pub(crate) const COUNTED: &str = "songs|song|tracks|track|tunes|pieces|titles|results|suggestions|lieder|titel|stucke|chansons|titres|morceaux|canciones|temas|pistas";

/// The phrases that make a count a count per artist.
pub(crate) const PER_ARTIST: &[&str] = &[
    "per artist|singer|band|musician",
    "by|from each|every artist|singer|band",
    "by|from the same artist|singer|band",
    "by|from any one? artist",
    "pro|je kunstler|kunstlerin|interpret|band",
    "par artiste|chanteur|groupe",
    "por artista|cantante|grupo",
];

pub(crate) fn limit(rule: Rule, values: &[Value], this_year: i32) -> Option<Limit> {
    use Value::{Decade, Key as KeyOf, Language, Number, Year};
    let years = |from, to| Some(Limit::Years(YearRange { from, to }));
    match (rule, values) {
        (Rule::YearsBetween, [Year(a), Year(b)]) => years(Some(*a.min(b)), Some(*a.max(b))),
        (Rule::YearsSince, [Year(year)]) => years(Some(*year), None),
        (Rule::YearsAfter, [Year(year)]) => years(Some(year + 1), None),
        (Rule::YearsUntil, [Year(year)]) => years(None, Some(*year)),
        (Rule::YearsBefore, [Year(year)]) => years(None, Some(year - 1)),
        (Rule::YearsIn, [Year(year)]) => years(Some(*year), Some(*year)),
        (Rule::Decade, [Decade(range)]) => Some(Limit::Years(*range)),
        (Rule::DecadesBetween, [Decade(a), Decade(b)]) => years(a.from.min(b.from), a.to.max(b.to)),
        (Rule::OlderThanYears, [Number(n)]) => years(None, Some(this_year - *n as i32 - 1)),
        (Rule::NewerThanYears, [Number(n)]) => years(Some(this_year - *n as i32), None),
        (Rule::Key, [KeyOf(key)]) => Some(Limit::Key(*key)),
        (Rule::MinorKey, []) => Some(Limit::Key(Key { tonic: None, minor: Some(true) })),
        (Rule::MajorKey, []) => Some(Limit::Key(Key { tonic: None, minor: Some(false) })),
        (Rule::Language, [Language(code)]) => Some(Limit::Language(code)),
        (Rule::NotLanguage, [Language(code)]) => Some(Limit::NotLanguage(code)),
        (Rule::Instrumental, []) => Some(Limit::Instrumental(true)),
        (Rule::Vocal, []) => Some(Limit::Instrumental(false)),
        (Rule::Clean, []) => Some(Limit::Explicit(false)),
        (Rule::Explicit, []) => Some(Limit::Explicit(true)),
        (Rule::Owned, []) => Some(Limit::InLibrary(true)),
        (Rule::New, []) => Some(Limit::InLibrary(false)),
        (Rule::OnePerArtist, []) => Some(Limit::PerArtist(1)),
        (Rule::PerArtist, [Number(n)]) => counted(*n).map(Limit::PerArtist),
        (Rule::AtMost, [Number(n)]) => counted(*n).map(Limit::AtMost),
        _ => measured(rule, values),
    }
}

fn counted(n: f64) -> Option<usize> {
    (n.fract() == 0.0 && (1.0..=100.0).contains(&n)).then_some(n as usize)
}

/// A length or a tempo, with the phrase before it.
fn measured(rule: Rule, values: &[Value]) -> Option<Limit> {
    let as_limit = |value: &Value, range: NumberRange| match value {
        Value::Seconds(_) => Some(Limit::Duration(range)),
        Value::Tempo(_) => Some(Limit::Tempo(range)),
        _ => None,
    };
    let last = values.last()?;
    let (Value::Seconds(x) | Value::Tempo(x)) = *last else { return None };
    let is_tempo = matches!(last, Value::Tempo(_));
    let range = |min, max| as_limit(last, NumberRange { min, max });
    match (rule, values) {
        (Rule::Below, [_]) => range(None, Some(x.next_down())),
        (Rule::Most, [_]) => range(None, Some(x)),
        (Rule::Above, [_]) => range(Some(x.next_up()), None),
        (Rule::Least, [_]) => range(Some(x), None),
        // "Around 120 bpm" allows 5 % to each side, "around three minutes" 10 %.
        (Rule::Around, [_]) => {
            let share = if is_tempo { 0.05 } else { 0.1 };
            range(Some(x * (1.0 - share)), Some(x * (1.0 + share)))
        }
        (Rule::Exactly, [_]) => range(Some(x - 2.0), Some(x + 2.0)),
        (Rule::Between, [first, _]) => {
            let low = match first {
                // "Between 3 and 4 minutes": the first number has no unit of its own.
                Value::Number(n) if is_tempo || x < 60.0 || *n >= 60.0 => *n,
                Value::Number(n) => 60.0 * n,
                Value::Seconds(low) | Value::Tempo(low) => *low,
                _ => return None,
            };
            range(Some(low.min(x)), Some(low.max(x)))
        }
        _ => None,
    }
}
