//! Schema: what does a tool's JSON Schema say about one input? Fitting, problems, an example.
//!
//! Reads the part of JSON Schema that our own tools and most MCP servers use. What it does not know it lets pass:
//! the tool's own check decides.

use serde_json::{Map, Value, json};

use crate::{ToolSpec, lenient};

pub(crate) fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties")?.as_object()
}

pub(crate) fn is_required(schema: &Value, name: &str) -> bool {
    required(schema).any(|required| required == name)
}

fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// The value in the spelling the schema wants, or as it is.
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

/// Items and fields of a value whose own type is right.
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
    #[allow(clippy::cast_possible_truncation, reason = "checked to be whole and small")]
    let whole = |n: f64| (n.fract() == 0.0 && n.abs() < 9e15).then(|| Value::from(n as i64));
    number.as_i64().map(Value::from).or_else(|| number.as_f64().and_then(whole))
}

fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => variants(schema).flat_map(types).collect(),
    }
}

fn variants(schema: &Value) -> impl Iterator<Item = &Value> {
    ["anyOf", "oneOf"].into_iter().filter_map(|name| schema.get(name)?.as_array()).flatten()
}

fn allows(schema: &Value, wanted: &str) -> bool {
    types(schema).contains(&wanted)
}

fn has_type_of(schema: &Value, value: &Value) -> bool {
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

/// The values a schema lists, when it lists all of them.
fn choices(schema: &Value) -> Option<Vec<&Value>> {
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

/// What is wrong with an input, field by field, in words a model can act on. Empty when the schema has no objection.
pub(crate) fn problems(spec: &ToolSpec, input: &Value) -> Vec<String> {
    let schema = &spec.input_schema;
    let Value::Object(fields) = input else {
        return vec![match input {
            Value::String(text) if is_cut(text) => "the JSON is cut off before it ends; send the whole object".into(),
            Value::String(_) => "the arguments are not JSON; send one JSON object".into(),
            other => format!("the arguments are {}, but must be a JSON object", kind_of(other)),
        }];
    };
    let missing = required(schema).filter(|name| !fields.contains_key(*name));
    let missing = missing.map(|name| {
        let wanted = properties(schema).and_then(|known| known.get(name)).map_or_else(String::new, wanted);
        format!("`{name}` is missing{}", in_brackets(&wanted))
    });
    let wrong = fields.iter().filter_map(|(name, value)| {
        let schema = properties(schema)?.get(name)?;
        (!is_valid(schema, value)).then(|| format!("`{name}` is {}{}", shown(value), in_brackets(&wanted(schema))))
    });
    missing.chain(wrong).collect()
}

/// Whether an object begins in this text and does not end.
fn is_cut(text: &str) -> bool {
    text.find('{').is_some_and(|at| lenient::value_prefix(&text[at..]) == Err(lenient::LenientError::Cut))
}

fn is_valid(schema: &Value, value: &Value) -> bool {
    if let Some(choices) = choices(schema) {
        return choices.contains(&value) || (value.is_null() && allows(schema, "null"));
    }
    let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
    #[allow(clippy::cast_precision_loss, reason = "lengths are small")]
    let within = |n: usize, least: &str, most: &str| {
        bound(least).is_none_or(|least| n as f64 >= least) && bound(most).is_none_or(|most| n as f64 <= most)
    };
    has_type_of(schema, value)
        && match value {
            Value::String(text) => within(text.chars().count(), "minLength", "maxLength"),
            Value::Array(items) => {
                let of = schema.get("items");
                within(items.len(), "minItems", "maxItems")
                    && items.iter().all(|item| of.is_none_or(|of| is_valid(of, item)))
            }
            Value::Number(number) => number.as_f64().is_none_or(|n| {
                bound("minimum").is_none_or(|least| n >= least) && bound("maximum").is_none_or(|most| n <= most)
            }),
            _ => true,
        }
}

/// "string, 1 to 200 characters".
fn wanted(schema: &Value) -> String {
    if let Some(choices) = choices(schema) {
        return format!("one of {}", choices.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
    }
    let types: Vec<_> = types(schema).into_iter().filter(|name| *name != "null").collect();
    let range = |least: &str, most: &str, unit: &str| match (schema.get(least), schema.get(most)) {
        (Some(least), Some(most)) => format!(", {least} to {most}{unit}"),
        (None, Some(most)) => format!(", at most {most}{unit}"),
        (Some(least), None) => format!(", at least {least}{unit}"),
        (None, None) => String::new(),
    };
    let ranges = [
        range("minLength", "maxLength", " characters"),
        range("minimum", "maximum", ""),
        range("minItems", "maxItems", " items"),
    ];
    format!("{}{}", types.join(" or "), ranges.concat())
}

fn in_brackets(wanted: &str) -> String {
    if wanted.is_empty() { String::new() } else { format!(" (wanted: {wanted})") }
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 60 { text } else { format!("{}…", text.chars().take(60).collect::<String>()) }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// An input the schema accepts: required fields only.
pub(crate) fn example(schema: &Value) -> Value {
    let fields = required(schema).map(|name| {
        let of = properties(schema).and_then(|known| known.get(name)).unwrap_or(&Value::Null);
        (name.to_owned(), example_value(name, of))
    });
    Value::Object(fields.collect())
}

fn example_value(name: &str, schema: &Value) -> Value {
    let given = schema.get("examples").and_then(|examples| examples.get(0)).or_else(|| schema.get("default"));
    if let Some(given) = given.filter(|given| !given.is_null()) {
        return given.clone();
    }
    if let Some(first) = choices(schema).and_then(|choices| choices.first().copied().cloned()) {
        return first;
    }
    match types(schema).into_iter().find(|name| *name != "null") {
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("boolean") => json!(true),
        Some("array") => {
            json!([example_value(name.trim_end_matches('s'), schema.get("items").unwrap_or(&Value::Null))])
        }
        Some("object") => example(schema),
        // An id must come from a result: an example that looks like one would be copied.
        _ if name.to_lowercase().ends_with("id") || name == "isrc" => json!(format!("<{name} from an earlier result>")),
        _ => json!(format!("<{name}>")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Effect;

    fn spec(input_schema: Value) -> ToolSpec {
        ToolSpec {
            name: "t",
            title: "T",
            description: String::new(),
            effect: Effect::Reads,
            input_schema,
            output_schema: json!({}),
        }
    }

    fn task() -> ToolSpec {
        spec(json!({
            "type": "object",
            "properties": {
                "title": {"type": "string", "minLength": 1, "maxLength": 5},
                "task_id": {"type": "string"},
                "limit": {"type": ["integer", "null"], "minimum": 1, "maximum": 50},
                "filter": {"oneOf": [{"const": "all"}, {"const": "pending"}]},
                "tracks": {"type": "array", "minItems": 1, "items": {
                    "type": "object", "properties": {"isrc": {"type": "string"}}, "required": ["isrc"],
                }},
            },
            "required": ["title", "task_id", "tracks"],
        }))
    }

    #[test]
    fn a_problem_names_the_field_and_what_is_wanted() {
        let cases = [
            (json!({"task_id": "a", "tracks": [{}]}), "`title` is missing (wanted: string, 1 to 5 characters)"),
            (
                json!({"title": "", "task_id": "a", "tracks": [{}]}),
                "`title` is \"\" (wanted: string, 1 to 5 characters)",
            ),
            (
                json!({"title": "a", "task_id": "a", "tracks": [{}], "limit": 51}),
                "`limit` is 51 (wanted: integer, 1 to 50)",
            ),
            (
                json!({"title": "a", "task_id": "a", "tracks": [{}], "filter": "done"}),
                "`filter` is \"done\" (wanted: one of \"all\", \"pending\")",
            ),
            (json!({"title": "a", "task_id": "a", "tracks": []}), "`tracks` is [] (wanted: array, at least 1 items)"),
            (json!(["buy milk"]), "the arguments are a list, but must be a JSON object"),
            (json!("{\"title\": \"Mi"), "the JSON is cut off before it ends; send the whole object"),
            (json!("buy milk"), "the arguments are not JSON; send one JSON object"),
        ];
        for (input, expected) in cases {
            assert_eq!(problems(&task(), &input), [expected], "{input}");
        }
        let fine = json!({"title": "a", "task_id": "a", "tracks": [{}], "limit": null, "filter": "all"});
        assert!(problems(&task(), &fine).is_empty());
    }

    #[test]
    fn an_example_has_what_is_required_and_no_id_to_copy() {
        let expected = json!({
            "title": "<title>",
            "task_id": "<task_id from an earlier result>",
            "tracks": [{"isrc": "<isrc from an earlier result>"}],
        });
        assert_eq!(example(&task().input_schema), expected);
    }
}
