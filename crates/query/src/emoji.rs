//! Emoji as words: "🌧️🚗🌙" becomes "rain driving night".

use std::borrow::Cow;

/// The text with each emoji replaced by words: from our own list for emoji about music and moods, else from its Unicode
/// name.
pub fn spelled(text: &str) -> Cow<'_, str> {
    if !text.chars().any(may_be_emoji) {
        return Cow::Borrowed(text);
    }
    let mut words = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        match may_be_emoji(first).then(|| leading(rest)).flatten() {
            Some((name, length)) => {
                words.push_str(&format!(" {name} "));
                rest = &rest[length..];
            }
            None => {
                words.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    Cow::Owned(words.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn may_be_emoji(c: char) -> bool {
    matches!(c, '\u{203c}'..='\u{3299}' | '\u{1f000}'..='\u{1faff}') && !c.is_alphanumeric()
}

/// The longest emoji at the start of a text, and its length in bytes.
fn leading(text: &str) -> Option<(String, usize)> {
    const LONGEST: usize = 8;
    let ends: Vec<usize> = text.char_indices().map(|(at, c)| at + c.len_utf8()).take(LONGEST).collect();
    let (emoji, length) = ends.iter().rev().find_map(|end| Some((emojis::get(&text[..*end])?, *end)))?;
    let plain = emoji.as_str().trim_end_matches('\u{fe0f}');
    let ours = OURS
        .iter()
        .find(|(signs, _)| signs.split(' ').any(|sign| sign.trim_end_matches('\u{fe0f}') == plain))
        .map(|(_, words)| *words);
    let name = emoji.name();
    let named =
        || name.split([' ', ':', '-']).filter(|word| !UNINFORMATIVE.contains(word)).collect::<Vec<_>>().join(" ");
    Some((ours.map_or_else(named, str::to_owned), length))
}

const UNINFORMATIVE: &[&str] = &["face", "with", "sign", "symbol", "button", "of", "and", "the", "person", "person’s"];

/// Words for emoji whose Unicode names are less useful for a search.
const OURS: &[(&str, &str)] = &[
    ("❤ 💕 💖 💗 💘 💞 😍 🥰 💋", "love"),
    ("💔", "heartbreak"),
    ("😢 😭 🥺 😿", "sad"),
    ("😊 😀 😃 😄 😁 🙂 😸", "happy joyful"),
    ("😡 🤬 😠 👿", "angry"),
    ("😴 💤 🛌", "sleep"),
    ("😌 🧘", "calm meditation"),
    ("🎉 🥳 🎊", "party celebration"),
    ("💃 🕺 🪩", "dance disco"),
    ("🏃 🏃‍♀️ 🏃‍♂️", "running"),
    ("💪 🏋", "workout"),
    ("🚗 🚙 🛣", "driving"),
    ("🚂 🚆 🚄", "train"),
    ("🚲", "bicycle"),
    ("🌧 ☔ ⛈ 🌦", "rain"),
    ("❄ ⛄ ☃ 🌨", "snow winter"),
    ("☀ 🌞 🏖 ⛱", "summer sun"),
    ("🍂 🍁", "autumn"),
    ("🌸 🌷", "spring"),
    ("🌙 🌃 🌚 🌛", "night"),
    ("🌅 🌄", "sunrise morning"),
    ("🌊 ⛵ 🚢 ⚓", "sea"),
    ("⛰ 🏔", "mountains"),
    ("☕", "coffee"),
    ("🍳 🍲", "kitchen cooking"),
    ("📚 📖", "reading"),
    ("✉ 💌 📬", "letters"),
    ("👶 🍼", "baby lullaby"),
    ("👵", "grandmother"),
    ("👰 💒 💍", "wedding"),
    ("👪 👨‍👩‍👧", "family"),
    ("🐕 🐶", "dog"),
    ("⚰ 🪦 🕊", "grief mourning"),
    ("⛪ 🙏 ✝", "faith church"),
    ("⚽", "football"),
    ("🏙 🌆", "city"),
    ("🏠 🏡", "home"),
    ("✊", "protest"),
    ("🎄 🎅", "Christmas"),
    ("🔥", "energetic"),
    ("🎹", "piano"),
    ("🎸", "guitar"),
    ("🥁", "drums"),
    ("🎻", "violin"),
    ("🎷", "saxophone"),
    ("🎺", "trumpet"),
    ("🪗", "accordion"),
];
