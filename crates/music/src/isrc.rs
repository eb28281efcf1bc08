//! ISRC: the code of a recording. Parsed from every common spelling and stored in one form.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

/// Twelve characters, upper case, no separators: `USRC12345678`.
///
/// Any twelve letters and digits are accepted: the parts of a code carry no meaning, and catalogues contain codes
/// that violate the standard's pattern. [`Isrc::doubt`] reports codes that look wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct Isrc(String);

/// Why a text is not an ISRC, for the user who typed it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotAnIsrc(pub String);

/// Why a code of the right length is probably a mistake.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IsrcDoubt {
    #[error("twelve digits are a barcode (UPC), not an ISRC")]
    Barcode,
    #[error("this is a placeholder, not the code of a recording")]
    Placeholder,
    /// Letters and digits that look alike were confused. Use the candidate only if a catalogue contains it.
    #[error("letters and digits look confused; did you mean {0}?")]
    Misread(Isrc),
    #[error("an ISRC is two letters, three letters or digits, then seven digits")]
    Unusual,
}

impl Isrc {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Every code in a field that may hold several, such as `QZES71234567;QZES71234568`: without repetitions, in
    /// order.
    pub fn all_in(field: &str) -> Vec<Result<Self, NotAnIsrc>> {
        // A URL contains slashes, so slashes are separators only in other fields.
        let separators: &[char] = if field.contains("://") { &[';', ',', '|'] } else { &[';', ',', '|', '/'] };
        let mut codes = Vec::new();
        for part in field.split(separators).filter(|part| !part.trim().is_empty()) {
            let code = part.parse();
            if !codes.contains(&code) {
                codes.push(code);
            }
        }
        codes
    }

    /// Why this code is probably wrong, if there is a reason. It may still be looked up.
    pub fn doubt(&self) -> Option<IsrcDoubt> {
        if is_placeholder(&self.0) {
            return Some(IsrcDoubt::Placeholder);
        }
        if self.0.bytes().all(|b| b.is_ascii_digit()) {
            return Some(IsrcDoubt::Barcode);
        }
        if is_standard(&self.0) {
            return None;
        }
        let repaired = swap_lookalikes(&self.0);
        Some(if is_standard(&repaired) { IsrcDoubt::Misread(Self(repaired)) } else { IsrcDoubt::Unusual })
    }
}

impl FromStr for Isrc {
    type Err = NotAnIsrc;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text: String = text.nfkc().filter(|c| !text::is_invisible(*c)).collect();
        let code: String =
            last_segment(text.trim()).chars().filter(|c| !is_separator(*c)).map(|c| c.to_ascii_uppercase()).collect();
        // Only when twelve characters remain: ISRC12345678 is itself a well-formed code, from Iceland.
        let code = match code.strip_prefix("ISRC").map(|rest| rest.trim_start_matches(':')) {
            Some(rest) if rest.chars().count() >= 12 => rest,
            _ => &code,
        };
        refusal(code).map_or_else(|| Ok(Self(code.to_owned())), |reason| Err(NotAnIsrc(reason)))
    }
}

impl TryFrom<String> for Isrc {
    type Error = NotAnIsrc;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Isrc> for String {
    fn from(isrc: Isrc) -> Self {
        isrc.0
    }
}

impl fmt::Display for Isrc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn refusal(code: &str) -> Option<String> {
    let n_chars = code.chars().count();
    if n_chars == 0 {
        return Some("empty: an ISRC has 12 letters and digits".into());
    }
    if code.contains([';', ',', '|']) {
        return Some("more than one code; enter one code at a time".into());
    }
    if let Some(odd) = code.chars().find(|c| !c.is_ascii_alphanumeric()) {
        return Some(format!("'{odd}' is not allowed in an ISRC, which has 12 letters and digits"));
    }
    if matches!(n_chars, 13 | 14) && code.bytes().all(|b| b.is_ascii_digit()) {
        return Some(format!("{n_chars} digits are a barcode (EAN), not an ISRC"));
    }
    (n_chars != 12).then(|| format!("has {n_chars} letters and digits; an ISRC has 12"))
}

/// The code inside `urn:isrc:USRC12345678` or `https://…/isrc/USRC12345678?x=y`. Other texts are returned unchanged.
fn last_segment(text: &str) -> &str {
    let is_urn = text.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("urn:"));
    if !is_urn && !text.contains("://") {
        return text;
    }
    let path = text.split(['?', '#']).next().unwrap_or(text).trim_end_matches('/');
    path.rsplit(['/', ':']).next().unwrap_or(path)
}

fn is_separator(c: char) -> bool {
    c.is_whitespace() || matches!(c, '-' | '_' | '.' | '\u{2010}'..='\u{2015}' | '\u{2212}')
}

/// `[A-Z]{2}[A-Z0-9]{3}[0-9]{7}`, the pattern of the standard.
fn is_standard(code: &str) -> bool {
    code.bytes().enumerate().all(|(i, b)| match i {
        0 | 1 => b.is_ascii_uppercase(),
        2..=4 => b.is_ascii_alphanumeric(),
        _ => b.is_ascii_digit(),
    })
}

fn is_placeholder(code: &str) -> bool {
    let one_letter_repeated = code.bytes().all(|b| Some(b) == code.bytes().next());
    one_letter_repeated || code.starts_with("XXXXX") || (&code[2..5] == "000" && &code[7..] == "00000")
}

/// Replaces look-alikes by what their position requires: letters at the start, digits at the end.
fn swap_lookalikes(code: &str) -> String {
    let swap = |(i, c)| match (i, c) {
        (0 | 1, '0') => 'O',
        (0 | 1, '1') => 'I',
        (0 | 1, '5') => 'S',
        (5.., 'O') => '0',
        (5.., 'I' | 'L') => '1',
        _ => c,
    };
    code.chars().enumerate().map(swap).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_code_is_parsed_from_every_common_spelling() {
        let spellings = [
            ("us-rc1-23-45678", "USRC12345678"),
            ("us rc1 23 45678", "USRC12345678"),
            (" ISRC QM-FZ5-12-34567 ", "QMFZ51234567"),
            ("ISRC: QMFZ51234567", "QMFZ51234567"),
            ("GBAYE9700123\u{200b}", "GBAYE9700123"),
            ("\u{feff}GBAYE9700123", "GBAYE9700123"),
            ("usrc1–23–45678", "USRC12345678"),
            ("ＵＳＲＣ１２３４５６７８", "USRC12345678"),
            ("TCABX1234567", "TCABX1234567"),
            ("ISRC12345678", "ISRC12345678"),
            ("urn:isrc:USRC12345678", "USRC12345678"),
            ("https://example.org/isrc/US-RC1-23-45678?from=here", "USRC12345678"),
            ("US-RC1-23-4567O", "USRC1234567O"),
            ("602475093060", "602475093060"),
            ("U5RC12345678", "U5RC12345678"),
        ];
        for (written, kept) in spellings {
            assert_eq!(written.parse::<Isrc>().map(String::from), Ok(kept.to_owned()), "{written}");
        }
    }

    #[test]
    fn an_error_says_what_is_wrong() {
        let refusals = [
            ("", "empty: an ISRC has 12 letters and digits"),
            (" - ", "empty: an ISRC has 12 letters and digits"),
            ("N/A", "'/' is not allowed in an ISRC, which has 12 letters and digits"),
            ("USRC1234567", "has 11 letters and digits; an ISRC has 12"),
            ("USRC123456789", "has 13 letters and digits; an ISRC has 12"),
            ("0602475093060", "13 digits are a barcode (EAN), not an ISRC"),
            ("QZES71234567;QZES71234568", "more than one code; enter one code at a time"),
            ("USRC1234567é", "'é' is not allowed in an ISRC, which has 12 letters and digits"),
        ];
        for (written, reason) in refusals {
            assert_eq!(written.parse::<Isrc>(), Err(NotAnIsrc(reason.into())), "{written}");
        }
    }

    #[test]
    fn a_suspicious_code_is_reported_and_never_changed() {
        let misread = |code: &str| Some(IsrcDoubt::Misread(Isrc(code.into())));
        let codes = [
            ("USRC12345678", None),
            ("TCABX1234567", None),
            ("USRC1234567O", misread("USRC12345670")),
            ("U5RC12345678", misread("USRC12345678")),
            ("1TABC12l4567", misread("ITABC1214567")),
            ("602475093060", Some(IsrcDoubt::Barcode)),
            ("000000000000", Some(IsrcDoubt::Placeholder)),
            ("XXXXXXXXXXXX", Some(IsrcDoubt::Placeholder)),
            ("US0002600000", Some(IsrcDoubt::Placeholder)),
            ("USRC1234ABCD", Some(IsrcDoubt::Unusual)),
        ];
        for (code, doubt) in codes {
            assert_eq!(code.parse::<Isrc>().unwrap().doubt(), doubt, "{code}");
        }
    }

    #[test]
    fn a_field_may_hold_several_codes() {
        let codes = |field| Isrc::all_in(field).into_iter().map(|code| code.map(String::from)).collect::<Vec<_>>();
        let both = vec![Ok("QZES71234567".to_owned()), Ok("QZES71234568".to_owned())];
        assert_eq!(codes("QZES71234567;QZES71234568"), both);
        assert_eq!(codes("QZES71234567 / QZES71234568 / qz-es7-12-34567"), both);
        assert_eq!(codes("https://example.org/isrc/QZES71234567;QZES71234568"), both);
        assert_eq!(codes(" ; "), vec![]);
    }

    proptest! {
        #[test]
        fn reading_never_panics_and_is_idempotent(text in "\\PC{0,40}") {
            if let Ok(isrc) = text.parse::<Isrc>() {
                prop_assert_eq!(isrc.as_str().len(), 12);
                prop_assert_eq!(isrc.as_str().parse::<Isrc>(), Ok(isrc.clone()));
                let _ = isrc.doubt();
            }
            let _ = Isrc::all_in(&text);
        }

        #[test]
        fn twelve_letters_and_digits_are_always_read(code in "[A-Za-z0-9]{12}") {
            prop_assert_eq!(code.parse::<Isrc>().map(String::from), Ok(code.to_ascii_uppercase()));
        }
    }
}
