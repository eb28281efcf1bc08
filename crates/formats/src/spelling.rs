//! Parses and cleans names, lengths and times in the spellings that people and programs use.

use chrono::{DateTime, NaiveDate, NaiveDateTime, Utc};

/// The longest real titles have about 400 characters.
const LONGEST_NAME: usize = 1000;

/// A text from an external source as one line, without hidden characters. `None` if nothing is left.
pub fn clean(text: &str) -> Option<String> {
    // A control character that is white space, such as a line break, separates words.
    let is_kept = |c: &char| c.is_whitespace() || !text::is_hidden(*c);
    let visible = text.chars().filter(is_kept).take(LONGEST_NAME * 2).collect::<String>();
    let words = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    let name = text::cut(&words, LONGEST_NAME);
    (!name.is_empty()).then(|| name.to_owned())
}

/// Like [`clean`], but keeps the lines, for lyrics.
pub fn clean_lines(text: &str) -> Option<String> {
    let lines: Vec<_> = text.lines().take(2000).map(|line| clean(line).unwrap_or_default()).collect();
    let text = lines.join("\n").trim_matches('\n').to_owned();
    (!text.is_empty()).then_some(text)
}

/// The first dash between spaces. Hyphens inside names have no spaces around them.
pub(super) fn split_at_dash(text: &str) -> Option<(&str, &str)> {
    let dashes = [" - ", " – ", " — "];
    let (at, dash) = dashes.iter().filter_map(|dash| Some((text.find(dash)?, dash))).min()?;
    Some((text[..at].trim(), text[at + dash.len()..].trim())).filter(|(a, b)| !a.is_empty() && !b.is_empty())
}

/// A length in any common spelling: `221`, `221s`, `3:41`, `1:02:03`, `PT3M41S`, or milliseconds.
pub(super) fn seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    let length = if let Some(iso) = text.strip_prefix("PT") {
        iso_seconds(iso)?
    } else if text.contains(':') {
        text.split(':').try_fold(0.0, |sum, part| Some(sum * 60.0 + part.parse::<f64>().ok()?))?
    } else {
        let number: f64 = text.trim_end_matches(['s', ' ']).parse().ok()?;
        // Few tracks are longer than three hours, and none is shorter than ten seconds in milliseconds.
        if number >= 10_000.0 { number / 1000.0 } else { number }
    };
    plausible(length)
}

pub(super) fn milliseconds(text: &str) -> Option<f64> {
    plausible(text.trim().parse::<f64>().ok()? / 1000.0)
}

fn plausible(seconds: f64) -> Option<f64> {
    (seconds > 0.0 && seconds < 86_400.0).then_some(seconds)
}

fn iso_seconds(text: &str) -> Option<f64> {
    let (mut sum, mut number) = (0.0, String::new());
    for c in text.chars() {
        let unit = match c {
            'H' => 3600.0,
            'M' => 60.0,
            'S' => 1.0,
            _ => {
                number.push(c);
                continue;
            }
        };
        sum += number.parse::<f64>().ok()? * unit;
        number.clear();
    }
    number.is_empty().then_some(sum)
}

/// A time in any spelling that the exports use. Without a time zone it is UTC, as the exporters document.
pub(super) fn moment(text: &str) -> Option<DateTime<Utc>> {
    let text = text.trim();
    if let Ok(moment) = DateTime::parse_from_rfc3339(text) {
        return Some(moment.to_utc());
    }
    // A date without hyphens would be a time in 1970 if it were read as seconds.
    if text.len() == 8 && text.bytes().all(|c| c.is_ascii_digit()) {
        return Some(NaiveDate::parse_from_str(text, "%Y%m%d").ok()?.and_hms_opt(0, 0, 0)?.and_utc());
    }
    if let Ok(unix) = text.parse::<i64>() {
        return unix_moment(unix);
    }
    const WITH_TIME: &[&str] =
        &["%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S%.f", "%d %b %Y, %H:%M", "%d %b %Y %H:%M"];
    let with_time = WITH_TIME.iter().find_map(|format| NaiveDateTime::parse_from_str(text, format).ok());
    let day = || NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?.and_hms_opt(0, 0, 0);
    Some(with_time.or_else(day)?.and_utc())
}

/// Seconds since 1970, or milliseconds if the value is too large for seconds. Zero means unknown.
pub(super) fn unix_moment(unix: i64) -> Option<DateTime<Utc>> {
    match unix {
        ..=0 => None,
        1..100_000_000_000 => DateTime::from_timestamp(unix, 0),
        _ => DateTime::from_timestamp_millis(unix),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_read_in_every_spelling() {
        let spellings = [
            ("221", Some(221.0)),
            ("221s", Some(221.0)),
            (" 221.5 ", Some(221.5)),
            ("221000", Some(221.0)),
            ("3:41", Some(221.0)),
            ("1:02:03", Some(3723.0)),
            ("PT3M41S", Some(221.0)),
            ("PT3M", Some(180.0)),
            ("PT1H2M3S", Some(3723.0)),
            ("-1", None),
            ("0", None),
            ("PTS", None),
            ("", None),
            ("long", None),
            ("NaN", None),
        ];
        for (text, length) in spellings {
            assert_eq!(seconds(text), length, "{text}");
        }
    }

    #[test]
    fn a_moment_is_read_in_every_spelling() {
        for text in [
            "2026-05-17T12:54:00Z",
            "2026-05-17T14:54:00+02:00",
            "2026-05-17 12:54",
            "2026-05-17 12:54:00",
            "17 May 2026, 12:54",
            "17 May 2026 12:54",
            "1779022440",
            "1779022440000",
        ] {
            assert_eq!(moment(text).map(|m| m.to_rfc3339()).as_deref(), Some("2026-05-17T12:54:00+00:00"), "{text}");
        }
        for day in ["2026-05-17", "20260517"] {
            assert_eq!(moment(day).map(|m| m.timestamp()), Some(1_778_976_000));
        }
        for text in ["", "0", "yesterday", "2026-13-01"] {
            assert_eq!(moment(text), None, "{text}");
        }
    }

    #[test]
    fn external_names_are_cleaned_of_hidden_characters() {
        assert_eq!(clean("\u{feff} Paper\u{202e}\u{0} \t Lanterns\r\n").as_deref(), Some("Paper Lanterns"));
        assert_eq!(clean("می‌خواهم").as_deref(), Some("می‌خواهم"));
        assert_eq!(clean("\u{200b} "), None);
        assert_eq!(clean(&"x".repeat(5000)).map(|name| name.len()), Some(1000));
        assert_eq!(clean_lines("\n one\u{7}\r\n\r\n two\n\n").as_deref(), Some("one\n\ntwo"));
    }
}
