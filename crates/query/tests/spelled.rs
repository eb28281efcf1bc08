//! Emoji, and names in other scripts than Latin.

use query::{
    emoji::spelled,
    latin::{latin, with_latin},
    plan::parse,
};

#[test]
fn emoji_are_replaced_by_words() {
    for (text, words) in [
        ("🌧️🚗🌙", "rain driving night"),
        ("something for 😴", "something for sleep"),
        ("☕", "coffee"),
        ("no 🥁 please", "no drums please"),
        ("🦄", "unicorn"),
        ("🏃‍♀️", "running"),
        ("rain & snow (live)", "rain & snow (live)"),
        ("海 ★ 100 %", "海 ★ 100 %"),
    ] {
        assert_eq!(spelled(text), words, "{text}");
    }
    assert_eq!(parse("calm songs, no 🥁", 2026).limits.denied, ["drums"]);
}

#[test]
fn names_in_other_scripts_have_a_latin_spelling() {
    for (name, written) in [
        ("Кино", Some("Kino")),
        ("Виктор Цой", Some("Viktor Tsoy")),
        ("Νταλάρας", Some("Ntalaras")),
        ("ひかる", Some("hikaru")),
        ("Björk", None),
        ("宇多田", None),
        ("Metallica", None),
    ] {
        assert_eq!(latin(name).as_deref(), written, "{name}");
    }
    assert_eq!((with_latin("Кино"), with_latin("Kino")), ("Кино Kino".into(), "Kino".into()));
}
