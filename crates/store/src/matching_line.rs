//! The line of a message that contains the searched words.

use engine::{Block, Message, Role};

const MOST_CHARS: usize = 120;
/// How many characters of the line come before the words: the list is narrow, and the words must be visible.
const BEFORE: usize = 16;

/// `None` if no single line contains the words.
pub(crate) fn matching_line(content: Vec<Block>, words: &str) -> Option<String> {
    let words = words.to_lowercase();
    let text = Message { role: Role::User, content }.text();
    let (line, at) = text.lines().find_map(|line| {
        let lower = line.to_lowercase();
        let at = lower.find(&words)?;
        Some((line, lower[..at].chars().count()))
    })?;
    let start = word_start(line, at.saturating_sub(BEFORE), at);
    let shown: String = line.chars().skip(start).take(MOST_CHARS).collect();
    let is_cut = line.chars().count() > start + MOST_CHARS;
    // Markdown marks are removed, because the user does not see them in the answer.
    let plain = shown.replace("**", "").replace('`', "");
    let plain = plain.trim().trim_start_matches(['#', '>', '-', ' ']);
    let (head, tail) = (if start > 0 { "…" } else { "" }, if is_cut { "…" } else { "" });
    Some(format!("{head}{plain}{tail}"))
}

/// The first start of a word at or after `from`, or `at`.
fn word_start(line: &str, from: usize, at: usize) -> usize {
    let letters: Vec<char> = line.chars().take(at).collect();
    (from..at).find(|n| *n == 0 || letters[n - 1].is_whitespace()).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_with_the_words_is_cut_around_them() {
        let long = format!("{} needle {}", "before ".repeat(20), "after ".repeat(40));
        let cases = [
            ("First line.\n2. **Sodium** by Latchkey Physics.", "sodium", Some("2. Sodium by Latchkey Physics.")),
            ("> Straße bei Nacht", "STRASSE", None),
            ("> Straße bei Nacht", "straße", Some("Straße bei Nacht")),
            ("something warm and slow, without drums", "drums", Some("…slow, without drums")),
            ("nothing of the kind", "sodium", None),
        ];
        for (text, words, expected) in cases {
            let content = vec![Block::Text { text: text.into() }];
            assert_eq!(matching_line(content, words).as_deref(), expected, "{text}");
        }
        let line = matching_line(vec![Block::Text { text: long }], "needle").unwrap();
        assert!(line.starts_with('…') && line.ends_with('…') && line.contains("needle"), "{line}");
        assert!(line.chars().count() <= MOST_CHARS + 2, "{line}");
    }
}
