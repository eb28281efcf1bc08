//! The groups (OpenAPI tags) of the operations. Every operation is in one group, and every group has a description.

use serde_json::{Value, json};

/// All chat protocols, wherever their paths are.
pub(crate) const CHAT: &str = "chat";
pub(crate) const CONVERSATIONS: &str = "conversations";
/// What operators and their monitoring call.
pub(crate) const OPERATIONS: &str = "operations";
pub(super) const TOOLS: &str = "tools";

const GROUPS: &[(&str, &str)] = &[
    ("about", "The version, model, agents and features of this server; needs no authentication"),
    ("artwork", "Cover images of the catalogue, loaded through this server"),
    ("auth", "Sign-in, sign-up, sessions and passwords"),
    (CHAT, "Chat with an agent, in the protocol of your front end"),
    ("consents", "Your decisions about tool calls that wait for your consent"),
    (CONVERSATIONS, "Conversations, their messages and branches"),
    ("export", "All data of the signed-in user in one document"),
    ("index", "The state of the search index"),
    ("library", "The user's tracks, albums and artists: views, imports and synchronized folders"),
    ("me", "The signed-in user"),
    ("models", "The language models to choose from"),
    (OPERATIONS, "Health, readiness and metrics for operators"),
    ("playlists", "Playlists: create, edit, copy, and save as a file"),
    ("search", "Search for tracks by meaning, words and sound"),
    ("settings", "Connections of this server to a model, a catalogue and an embedder; for operators"),
    ("tasks", "The to-do list, without an agent"),
    (TOOLS, "Direct calls of the agents' tools, over HTTP and MCP"),
    ("tracks", "Single recordings: similar tracks, own artwork, merges and splits"),
    ("trash", "What the user deleted in the last 30 days"),
    ("undo", "Undo a change that a tool or an edit made"),
    ("usage", "Tokens and cost of the user's answers today, and the limit"),
];

/// The group that the routes name. Without one, it is the first part of the path.
pub(super) fn group_of(path: &str, operation: &Value) -> String {
    let first_part = || path.trim_start_matches("/api/").split('/').next().unwrap_or_default();
    operation["tags"][0].as_str().unwrap_or_else(first_part).to_owned()
}

/// A group as the document lists it.
pub(super) fn described(group: &str) -> Value {
    match GROUPS.iter().find(|(name, _)| *name == group) {
        Some((name, description)) => json!({"name": name, "description": description}),
        None => json!({"name": group}),
    }
}
