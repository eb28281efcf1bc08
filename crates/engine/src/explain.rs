//! Explains an invalid input to a model: which field is wrong, and an example of a valid input.

use serde_json::{Value, json};

use crate::{
    ToolSpec, lenient,
    schema::{allows, choices, has_type_of, properties, required, types},
};

/// The invalid fields of an input, one sentence each, with what the schema expects. Empty if the input is valid.
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

/// Whether the text starts a JSON object and does not end it.
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
    text::shortened(&value.to_string(), 60)
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

/// An input that the schema accepts, with the required fields only.
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
        // An id must come from a result. A model would copy an example that looks like a real id.
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
            name: "t".into(),
            title: "T".into(),
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
