//! Languages by their names in English, German, French and Spanish.

/// The code of a language, by its name as a noun or an adjective (lower case, without accents).
pub(crate) fn language(word: &str) -> Option<&'static str> {
    LANGUAGES.iter().find(|(_, names)| names.split(' ').any(|name| name == word)).map(|(code, _)| *code)
}

/// The English name comes first.
const LANGUAGES: &[(&str, &str)] = &[
    ("en", "english englisch englische englischen englischer anglais anglaise anglaises ingles inglesa inglesas"),
    ("de", "german deutsch deutsche deutschen deutscher allemand allemande allemandes aleman alemana alemanas"),
    (
        "fr",
        "french franzosisch franzosische franzosischen franzosischer francais francaise francaises frances francesa francesas",
    ),
    ("es", "spanish spanisch spanische spanischen spanischer espagnol espagnole espagnoles espanol espanola espanolas"),
    ("it", "italian italienisch italienische italienischen italien italienne italiennes italiano italiana italianas"),
    (
        "pt",
        "portuguese portugiesisch portugiesische portugiesischen portugais portugaise portugaises portugues portuguesa portuguesas",
    ),
    ("ja", "japanese japanisch japanische japanischen japonais japonaise japonaises japones japonesa japonesas"),
    ("ru", "russian russisch russische russischen russe russes ruso rusa rusas"),
    ("sv", "swedish schwedisch schwedische suedois suedoise sueco sueca"),
    ("is", "icelandic islandisch islandische islandais islandaise islandes islandesa"),
    ("ko", "korean koreanisch koreanische coreen coreenne coreano coreana"),
    ("zh", "chinese mandarin chinesisch chinesische chinois chinoise chino"),
    ("nl", "dutch niederlandisch niederlandische hollandisch neerlandais neerlandaise neerlandes holandes"),
    ("pl", "polish polnisch polnische polonais polaco polaca"),
    ("tr", "turkish turkisch turkische turc turque turco turca"),
    ("ar", "arabic arabisch arabische arabe"),
    ("el", "greek griechisch griechische grec grecque griego griega"),
    ("hi", "hindi"),
    ("no", "norwegian norwegisch norwegische norvegien noruego"),
    ("da", "danish danisch danische danois danes"),
    ("fi", "finnish finnisch finnische finnois finlandes"),
    ("he", "hebrew hebraisch hebreu hebreo"),
];

/// The English name of a language code, for labels.
pub(crate) fn language_name(code: &str) -> String {
    let name = LANGUAGES.iter().find(|(known, _)| *known == code).and_then(|(_, names)| names.split(' ').next());
    name.map_or_else(|| code.to_owned(), |name| format!("{}{}", name[..1].to_uppercase(), &name[1..]))
}
