//! Limits in messages are parsed exactly, and ordinary themes and titles have no limits.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use query::{
    Plan, TrackLimits,
    features::Side,
    plan::{AppliedKind, Key, NumberRange, Seed, Shift, YearRange, parse},
};

const THIS_YEAR: i32 = 2026;

fn read(text: &str) -> Plan {
    parse(text, THIS_YEAR)
}

/// A deterministic sequence of pseudo-random numbers.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Lang {
    En,
    De,
    Fr,
    Es,
}
use Lang::{De, En, Es, Fr};

const THEMES: &[(Lang, &[&str])] = &[
    (
        En,
        &[
            "rainy night drive",
            "songs about leaving home",
            "music for a long train ride",
            "a sad goodbye at the airport",
            "french fries at midnight",
            "running up a hill",
            "\"Summer of '69\"",
            "my first car",
        ],
    ),
    (
        De,
        &[
            "Lieder zum Einschlafen",
            "traurige Musik",
            "Musik für eine lange Fahrt",
            "etwas über das Meer",
            "ein Abend am Feuer",
        ],
    ),
    (Fr, &["une chanson triste", "musique pour travailler", "une nuit au bord du lac", "quelque chose de doux"]),
    (Es, &["una noche de lluvia", "canciones tristes", "música para estudiar", "algo suave"]),
];

/// Writes one limit in words and adds the expected value to `limits`.
fn years(dice: &mut Dice, lang: Lang, limits: &mut TrackLimits) -> String {
    let a = 1950 + dice.below(60) as i32;
    let b = a + 1 + dice.below(15) as i32;
    let tens = dice.one(&[60, 70, 80, 90]);
    let (text, from, to) = match (lang, dice.below(6)) {
        (En, 0) => (format!("from {a} to {b}"), Some(a), Some(b)),
        (En, 1) => (format!("between {a} and {b}"), Some(a), Some(b)),
        (En, 2) => (format!("from the {tens}s"), Some(1900 + tens), Some(1909 + tens)),
        (En, 3) => (format!("older than {a}"), None, Some(a - 1)),
        (En, 4) => (format!("since {a}"), Some(a), None),
        (En, _) => (format!("from {a}"), Some(a), Some(a)),
        (De, 0) => (format!("zwischen {a} und {b}"), Some(a), Some(b)),
        (De, 1) => (format!("aus den {tens}ern"), Some(1900 + tens), Some(1909 + tens)),
        (De, 2) => (format!("aus den {tens}er Jahren"), Some(1900 + tens), Some(1909 + tens)),
        (De, 3) => (format!("vor {a}"), None, Some(a - 1)),
        (De, 4) => (format!("seit {a}"), Some(a), None),
        (De, _) => (format!("von {a} bis {b}"), Some(a), Some(b)),
        (Fr, 0) => (format!("entre {a} et {b}"), Some(a), Some(b)),
        (Fr, 1 | 2) => (format!("des années {tens}"), Some(1900 + tens), Some(1909 + tens)),
        (Fr, 3) => (format!("avant {a}"), None, Some(a - 1)),
        (Fr, _) => (format!("depuis {a}"), Some(a), None),
        (Es, 0) => (format!("entre {a} y {b}"), Some(a), Some(b)),
        (Es, 1) => (format!("de los años {tens}"), Some(1900 + tens), Some(1909 + tens)),
        (Es, 2) => (format!("de los {tens}"), Some(1900 + tens), Some(1909 + tens)),
        (Es, 3) => (format!("antes de {a}"), None, Some(a - 1)),
        (Es, _) => (format!("desde {a}"), Some(a), None),
    };
    limits.years = Some(YearRange { from, to });
    text
}

fn tempo(dice: &mut Dice, lang: Lang, limits: &mut TrackLimits) -> String {
    let bpm = 60 + dice.below(120);
    let x = bpm as f64;
    let around = NumberRange { min: Some(x * (1.0 - 0.05)), max: Some(x * (1.0 + 0.05)) };
    let above = NumberRange { min: Some(x.next_up()), max: None };
    let below = NumberRange { min: None, max: Some(x.next_down()) };
    let (text, range) = match (lang, dice.below(4)) {
        (En, 0) => (format!("around {bpm} bpm"), around),
        (En, 1) => (format!("faster than {bpm} BPM"), above),
        (En, 2) => (format!("under {bpm} beats per minute"), below),
        (En, _) => (format!("between {bpm} and {} bpm", bpm + 10), NumberRange { min: Some(x), max: Some(x + 10.0) }),
        (De, 0 | 1) => (format!("um die {bpm} bpm"), around),
        (De, _) => (format!("über {bpm} bpm"), above),
        (Fr, 0 | 1) => (format!("autour de {bpm} bpm"), around),
        (Fr, _) => (format!("moins de {bpm} bpm"), below),
        (Es, 0 | 1) => (format!("alrededor de {bpm} bpm"), around),
        (Es, _) => (format!("más de {bpm} bpm"), above),
    };
    limits.tempo = Some(range);
    text
}

fn duration(dice: &mut Dice, lang: Lang, limits: &mut TrackLimits) -> String {
    let minutes = 2 + dice.below(7);
    let x = 60.0 * minutes as f64;
    let below = NumberRange { min: None, max: Some(x.next_down()) };
    let above = NumberRange { min: Some(x.next_up()), max: None };
    let most = NumberRange { min: None, max: Some(x) };
    let (text, range) = match (lang, dice.below(4)) {
        (En, 0) => (format!("under {minutes} minutes"), below),
        (En, 1) => (format!("longer than {minutes} min"), above),
        (En, 2) => (format!("shorter than {minutes}:30"), NumberRange { min: None, max: Some((x + 30.0).next_down()) }),
        (En, _) => (format!("at most {minutes} minutes long"), most),
        (De, 0 | 1) => (format!("unter {minutes} Minuten"), below),
        (De, _) => (format!("länger als {minutes} Minuten"), above),
        (Fr, 0 | 1) => (format!("de moins de {minutes} minutes"), below),
        (Fr, _) => (format!("plus longues que {minutes} minutes"), above),
        (Es, 0 | 1) => (format!("de menos de {minutes} minutos"), below),
        (Es, _) => (format!("más largas que {minutes} minutos"), above),
    };
    limits.duration = Some(range);
    text
}

fn language(dice: &mut Dice, lang: Lang, limits: &mut TrackLimits) -> String {
    let (code, names) = dice.one(&[
        ("en", ["English", "Englisch", "anglais", "inglés"]),
        ("de", ["German", "Deutsch", "allemand", "alemán"]),
        ("fr", ["French", "Französisch", "français", "francés"]),
        ("es", ["Spanish", "Spanisch", "espagnol", "español"]),
        ("ja", ["Japanese", "Japanisch", "japonais", "japonés"]),
    ]);
    limits.language = Some(code.into());
    match lang {
        En => format!("{} {}", dice.one(&["in", "sung in"]), names[0]),
        De => format!("auf {}", names[1]),
        Fr => format!("en {}", names[2]),
        Es => format!("en {}", names[3]),
    }
}

fn vocals(dice: &mut Dice, lang: Lang, limits: &mut TrackLimits) -> String {
    let (text, is) = match (lang, dice.below(3)) {
        (En, 0) => ("without vocals", true),
        (En, 1) => ("no singing", true),
        (En, _) => ("with vocals", false),
        (De, 0 | 1) => ("ohne Gesang", true),
        (De, _) => ("mit Gesang", false),
        (Fr, 0 | 1) => ("sans paroles", true),
        (Fr, _) => ("avec des paroles", false),
        (Es, 0 | 1) => ("sin voz", true),
        (Es, _) => ("con voz", false),
    };
    limits.instrumental = Some(is);
    text.into()
}

fn explicit(dice: &mut Dice, lang: Lang, limits: &mut TrackLimits) -> String {
    limits.explicit = Some(false);
    let texts: &[&str] = match lang {
        En => &["no explicit lyrics", "without swearing", "not explicit"],
        De => &["ohne Schimpfwörter"],
        Fr => &["sans gros mots"],
        Es => &["sin palabrotas"],
    };
    dice.one(texts).into()
}

fn ownership(dice: &mut Dice, lang: Lang, limits: &mut TrackLimits) -> String {
    let (text, owned) = match (lang, dice.below(2)) {
        (En, 0) => ("from my library", true),
        (En, _) => ("that I don't own", false),
        (De, 0) => ("aus meiner Sammlung", true),
        (De, _) => ("die ich noch nicht habe", false),
        (Fr, 0) => ("dans ma bibliothèque", true),
        (Fr, _) => ("que je n'ai pas", false),
        (Es, 0) => ("de mi biblioteca", true),
        (Es, _) => ("que no tengo", false),
    };
    limits.in_library = Some(owned);
    text.into()
}

fn count(dice: &mut Dice, lang: Lang, limits: &mut TrackLimits) -> String {
    let n = 2 + dice.below(20);
    limits.at_most = Some(n);
    match lang {
        En => format!("{} {n} songs", dice.one(&["at most", "up to", "no more than", "only"])),
        De => format!("höchstens {n} Lieder"),
        Fr => format!("au plus {n} chansons"),
        Es => format!("como máximo {n} canciones"),
    }
}

fn per_artist(dice: &mut Dice, lang: Lang, limits: &mut TrackLimits) -> String {
    let n = 1 + dice.below(3);
    limits.at_most_per_artist = Some(n);
    match lang {
        En => format!("{} {n} per artist", dice.one(&["at most", "max", "no more than"])),
        De => format!("höchstens {n} pro Künstler"),
        Fr => format!("au plus {n} par artiste"),
        Es => format!("como máximo {n} por artista"),
    }
}

fn key(dice: &mut Dice, lang: Lang, limits: &mut TrackLimits) -> String {
    let (tonic, names) = dice.one(&[
        (9u8, ["A", "a", "la", "la"]),
        (0, ["C", "c", "do", "do"]),
        (6, ["F#", "fis", "fa dièse", "fa sostenido"]),
    ]);
    let minor = dice.below(2) == 0;
    limits.key = Some(Key { tonic: Some(tonic), minor: Some(minor) });
    let mode = |minor_name: &'static str, major_name: &'static str| if minor { minor_name } else { major_name };
    match lang {
        En => format!("in {} {}", names[0], mode("minor", "major")),
        De => format!("in {}-{}", names[1], mode("Moll", "Dur")),
        Fr => format!("en {} {}", names[2], mode("mineur", "majeur")),
        Es => format!("en {} {}", names[3], mode("menor", "mayor")),
    }
}

fn denied(dice: &mut Dice, lang: Lang, limits: &mut TrackLimits) -> String {
    let (lead, words): (&str, [&str; 3]) = match lang {
        En => (dice.one(&["without", "no", "but not"]), ["drums", "saxophone", "Christmas bells"]),
        De => ("ohne", ["Schlagzeug", "Saxofon", "Trompeten"]),
        Fr => ("sans", ["guitare", "batterie", "saxophone"]),
        Es => ("sin", ["guitarra", "batería", "trompeta"]),
    };
    let word = dice.one(&words);
    limits.denied.push(word.into());
    format!("{lead} {word}")
}

type Maker = fn(&mut Dice, Lang, &mut TrackLimits) -> String;
const MAKERS: [Maker; 11] =
    [years, tempo, duration, language, vocals, explicit, ownership, count, per_artist, key, denied];

#[test]
fn the_limits_of_ten_thousand_generated_messages_are_parsed_exactly() {
    let mut dice = Dice(19);
    for _ in 0..10_000 {
        let (lang, themes) = dice.one(THEMES);
        let theme = dice.one(themes);
        let mut limits = TrackLimits::default();
        let mut makers: Vec<usize> = (0..1 + dice.below(3)).map(|_| dice.below(MAKERS.len())).collect();
        makers.sort_unstable();
        makers.dedup();
        let mut said: Vec<String> = makers.iter().map(|maker| MAKERS[*maker](&mut dice, lang, &mut limits)).collect();
        let turn = dice.below(said.len());
        said.rotate_left(turn);
        let message = match dice.below(3) {
            0 => format!("{theme}, {}", said.join(", ")),
            1 => format!("{}, {theme}", said.join(", ")),
            _ => format!("{theme} {}", said.join(", ")),
        };
        let plan = read(&message);
        assert_eq!(plan.limits, limits, "{message}");
        assert_eq!(plan.words, theme, "{message}");
        let understood = plan.applied.len();
        assert_eq!(understood, said.len(), "{message}: {:?}", plan.applied);
        for applied in &plan.applied {
            assert!(message.contains(&applied.text) && !applied.label.is_empty(), "{message}: {applied:?}");
        }
    }
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table")]
fn ordinary_themes_and_titles_have_no_limit() {
    let mut misread = Vec::new();
    for theme in [
        "\"summer of 69\"",
        "summer of 69",
        "ninety-one seconds",
        "french fries",
        "slow dance",
        "no king beneath the hill",
        "\"No King Beneath the Hill\"",
        "songs about the nineties",
        "in my twenties",
        "with or without you",
        "can't live without you",
        "sans toi",
        "I am not afraid",
        "you are not alone",
        "nothing else matters",
        "no place like home",
        "no time to die",
        "feels like home",
        "run like the rain",
        "like a rolling stone",
        "by the sea",
        "songs by the river",
        "driving by night",
        "music by candlelight",
        "spanish guitar",
        "english garden in bloom",
        "walking in French gardens",
        "five minutes to midnight",
        "99 red balloons",
        "one more time",
        "three little birds",
        "a minor incident",
        "in a minor accident",
        "key to my heart",
        "major tom",
        "long road home",
        "short skirt",
        "clean house",
        "explicit feelings",
        "my library card",
        "I have a dream",
        "new shoes",
        "older brother",
        "longer days in spring",
        "rainy night drive",
        "cosy winter evening at home",
        "tax return",
        "is it raining tomorrow",
        "my printer does not work",
        "how old is the president",
        "the weather forecast for Tuesday",
        "Lieder von Liebe",
        "über den Wolken",
        "eine Fahrt durch die Nacht",
        "une nuit sans fin au bord de la mer",
        "el sol de la tarde",
        "first snow",
        "proud of my family",
        "funeral of someone I loved",
        "under the bridge",
        "over the rainbow",
        "about a boy",
        "between two worlds",
        "after the rain",
        "before sunrise",
        "album of memories",
        "twenty one",
        "seven nation army",
        "around the world",
        "at least I tried",
    ] {
        let plan = read(theme);
        let is_plain = plan.limits.is_empty() && plan.seeds.is_empty() && plan.words == theme;
        if !is_plain {
            misread.push(format!("{theme}: {:?} {:?}", plan.applied, plan.words));
        }
    }
    assert!(misread.is_empty(), "{misread:#?}");
}

#[test]
fn years_in_words_are_parsed() {
    for (message, from, to) in [
        ("nineties", Some(1990), Some(1999)),
        ("from the 90s", Some(1990), Some(1999)),
        ("the '90s", Some(1990), Some(1999)),
        ("90's music", Some(1990), Some(1999)),
        ("1980s", Some(1980), Some(1989)),
        ("late 70s", Some(1977), Some(1979)),
        ("early nineties", Some(1990), Some(1993)),
        ("from 1994 to 1997", Some(1994), Some(1997)),
        ("1994-1997", Some(1994), Some(1997)),
        ("80s and 90s", Some(1980), Some(1999)),
        ("released in 2003", Some(2003), Some(2003)),
        ("older than 30 years", None, Some(1995)),
        ("from the last 5 years", Some(2021), None),
        ("Neunziger", Some(1990), Some(1999)),
        ("aus den achtziger Jahren", Some(1980), Some(1989)),
        ("années quatre-vingt-dix", Some(1990), Some(1999)),
        ("años noventa", Some(1990), Some(1999)),
        ("after 1999 and before 2005", Some(2000), Some(2004)),
    ] {
        assert_eq!(read(message).limits.years, Some(YearRange { from, to }), "{message}");
    }
}

#[test]
fn the_names_of_artists_and_albums_are_parsed_without_the_words_around_them() {
    for (message, artist, album) in [
        ("sad songs by Hesper Lindqvale from 2019", Some("Hesper Lindqvale"), None),
        ("songs by radiohead in english", Some("radiohead"), None),
        ("anything by Florence and the Machine without drums", Some("Florence and the Machine"), None),
        ("by \"The The\", slow", Some("The The"), None),
        ("Lieder von Mira Voss", Some("Mira Voss"), None),
        ("chansons de Jacques Brel", Some("Jacques Brel"), None),
        ("songs from the album \"The Ferry Keeps No Secrets\"", None, Some("The Ferry Keeps No Secrets")),
        ("from the album Homogenic by Björk", Some("Björk"), Some("Homogenic")),
    ] {
        let limits = read(message).limits;
        assert_eq!((limits.artist.as_deref(), limits.album.as_deref()), (artist, album), "{message}");
    }
}

#[test]
fn denials_are_removed_from_the_words_and_reverse_the_sound() {
    for (message, denied, words) in [
        ("rain songs that are not melancholy", &["melancholy"][..], "rain songs"),
        ("no drums or bass", &["drums", "bass"], ""),
        ("quiet songs without piano and strings", &["piano", "strings"], "quiet songs"),
        ("party music, no sad songs about love", &["sad"], "party music about love"),
        ("hopeful rather than sad", &["sad"], "hopeful"),
        ("not too loud", &[], ""),
        ("ruhige Lieder ohne Gitarre", &["Gitarre"], "ruhige Lieder"),
        ("not \"Yesterday\"", &["Yesterday"], ""),
    ] {
        let plan = read(message);
        assert_eq!(
            (&plan.limits.denied[..], plan.words.as_str()),
            (&denied.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()[..], words),
            "{message}"
        );
    }
    assert_eq!(read("rain songs that are not melancholy").sounds[0].side, Side::High);
    assert_eq!(read("not too loud").sounds[0].side, Side::Low);
}

#[test]
fn seeds_are_distinguished_from_comparisons() {
    let named = |name: &str| Seed::Named(name.into());
    for (message, seed, words) in [
        ("like Negative Split but calmer", named("Negative Split"), ""),
        ("like negative split but calmer", named("negative split"), ""),
        ("more like Slack Water", named("Slack Water"), ""),
        ("something like \"Summer of '69\", slower", named("Summer of '69"), ""),
        ("more of that, faster", Seed::Shown, ""),
        ("more like the second", Seed::Place(2), ""),
        ("more like the second one but louder", Seed::Place(2), ""),
        ("wie Nachtzug, aber ruhiger", named("Nachtzug"), ""),
        ("songs in the style of Hesper Lindqvale about ferries", named("Hesper Lindqvale"), "songs about ferries"),
    ] {
        let plan = read(message);
        assert_eq!((plan.seeds, plan.words.as_str()), (vec![seed], words), "{message}");
    }
    let calmer = read("like Negative Split but calmer").sounds;
    assert!(calmer[0].is_relative && calmer[0].side == Side::Low, "{calmer:?}");
    assert_eq!(read("older").shifts, [Shift::Older]);
    assert_eq!(read("no, something newer").shifts, [Shift::Newer]);
}

#[test]
fn the_applied_limits_are_json_for_chips() {
    let plan = read("sad songs in French from the 90s under 3 minutes");
    let chips = serde_json::to_value(&plan.applied).unwrap();
    assert_eq!(
        chips,
        serde_json::json!([
            {"kind": "language", "label": "in French", "text": "in French"},
            {"kind": "years", "label": "1990–1999", "text": "from the 90s"},
            {"kind": "duration", "label": "under 3:00", "text": "under 3 minutes"},
        ])
    );
    assert_eq!(plan.applied[1].kind, AppliedKind::Years);
    assert_eq!(plan.words, "sad songs");
}
