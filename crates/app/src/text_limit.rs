//! `Text<MIN, MAX>`: a text whose length is limited. The limit is part of the type, so it is written once and serves
//! API bodies, tool inputs and their JSON schemas.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

/// The text of a caller without surrounding white space. `checked` returns it if it has MIN to MAX characters.
///
/// Deserialisation accepts any length, because only the service knows the name of the field, and every protocol has its
/// own format of a validation error.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Text<const MIN: usize, const MAX: usize>(String);

/// A text that is too short or too long.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} {}", self.problem())]
pub struct WrongLength {
    pub field: &'static str,
    min: usize,
    max: usize,
    n_chars: usize,
}

impl<const MIN: usize, const MAX: usize> Text<MIN, MAX> {
    pub const MAX: usize = MAX;

    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// The text if its length is valid. `field` is the name of the field for the caller.
    pub fn checked(self, field: &'static str) -> Result<String, WrongLength> {
        let n_chars = self.0.chars().count();
        if (MIN..=MAX).contains(&n_chars) {
            Ok(self.0)
        } else {
            Err(WrongLength { field, min: MIN, max: MAX, n_chars })
        }
    }

    pub fn into_string(self) -> String {
        self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl WrongLength {
    /// The complete rule, for an API response.
    pub fn rule(&self) -> String {
        match self.min {
            0 => format!("must have at most {} characters", self.max),
            min => format!("must have {min} to {} characters", self.max),
        }
    }

    /// The problem with this text, for a model, after the name of the field.
    fn problem(&self) -> String {
        match self.n_chars {
            0 => "cannot be empty".to_owned(),
            n if n < self.min => format!("must be at least {} characters", self.min),
            _ => format!("must be at most {} characters", self.max),
        }
    }
}

impl<'de, const MIN: usize, const MAX: usize> Deserialize<'de> for Text<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::new(&String::deserialize(deserializer)?))
    }
}

impl<const MIN: usize, const MAX: usize> JsonSchema for Text<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Text_{MIN}_{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        match MIN {
            0 => json_schema!({"type": "string", "maxLength": MAX}),
            _ => json_schema!({"type": "string", "minLength": MIN, "maxLength": MAX}),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_is_trimmed_counted_in_characters_and_refused_outside_its_limits() {
        let cases = [
            ("  strings ", Ok("strings"), ""),
            ("äöü", Err("must have 4 to 8 characters"), "title must be at least 4 characters"),
            ("äöüäöüäö", Ok("äöüäöüäö"), ""),
            ("123456789", Err("must have 4 to 8 characters"), "title must be at most 8 characters"),
            (" \n ", Err("must have 4 to 8 characters"), "title cannot be empty"),
        ];
        for (text, expected, message) in cases {
            let read: Text<4, 8> = serde_json::from_value(json!(text)).unwrap();
            match (read.checked("title"), expected) {
                (Ok(text), Ok(expected)) => assert_eq!(text, expected),
                (Err(error), Err(rule)) => {
                    assert_eq!((error.rule().as_str(), error.to_string().as_str()), (rule, message))
                }
                (other, _) => panic!("{text:?}: {other:?}"),
            }
        }
    }

    #[test]
    fn the_limits_are_in_the_schema() {
        let of = |schema: Schema| schema.to_value();
        let mut generator = SchemaGenerator::default();
        assert_eq!(
            of(generator.subschema_for::<Text<1, 200>>()),
            json!({"type": "string", "minLength": 1, "maxLength": 200})
        );
        assert_eq!(
            of(generator.subschema_for::<Option<Text<0, 9>>>()),
            json!({"type": ["string", "null"], "maxLength": 9})
        );
    }
}
