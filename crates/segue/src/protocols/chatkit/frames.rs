//! Encodes the events of a turn as ChatKit frames.

use app::services::turns::StartedTurn;
use engine::{Event, Kind, StopReason};
use serde_json::{Value, json};

use super::{
    consents,
    items::{
        answer_text, done_task, failed, failed_task, reasoning, reasoning_id, running_task, stopped, text_id,
        text_part, thought, workflow,
    },
    widgets,
};

/// The stream of one turn, from its first event. An event of reasoning is only a piece of a line or more; the pieces of
/// one block become one item, which is complete when anything else follows.
pub(super) struct Encoder {
    turn: StartedTurn,
    reasoned: Option<String>,
    n_reasoned: u32,
}

impl Encoder {
    pub(super) fn new(turn: StartedTurn) -> Self {
        Self { turn, reasoned: None, n_reasoned: 0 }
    }

    pub(super) fn encode(&mut self, event: &Event) -> Vec<Value> {
        let mut frames = match &event.kind {
            Kind::Reasoned { text } => return self.reason(text),
            // The pieces of two replies without anything between them are one block of the message.
            Kind::TextStarted { .. } | Kind::ToolStarted { .. } | Kind::Failed { .. } | Kind::Ended { .. } => {
                self.close_reasoning()
            }
            _ => Vec::new(),
        };
        frames.extend(encode(&self.turn, event));
        frames
    }

    fn reason(&mut self, piece: &str) -> Vec<Value> {
        if let Some(so_far) = &mut self.reasoned {
            so_far.push_str(piece);
            return Vec::new();
        }
        self.reasoned = Some(piece.to_owned());
        let item = reasoning(self.turn.conversation, self.turn.message, self.n_reasoned, None);
        vec![
            json!({"type": "progress_update", "text": "Thinking", "icon": "sparkle"}),
            json!({"type": "thread.item.added", "item": item}),
        ]
    }

    fn close_reasoning(&mut self) -> Vec<Value> {
        let Some(text) = self.reasoned.take() else { return Vec::new() };
        let (thread, message, n) = (self.turn.conversation, self.turn.message, self.n_reasoned);
        self.n_reasoned += 1;
        let added = json!({"type": "workflow.task.added", "task_index": 0, "task": thought(&text)});
        vec![
            update(&reasoning_id(message, n), added),
            json!({"type": "thread.item.done", "item": reasoning(thread, message, n, Some(&text))}),
        ]
    }
}

/// The frames of one event that is no reasoning. `turn` identifies the items.
fn encode(turn: &StartedTurn, event: &Event) -> Vec<Value> {
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
        | Kind::Reasoned { .. }
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
