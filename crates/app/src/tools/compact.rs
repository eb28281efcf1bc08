//! What a model reads of the results of tools. Programs (HTTP, MCP, the page) get everything.
//!
//! A small local model has a context of 4,096 tokens, and a UUID alone takes twenty.

use serde_json::{Map, Value, json};

/// Tracks after this number have no description: a model mentions the first ones.
const MOST_DESCRIBED: usize = 8;
const MOST_DESCRIPTION_CHARS: usize = 120;
/// About a page of lyrics.
const MOST_LYRICS_CHARS: usize = 600;
const MOST_INTERPRETATION_CHARS: usize = 400;
/// How many tracks of a result have lyrics; the others have only their names.
const MOST_DETAILED: usize = 10;

/// The short id of a task: the last five digits of its id, which are random. An id that a model invents does not match.
pub(crate) fn handle(id: &str) -> String {
    short_id('t', id)
}

/// The same for other kinds of items.
pub(super) fn short_id(kind: char, id: &str) -> String {
    let digits: Vec<char> = id.chars().filter(|letter| *letter != '-').collect();
    let last: String = digits[digits.len().saturating_sub(5)..].iter().collect();
    format!("{kind}{last}")
}

/// A task for a model: without times, with a short id, and only with the fields that are set.
pub(super) fn task(task: &Value) -> Value {
    let mut short = Map::new();
    short.insert("id".into(), json!(handle(task["id"].as_str().unwrap_or_default())));
    short.insert("title".into(), task["title"].clone());
    if task["description"].as_str().is_some_and(|text| !text.is_empty()) {
        short.insert("description".into(), task["description"].clone());
    }
    if task["completed"] == true {
        short.insert("completed".into(), json!(true));
    }
    Value::Object(short)
}

/// The task of a result, with the change.
pub(super) fn changed_task(output: &Value) -> Value {
    let mut short = task(output);
    if let Value::Object(fields) = &mut short {
        fields.insert("summary".into(), output["summary"].clone());
    }
    short
}

pub(super) fn tasks(output: &Value) -> Value {
    let tasks = output["tasks"].as_array().map_or_else(Vec::new, |tasks| tasks.iter().map(task).collect());
    match output.get("hasMore") {
        Some(_) => json!({"tasks": tasks, "summary": output["summary"]}),
        None => json!({ "tasks": tasks }),
    }
}

/// Search results: `fields` of each track, without times and empty fields. Only the first ones have a description.
pub(super) fn tracks(output: &Value, fields: &[&str]) -> Value {
    let mut short = without_report(output);
    short.remove("query");
    if let Some(Value::Array(tracks)) = short.get_mut("tracks") {
        for (at, track) in tracks.iter_mut().enumerate() {
            *track = brief(track, fields, at < MOST_DESCRIBED);
        }
    }
    Value::Object(short)
}

fn brief(track: &Value, fields: &[&str], is_described: bool) -> Value {
    let mut short = Map::new();
    for field in fields {
        let Some(value) = track.get(*field) else { continue };
        let value = match (*field, value) {
            ("shortDescription", _) if !is_described => continue,
            ("shortDescription", Value::String(text)) => json!(text::shortened(text, MOST_DESCRIPTION_CHARS)),
            ("score", Value::Number(score)) => json!((score.as_f64().unwrap_or_default() * 100.0).round() / 100.0),
            // One id is enough; the code is shorter.
            ("trackId", _) if track["isrc"].as_str().is_some_and(|isrc| !isrc.is_empty()) => continue,
            (_, Value::Bool(false) | Value::Null) => continue,
            (_, Value::String(text)) if text.is_empty() => continue,
            (_, value) => value.clone(),
        };
        short.insert((*field).to_owned(), value);
    }
    Value::Object(short)
}

/// The details of a few tracks, short enough for a small context.
pub(super) fn details(output: &Value, fields: &[&str]) -> Value {
    let mut short = without_report(output);
    short.remove("found");
    short.retain(|_, value| value.as_array().is_none_or(|list| !list.is_empty()));
    if let Some(Value::Array(tracks)) = short.get_mut("tracks") {
        for (at, track) in tracks.iter_mut().enumerate() {
            let fields = if at < MOST_DETAILED { fields } else { &["isrc", "title", "artist"] };
            *track = brief(track, fields, true);
            for (field, most) in [("lyrics", MOST_LYRICS_CHARS), ("interpretation", MOST_INTERPRETATION_CHARS)] {
                if let Some(Value::String(text)) = track.get_mut(field) {
                    *text = text::shortened(text, most);
                }
            }
        }
    }
    Value::Object(short)
}

fn without_report(output: &Value) -> Map<String, Value> {
    let mut short = output.as_object().cloned().unwrap_or_default();
    short.remove("durationMs");
    short.remove("summary");
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_reads_no_times_and_no_empty_fields() {
        let full = json!({"id": "01890000-0000-7000-8000-0000000abcde", "title": "buy milk", "description": "",
            "completed": false, "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z"});
        assert_eq!(task(&full), json!({"id": "tabcde", "title": "buy milk"}));
        let listed = tasks(&json!({"tasks": [full], "summary": "1 task", "durationMs": 3}));
        assert_eq!(listed, json!({"tasks": [{"id": "tabcde", "title": "buy milk"}]}));
    }

    #[test]
    fn only_the_first_tracks_are_described_and_lyrics_are_cut() {
        let track = json!({"isrc": "X", "title": "T", "shortDescription": "calm", "score": 0.123_456, "inLibrary": false,
            "lyrics": "la ".repeat(1000)});
        let found = tracks(
            &json!({"tracks": vec![track.clone(); 12], "totalFound": 12, "query": "q", "durationMs": 1}),
            &["isrc", "title", "shortDescription", "score", "inLibrary"],
        );
        assert_eq!(found["tracks"][7], json!({"isrc": "X", "title": "T", "shortDescription": "calm", "score": 0.12}));
        assert_eq!(found["tracks"][8], json!({"isrc": "X", "title": "T", "score": 0.12}));
        let known =
            details(&json!({"tracks": [track], "found": ["X"], "notFound": [], "invalid": []}), &["title", "lyrics"]);
        assert_eq!(known["tracks"][0]["lyrics"].as_str().map(|text| text.chars().count() <= 600), Some(true));
        assert!(known.get("notFound").is_none());
    }
}
