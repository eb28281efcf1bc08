//! Consent in ChatKit: a card that shows the call of another server's tool, with three buttons. A click sends ChatKit's
//! own `threads.custom_action`.

use std::collections::HashMap;

use app::services::{
    consents::Decision,
    conversations::{ConsentLine, ConsentScope},
};
use engine::{CallId, ConversationId, MessageId};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::items::made_at;

/// The action type of the buttons.
const ACTION: &str = "segue.consent";

/// The consents of a thread, by id.
pub(super) type Consents = HashMap<Uuid, ConsentLine>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Decided {
    pub(super) consent_id: Uuid,
    pub(super) decision: Decision,
}

/// The decision of a click on one of Segue's buttons; `None` for any other action.
pub(super) fn decided(kind: &str, payload: Value) -> Option<Decided> {
    serde_json::from_value(payload).ok().filter(|_| kind == ACTION)
}

/// The card for a call. Without a line, the call waits for a decision.
pub(super) fn card(
    (thread, message): (ConversationId, MessageId),
    call: CallId,
    consent: Uuid,
    question: &str,
    line: Option<&ConsentLine>,
) -> Value {
    let mut children = vec![json!({"type": "Text", "value": question})];
    children.push(match line.filter(|line| line.decided) {
        Some(line) => json!({"type": "Caption", "value": said(line)}),
        None => json!({"type": "Row", "children": buttons(consent)}),
    });
    json!({
        "id": card_id(message, call), "thread_id": thread, "created_at": made_at(message), "type": "widget",
        "widget": {"type": "Card", "children": children},
        "copy_text": question,
    })
}

pub(super) fn card_id(message: MessageId, call: CallId) -> String {
    format!("{message}.{call}")
}

fn buttons(consent: Uuid) -> [Value; 3] {
    let button = |label: &str, decision: &str, style: &str| {
        json!({
            "type": "Button", "label": label, "style": style,
            "onClickAction": {"type": ACTION, "payload": {"consentId": consent, "decision": decision}},
        })
    };
    [
        button("Allow once", "once", "primary"),
        button("Allow in this conversation", "conversation", "secondary"),
        button("Refuse", "refuse", "secondary"),
    ]
}

fn said(line: &ConsentLine) -> &'static str {
    match line.scope {
        Some(ConsentScope::Once) => "Allowed once",
        Some(ConsentScope::Conversation) => "Allowed in this conversation",
        None => "Refused",
    }
}
