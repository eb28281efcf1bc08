//! Repair: converts a model's input to the form that the tool's schema requires.
//!
//! Only calls of a model are repaired. A repair never invents a value: it changes the spelling (`"5"` to 5, `Pending` to
//! `pending`), unwraps arguments, and drops fields that the tool does not have. The model is told which fields were
//! dropped.

use serde_json::{Map, Value};

use crate::{ToolSpec, lenient, schema};

/// A repaired call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Repaired {
    pub(crate) input: Value,
    /// Notes for the model about its call, one sentence each.
    pub(crate) notes: Vec<String>,
}

/// Parses the text that a model sent as input. An empty text means no arguments. A text that is not JSON is returned as
/// a string, and the validation by the tool reports the error.
pub(crate) fn parse(text: String) -> Value {
    let inner = without_wrapping(&text);
    if inner.is_empty() {
        return Value::Object(Map::new());
    }
    match lenient::value_prefix(inner) {
        // Encoded twice: the string contains the object.
        Ok((Value::String(inside), _)) if inside.trim_start().starts_with('{') => match lenient::value(&inside) {
            Ok(value @ Value::Object(_)) => value,
            _ => Value::String(inside),
        },
        Ok((value, n_bytes)) if is_noise(&inner[n_bytes..]) => value,
        _ => Value::String(text),
    }
}

/// Removes a code fence and the whitespace around it.
fn without_wrapping(text: &str) -> &str {
    let text = text.trim();
    let Some(fenced) = text.strip_prefix("```") else { return text };
    let body = fenced.split_once('\n').map_or(fenced, |(_, body)| body);
    body.trim_end().strip_suffix("```").unwrap_or(body).trim()
}

/// Text that small models write after their arguments: closing tags, fences, an extra brace.
fn is_noise(rest: &str) -> bool {
    let rest = rest.trim();
    rest.is_empty() || rest == "}" || rest == "```" || (rest.starts_with("</") && rest.ends_with('>'))
}

/// Changes the spelling of the input to the one that the schema requires, where the meaning is clear.
pub(crate) fn repair(spec: &ToolSpec, input: Value) -> Repaired {
    let mut notes = Vec::new();
    let Value::Object(fields) = unwrapped(&spec.input_schema, input.clone()) else {
        return Repaired { input, notes };
    };
    let properties = schema::properties(&spec.input_schema);
    let is_closed = spec.input_schema.get("additionalProperties") == Some(&Value::Bool(false));
    let mut repaired = Map::new();
    let mut dropped = Vec::new();
    for (name, value) in fields {
        match properties.and_then(|properties| properties.get(&name)) {
            Some(schema) => match schema::fitted(schema, value) {
                // Models fill an optional field with an empty value or null.
                Value::Null if !schema::is_required(&spec.input_schema, &name) => {}
                value => _ = repaired.insert(name, value),
            },
            None if is_closed => dropped.push(name),
            None => _ = repaired.insert(name, value),
        }
    }
    if !dropped.is_empty() {
        notes.push(dropped_note(spec, &dropped));
    }
    Repaired { input: Value::Object(repaired), notes }
}

fn dropped_note(spec: &ToolSpec, dropped: &[String]) -> String {
    let known = schema::properties(&spec.input_schema).map(|properties| properties.keys().cloned().collect::<Vec<_>>());
    let known = known.filter(|known| !known.is_empty()).map_or("no fields".into(), |known| known.join(", "));
    let dropped: Vec<_> = dropped.iter().map(|name| format!("`{}`", text::cut(name, 40))).collect();
    format!("Note: {} has no field {}; it was ignored. Its fields are: {known}.", spec.name, dropped.join(", "))
}

/// Names of the object that models put around the arguments of a call.
const WRAPPERS: [&str; 5] = ["parameters", "arguments", "args", "input", "kwargs"];

/// Removes an object around the arguments, if its name is not a field of the tool.
fn unwrapped(input_schema: &Value, input: Value) -> Value {
    let Value::Object(mut fields) = input else { return input };
    let is_of_tool = |name: &str| schema::properties(input_schema).is_some_and(|known| known.contains_key(name));
    // The name of the call may be a field beside the wrapped arguments.
    let is_call_field = |name: &str| matches!(name, "name" | "tool" | "function" | "type" | "id");
    let wrapper = WRAPPERS.into_iter().find(|wrapper| {
        let others_mean_nothing =
            fields.keys().all(|name| name == wrapper || (is_call_field(name) && !is_of_tool(name)));
        !is_of_tool(wrapper) && others_mean_nothing && fields.get(*wrapper).is_some_and(is_arguments)
    });
    match wrapper.and_then(|wrapper| fields.remove(wrapper)) {
        Some(Value::String(text)) => parse(text),
        Some(inner) => inner,
        None => Value::Object(fields),
    }
}

fn is_arguments(value: &Value) -> bool {
    match value {
        Value::Object(_) => true,
        Value::String(text) => parse(text.clone()).is_object() && !text.trim().is_empty(),
        _ => false,
    }
}

/// The offered tool that `name` means: the same name, the name without a prefix such as `functions.`, or the only tool
/// whose name differs only in case and separators.
pub fn tool_named<'n>(name: &str, mut offered: impl Iterator<Item = &'n str> + Clone) -> Option<&'n str> {
    if let Some(same) = offered.clone().find(|known| *known == name) {
        return Some(same);
    }
    let last = name.trim().rsplit(['.', ':', '/']).next().unwrap_or(name);
    let folded = |name: &str| -> String {
        name.chars().filter(|sign| sign.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let wanted = folded(last);
    let mut alike = offered.by_ref().filter(|known| !wanted.is_empty() && folded(known) == wanted);
    let first = alike.next()?;
    alike.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Effect;

    fn search() -> ToolSpec {
        ToolSpec {
            name: "search".into(),
            title: "Search".into(),
            description: String::new(),
            effect: Effect::Reads,
            input_schema: json!({
                "type": "object",
                "properties": {
                    "query": {"type": "string", "minLength": 1, "maxLength": 20},
                    "limit": {"type": ["integer", "null"], "minimum": 1, "maximum": 50},
                    "filter": {"type": "string", "enum": ["all", "pending"]},
                    "isrcs": {"type": "array", "items": {"type": "string"}},
                    "loud": {"type": "boolean"},
                },
                "required": ["query"],
                "additionalProperties": false,
            }),
            output_schema: json!({}),
        }
    }

    #[test]
    fn malformed_arguments_are_parsed() {
        let milk = json!({"title": "Milk"});
        let cases = [
            r#"{"title": "Milk"}"#,
            r#"{'title': 'Milk'}"#,
            r#"{"title": "Milk",}"#,
            "```json\n{\"title\": \"Milk\"}\n```",
            "```\n{\"title\": \"Milk\"}```",
            r#""{\"title\": \"Milk\"}""#,
            r#"{"title": "Milk"}</tool_call>"#,
            r#"{"title": "Milk"}}"#,
        ];
        for text in cases {
            assert_eq!(parse(text.to_owned()), milk, "{text}");
        }
        assert_eq!(parse("  ".into()), json!({}));
        for refused in [r#"{"title": "Mi"#, "buy milk", r#"{"title": "Milk"} and eggs"#] {
            assert_eq!(parse(refused.into()), Value::String(refused.into()), "{refused}");
        }
    }

    #[test]
    fn spelling_is_repaired_by_the_schema() {
        let cases = [
            (json!({"query": "x", "limit": "5"}), json!({"query": "x", "limit": 5})),
            (json!({"query": "x", "limit": 5.0}), json!({"query": "x", "limit": 5})),
            (json!({"query": "x", "limit": null}), json!({"query": "x"})),
            (json!({"query": "x", "limit": ""}), json!({"query": "x"})),
            (json!({"query": ["x"]}), json!({"query": "x"})),
            (json!({"query": 5}), json!({"query": "5"})),
            (json!({"query": "x", "filter": "Pending"}), json!({"query": "x", "filter": "pending"})),
            (json!({"query": "x", "isrcs": "A"}), json!({"query": "x", "isrcs": ["A"]})),
            (json!({"query": "x", "isrcs": "[\"A\", \"B\"]"}), json!({"query": "x", "isrcs": ["A", "B"]})),
            (json!({"query": "x", "loud": "true"}), json!({"query": "x", "loud": true})),
            (json!({"parameters": {"query": "x"}}), json!({"query": "x"})),
            (json!({"name": "search", "arguments": {"query": "x"}}), json!({"query": "x"})),
            (json!({"arguments": "{\"query\": \"x\"}"}), json!({"query": "x"})),
            // A value without a clear meaning is not changed, so validation refuses it.
            (json!({"query": "x", "limit": "five"}), json!({"query": "x", "limit": "five"})),
            (json!({"query": ["x", "y"]}), json!({"query": ["x", "y"]})),
            (json!(["x"]), json!(["x"])),
        ];
        for (input, expected) in cases {
            let repaired = repair(&search(), input.clone());
            assert_eq!(repaired.input, expected, "{input}");
            assert!(repaired.notes.is_empty(), "{input}: {:?}", repaired.notes);
        }
    }

    #[test]
    fn unknown_fields_are_dropped_and_the_model_is_told() {
        let repaired = repair(&search(), json!({"query": "x", "searchType": "tracks", "deep": 1}));
        assert_eq!(repaired.input, json!({"query": "x"}));
        let expected = "Note: search has no field `deep`, `searchType`; it was ignored. \
                        Its fields are: filter, isrcs, limit, loud, query.";
        assert_eq!(repaired.notes, [expected]);
        let mut open = search();
        open.input_schema["additionalProperties"] = json!(true);
        assert_eq!(repair(&open, json!({"query": "x", "deep": 1})).input, json!({"query": "x", "deep": 1}));
    }

    #[test]
    fn a_misspelled_name_is_recognised_if_only_one_tool_fits() {
        let offered = ["add_task", "list_tasks", "semanticSearch", "a_b", "ab"];
        let cases = [
            ("add_task", Some("add_task")),
            ("functions.add_task", Some("add_task")),
            ("default_api:add_task", Some("add_task")),
            ("AddTask", Some("add_task")),
            ("semantic_search", Some("semanticSearch")),
            ("A-B", None),
            ("task", None),
            ("", None),
        ];
        for (name, expected) in cases {
            assert_eq!(tool_named(name, offered.into_iter()), expected, "{name}");
        }
    }
}
