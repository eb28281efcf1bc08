//! Identity: whether two tracks are the same recording, even if their codes differ.

use unicode_normalization::UnicodeNormalization;

/// Maximum difference in length of the same recording, in seconds.
const SAME_LENGTH: f64 = 2.0;

/// The normalised name of a recording. Two catalogues that mean the same recording produce the same name. A live
/// take, a remix, a remaster or a karaoke version has a different name.
///
/// The text form is stable, so it can be stored in a database column.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordingName {
    title: String,
    version: String,
    artist: String,
}

impl RecordingName {
    /// `artist` may be a joined list. Only the first artist counts, because catalogues disagree about the rest.
    pub fn new(title: &str, version: Option<&str>, artist: &str) -> Self {
        let (title, mut versions) = split_title(title);
        versions.extend(version.map(str::to_owned));
        Self {
            title: first_bytes(fold(&title)),
            version: first_bytes(version_words(&versions)),
            artist: first_bytes(primary_artist(artist)),
        }
    }

    pub fn title(&self) -> &str {
        &self.title
    }

    pub fn artist(&self) -> &str {
        &self.artist
    }

    /// Empty for the original recording, else sorted words such as `2011 remaster`.
    pub fn version(&self) -> &str {
        &self.version
    }
}

/// Databases index names, and PostgreSQL refuses an index entry of more than 2,704 bytes.
const MAX_PART_BYTES: usize = 300;

fn first_bytes(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(MAX_PART_BYTES));
    text
}

impl std::fmt::Display for RecordingName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}|{}|{}", self.title, self.version, self.artist)
    }
}

/// An unknown length matches every length.
pub fn same_length(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= SAME_LENGTH,
        _ => true,
    }
}

/// Groups the positions of `recordings` that are the same recording. Groups are ordered by first appearance, members
/// by position.
///
/// A difference of two seconds is not transitive, so each member is compared with the first member of its group.
pub fn recording_groups(recordings: &[(RecordingName, Option<f64>)]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut by_name: std::collections::HashMap<&RecordingName, Vec<usize>> = std::collections::HashMap::new();
    for (position, (name, length)) in recordings.iter().enumerate() {
        let candidates = by_name.entry(name).or_default();
        match candidates.iter().find(|&&group| same_length(recordings[groups[group][0]].1, *length)) {
            Some(&group) => groups[group].push(position),
            None => {
                candidates.push(groups.len());
                groups.push(vec![position]);
            }
        }
    }
    groups
}

/// Words that make a bracket or a dash suffix a version rather than a part of the title.
const VERSION_WORDS: &[&str] = &[
    "acoustic",
    "acapella",
    "cappella",
    "club",
    "cover",
    "demo",
    "dub",
    "edit",
    "extended",
    "instrumental",
    "karaoke",
    "live",
    "mix",
    "mono",
    "nightcore",
    "orchestral",
    "radio",
    "reimagined",
    "remaster",
    "remastered",
    "remix",
    "remixed",
    "reprise",
    "rework",
    "session",
    "sessions",
    "slowed",
    "sped",
    "stereo",
    "stripped",
    "unplugged",
    "version",
];

/// Versions that mean the original recording. "Explicit" and "clean" are the same take, with some words muted.
const PLAIN_VERSIONS: &[&str] = &[
    "album version",
    "bonus track",
    "clean",
    "clean version",
    "explicit",
    "explicit version",
    "original",
    "original mix",
    "original version",
    "single version",
    "stereo",
    "stereo version",
];

/// Ignored inside a version: "Live at the Quay" and "Live from the Quay" are equal.
const FILLER: &[&str] = &["a", "an", "at", "by", "from", "in", "of", "on", "the", "version"];

/// Separates versions and featured artists from a title: `Tide (Live) [feat. Ann]` becomes `Tide` and `Live`.
fn split_title(title: &str) -> (String, Vec<String>) {
    let (mut rest, mut versions) = (String::new(), Vec::new());
    let mut text = title;
    while let Some((open, inside, close)) = next_bracket(text) {
        rest.push_str(&text[..open]);
        match kind_of(inside) {
            Aside::Featured => {}
            Aside::Version => versions.push(inside.to_owned()),
            Aside::Title => rest.push_str(&text[open..close]),
        }
        text = &text[close..];
    }
    rest.push_str(text);
    if let Some((title, suffix)) = rest.rsplit_once(" - ")
        && matches!(kind_of(suffix), Aside::Version)
    {
        versions.push(suffix.to_owned());
        rest = title.to_owned();
    }
    (without_featured(&rest).to_owned(), versions)
}

enum Aside {
    Featured,
    Version,
    Title,
}

fn kind_of(aside: &str) -> Aside {
    let folded = fold(aside);
    let mut words = folded.split(' ');
    if matches!(words.next(), Some("feat" | "ft" | "featuring" | "with")) {
        return Aside::Featured;
    }
    let is_version = PLAIN_VERSIONS.contains(&folded.as_str()) || folded.split(' ').any(|w| VERSION_WORDS.contains(&w));
    if is_version { Aside::Version } else { Aside::Title }
}

/// The next `(…)` or `[…]`: its start, its content and its end.
fn next_bracket(text: &str) -> Option<(usize, &str, usize)> {
    let open = text.find(['(', '['])?;
    let closing = if text[open..].starts_with('(') { ')' } else { ']' };
    let length = text[open + 1..].find(closing)?;
    Some((open, &text[open + 1..open + 1 + length], open + length + 2))
}

fn without_featured(text: &str) -> &str {
    let lower = text.to_ascii_lowercase();
    let cut = [" feat. ", " feat ", " ft. ", " ft ", " featuring "].iter().filter_map(|mark| lower.find(mark)).min();
    cut.map_or(text, |at| &text[..at])
}

fn version_words(versions: &[String]) -> String {
    let mut words: Vec<String> = versions
        .iter()
        .map(|version| fold(version))
        .filter(|version| !PLAIN_VERSIONS.contains(&version.as_str()))
        .flat_map(|version| version.split(' ').map(plain_form).map(str::to_owned).collect::<Vec<_>>())
        .filter(|word| !word.is_empty() && !FILLER.contains(&word.as_str()))
        .collect();
    words.sort();
    words.dedup();
    words.join(" ")
}

fn plain_form(word: &str) -> &str {
    match word {
        "remastered" | "remasterizado" => "remaster",
        "remixed" => "remix",
        "sessions" => "session",
        other => other,
    }
}

/// "Earth, Wind & Fire" becomes "earth". This is harmless, because both sides of a comparison are shortened.
fn primary_artist(artist: &str) -> String {
    let first = without_featured(artist).split([',', ';', '&', '/']).find(|name| !name.trim().is_empty());
    let folded = fold(first.unwrap_or(artist));
    folded.strip_prefix("the ").map_or(folded.clone(), str::to_owned)
}

/// Lower case, without accents and apostrophes. Every run of other characters becomes one space. It is not [`text::fold`]:
/// names are stored in this form, so a change needs a migration of the column `name`.
pub fn fold(text: &str) -> String {
    let text = text.replace('&', " and ");
    let folded: String = text
        .nfkd()
        .filter(|c| !matches!(c, '\'' | '’' | '‘' | '\u{300}'..='\u{36f}'))
        .nfc()
        .flat_map(char::to_lowercase)
        .map(|c| if c.is_alphanumeric() { c } else { ' ' })
        .collect();
    let words = folded.split_whitespace().collect::<Vec<_>>().join(" ");
    // A title without letters and digits ("÷", "?!") is compared by its symbols.
    if words.is_empty() { text.trim().to_lowercase() } else { words }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn name(title: &str, version: &str, artist: &str) -> RecordingName {
        RecordingName::new(title, (!version.is_empty()).then_some(version), artist)
    }

    #[test]
    fn a_name_fits_into_an_index_however_long_the_title_is() {
        let long = "夜に駆ける ".repeat(1000);
        let name = name(&long, "", &long).to_string();
        assert!(name.len() <= 3 * MAX_PART_BYTES + 2, "{} bytes", name.len());
    }

    #[test]
    fn the_same_recording_has_one_name_however_it_is_spelled() {
        let spellings = [
            (("Low Tide", "", "Ivy Marlow"), ("low tide", "", "IVY MARLOW")),
            (("Don’t Go", "", "The Quays"), ("Dont Go", "", "Quays")),
            (("Café Nord", "", "Björn Åle"), ("Cafe Nord", "", "Bjorn Ale")),
            (("Salt & Rope", "", "Ivy Marlow"), ("Salt and Rope", "", "Ivy Marlow & Tom Vey")),
            (("Low Tide (feat. Tom Vey)", "", "Ivy Marlow"), ("Low Tide", "", "Ivy Marlow, Tom Vey")),
            (("Low Tide ft. Tom Vey", "", "Ivy Marlow feat. Tom Vey"), ("Low Tide [with Tom Vey]", "", "Ivy Marlow")),
            (("Low Tide - Live", "", "Ivy Marlow"), ("Low Tide", "Live", "Ivy Marlow")),
            (("Low Tide (Remastered 2011)", "", "Ivy Marlow"), ("Low Tide", "2011 Remaster", "Ivy Marlow")),
            (("Low Tide (Live at the Quay)", "", "Ivy Marlow"), ("Low Tide - Live from the Quay", "", "Ivy Marlow")),
            (("Low Tide", "Album Version", "Ivy Marlow"), ("Low Tide (Explicit)", "", "Ivy Marlow")),
            (("宇宙の歌", "", "星野ガ"), ("宇宙の歌", "", "星野ガ")),
        ];
        for (a, b) in spellings {
            assert_eq!(name(a.0, a.1, a.2), name(b.0, b.1, b.2), "{a:?} {b:?}");
        }
    }

    #[test]
    fn another_recording_has_another_name() {
        let plain = name("Low Tide", "", "Ivy Marlow");
        for version in ["Live", "Acoustic", "Karaoke Version", "Sped Up", "2011 Remaster", "Nilsen Remix", "Demo"] {
            assert_ne!(name("Low Tide", version, "Ivy Marlow"), plain, "{version}");
            assert_ne!(name(&format!("Low Tide ({version})"), "", "Ivy Marlow"), plain, "{version}");
        }
        assert_ne!(name("Low Tide", "2009 Remaster", "Ivy Marlow"), name("Low Tide", "2011 Remaster", "Ivy Marlow"));
        assert_ne!(name("Low Tide (Again)", "", "Ivy Marlow"), plain);
        assert_ne!(name("Low Tide", "", "Tom Vey"), plain);
        assert_ne!(name("÷", "", "Ivy Marlow"), name("×", "", "Ivy Marlow"));
        assert_ne!(name("か", "", "Ivy Marlow"), name("が", "", "Ivy Marlow"));
    }

    #[test]
    fn a_group_holds_recordings_within_two_seconds_of_its_first_member() {
        let tide = name("Low Tide", "", "Ivy Marlow");
        let other = name("High Tide", "", "Ivy Marlow");
        let recordings = [
            (tide.clone(), Some(200.0)),
            (other, Some(200.0)),
            (tide.clone(), Some(202.0)),
            (tide.clone(), Some(203.5)),
            (tide.clone(), None),
            (tide, Some(204.0)),
        ];
        assert_eq!(recording_groups(&recordings), vec![vec![0, 2, 4], vec![1], vec![3, 5]]);
    }

    proptest! {
        #[test]
        fn naming_never_panics(title in "\\PC{0,30}", artist in "\\PC{0,20}") {
            let _ = RecordingName::new(&title, Some(&artist), &artist);
        }

        #[test]
        fn case_does_not_matter(title in "[A-Za-z ()\\[\\]-]{0,30}") {
            prop_assert_eq!(name(&title.to_uppercase(), "", "A"), name(&title.to_lowercase(), "", "A"));
        }
    }
}
