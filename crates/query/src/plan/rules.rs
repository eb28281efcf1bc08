//! All patterns of the grammar, compiled once, and the search for the longest match at a token.

use std::sync::LazyLock;

use super::{
    grammar::{AFTER_MEASURE, COMPARING, COUNTED, COUNTING, LIMITS, PER_ARTIST, Rule, limit},
    names::{MUSIC_NOUNS, is_boundary},
    pattern::Pattern,
    tokens::{Kind, Token},
    types::Limit,
};

static RULES: LazyLock<Vec<(Rule, Pattern)>> = LazyLock::new(|| {
    let mut lines: Vec<(Rule, String)> = Vec::new();
    for (rule, patterns) in LIMITS.iter().copied().flatten() {
        lines.extend(patterns.iter().map(|pattern| (*rule, (*pattern).to_owned())));
    }
    for slot in ["{time}", "{bpm}"] {
        for (rule, phrases) in COMPARING {
            lines.extend(phrases.iter().map(|phrase| (*rule, format!("{phrase} {slot} {AFTER_MEASURE}"))));
        }
        for between in
            ["between|zwischen|entre {n} and|und|et|y", "from {n} to", "von {n} bis", "de {n} a", "{n} to|bis|a|-"]
        {
            lines.push((Rule::Between, format!("{between} {slot} {AFTER_MEASURE}")));
        }
        for between in ["between|zwischen|entre", "from|von|de"] {
            lines.push((Rule::Between, format!("{between} {slot} and|und|et|y|to|bis|a {slot} {AFTER_MEASURE}")));
        }
    }
    lines.extend(["{bpm}", "at|with|mit|bei|avec|a|con {bpm}"].map(|line| (Rule::Exactly, line.to_owned())));
    for counting in COUNTING {
        lines.push((Rule::AtMost, format!("{counting} {{n}} {COUNTED}")));
        if !counting.is_empty() && !counting.starts_with("only") {
            lines.push((Rule::AtMost, format!("{counting} {{n}}")));
        }
        for per in PER_ARTIST {
            lines.push((Rule::PerArtist, format!("{counting} {{n}} {COUNTED}? {per}")));
            lines.push((Rule::PerArtist, format!("{counting} {{n}} {per}")));
        }
    }
    lines.push((Rule::AtMost, "top {n}".to_owned()));
    lines.into_iter().map(|(rule, line)| (rule, Pattern::new(&line))).collect()
});

/// The longest limit that starts at a token, and its number of tokens.
pub(super) fn read_limit(tokens: &[Token], at: usize, text: &str, this_year: i32) -> Option<(Rule, Limit, usize)> {
    let mut best: Option<(Rule, Limit, usize)> = None;
    for (rule, pattern) in RULES.iter() {
        let Some((values, taken)) = pattern.read(&tokens[at..], text) else { continue };
        if taken == 0 || best.as_ref().is_some_and(|(_, _, longest)| *longest >= taken) {
            continue;
        }
        if let Some(limit) = limit(*rule, &values, this_year).filter(|_| is_meant(*rule, tokens, at, taken)) {
            best = Some((*rule, limit, taken));
        }
    }
    best
}

/// Whether the words around a match allow a limit: "songs about the nineties" names a theme, "in my twenties" an age.
fn is_meant(rule: Rule, tokens: &[Token], at: usize, taken: usize) -> bool {
    let word = |at: Option<usize>| at.and_then(|at| tokens.get(at)).map_or("", |token| token.word.as_str());
    let is_article = |word: &str| matches!(word, "the" | "die" | "den" | "les" | "los");
    let before = match word(at.checked_sub(1)) {
        article if is_article(article) => word(at.checked_sub(2)),
        before => before,
    };
    let is_new_clause = tokens[at].after_break;
    let asks_how = before == "about" && tokens[..at].iter().any(|token| matches!(token.word.as_str(), "how" | "what"));
    let follower = tokens.get(at + taken).filter(|next| !next.after_break);
    match rule {
        Rule::Decade | Rule::DecadesBetween | Rule::YearsIn | Rule::Key => {
            !matches!(
                before,
                "about"
                    | "uber"
                    | "sur"
                    | "sobre"
                    | "my"
                    | "her"
                    | "his"
                    | "their"
                    | "your"
                    | "our"
                    | "called"
                    | "summer"
                    | "seine"
                    | "ihre"
            ) || is_new_clause
                || asks_how
        }
        // "In French" is a limit only if the message ends there or continues with another limit: "in French gardens" is a
        // place.
        Rule::Language | Rule::NotLanguage => {
            let names_song = tokens[at..at + taken].iter().any(|token| is_sung(&token.word));
            let after_song = !is_new_clause && MUSIC_NOUNS.contains(&before) || is_sung(before);
            names_song || after_song || follower.is_none_or(|next| next.kind != Kind::Quoted && is_boundary(&next.word))
        }
        Rule::Instrumental => {
            !follower.is_some_and(|next| matches!(next.word.as_str(), "break" | "solo" | "bridge" | "intro" | "outro"))
        }
        Rule::MinorKey | Rule::MajorKey => before != "about",
        _ => true,
    }
}

fn is_sung(word: &str) -> bool {
    MUSIC_NOUNS.contains(&word)
        || matches!(
            word,
            "sung" | "singing" | "lyrics" | "vocals" | "language" | "gesungen" | "texte" | "texten" | "only" | "non"
        )
        || word.starts_with("chant") && word.len() > 5
        || word.starts_with("cantad")
}
