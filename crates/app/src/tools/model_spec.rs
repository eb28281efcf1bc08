//! How a prompt describes a tool: a short description and a short schema. Programs (HTTP, MCP, the page) get everything.
//!
//! Every turn starts with these texts, and a small local model reads 4,096 tokens in all.

use engine::ToolSpec;
use serde_json::{Map, Value, json};

/// What a model reads about a field of our own tools instead of the description for programs; nothing where the name says
/// enough, or the instructions of the agent do. The key is a field, or a tool and its field.
const SHORT_TEXTS: [(&str, &str); 20] = [
    ("albumId", "From tidalSearch."),
    ("atMostPerArtist", ""),
    ("edit_playlist.tracks", "To remove or move: also title or position."),
    ("filter", ""),
    ("inLibrary", "False: only new."),
    ("instrumental", ""),
    ("isrc", ""),
    ("isrcs", ""),
    ("language", "ISO 639-1"),
    ("limit", ""),
    ("list_playlists.playlist", ""),
    ("position", "From 1."),
    ("query", ""),
    ("reasoning", "One sentence."),
    ("searchType", ""),
    ("semanticSearch.query", "Limits in words: from the 90s, under 3 minutes, 100 to 120 bpm."),
    ("suggestPlaylist.tracks", ""),
    ("task_id", ""),
    ("title", ""),
    ("without", ""),
];

/// One of our own tools. The tools of other servers keep the descriptions of their fields.
pub(crate) fn own_spec_for_model(spec: &ToolSpec) -> ToolSpec {
    let short = spec_for_model(spec);
    ToolSpec { input_schema: terse(&spec.name, short.input_schema), ..short }
}

fn terse(tool: &str, mut schema: Value) -> Value {
    let required = schema.get("required").cloned().unwrap_or_default();
    let is_required = |name: &str| required.as_array().is_some_and(|names| names.iter().any(|known| known == name));
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        // Ranges of years, tempo and length: a model says them in words, for a fifth of the tokens. Some servers refuse
        // objects whose fields are not listed.
        properties.retain(|name, property| property["type"] != "object" || is_required(name));
        for (name, property) in properties {
            *property = terse_property(tool, name, property.take());
        }
    }
    if let Some(items) = schema.get_mut("items") {
        *items = terse(tool, items.take());
    }
    schema
}

fn terse_property(tool: &str, name: &str, property: Value) -> Value {
    let mut property = terse(tool, property);
    let short = short_text(&format!("{tool}.{name}")).or_else(|| short_text(name));
    match (property.as_object_mut(), short) {
        (Some(fields), Some("")) => drop(fields.remove("description")),
        (Some(fields), Some(text)) => drop(fields.insert("description".into(), json!(text))),
        (_, _) => {}
    }
    property
}

fn short_text(key: &str) -> Option<&'static str> {
    SHORT_TEXTS.iter().find(|(known, _)| *known == key).map(|(_, text)| *text)
}

/// A tool as a prompt describes it. What is left out is still checked when the tool is called, and an input that does
/// not fit is explained then.
pub(crate) fn spec_for_model(spec: &ToolSpec) -> ToolSpec {
    let description = spec.description.split("\n\n").next().unwrap_or_default();
    let description = description.split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "");
    ToolSpec { description, input_schema: schema(&spec.input_schema), ..spec.clone() }
}

const LEFT_OUT: [&str; 9] = [
    "additionalProperties",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "format",
    "default",
];

fn schema(full: &Value) -> Value {
    match full {
        Value::Object(fields) => {
            let mut short: Map<String, Value> = Map::new();
            for (name, value) in fields {
                match name.as_str() {
                    "properties" => {
                        let properties = value.as_object().into_iter().flatten();
                        let properties = properties.map(|(name, value)| (name.clone(), schema(value)));
                        short.insert(name.clone(), Value::Object(properties.collect()));
                    }
                    "type" => {
                        short.insert(name.clone(), not_null(value));
                    }
                    "description" => {
                        short.insert(name.clone(), json!(value.as_str().unwrap_or_default().replace('`', "")));
                    }
                    // Optional: the one kind that is not null says it all, and the field's own description is enough.
                    "anyOf"
                        if value.as_array().is_some_and(|kinds| kinds.len() == 2 && kinds.contains(&null_type())) =>
                    {
                        let kinds = value.as_array().into_iter().flatten().filter(|kind| **kind != null_type());
                        for (inner, value) in kinds.filter_map(Value::as_object).flatten() {
                            if inner != "description" {
                                short.insert(inner.clone(), schema(&json!({ inner: value }))[inner].clone());
                            }
                        }
                    }
                    name if LEFT_OUT.contains(&name) => {}
                    _ => {
                        short.insert(name.clone(), schema(value));
                    }
                }
            }
            Value::Object(short)
        }
        Value::Array(items) => items.iter().map(schema).collect(),
        plain => plain.clone(),
    }
}

fn null_type() -> Value {
    json!({"type": "null"})
}

/// "string or null" is "string" to a model: a field that may be null may be left out.
fn not_null(kind: &Value) -> Value {
    match kind.as_array().map(|kinds| kinds.iter().filter(|kind| *kind != "null").collect::<Vec<_>>()) {
        Some(kinds) if kinds.len() == 1 => kinds[0].clone(),
        _ => kind.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_for_a_model_says_what_a_field_is_and_not_how_long() {
        let full = json!({"type": "object", "additionalProperties": false, "required": ["title"], "properties": {
            "title": {"type": "string", "minLength": 1, "maxLength": 200, "description": "The `title`."},
            "format": {"type": ["string", "null"], "default": null}}});
        let short = json!({"type": "object", "required": ["title"], "properties": {
            "title": {"type": "string", "description": "The title."}, "format": {"type": "string"}}});
        assert_eq!(schema(&full), short, "a property may have the name of a keyword");
    }

    #[test]
    fn a_field_of_our_own_tools_is_described_only_where_its_name_does_not_say_enough() {
        let range = json!({"description": "Beats per minute.", "type": "object",
            "properties": {"max": {"type": "number"}, "min": {"type": "number"}}});
        let full = json!({"type": "object", "required": ["query"], "properties": {
            "query": {"type": "string", "description": "What the music should be like."}, "tempo": range,
            "tracks": {"type": "array", "items": {"type": "object", "properties": {
                "isrc": {"type": "string", "description": "Its code."},
                "playlist": {"type": "string", "description": "Title or id."}}}}}});
        let short = json!({"type": "object", "required": ["query"], "properties": {
            "query": {"type": "string"},
            "tracks": {"type": "array", "items": {"type": "object", "properties": {
                "isrc": {"type": "string"}, "playlist": {"type": "string", "description": "Title or id."}}}}}});
        assert_eq!(terse("tool", full.clone()), short);
        let of_search = terse("semanticSearch", full);
        assert!(of_search["properties"]["query"]["description"].to_string().contains("bpm"), "{of_search}");
    }
}
