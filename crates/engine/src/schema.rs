//! Schema: converts a value to the spelling that a tool's JSON Schema requires.
//!
//! It supports the part of JSON Schema that Segue's tools and most MCP servers use. It does not change values under
//! unknown keywords; the tool's own validation decides about them.

use serde_json::{Map, Value};

use crate::lenient;

pub(crate) fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties")?.as_object()
}

pub(crate) fn is_required(schema: &Value, name: &str) -> bool {
    required(schema).any(|required| required == name)
}

pub(crate) fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// The value in the spelling that the schema requires, or unchanged if there is none.
pub(crate) fn fitted(schema: &Value, value: Value) -> Value {
    if let Some(choices) = choices(schema) {
        return match &value {
            Value::String(text) => one_choice(&choices, text).unwrap_or(value),
            _ => value,
        };
    }
    match value {
        value if has_type_of(schema, &value) => within(schema, value),
        Value::String(text) => from_text(schema, text),
        Value::Number(number) => from_number(schema, number),
        Value::Bool(truth) if allows(schema, "string") => Value::String(truth.to_string()),
        Value::Array(mut items) if items.len() == 1 && !allows(schema, "array") => {
            let inner = fitted(schema, items.remove(0));
            if has_type_of(schema, &inner) { inner } else { Value::Array(vec![inner]) }
        }
        other if allows(schema, "array") && !other.is_null() => {
            Value::Array(vec![fitted(schema.get("items").unwrap_or(&Value::Null), other)])
        }
        other => other,
    }
}

/// Converts the items and fields of a value whose own type is correct.
fn within(schema: &Value, value: Value) -> Value {
    match value {
        Value::Array(items) => match schema.get("items") {
            Some(of) => items.into_iter().map(|item| fitted(of, item)).collect(),
            None => Value::Array(items),
        },
        Value::Object(fields) => {
            let known = properties(schema);
            let fit = |(name, value): (String, Value)| match known.and_then(|known| known.get(&name)) {
                Some(schema) => (name, fitted(schema, value)),
                None => (name, value),
            };
            Value::Object(fields.into_iter().map(fit).collect())
        }
        plain => plain,
    }
}

fn from_text(schema: &Value, text: String) -> Value {
    let trimmed = text.trim();
    if matches!(trimmed, "" | "null" | "None") && !allows(schema, "array") {
        return Value::Null;
    }
    let number = || trimmed.parse::<i64>().map(Value::from).or_else(|_| trimmed.parse::<f64>().map(Value::from));
    let written = || lenient::value(trimmed).ok().filter(|value| has_type_of(schema, value) && !value.is_null());
    match trimmed.to_ascii_lowercase().as_str() {
        "true" | "yes" if allows(schema, "boolean") => return Value::Bool(true),
        "false" | "no" if allows(schema, "boolean") => return Value::Bool(false),
        _ => {}
    }
    if let Ok(number) = number() {
        let fits = fitted_number(schema, &number);
        if let Some(fits) = fits {
            return fits;
        }
    }
    if let Some(value) = written() {
        return within(schema, value);
    }
    if allows(schema, "array") {
        return Value::Array(vec![Value::String(text)]);
    }
    Value::String(text)
}

fn from_number(schema: &Value, number: serde_json::Number) -> Value {
    let value = Value::Number(number);
    if let Some(fits) = fitted_number(schema, &value) {
        return fits;
    }
    if allows(schema, "string") { Value::String(value.to_string()) } else { value }
}

fn fitted_number(schema: &Value, number: &Value) -> Option<Value> {
    if allows(schema, "number") {
        return Some(number.clone());
    }
    if !allows(schema, "integer") {
        return None;
    }
    #[allow(clippy::cast_possible_truncation, reason = "the number is an integer and small")]
    let whole = |n: f64| (n.fract() == 0.0 && n.abs() < 9e15).then(|| Value::from(n as i64));
    number.as_i64().map(Value::from).or_else(|| number.as_f64().and_then(whole))
}

pub(crate) fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => variants(schema).flat_map(types).collect(),
    }
}

fn variants(schema: &Value) -> impl Iterator<Item = &Value> {
    ["anyOf", "oneOf"].into_iter().filter_map(|name| schema.get(name)?.as_array()).flatten()
}

pub(crate) fn allows(schema: &Value, wanted: &str) -> bool {
    types(schema).contains(&wanted)
}

pub(crate) fn has_type_of(schema: &Value, value: &Value) -> bool {
    let types = types(schema);
    types.is_empty() || types.iter().any(|wanted| is_a(value, wanted))
}

fn is_a(value: &Value, wanted: &str) -> bool {
    match wanted {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        _ => true,
    }
}

/// The allowed values, if the schema lists all of them.
pub(crate) fn choices(schema: &Value) -> Option<Vec<&Value>> {
    if let Some(list) = schema.get("enum").and_then(Value::as_array) {
        return Some(list.iter().collect());
    }
    if let Some(one) = schema.get("const") {
        return Some(vec![one]);
    }
    let lists: Vec<_> = variants(schema).map(choices).collect::<Option<_>>()?;
    (!lists.is_empty()).then(|| lists.into_iter().flatten().collect())
}

fn one_choice(choices: &[&Value], text: &str) -> Option<Value> {
    let is_meant = |choice: &&&Value| choice.as_str().is_some_and(|known| known.eq_ignore_ascii_case(text.trim()));
    choices.iter().find(is_meant).map(|choice| (**choice).clone())
}
