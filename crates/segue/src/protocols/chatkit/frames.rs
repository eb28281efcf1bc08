//! Encodes one event as ChatKit frames.

use app::services::turns::StartedTurn;
use engine::{Event, Kind, StopReason};
use serde_json::{Value, json};

use super::{
    consents,
    items::{answer_text, done_task, failed, failed_task, running_task, stopped, text_id, text_part, workflow},
    widgets,
};

/// The frames of one event. `turn` identifies the items; it is the same for all events of a stream.
pub(super) fn encode(turn: &StartedTurn, event: &Event) -> Vec<Value> {
    let (thread, message) = (turn.conversation, turn.message);
    match &event.kind {
        Kind::TextStarted { block } => vec![
            json!({"type": "thread.item.added", "item": answer_text(thread, message, *block, None)}),
            update(
                &text_id(message, *block),
                json!({"type": "assistant_message.content_part.added", "content_index": 0, "content": text_part("")}),
            ),
        ],
        Kind::TextDelta { block, text } => vec![update(
            &text_id(message, *block),
            json!({"type": "assistant_message.content_part.text_delta", "content_index": 0, "delta": text}),
        )],
        Kind::TextDone { block, text } => vec![
            update(
                &text_id(message, *block),
                json!({"type": "assistant_message.content_part.done", "content_index": 0, "content": text_part(text)}),
            ),
            json!({"type": "thread.item.done", "item": answer_text(thread, message, *block, Some(text))}),
        ],
        // Not an item: an item would need its end, and an event of reasoning is only a piece.
        Kind::Reasoned { .. } => vec![json!({"type": "progress_update", "text": "Thinking", "icon": "sparkle"})],
        Kind::Reading { n_read, n_total } => {
            let percent = u64::from(*n_read) * 100 / u64::from(*n_total).max(1);
            vec![json!({"type": "progress_update", "text": format!("Reading, {percent} %"), "icon": "sparkle"})]
        }
        Kind::ToolStarted { call, title, .. } => vec![
            json!({"type": "progress_update", "text": title, "icon": "bolt"}),
            json!({
                "type": "thread.item.added",
                "item": workflow(thread, message, &call.to_string(), running_task(title)),
            }),
        ],
        Kind::ToolDone { call, done, .. } => {
            let mut frames = task_ended(turn, *call, done_task(&done.summary));
            frames.extend(widgets::of_result(thread, message, *call, &done.output).into_iter().flat_map(whole));
            frames
        }
        Kind::ToolFailed { call, name, failure } => {
            let mut frames = task_ended(turn, *call, failed_task(name, &failure.error));
            let question = |id| consents::card((thread, message), *call, id, &failure.error, None);
            frames.extend(failure.consent_id.map(question).into_iter().flat_map(whole));
            frames
        }
        Kind::Failed { message: why, retryable, .. } => {
            let mut frames = whole(failed(thread, message, why));
            frames.push(error(why, *retryable));
            frames
        }
        Kind::Ended { stop: StopReason::Stopped, .. } => whole(stopped(thread, message)),
        // The handler has already sent the question; steps and the end of a turn have no frame in this protocol.
        Kind::Started { .. }
        | Kind::StepStarted { .. }
        | Kind::Replied { .. }
        | Kind::TakenOver { .. }
        | Kind::StepDone { .. }
        | Kind::Ended { .. } => Vec::new(),
    }
}

/// An item that is complete at once.
fn whole(item: Value) -> Vec<Value> {
    vec![json!({"type": "thread.item.added", "item": item}), json!({"type": "thread.item.done", "item": item})]
}

/// Closing the connection does not stop a turn, so the client must not show a stop button that does only that.
pub(super) fn stream_options() -> Value {
    json!({"type": "stream_options", "stream_options": {"allow_cancel": false}})
}

pub(super) fn error(message: &str, allow_retry: bool) -> Value {
    json!({"type": "error", "code": "custom", "message": message, "allow_retry": allow_retry})
}

fn task_ended(turn: &StartedTurn, call: engine::CallId, task: Value) -> Vec<Value> {
    vec![
        update(&call.to_string(), json!({"type": "workflow.task.updated", "task_index": 0, "task": task})),
        json!({
            "type": "thread.item.done",
            "item": workflow(turn.conversation, turn.message, &call.to_string(), task),
        }),
    ]
}

fn update(item: &str, update: Value) -> Value {
    json!({"type": "thread.item.updated", "item_id": item, "update": update})
}
