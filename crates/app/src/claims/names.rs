//! Finds the tracks that a text names, and which of them are unknown.

/// Appends the folded letters and digits of a text, with single blanks between words.
pub(super) fn fold_into(known: &mut String, text: &str) {
    known.push(' ');
    for letter in text::fold(text).chars() {
        if letter.is_alphanumeric() {
            known.push(letter);
        } else if !known.ends_with(' ') && letter != '\'' && letter != '’' {
            known.push(' ');
        }
    }
}

fn folded(text: &str) -> String {
    let mut known = String::new();
    fold_into(&mut known, text);
    known.trim().to_owned()
}

/// Titles next to an artist.
pub(super) fn named(text: &str) -> Vec<String> {
    text.lines().flat_map(titles).collect()
}

/// Those that no known text contains.
pub(super) fn unknown(named: Vec<String>, known: &str) -> Vec<String> {
    let mut unknown: Vec<String> = Vec::new();
    for title in named {
        let name = folded(&title);
        if !name.is_empty() && !known.contains(&name) && !unknown.contains(&title) {
            unknown.push(title);
        }
    }
    unknown
}

const BY: [&str; 4] = [" by ", " von ", " par ", " de "];
/// Headings of lists about music that are not titles.
const ASPECTS: [&str; 18] = [
    "mood", "genre", "tempo", "sound", "theme", "energy", "lyrics", "key", "style", "year", "artist", "album",
    "search", "sort", "filter", "browse", "order", "playlist",
];

/// `"Title" by Artist` and `**Title** – Artist` anywhere; `1. Title by Artist` in a list.
fn titles(line: &str) -> Vec<String> {
    let mut found = marked(line, '"', '"');
    found.extend(marked(line, '“', '”'));
    found.extend(bold(line));
    if found.is_empty()
        && let Some(item) = list_item(line)
        && let Some((title, artist)) = item.split_once(" by ")
        && is_name(title)
        && begins_upper(artist)
    {
        found.push(title.trim().trim_matches(['"', '“', '”', '*']).to_owned());
    }
    found
}

/// Titles in quotation marks, with an artist after them.
fn marked(line: &str, open: char, close: char) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find(open) {
        let inside = &rest[at + open.len_utf8()..];
        let Some(end) = inside.find(close) else { break };
        let (title, after) = (&inside[..end], &inside[end + close.len_utf8()..]);
        let by = BY.iter().find_map(|by| after.strip_prefix(by));
        if by.is_some_and(begins_upper) && is_name(title) {
            found.push(title.trim_end_matches([',', '.']).to_owned());
        }
        rest = after;
    }
    found
}

fn bold(line: &str) -> Vec<String> {
    let parts: Vec<&str> = line.split("**").collect();
    let pairs = parts.windows(2).skip(1).step_by(2);
    let found = pairs.filter_map(|pair| {
        let after = pair[1].trim_start_matches(['"', '”']);
        let artist = BY.iter().chain(&[" – ", " — ", " - "]).find_map(|by| after.strip_prefix(by))?;
        (begins_upper(artist) && is_name(pair[0])).then(|| pair[0].trim_matches(['"', '“', '”', ' ']).to_owned())
    });
    found.collect()
}

fn list_item(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let without_number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if without_number.len() < line.len() {
        return without_number.strip_prefix(['.', ')']).map(str::trim);
    }
    line.strip_prefix(['-', '*', '•']).filter(|rest| rest.starts_with(' ')).map(str::trim)
}

fn is_name(title: &str) -> bool {
    let first = title.trim().split([' ', ':']).next().unwrap_or_default().to_lowercase();
    let n_chars = title.chars().count();
    (1..=80).contains(&n_chars) && !ASPECTS.contains(&first.as_str()) && !title.trim_end().ends_with(':')
}

fn begins_upper(text: &str) -> bool {
    text.trim_start_matches(['*', '_', '"', ' '])
        .trim_start_matches("the ")
        .chars()
        .next()
        .is_some_and(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_known_however_its_accents_and_apostrophes_are_written() {
        let mut known = String::new();
        fold_into(&mut known, "Café Nord, Don’t Go");
        let answer = "\"Cafe Nord\" by Ivy Marlow, \"Dont Go\" by Ivy Marlow, \"Low Tide\" by Ivy Marlow";
        assert_eq!(unknown(named(answer), &known), ["Low Tide"]);
    }
}
