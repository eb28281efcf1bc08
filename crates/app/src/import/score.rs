//! How well a known recording matches an entry of a file: a confidence, and a sentence that explains it.

use super::matching::Candidate;
use formats::ImportedTrack;
use music::identity::RecordingName;

/// Names with at least this similarity count as one name with a typing mistake.
const ALIKE: f64 = 0.85;

/// The result of a comparison of lengths.
enum Length {
    Same,
    /// Within ten seconds: another mastering, a fade, or another take.
    Near(f64),
    Other(f64),
    Unknown,
}

/// `None` if the two do not match at all.
pub(super) fn score(track: &ImportedTrack, known: &Candidate) -> Option<(f64, String)> {
    let as_written = score_names(track, &track.title, &track.artists, known);
    if !track.either_way {
        return as_written;
    }
    // The swapped order is a little less likely, because most people write the artist first.
    let title = track.artist();
    let turned = score_names(track, &title, std::slice::from_ref(&track.title), known)
        .map(|(confidence, reason)| (confidence - 0.02, format!("{reason} (title written first)")));
    match (as_written, turned) {
        (Some(a), Some(b)) => Some(if a.0 >= b.0 { a } else { b }),
        (a, b) => a.or(b),
    }
}

fn score_names(track: &ImportedTrack, title: &str, artists: &[String], known: &Candidate) -> Option<(f64, String)> {
    let title = without_video_words(title);
    let theirs = RecordingName::new(&known.title, known.version.as_deref(), &known.artist);
    if artists.is_empty() {
        let ours = RecordingName::new(&title, None, "");
        let is_it = ours.title() == theirs.title() && ours.version() == theirs.version() && fits_well(track, known);
        return is_it.then(|| (0.6, "title and length agree; the file names no artist".into()));
    }
    // Catalogues order the artists differently, so any of them may be the catalogue's first.
    let names = artists.iter().map(|artist| RecordingName::new(&title, None, artist));
    names.filter_map(|ours| score_one(&ours, &theirs, track, known)).max_by(|a, b| a.0.total_cmp(&b.0))
}

fn score_one(
    ours: &RecordingName,
    theirs: &RecordingName,
    track: &ImportedTrack,
    known: &Candidate,
) -> Option<(f64, String)> {
    let title = likeness(ours.title(), theirs.title());
    let artist = likeness(ours.artist(), theirs.artist());
    if title < ALIKE || artist < ALIKE {
        return None;
    }
    if ours.version() != theirs.version() {
        return Some((0.4, format!("another version: {}", version_pair(ours, theirs))));
    }
    let length = compare_lengths(track.duration, known.duration);
    if title < 1.0 || artist < 1.0 {
        let differing = if title < 1.0 { "title" } else { "artist" };
        let confidence = if matches!(length, Length::Same) { 0.75 } else { 0.55 };
        return Some((confidence, format!("the {differing} is only similar")));
    }
    let (confidence, reason) = match length {
        Length::Same => (0.97, "title, version, artist and length agree".to_owned()),
        Length::Unknown => (0.88, "title, version and artist agree; no length to compare".to_owned()),
        Length::Near(by) => (0.65, format!("title and artist agree, but the lengths differ by {by:.0} s")),
        Length::Other(by) => (0.3, format!("another take: the lengths differ by {by:.0} s")),
    };
    let bonus = if same_album(track, known) { 0.02 } else { 0.0 };
    Some((confidence + bonus, reason))
}

/// True if a code refers to a recording with another title and another artist: the code was mistyped or reused.
pub(super) fn is_other_recording(track: &ImportedTrack, known: &Candidate) -> bool {
    if track.title.is_empty() || track.artists.is_empty() {
        return false;
    }
    let theirs = RecordingName::new(&known.title, known.version.as_deref(), &known.artist);
    track.artists.iter().all(|artist| {
        let ours = RecordingName::new(&track.title, None, artist);
        likeness(ours.title(), theirs.title()) < 0.5 && likeness(ours.artist(), theirs.artist()) < 0.5
    })
}

fn likeness(a: &str, b: &str) -> f64 {
    if a == b { 1.0 } else { strsim::normalized_levenshtein(a, b) }
}

fn compare_lengths(a: Option<f64>, b: Option<f64>) -> Length {
    let (Some(a), Some(b)) = (a, b) else { return Length::Unknown };
    match (a - b).abs() {
        by if by <= 2.0 => Length::Same,
        by if by <= 10.0 => Length::Near(by),
        by => Length::Other(by),
    }
}

fn fits_well(track: &ImportedTrack, known: &Candidate) -> bool {
    matches!(compare_lengths(track.duration, known.duration), Length::Same) || same_album(track, known)
}

fn same_album(track: &ImportedTrack, known: &Candidate) -> bool {
    let folded = |album: &Option<String>| album.as_deref().map(|album| RecordingName::new(album, None, ""));
    let (ours, theirs) = (folded(&track.album), folded(&known.album));
    ours.is_some() && ours == theirs
}

fn version_pair(ours: &RecordingName, theirs: &RecordingName) -> String {
    let said = |name: &RecordingName| if name.version().is_empty() { "plain" } else { name.version() }.to_owned();
    format!("{} here, {} there", said(ours), said(theirs))
}

/// Removes words such as "official video", which do not describe the recording.
fn without_video_words(title: &str) -> String {
    const VIDEO: &[&str] = &["official", "video", "lyric", "lyrics", "visualizer", "audio", "hd", "4k"];
    let mut rest = title.to_owned();
    for (open, close) in [('(', ')'), ('[', ']')] {
        while let Some(start) = rest.rfind(open)
            && let Some(length) = rest[start..].find(close)
        {
            let inside = rest[start + 1..start + length].to_lowercase();
            let is_video = !inside.is_empty() && inside.split_whitespace().all(|word| is_word_of(word, VIDEO));
            if !is_video {
                break;
            }
            rest.replace_range(start..=start + length, "");
        }
    }
    rest.trim().to_owned()
}

fn is_word_of(word: &str, words: &[&str]) -> bool {
    words.contains(&word) || word == "music"
}
