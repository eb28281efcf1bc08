//! Threads and items: conversations and messages in the format of ChatKit.
//!
//! An item has the same id, time and content when it is streamed and when it is read from the store.

use app::services::conversations::{Conversation, MessageStatus, StoredMessage};
use chrono::{DateTime, SecondsFormat, Utc};
use engine::{Block, CallId, ConversationId, MessageId, Role};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    consents::{Consents, card},
    widgets,
};

/// A thread with a page of its items. In a list of threads the page is empty.
pub(super) fn thread(conversation: &Conversation, items: Value) -> Value {
    json!({
        "id": conversation.id,
        "created_at": timestamp(conversation.created_at),
        "title": conversation.title,
        "status": {"type": "active"},
        "metadata": {},
        "items": items,
    })
}

pub(super) fn no_items() -> Value {
    json!({"data": [], "has_more": false})
}

/// The items of one message, oldest first. A running answer has no items yet.
pub(super) fn of_message(thread: ConversationId, message: &StoredMessage, consents: &Consents) -> Vec<Value> {
    if message.status == MessageStatus::Running {
        return Vec::new();
    }
    match message.role {
        Role::User => {
            let text = engine::Message { role: Role::User, content: message.content.clone() }.text();
            vec![user_message(thread, message.id, &text)]
        }
        Role::Assistant => of_answer(thread, message, consents),
    }
}

fn of_answer(thread: ConversationId, message: &StoredMessage, consents: &Consents) -> Vec<Value> {
    let (mut n_texts, mut n_reasoned) = (0, 0);
    let mut items = Vec::new();
    for block in &message.content {
        match block {
            Block::Text { text } => {
                n_texts += 1;
                items.push(answer_text(thread, message.id, n_texts - 1, Some(text)));
            }
            Block::Reasoning { text } => {
                n_reasoned += 1;
                items.push(reasoning(thread, message.id, n_reasoned - 1, Some(text)));
            }
            Block::ToolUse { .. } => {}
            Block::ToolResult { tool_use_id, content, is_error } => {
                let name = name_of(&message.content, *tool_use_id);
                let error = content["error"].as_str().unwrap_or("failed");
                let task = match is_error {
                    false => done_task(content["summary"].as_str().unwrap_or(name)),
                    true => failed_task(name, error),
                };
                items.push(workflow(thread, message.id, &tool_use_id.to_string(), task));
                items.extend(widgets::of_result(thread, message.id, *tool_use_id, content).filter(|_| !is_error));
                if let Some(id) = content["consentId"].as_str().and_then(|id| id.parse().ok()).filter(|_| *is_error) {
                    items.push(card((thread, message.id), *tool_use_id, id, error, consents.get(&id)));
                }
            }
        }
    }
    match (message.status, &message.error) {
        (MessageStatus::Stopped, _) => items.push(stopped(thread, message.id)),
        (_, Some(error)) => items.push(failed(thread, message.id, &error.message)),
        _ => {}
    }
    items
}

/// The item that shows that an answer was stopped. It is also shown when the thread is opened again.
pub(super) fn stopped(thread: ConversationId, message: MessageId) -> Value {
    let task = json!({"type": "custom", "status_indicator": "complete", "title": "Stopped", "icon": "info"});
    workflow(thread, message, &end_id(message), task)
}

pub(super) fn failed(thread: ConversationId, message: MessageId, why: &str) -> Value {
    let task = json!({
        "type": "custom", "status_indicator": "complete", "title": "The answer failed", "icon": "bug", "content": why,
    });
    workflow(thread, message, &end_id(message), task)
}

fn end_id(message: MessageId) -> String {
    format!("{message}.end")
}

fn name_of(content: &[Block], call: CallId) -> &str {
    let mut uses = content.iter().filter_map(|block| match block {
        Block::ToolUse { id, name, .. } if *id == call => Some(name.as_str()),
        Block::ToolUse { .. } | Block::Text { .. } | Block::Reasoning { .. } | Block::ToolResult { .. } => None,
    });
    uses.next().unwrap_or("tool")
}

pub(super) fn user_message(thread: ConversationId, id: MessageId, text: &str) -> Value {
    json!({
        "id": id, "thread_id": thread, "created_at": made_at(id), "type": "user_message",
        "content": [{"type": "input_text", "text": text}],
        "attachments": [],
        "inference_options": {},
    })
}

/// One text block of an answer; without its text, the block has only begun.
pub(super) fn answer_text(thread: ConversationId, message: MessageId, block: u32, text: Option<&str>) -> Value {
    let content: Vec<Value> = text.into_iter().map(text_part).collect();
    json!({
        "id": text_id(message, block), "thread_id": thread, "created_at": made_at(message),
        "type": "assistant_message", "content": content,
    })
}

pub(super) fn text_part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": []})
}

pub(super) fn text_id(message: MessageId, block: u32) -> String {
    format!("{message}.{block}")
}

/// One tool call. Each call is a separate workflow, so that concurrent calls can begin and end independently.
pub(super) fn workflow(thread: ConversationId, message: MessageId, id: &str, task: Value) -> Value {
    let mut workflow = json!({"type": "custom", "tasks": [task], "expanded": false});
    if workflow["tasks"][0]["status_indicator"] == "complete" {
        workflow["summary"] = json!({"title": workflow["tasks"][0]["title"], "icon": workflow["tasks"][0]["icon"]});
    }
    json!({
        "id": id, "thread_id": thread, "created_at": made_at(message), "type": "workflow", "workflow": workflow,
    })
}

/// One block of reasoning, which clients show folded; without its text, the block has only begun.
pub(super) fn reasoning(thread: ConversationId, message: MessageId, block: u32, text: Option<&str>) -> Value {
    let tasks: Vec<Value> = text.into_iter().map(thought).collect();
    let mut workflow = json!({"type": "reasoning", "tasks": tasks, "expanded": false});
    if text.is_some() {
        workflow["summary"] = json!({"title": "Reasoning"});
    }
    json!({
        "id": reasoning_id(message, block), "thread_id": thread, "created_at": made_at(message),
        "type": "workflow", "workflow": workflow,
    })
}

pub(super) fn thought(text: &str) -> Value {
    json!({"type": "thought", "status_indicator": "complete", "content": text})
}

pub(super) fn reasoning_id(message: MessageId, block: u32) -> String {
    format!("{message}.reasoning-{block}")
}

pub(super) fn running_task(title: &str) -> Value {
    json!({"type": "custom", "status_indicator": "loading", "title": title, "icon": "bolt"})
}

pub(super) fn done_task(summary: &str) -> Value {
    json!({"type": "custom", "status_indicator": "complete", "title": summary, "icon": "check"})
}

/// ChatKit has no status for a failed task, so the title, the icon and the text show the failure.
pub(super) fn failed_task(name: &str, error: &str) -> Value {
    json!({
        "type": "custom", "status_indicator": "complete", "title": format!("{name} failed"), "icon": "bug",
        "content": error,
    })
}

/// Message ids contain the time at which the message was begun, so the time of a streamed item needs no query.
pub(super) fn made_at(message: MessageId) -> String {
    timestamp(time_of(message.0).unwrap_or_default())
}

fn time_of(id: Uuid) -> Option<DateTime<Utc>> {
    let (seconds, nanoseconds) = id.get_timestamp()?.to_unix();
    DateTime::from_timestamp(i64::try_from(seconds).ok()?, nanoseconds)
}

fn timestamp(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}
