//! Streams as comparable text: ids become `#1`, `#2` in order of appearance, times become `0`.

use std::collections::HashMap;

use serde_json::Value;

/// The data of every frame, one per line.
pub(crate) fn frames(body: &str) -> Vec<&str> {
    assert!(body.is_empty() || body.ends_with("\n\n"), "a stream ends with a complete frame: {body:?}");
    let frames = body.split_terminator("\n\n");
    frames.map(|frame| frame.strip_prefix("data: ").unwrap_or_else(|| panic!("only data: {frame:?}"))).collect()
}

pub(crate) fn redacted<'a>(lines: impl IntoIterator<Item = &'a str>) -> String {
    let mut ids = HashMap::new();
    let mut text = String::new();
    for line in lines {
        match serde_json::from_str::<Value>(line) {
            Ok(mut value) => {
                redact(&mut value, &mut ids);
                text.push_str(&value.to_string());
            }
            Err(_) => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

fn redact(value: &mut Value, ids: &mut HashMap<String, usize>) {
    match value {
        // Some protocols send JSON inside a text.
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(mut inner @ Value::Object(_)) => {
                redact(&mut inner, ids);
                *text = inner.to_string();
            }
            _ => *text = without_ids(text, ids),
        },
        Value::Array(items) => items.iter_mut().for_each(|item| redact(item, ids)),
        Value::Object(fields) => {
            for (name, field) in fields {
                match name.as_str() {
                    "durationMs" | "createdAt" | "updatedAt" | "created_at" => *field = Value::from(0),
                    _ => redact(field, ids),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn without_ids(text: &str, ids: &mut HashMap<String, usize>) -> String {
    let mut rest = text;
    let mut out = String::new();
    while let Some(at) = (0..rest.len().saturating_sub(35)).find(|at| {
        rest.get(*at..at + 36)
            .is_some_and(|part| part.len() == 36 && part.contains('-') && part.parse::<uuid::Uuid>().is_ok())
    }) {
        let next = ids.len() + 1;
        let n = *ids.entry(rest[at..at + 36].to_owned()).or_insert(next);
        out.push_str(&rest[..at]);
        out.push_str(&format!("#{n}"));
        rest = &rest[at + 36..];
    }
    out.push_str(rest);
    out
}
