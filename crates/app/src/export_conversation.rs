//! Exports one conversation: JSON with every branch, or Markdown of the branch that is shown. It is written in pieces,
//! because it may be long.

use std::collections::HashSet;

use async_stream::try_stream;
use engine::{Block, ConversationId, Role, UserId};
use futures::Stream;
use serde::Serialize;
use serde_json::Value;
use store::{Conversation, Store, StoredMessage};

use crate::Error;

/// Messages in memory. The results of tools make some of them long.
const PAGE: u32 = 20;

/// A conversation with all branches. `branch`: the messages of the branch that is shown, oldest first; `messages`: all of them in
/// the order they were written, and `parentId` is the id of the parent message.
pub(crate) fn json_pieces(
    store: Store,
    owner: UserId,
    conversation: Conversation,
) -> impl Stream<Item = Result<String, Error>> + Send + 'static {
    try_stream! {
        let id = ConversationId(conversation.id);
        let branch = store.branch_ids(&owner, id).await?;
        let head = json(&conversation);
        yield format!("{},\"branch\":{},\"messages\":[", head.strip_suffix('}').unwrap_or(&head), json(&branch));
        let (mut after, mut separator) = (None, "");
        loop {
            let page = store.all_messages(&owner, id, after, PAGE).await?;
            for message in &page {
                yield format!("{separator}{}", json(message));
                separator = ",";
            }
            match page.last() {
                Some(last) if page.len() == PAGE as usize => after = Some(last.id),
                Some(_) | None => break,
            }
        }
        yield "]}".to_owned();
    }
}

pub(crate) fn markdown_pieces(
    store: Store,
    owner: UserId,
    conversation: Conversation,
) -> impl Stream<Item = Result<String, Error>> + Send + 'static {
    try_stream! {
        let id = ConversationId(conversation.id);
        let shown: HashSet<_> = store.branch_ids(&owner, id).await?.into_iter().collect();
        yield format!("# {}\n", escaped(&conversation.title));
        let mut after = None;
        loop {
            let page = store.all_messages(&owner, id, after, PAGE).await?;
            for message in page.iter().filter(|message| shown.contains(&message.id)) {
                yield format!("\n{}", markdown(message));
            }
            match page.last() {
                Some(last) if page.len() == PAGE as usize => after = Some(last.id),
                Some(_) | None => break,
            }
        }
    }
}

fn markdown(message: &StoredMessage) -> String {
    let who = if message.role == Role::User { "You" } else { "Segue" };
    let mut text = format!("## {who}, {} UTC\n", message.created_at.format("%Y-%m-%d %H:%M"));
    let parts = message.content.iter().filter_map(|block| match block {
        Block::Text { text } => Some(text.trim().to_owned()),
        Block::Reasoning { .. } | Block::ToolUse { .. } => None,
        Block::ToolResult { content, is_error: true, .. } => {
            Some(format!("*{}*", escaped(content["error"].as_str().unwrap_or("Failed"))))
        }
        Block::ToolResult { content, .. } => Some(found(content)),
    });
    for part in parts.filter(|part| !part.is_empty()) {
        text.push_str(&format!("\n{part}\n"));
    }
    text
}

/// The result of a call: its summary, and the tracks as a list.
fn found(output: &Value) -> String {
    let mut text = output["summary"].as_str().map(|summary| format!("*{}*", escaped(summary))).unwrap_or_default();
    let tracks = output["tracks"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (n, track) in tracks.iter().enumerate() {
        let field = |name: &str| escaped(track[name].as_str().unwrap_or_default());
        let album = track["album"].as_str().map(|album| format!(" ({})", escaped(album))).unwrap_or_default();
        let gap = if n == 0 { "\n\n" } else { "\n" };
        text.push_str(&format!("{gap}{}. **{}** — {}{album}", n + 1, field("title"), field("artist")));
    }
    text
}

/// Names come from files and catalogues, so Markdown marks in them are escaped.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' | '*' | '_' | '[' | ']' | '<' | '`' => safe.extend(['\\', letter]),
            '\n' | '\r' => safe.push(' '),
            _ => safe.push(letter),
        }
    }
    safe
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("what is stored is plain data")
}
