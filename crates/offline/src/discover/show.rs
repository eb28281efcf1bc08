//! Text about tracks and albums: numbered lists, details, comparisons. It names only tracks that tools returned.

use super::tracks::{Album, Features, Track};
use crate::{
    Voice,
    language::{text::folded, words::Lang},
    say::{Phrase, plain, strong},
};

/// A result with a lower score has little in common with the query. Scores are comparable between queries.
pub(crate) const WEAK: f64 = query::MATCHES_FROM as f64;
/// Maximum number of results in the text; the card shows all.
const READ_OUT: usize = 8;
const READ_OUT_WEAK: usize = 3;

pub(crate) fn is_good(track: &Track) -> bool {
    track.score.is_none_or(|score| score >= WEAK)
}

/// The answer to a search in the index.
pub(crate) fn search(voice: &Voice, query: &str, found: &[Track], limit: Option<usize>) -> String {
    let good: Vec<_> = found.iter().filter(|track| is_good(track)).collect();
    match (good.as_slice(), found) {
        ([], []) => voice.say(Phrase::FoundNothing, &[&plain(query)]),
        ([], weak) => {
            let nearest: Vec<_> = weak.iter().take(READ_OUT_WEAK).collect();
            format!("{}\n{}", voice.say(Phrase::FoundWeak, &[&plain(query)]), lines(voice, &nearest))
        }
        (good, _) => {
            let n = limit.unwrap_or(READ_OUT).min(good.len());
            let head = voice.say(Phrase::FoundTracks, &[&plain(query)]);
            let hint = if n == 1 { Phrase::MoreHintOne } else { Phrase::MoreHint };
            format!("{head}\n{}\n\n{}", lines(voice, &good[..n]), voice.say(hint, &[]))
        }
    }
}

/// The answer to a search for a name in the index: only tracks with this name fit.
pub(crate) fn name_search(voice: &Voice, name: &str, found: &[Track], limit: Option<usize>) -> String {
    let wanted = folded(name);
    let bears_it = |track: &&Track| {
        let names = folded(&format!("{} {} {}", track.title, track.artist, track.album));
        wanted.iter().all(|word| names.contains(word))
    };
    let bearing: Vec<Track> =
        found.iter().filter(bears_it).map(|track| Track { score: None, ..track.clone() }).collect();
    if !bearing.is_empty() || found.is_empty() {
        return search(voice, name, &bearing, limit);
    }
    let nearest: Vec<_> = found.iter().take(READ_OUT_WEAK).collect();
    format!("{}\n{}", voice.say(Phrase::FoundWeak, &[&plain(name)]), lines(voice, &nearest))
}

/// The answer to a search in the catalogue.
pub(crate) fn catalogue(voice: &Voice, tracks: &[Track], albums: &[Album], limit: Option<usize>) -> String {
    let n = limit.unwrap_or(READ_OUT);
    let mut said = voice.say(Phrase::FoundOnTidal, &[]);
    if !tracks.is_empty() {
        said.push('\n');
        said.push_str(&lines(voice, &tracks.iter().take(n).collect::<Vec<_>>()));
    }
    if !albums.is_empty() {
        said.push_str(&format!("\n\n{}", voice.say(Phrase::Albums, &[])));
        for (at, album) in albums.iter().take(n).enumerate() {
            // An answer has only one numbered list, so that "the second one" is unambiguous.
            let mark = if tracks.is_empty() { format!("{}.", at + 1) } else { "-".to_owned() };
            let year = album.release_date.as_deref().and_then(|date| date.get(..4));
            let year = year.map_or_else(String::new, |year| format!(" ({})", plain(year)));
            let line = format!("\n{mark} {} {} {}{year}", strong(&album.title), by(voice.lang), plain(&album.artist));
            said.push_str(&line);
            said.push_str(if album.in_library { owned(voice.lang) } else { "" });
        }
    }
    said
}

/// Numbered lines, one per track.
pub(crate) fn lines(voice: &Voice, tracks: &[&Track]) -> String {
    let lines = tracks.iter().enumerate().map(|(at, track)| {
        let description =
            track.short_description.as_deref().map_or_else(String::new, |text| format!(": {}", plain(text)));
        let owned = if track.in_library { owned(voice.lang) } else { "" };
        format!("{}. {}{description}{owned}", at + 1, naming(voice, track))
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn naming(voice: &Voice, track: &Track) -> String {
    format!("{} {} {}", strong(&track.title), by(voice.lang), plain(&track.artist))
}

/// The details of each track.
pub(crate) fn details(voice: &Voice, tracks: &[Track]) -> String {
    let each = tracks.iter().map(|track| {
        let mut said = naming(voice, track);
        let album = (!track.album.is_empty()).then(|| plain(&track.album));
        let facts: Vec<String> = [album, track.year().map(|year| year.to_string()), track.duration.map(clock)]
            .into_iter()
            .flatten()
            .collect();
        if !facts.is_empty() {
            said.push_str(&format!(" ({})", facts.join(", ")));
        }
        let meaning = track.interpretation.as_deref().or(track.short_description.as_deref());
        if let Some(meaning) = meaning {
            said.push_str(&format!("\n{}", whole_sentences(&plain(meaning), 400)));
        }
        if let Some(features) = &track.audio_features {
            said.push_str(&format!("\n{}", sound(voice.lang, features)));
        }
        said
    });
    each.collect::<Vec<_>>().join("\n\n")
}

fn clock(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

/// The first lines of the lyrics; the card shows all.
pub(crate) fn lyrics(voice: &Voice, tracks: &[Track]) -> String {
    const LINES: usize = 4;
    let each = tracks.iter().map(|track| match track.lyrics.as_deref().filter(|lyrics| !lyrics.trim().is_empty()) {
        Some(lyrics) => {
            let first: Vec<_> = lyrics.lines().filter(|line| !line.trim().is_empty()).take(LINES).map(plain).collect();
            let quoted: Vec<_> = first.iter().map(|line| format!("> {line}")).collect();
            format!("{}\n\n{}\n\n{}", naming(voice, track), quoted.join("\n"), voice.say(Phrase::MoreInCard, &[]))
        }
        None => voice.say(Phrase::NoLyrics, &[&strong(&track.title)]),
    });
    each.collect::<Vec<_>>().join("\n\n")
}

/// Each track, then the differences in sound between the first two.
pub(crate) fn comparison(voice: &Voice, tracks: &[Track]) -> String {
    let mut said = details(voice, tracks);
    let [first, second, ..] = tracks else { return said };
    let (Some(a), Some(b)) = (&first.audio_features, &second.audio_features) else { return said };
    let pairs = [
        (a.energy, b.energy, 0),
        (a.valence, b.valence, 1),
        (a.danceability, b.danceability, 2),
        (a.tempo, b.tempo, 3),
    ];
    let n_before = said.len();
    for (a, b, which) in pairs {
        let (Some(a), Some(b)) = (a, b) else { continue };
        let (more, high, low) = if a >= b { (first, a, b) } else { (second, b, a) };
        if (high - low) / high.abs().max(f64::EPSILON) > 0.1 {
            said.push_str(&format!(
                "\n- {} {} ({high:.2} / {low:.2})",
                strong(&more.title),
                more_of(voice.lang, which)
            ));
        }
    }
    if said.len() == n_before {
        said.push_str(&format!("\n- {}", voice.say(Phrase::SoundAlike, &[])));
    }
    said
}

fn more_of(lang: Lang, which: usize) -> &'static str {
    let words = match lang {
        Lang::En => ["has more energy", "sounds happier", "is easier to dance to", "is faster"],
        Lang::De => ["hat mehr Energie", "klingt fröhlicher", "ist tanzbarer", "ist schneller"],
        Lang::Fr => ["a plus d'énergie", "est plus joyeux", "est plus dansant", "est plus rapide"],
        Lang::Es => ["tiene más energía", "suena más alegre", "es más bailable", "es más rápida"],
    };
    words[which]
}

fn sound(lang: Lang, features: &Features) -> String {
    let names = match lang {
        Lang::En => ["energy", "mood", "danceability", "acoustic"],
        Lang::De => ["Energie", "Stimmung", "Tanzbarkeit", "akustisch"],
        Lang::Fr => ["énergie", "humeur", "danse", "acoustique"],
        Lang::Es => ["energía", "ánimo", "baile", "acústica"],
    };
    let values = [features.energy, features.valence, features.danceability, features.acousticness];
    let known = names.iter().zip(values).filter_map(|(name, value)| Some(format!("{name} {:.0} %", value? * 100.0)));
    let tempo = features.tempo.map(|tempo| format!("{tempo:.0} BPM"));
    known.chain(tempo).collect::<Vec<_>>().join(", ")
}

fn by(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "by",
        Lang::De => "von",
        Lang::Fr | Lang::Es => "de",
    }
}

fn owned(lang: Lang) -> &'static str {
    match lang {
        Lang::En => " (in your library)",
        Lang::De => " (in deiner Bibliothek)",
        Lang::Fr => " (dans ta bibliothèque)",
        Lang::Es => " (en tu biblioteca)",
    }
}

/// The whole sentences of a text that is too long, or that its tool has cut.
fn whole_sentences(text: &str, n_chars: usize) -> String {
    let short = text::shortened_at_word(text, n_chars);
    let end = short.strip_suffix('…').and_then(|cut| cut.rfind(['.', '!', '?']));
    end.map(|end| short[..=end].to_owned()).unwrap_or(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_ends_with_a_whole_sentence() {
        assert_eq!(whole_sentences("One. Two is long", 12), "One.");
        assert_eq!(whole_sentences("One. Two is cut of…", 400), "One.");
        assert_eq!(whole_sentences("No end here at all", 10), "No end…");
        assert_eq!(whole_sentences("Short.", 400), "Short.");
    }
}
