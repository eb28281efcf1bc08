//! How tools shorten and count what they answer.

use serde_json::{Map, Value};

/// An output with only `fields` of each of its `list`: what a model needs to choose, and no more.
pub(super) fn only(output: &Value, list: &str, fields: &[&str]) -> Value {
    let mut compact = output.clone();
    let Some(Value::Array(items)) = compact.get_mut(list) else { return compact };
    for item in items {
        if let Value::Object(full) = item {
            let kept = fields.iter().filter_map(|field| Some(((*field).to_owned(), full.get(*field)?.clone())));
            *item = Value::Object(kept.collect::<Map<_, _>>());
        }
    }
    compact
}

/// "1 track", "8 tracks".
pub(super) fn counted(n: usize, thing: &str) -> String {
    if n == 1 { format!("1 {thing}") } else { format!("{n} {thing}s") }
}
