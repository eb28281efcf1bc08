//! Cleans the name of an audio file: removes the words and ids that downloaders add.

/// The name without its extension, with spaces.
pub(super) fn stem(name: &str) -> String {
    let stem = match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() && extension.len() <= 5 && !extension.contains(' ') => stem,
        _ => name,
    };
    // Must run before underscores become spaces, because video ids contain underscores.
    let stem = without_video_id(stem);
    if stem.contains(' ') { stem.to_owned() } else { stem.replace('_', " ") }
}

/// Downloaders put the id of the video in brackets at the end.
fn without_video_id(stem: &str) -> &str {
    let is_id = |text: &str| {
        text.len() == 11
            && text.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_'))
            && text.bytes().any(|c| !c.is_ascii_lowercase())
    };
    for (open, close) in [(" [", ']'), (" (", ')')] {
        if let Some((rest, id)) = stem.trim_end().strip_suffix(close).and_then(|stem| stem.rsplit_once(open))
            && is_id(id)
        {
            return rest.trim_end();
        }
    }
    // Older downloaders write a hyphen before the id. Only text that does not look like a word is treated as an id.
    match stem.char_indices().rev().nth(11) {
        Some((at, '-')) if at > 0 && is_id(&stem[at + 1..]) && looks_random(&stem[at + 1..]) => stem[..at].trim_end(),
        _ => stem,
    }
}

fn looks_random(id: &str) -> bool {
    let has = |is: fn(&u8) -> bool| id.as_bytes().iter().any(is);
    has(u8::is_ascii_digit) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase)
}

/// A title without `(Official Video)` and similar additions.
pub(super) fn without_video_words(title: &str) -> String {
    const WORDS: &[&str] = &[
        "official",
        "video",
        "videoclip",
        "clip",
        "music",
        "audio",
        "lyric",
        "lyrics",
        "visualizer",
        "visualiser",
        "hd",
        "hq",
        "4k",
        "uhd",
        "1080p",
        "720p",
        "mv",
        "m/v",
        "officiel",
        "oficial",
        "ufficiale",
        "offizielles",
        "musikvideo",
        "with",
    ];
    let mut title = title.trim().to_owned();
    loop {
        let group = [('(', ')'), ('[', ']')].into_iter().find_map(|(open, close)| {
            let rest = title.strip_suffix(close)?;
            let (before, words) = rest.rsplit_once(open)?;
            let is_about_video = words.split_whitespace().all(|word| WORDS.contains(&word.to_lowercase().as_str()));
            (is_about_video && !words.trim().is_empty() && !before.trim().is_empty()).then(|| before.trim().to_owned())
        });
        match group {
            Some(shorter) => title = shorter,
            None => return title,
        }
    }
}

/// `01 Title`, `1-03 Title`, `01. Title`, `01 - Title`: disc and track number, and the rest. A title may start with a
/// number, so a number that is followed by a space only counts if it has two digits and is a plausible track number.
pub(super) fn numbered(stem: &str) -> (Option<(Option<u32>, u32)>, &str) {
    let digits = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let n = digits(stem);
    if n == 0 || n > 3 {
        return (None, stem);
    }
    let (first, rest) = stem.split_at(n);
    let after_hyphen = rest.strip_prefix(['-', '.']).filter(|rest| digits(rest) == 2);
    if let Some(rest) = after_hyphen
        && let Some(title) = title_after(&rest[2..])
    {
        return (first.parse().ok().zip(rest[..2].parse().ok()).map(|(disc, track)| (Some(disc), track)), title);
    }
    let is_marked = rest.trim_start().starts_with(['.', '-', ')', '_']);
    let is_padded = n == 2 && first.parse::<u32>().is_ok_and(|number| number < 40);
    match title_after(rest) {
        Some(title) if is_marked || is_padded => (first.parse().ok().map(|number| (None, number)), title),
        _ => (None, stem),
    }
}

/// The text after a number and its separator.
fn title_after(rest: &str) -> Option<&str> {
    let title = rest.trim_start_matches(['.', ' ', '-', '_', ')']);
    (title.len() < rest.len() && !title.is_empty()).then_some(title)
}
