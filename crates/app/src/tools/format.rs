//! Shortens and counts the outputs of tools.

use serde_json::{Map, Value};

/// An output with only `fields` of each item of `list`: what a model needs to choose.
pub(super) fn only(output: &Value, list: &str, fields: &[&str]) -> Value {
    let mut compact = output.clone();
    let Some(Value::Array(items)) = compact.get_mut(list) else { return compact };
    for item in items {
        if let Value::Object(full) = item {
            // A code is shorter than an id and identifies the same track.
            let has_code = full.get("isrc").and_then(Value::as_str).is_some_and(|isrc| !isrc.is_empty());
            let is_needed = |field: &str| match field {
                "trackId" => !has_code,
                "isrc" => has_code || !full.contains_key("trackId"),
                _ => true,
            };
            let fields = fields.iter().filter(|field| is_needed(field));
            let kept = fields.filter_map(|field| Some(((*field).to_owned(), full.get(*field)?.clone())));
            *item = Value::Object(kept.collect::<Map<_, _>>());
        }
    }
    compact
}

/// "1 track", "8 tracks".
pub(super) fn counted(n: usize, thing: &str) -> String {
    if n == 1 { format!("1 {thing}") } else { format!("{n} {thing}s") }
}
