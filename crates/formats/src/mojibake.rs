//! Tags in the wrong encoding: bytes of Cyrillic, Japanese or UTF-8 text that a tag declares as Latin-1.

use std::borrow::Cow;

use encoding_rs::{BIG5, EUC_KR, Encoding, GBK, SHIFT_JIS, WINDOWS_1251};

/// The text in its intended encoding. It is changed only if another encoding is clearly better: the file name agrees,
/// or the text contains no words as it is and only words of one script in the other encoding.
pub(crate) fn repaired<'t>(text: &'t str, file_name: &str) -> Cow<'t, str> {
    let Some(bytes) = latin1_bytes(text) else { return text.into() };
    // Other encodings are practically never valid UTF-8 by chance.
    if let Ok(utf8) = std::str::from_utf8(&bytes) {
        return utf8.to_owned().into();
    }
    let decoded = |encoding: &'static Encoding| encoding.decode_without_bom_handling_and_without_replacement(&bytes);
    let name = file_name.to_lowercase();
    let is_in_name = |text: &Cow<'_, str>| name.contains(&text.trim().to_lowercase());
    if is_in_name(&text.into()) {
        return text.into();
    }
    let all = [WINDOWS_1251, SHIFT_JIS, EUC_KR, GBK, BIG5].into_iter().filter_map(decoded);
    let named = all.filter(|text| text.trim().chars().count() > 1).find(is_in_name);
    let better = named.or_else(|| decoded(SHIFT_JIS).filter(|text| is_japanese(text))).or_else(|| {
        let is_not_latin = is_hardly_latin(text);
        decoded(WINDOWS_1251).filter(|text| is_not_latin && is_cyrillic(text))
    });
    better.map_or(text.into(), |better| better.into_owned().into())
}

/// The original bytes of a text that was decoded as Latin-1 (or Windows-1252, as some programs do); `None` for ASCII.
fn latin1_bytes(text: &str) -> Option<Vec<u8>> {
    if text.is_ascii() {
        return None;
    }
    if let Some(bytes) = text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect() {
        return Some(bytes);
    }
    let (bytes, _, has_unmappable) = encoding_rs::WINDOWS_1252.encode(text);
    (!has_unmappable).then(|| bytes.into_owned())
}

/// In every language with a Latin script most letters are plain ASCII letters.
fn is_hardly_latin(text: &str) -> bool {
    let n_plain = text.chars().filter(char::is_ascii_alphabetic).count();
    let n_accented = text.chars().filter(|c| !c.is_ascii() && c.is_alphanumeric()).count();
    n_accented >= 4 && n_accented > n_plain * 2
}

/// Words of Cyrillic letters, with capitals only at the start of words or throughout.
fn is_cyrillic(text: &str) -> bool {
    let is_letter =
        |c: char| matches!(c, 'А'..='я' | 'ё' | 'Ё' | 'і' | 'І' | 'ї' | 'Ї' | 'є' | 'Є' | 'ґ' | 'Ґ' | 'ў' | 'Ў');
    let odd =
        |c: char| !c.is_ascii() && !is_letter(c) && !matches!(c, '«' | '»' | '–' | '—' | '…' | '№' | '’' | '“' | '”');
    let n_letters = text.chars().filter(|c| is_letter(*c)).count();
    let is_word = |word: &str| {
        let inner: Vec<char> = word.chars().filter(|c| c.is_alphabetic()).skip(1).collect();
        inner.iter().all(|c| c.is_lowercase()) || inner.iter().all(|c| c.is_uppercase())
    };
    n_letters >= 3 && !text.chars().any(odd) && text.split(|c: char| !c.is_alphabetic()).all(is_word)
}

/// Kana prove Japanese text. Half-width kana are excluded, because other encodings look like them.
fn is_japanese(text: &str) -> bool {
    let is_kana = |c: char| matches!(c, '\u{3041}'..='\u{30ff}');
    let is_expected = |c: char| {
        c.is_ascii()
            || is_kana(c)
            || matches!(c, '\u{3000}'..='\u{303f}' | '\u{4e00}'..='\u{9fff}' | '\u{ff01}'..='\u{ff5e}')
    };
    let n_kana = text.chars().filter(|c| is_kana(*c)).count();
    n_kana >= 2 && text.chars().all(is_expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn misread(text: &str, encoding: &'static Encoding) -> String {
        let (bytes, _, has_unmappable) = encoding.encode(text);
        assert!(!has_unmappable, "{text}");
        bytes.iter().map(|byte| char::from(*byte)).collect()
    }

    #[test]
    fn a_text_in_the_wrong_encoding_is_repaired() {
        let meant = [
            ("Северный причал", WINDOWS_1251, ""),
            ("ВЕЧЕР", WINDOWS_1251, ""),
            ("みなとの灯り", SHIFT_JIS, ""),
            ("カモメ", SHIFT_JIS, ""),
            ("港町", SHIFT_JIS, "01 港町.mp3"),
            ("북쪽 바다", EUC_KR, "북쪽 바다.mp3"),
            ("海边", GBK, "Singer/海边.mp3"),
        ];
        for (text, encoding, path) in meant {
            assert_eq!(repaired(&misread(text, encoding), path), text, "{} {path}", encoding.name());
        }
        let utf8: String = "Björn Åle".bytes().map(char::from).collect();
        assert_eq!(repaired(&utf8, ""), "Björn Åle");
    }

    #[test]
    fn a_correct_text_is_not_changed() {
        let right = [
            "Björn Åle",
            "Café Nord",
            "Ørkenens Sønner",
            "Sigur Rós",
            "Ágætis byrjun",
            "Händel: Größe",
            "Ça ira",
            "Motörhead",
            "Æ",
            "Öäü",
            "Öä",
            "naïve façade",
            "Дорога",
            "北",
            "Paper Lanterns",
            "¡Olé!",
            "Ñandú",
            "Édith",
            "Dvořák",
            "½",
        ];
        for text in right {
            assert_eq!(repaired(text, ""), text);
            assert_eq!(repaired(text, &format!("{text}.mp3")), text);
        }
    }
}
