//! The result of a tool as a list of tracks, albums or tasks, in ChatKit's own widgets.

use engine::{CallId, ConversationId, MessageId};
use serde_json::{Value, json};

use super::items::made_at;

/// Longer lists are cut; the summary of the call has the total.
const MOST_ROWS: usize = 20;

/// The item for a result, if the result contains a list.
pub(super) fn of_result(thread: ConversationId, message: MessageId, call: CallId, output: &Value) -> Option<Value> {
    let rows: Vec<Value> = rows(output).into_iter().take(MOST_ROWS).collect();
    if rows.is_empty() {
        return None;
    }
    let copied: Vec<_> = rows.iter().filter_map(|row| row["children"][0]["children"][0]["value"].as_str()).collect();
    Some(json!({
        "id": format!("{message}.{call}"), "thread_id": thread, "created_at": made_at(message), "type": "widget",
        "widget": {"type": "ListView", "children": rows},
        "copy_text": copied.join("\n"),
    }))
}

fn rows(output: &Value) -> Vec<Value> {
    let list = |name: &str| output.get(name).and_then(Value::as_array).into_iter().flatten();
    let albums = list("albums").map(|album| {
        let n_tracks = album["trackCount"].as_u64().map(|n| format!("{n} tracks"));
        row(text(album, "title"), &[text(album, "artist"), n_tracks.unwrap_or_default()], badge(album))
    });
    let tracks = list("tracks").map(|track| {
        let about = [text(track, "artist"), text(track, "album"), text(track, "reasoning")];
        row(text(track, "title"), &about, badge(track))
    });
    let tasks = list("tasks").map(|task| {
        let is_done = task["completed"] == true;
        row(text(task, "title"), &[text(task, "description")], Some(if is_done { "Done" } else { "Open" }))
    });
    albums.chain(tracks).chain(tasks).collect()
}

fn text(value: &Value, field: &str) -> String {
    value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn badge(found: &Value) -> Option<&'static str> {
    (found["inLibrary"] == true).then_some("In your library")
}

fn row(title: String, about: &[String], badge: Option<&str>) -> Value {
    let about: Vec<_> = about.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    let mut lines = vec![json!({"type": "Text", "value": title, "weight": "semibold"})];
    if !about.is_empty() {
        lines.push(json!({"type": "Caption", "value": about.join(" · ")}));
    }
    let mut children = vec![json!({"type": "Col", "children": lines})];
    children.extend(badge.map(|label| json!({"type": "Badge", "label": label})));
    json!({"type": "ListViewItem", "children": children})
}
