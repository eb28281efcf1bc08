//! `Count<MIN, MAX, DEFAULT>`: a number whose range is limited. The range is part of the type, so it is written once and
//! serves queries, tool inputs and their JSON schemas.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// The number of a caller, or DEFAULT. `checked` returns it if it is between MIN and MAX.
///
/// Deserialisation accepts any number, because only the caller of `checked` knows the name of the field, and every
/// protocol has its own format of a validation error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Count<const MIN: u32, const MAX: u32, const DEFAULT: u32 = MAX>(u32);

/// A number that is too small or too large.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} {}", self.rule())]
pub struct OutOfRange {
    pub field: &'static str,
    min: u32,
    max: u32,
}

impl<const MIN: u32, const MAX: u32, const DEFAULT: u32> Count<MIN, MAX, DEFAULT> {
    /// The number if it is valid. `field` is the name of the field for the caller.
    pub fn checked(self, field: &'static str) -> Result<u32, OutOfRange> {
        if (MIN..=MAX).contains(&self.0) { Ok(self.0) } else { Err(OutOfRange { field, min: MIN, max: MAX }) }
    }
}

impl OutOfRange {
    /// The complete rule, after the name of the field.
    pub fn rule(&self) -> String {
        format!("must be between {} and {}", self.min, self.max)
    }
}

impl<const MIN: u32, const MAX: u32, const DEFAULT: u32> Default for Count<MIN, MAX, DEFAULT> {
    fn default() -> Self {
        Self(DEFAULT)
    }
}

/// A field with `#[serde(default)]` also gets DEFAULT as its default.
impl<const MIN: u32, const MAX: u32, const DEFAULT: u32> JsonSchema for Count<MIN, MAX, DEFAULT> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Count_{MIN}_{MAX}_{DEFAULT}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "format": "uint32", "minimum": MIN, "maximum": MAX})
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    struct Query {
        #[serde(default)]
        limit: Count<1, 50, 20>,
    }

    fn limit(query: serde_json::Value) -> Result<u32, String> {
        serde_json::from_value::<Query>(query).unwrap().limit.checked("limit").map_err(|error| error.to_string())
    }

    #[test]
    fn a_number_is_refused_outside_its_range_and_has_a_default() {
        let refused = || Err("limit must be between 1 and 50".to_owned());
        let numbers = [json!({}), json!({"limit": 1}), json!({"limit": 50}), json!({"limit": 0}), json!({"limit": 51})];
        assert_eq!(numbers.map(limit), [Ok(20), Ok(1), Ok(50), refused(), refused()]);
        assert_eq!(Count::<1, 200>::default().checked("limit"), Ok(200), "the default is the maximum");
    }

    #[test]
    fn the_range_and_the_default_are_in_the_schema() {
        let schema = SchemaGenerator::default().into_root_schema_for::<Query>().to_value();
        let expected = json!({"type": "integer", "format": "uint32", "minimum": 1, "maximum": 50, "default": 20});
        assert_eq!(schema["properties"]["limit"], expected);
    }
}
