//! Lenient JSON: how is JSON read that a model wrote nearly right?
//!
//! Strict JSON comes out exactly as `serde_json` reads it. Beyond it: single quotes, trailing commas, bare keys, Python's
//! `True`, `False` and `None`, and raw line breaks inside strings. A text that ends too early is told apart from a
//! wrong one, because the model can mend the first by sending it again.

use serde_json::{Map, Value};

/// Deeper values are not arguments of a tool; without a bound a model could overflow the stack.
const MAX_DEPTH: u32 = 64;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LenientError {
    /// The text ends before the value does.
    #[error("the JSON is cut off before it ends")]
    Cut,
    #[error("it is not JSON at character {at}")]
    Malformed { at: usize },
}

/// The value `text` begins with, and how many bytes it takes, leading whitespace included.
pub fn value_prefix(text: &str) -> Result<(Value, usize), LenientError> {
    let mut strict = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    if let Some(Ok(value)) = strict.next() {
        // A number may go on where the text was cut; everything else has its own end.
        return Ok((value, strict.byte_offset()));
    }
    let mut parser = Parser { text, at: 0 };
    let value = parser.value(0)?;
    Ok((value, parser.at))
}

/// The one value `text` holds, with nothing but whitespace around it.
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

    /// Whether the next sign is `end`, which is taken.
    fn closes(&mut self, end: char) -> Result<bool, LenientError> {
        self.skip_whitespace();
        let is_end = self.peek().ok_or(LenientError::Cut)? == end;
        self.at += usize::from(is_end);
        Ok(is_end)
    }

    /// A comma is taken; `end` is left for the loop, so that a comma before it does no harm.
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
        // A word at the very end may go on.
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
    fn what_models_write_nearly_right_is_read() {
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
    fn a_cut_value_is_told_apart_from_a_wrong_one() {
        for cut in ["{", r#"{"a"#, r#"{"a":"#, r#"{"a": "buy mi"#, r#"{"a": [1, 2"#, r#"{"a": tru"#, "", "["] {
            assert_eq!(value(cut), Err(LenientError::Cut), "{cut}");
        }
        for wrong in ["{]", "hello there", r#"{"a" 1}"#, r#"{"a": 1} and more"#, "<a>"] {
            assert!(matches!(value(wrong), Err(LenientError::Malformed { .. })), "{wrong}");
        }
        assert!(value(&"[".repeat(100_000)).is_err(), "no stack overflow");
    }

    #[test]
    fn a_value_ends_where_it_ends() {
        assert_eq!(value_prefix("{'a': 1,} rest"), Ok((json!({"a": 1}), 9)));
        assert_eq!(value_prefix(r#"{"a": 1} rest"#), Ok((json!({"a": 1}), 8)));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[\\[\\]{}'\":,a1\\\\u \n.ü-]{0,40}") {
            if let Ok((_, n_bytes)) = value_prefix(&text) {
                prop_assert!(text.is_char_boundary(n_bytes));
            }
        }
    }
}
