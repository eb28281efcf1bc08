//! Lenient JSON: parses JSON that a model wrote with small mistakes.
//!
//! Strict JSON gives exactly the value that `serde_json` gives. Also accepted are single quotes, trailing commas, bare
//! keys, Python's `True`, `False` and `None`, and raw line breaks inside strings. A text that ends too early is a
//! different error from a malformed text, because the model can correct it by sending the whole text.

use serde_json::{Map, Value};

/// Tool arguments are less deep than this. Without a limit, a model could overflow the stack.
const MAX_DEPTH: u32 = 64;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LenientError {
    /// The text ends before the value does.
    #[error("the JSON is cut off before it ends")]
    Cut,
    #[error("the text is not JSON from character {at} on")]
    Malformed { at: usize },
}

/// The value at the start of `text`, and its length in bytes, including leading whitespace.
pub fn value_prefix(text: &str) -> Result<(Value, usize), LenientError> {
    let mut strict = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    if let Some(Ok(value)) = strict.next() {
        // A number at the end of the text may be incomplete. Every other value has an end mark.
        return Ok((value, strict.byte_offset()));
    }
    let mut parser = Parser { text, at: 0 };
    let value = parser.value(0)?;
    Ok((value, parser.at))
}

/// The only value in `text`. Nothing but whitespace may surround it.
pub fn value(text: &str) -> Result<Value, LenientError> {
    let (value, n_bytes) = value_prefix(text)?;
    if text[n_bytes..].trim().is_empty() { Ok(value) } else { Err(LenientError::Malformed { at: n_bytes }) }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

impl Parser<'_> {
    fn value(&mut self, depth: u32) -> Result<Value, LenientError> {
        self.skip_whitespace();
        match self.peek().ok_or(LenientError::Cut)? {
            _ if depth > MAX_DEPTH => Err(self.malformed()),
            '{' => self.object(depth),
            '[' => self.array(depth),
            quote @ ('"' | '\'') => self.string(quote).map(Value::String),
            _ => self.plain(),
        }
    }

    fn object(&mut self, depth: u32) -> Result<Value, LenientError> {
        self.at += 1;
        let mut fields = Map::new();
        loop {
            if self.closes('}')? {
                return Ok(Value::Object(fields));
            }
            let key = match self.peek().ok_or(LenientError::Cut)? {
                quote @ ('"' | '\'') => self.string(quote)?,
                _ => self.word()?.to_owned(),
            };
            self.skip_whitespace();
            match self.peek() {
                Some(':') => self.at += 1,
                Some(_) => return Err(self.malformed()),
                None => return Err(LenientError::Cut),
            }
            let value = self.value(depth + 1)?;
            fields.insert(key, value);
            self.comma_or('}')?;
        }
    }

    fn array(&mut self, depth: u32) -> Result<Value, LenientError> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            if self.closes(']')? {
                return Ok(Value::Array(items));
            }
            items.push(self.value(depth + 1)?);
            self.comma_or(']')?;
        }
    }

    /// Consumes the next character if it is `end`, and returns whether it was.
    fn closes(&mut self, end: char) -> Result<bool, LenientError> {
        self.skip_whitespace();
        let is_end = self.peek().ok_or(LenientError::Cut)? == end;
        self.at += usize::from(is_end);
        Ok(is_end)
    }

    /// Consumes a comma. Leaves `end` to the loop, so that a trailing comma is accepted.
    fn comma_or(&mut self, end: char) -> Result<(), LenientError> {
        self.skip_whitespace();
        match self.peek() {
            Some(',') => self.at += 1,
            Some(sign) if sign == end => {}
            Some(_) => return Err(self.malformed()),
            None => return Err(LenientError::Cut),
        }
        Ok(())
    }

    fn string(&mut self, quote: char) -> Result<String, LenientError> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let sign = self.next().ok_or(LenientError::Cut)?;
            match sign {
                '\\' => self.escape(&mut text)?,
                sign if sign == quote => return Ok(text),
                sign => text.push(sign),
            }
        }
    }

    fn escape(&mut self, text: &mut String) -> Result<(), LenientError> {
        match self.next().ok_or(LenientError::Cut)? {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            'u' => text.push(self.unicode()?),
            other => text.push(other),
        }
        Ok(())
    }

    fn unicode(&mut self) -> Result<char, LenientError> {
        let first = self.four_digits()?;
        if !(0xd800..0xdc00).contains(&first) {
            return Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        if !self.text[self.at..].starts_with("\\u") {
            return Ok(char::REPLACEMENT_CHARACTER);
        }
        self.at += 2;
        let second = self.four_digits()?;
        let joined = 0x1_0000 + ((first - 0xd800) << 10) + second.wrapping_sub(0xdc00);
        Ok(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn four_digits(&mut self) -> Result<u32, LenientError> {
        let digits = self.text.get(self.at..self.at + 4).ok_or(LenientError::Cut)?;
        let number = u32::from_str_radix(digits, 16).map_err(|_| self.malformed())?;
        self.at += 4;
        Ok(number)
    }

    /// A number or a word such as `true`.
    fn plain(&mut self) -> Result<Value, LenientError> {
        let start = self.at;
        let word = self.word()?;
        Ok(match word {
            "true" | "True" => Value::Bool(true),
            "false" | "False" => Value::Bool(false),
            "null" | "None" | "undefined" => Value::Null,
            number => {
                let number = serde_json::from_str::<serde_json::Number>(number.trim_start_matches('+'));
                Value::Number(number.map_err(|_| LenientError::Malformed { at: start })?)
            }
        })
    }

    fn word(&mut self) -> Result<&str, LenientError> {
        let start = self.at;
        let is_part = |sign: char| sign.is_alphanumeric() || matches!(sign, '_' | '-' | '+' | '.' | '$');
        let n_bytes = self.text[start..].find(|sign| !is_part(sign));
        // A word at the end of the text may be incomplete.
        let n_bytes = n_bytes.ok_or(LenientError::Cut)?;
        if n_bytes == 0 {
            return Err(self.malformed());
        }
        self.at += n_bytes;
        Ok(&self.text[start..start + n_bytes])
    }

    fn skip_whitespace(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let sign = self.peek()?;
        self.at += sign.len_utf8();
        Some(sign)
    }

    fn malformed(&self) -> LenientError {
        LenientError::Malformed { at: self.at }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn json_with_small_mistakes_is_parsed() {
        let cases = [
            (r#"{"a": 1}"#, json!({"a": 1})),
            (r#"{'a': 'it\'s', "b": [1, 2,],}"#, json!({"a": "it's", "b": [1, 2]})),
            (r#"{a: True, b: False, c: None}"#, json!({"a": true, "b": false, "c": null})),
            ("{\"a\": \"two\nlines\"}", json!({"a": "two\nlines"})),
            (r#"{'a': "gr\u00fcn \ud83c\udfb5"}"#, json!({"a": "grün 🎵"})),
            (r#"{'n': -1.5e3,}"#, json!({"n": -1500.0})),
        ];
        for (text, expected) in cases {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn a_cut_value_is_another_error_than_a_malformed_one() {
        for cut in ["{", r#"{"a"#, r#"{"a":"#, r#"{"a": "buy mi"#, r#"{"a": [1, 2"#, r#"{"a": tru"#, "", "["] {
            assert_eq!(value(cut), Err(LenientError::Cut), "{cut}");
        }
        for wrong in ["{]", "hello there", r#"{"a" 1}"#, r#"{"a": 1} and more"#, "<a>"] {
            assert!(matches!(value(wrong), Err(LenientError::Malformed { .. })), "{wrong}");
        }
        assert!(value(&"[".repeat(100_000)).is_err(), "no stack overflow");
    }

    #[test]
    fn text_after_a_value_is_left() {
        assert_eq!(value_prefix("{'a': 1,} rest"), Ok((json!({"a": 1}), 9)));
        assert_eq!(value_prefix(r#"{"a": 1} rest"#), Ok((json!({"a": 1}), 8)));
    }

    proptest! {
        #[test]
        fn parsing_never_panics(text in "[\\[\\]{}'\":,a1\\\\u \n.ü-]{0,40}") {
            if let Ok((_, n_bytes)) = value_prefix(&text) {
                prop_assert!(text.is_char_boundary(n_bytes));
            }
        }
    }
}
