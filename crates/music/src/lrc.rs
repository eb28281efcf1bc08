//! LRC: lyrics with a time for each line, and their conversion to plain text.

/// The text without times and headers; `None` if nothing is left. Plain lyrics are returned unchanged.
pub fn plain_lyrics(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().filter_map(words_of).collect();
    let words = lines.join("\n").trim_matches('\n').to_owned();
    (!words.trim().is_empty()).then_some(words)
}

/// `[00:17.12] Words` becomes `Words`; `[ar: Name]` is removed; `[Chorus]` has no colon and is part of the lyrics.
fn words_of(line: &str) -> Option<&str> {
    let (mut rest, mut is_header) = (line.trim(), false);
    while let Some((stamp, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        let Some((name, _)) = stamp.split_once(':') else { break };
        let is_time = !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit());
        if !is_time && !name.bytes().all(|b| b.is_ascii_alphabetic() || b == b'#') {
            break;
        }
        is_header |= !is_time;
        rest = after.trim_start();
    }
    (!is_header || !rest.is_empty()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_headers_go_and_words_stay() {
        let timed =
            "[ar: Ivy Marlow]\n[length: 03:41]\n[00:17.12] Low tide\n[00:20.00][01:20.00] again\n\n[Chorus]\n[01:30] ";
        assert_eq!(plain_lyrics(timed).as_deref(), Some("Low tide\nagain\n\n[Chorus]"));
        assert_eq!(plain_lyrics("Low tide\nagain").as_deref(), Some("Low tide\nagain"));
        assert_eq!(plain_lyrics("[00:01.00]\n[ar:x]\n"), None);
        assert_eq!(plain_lyrics(""), None);
    }
}
