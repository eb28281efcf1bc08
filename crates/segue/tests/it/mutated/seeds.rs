//! Valid requests, for mutations: one for every route, with things that exist, and further ones with every field of a body.

use std::path::Path;

use app::services::accounts::{AccountName, CheckedName, KeyKind, NewKey};
use chrono::TimeDelta;
use segue::auth::{keys::RandomKey, passwords};
use serde_json::{Value, json};

use crate::{
    ownership::{self, things::Things},
    support::TestApp,
};

#[derive(Clone)]
pub(super) struct Seed {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) body: Option<Value>,
}

impl Seed {
    fn new(method: &str, path: &str, body: Value) -> Self {
        Self { method: method.to_owned(), path: path.to_owned(), body: Some(body) }
    }

    /// Only operators may send it.
    pub(super) fn is_of_operator(&self) -> bool {
        let paths = ["/api/settings/", "/api/models/select", "/api/library/sources", "/api/library/sample"];
        paths.iter().any(|path| self.path.starts_with(path))
    }

    /// Its valid form is refused too: nothing was merged, a track has no file, a folder and a connection are not there yet, and a
    /// picture needs a URL.
    pub(super) fn is_refused_by_design(&self) -> bool {
        let parts = ["/api/artwork", "/artwork", "/merge", "/split", "/sources/"];
        let is_connection = self.method == "DELETE" && self.path.starts_with("/api/settings/");
        is_connection || parts.iter().any(|part| self.path.contains(part))
    }
}

/// `folder`: an empty folder of this machine.
pub(super) fn seeds(things: &Things, folder: &Path) -> Vec<Seed> {
    let routes = ownership::requests(things).into_iter();
    let routes = routes.filter(|(_, path, _)| !path.starts_with("/api/auth/") && !is_written_out(path));
    let routes = routes.map(|(method, path, body)| Seed { body: body.or(Some(json!({}))), method, path });
    let tools =
        tool_inputs(things).into_iter().map(|(name, input)| Seed::new("POST", &format!("/api/tools/{name}"), input));
    let rpc = mcp_messages().into_iter().map(|body| Seed::new("POST", "/mcp", body));
    routes.chain(tools).chain(rpc).chain(whole_bodies(things, folder)).collect()
}

/// Routes whose row in the matrix shows what a user who is no operator gets.
fn is_written_out(path: &str) -> bool {
    path.starts_with("/api/settings/connections/") || path == "/api/library/sources" || path == "/api/search"
}

const PASSWORD: &str = "correct horse battery";

/// The account that sends requests about accounts.
pub(super) async fn add_account(app: &TestApp) {
    let name = CheckedName::of(AccountName::new("Ann")).unwrap();
    app.app.accounts().add(&name, &passwords::hash(PASSWORD).unwrap()).await.unwrap();
}

/// Requests about accounts, with a fresh invitation, and a fresh token of the account: earlier ones may be used up and revoked.
pub(super) async fn auth_seeds(app: &TestApp) -> (Vec<Seed>, String) {
    let (accounts, invitation, token) =
        (app.app.accounts(), RandomKey::new("invite_").unwrap(), RandomKey::new("segue_").unwrap());
    accounts.invite(&invitation.hash, TimeDelta::days(1)).await.unwrap();
    let ann = accounts.named("Ann").await.unwrap();
    accounts.add_key(ann.id, &NewKey { hash: token.hash, kind: KeyKind::Token, lasts: None }).await.unwrap();
    let name = format!("bob-{}", uuid::Uuid::new_v4().simple());
    let sign_up = json!({"invitation": invitation.text, "name": name, "password": PASSWORD});
    let seeds = vec![
        Seed::new("POST", "/api/auth/sign-in", json!({"name": "Ann", "password": PASSWORD})),
        Seed::new("POST", "/api/auth/sign-up", sign_up),
        Seed::new("POST", "/api/auth/password", json!({"current": PASSWORD, "next": PASSWORD})),
        Seed::new("POST", "/api/auth/sign-out", json!({})),
        Seed::new("POST", "/api/auth/sign-out-everywhere", json!({})),
    ];
    (seeds, token.text)
}

/// Bodies with every field, where the matrix has few.
fn whole_bodies(things: &Things, folder: &Path) -> Vec<Seed> {
    let Things { conversation_id, task_id, playlist_id, isrc, .. } = things;
    let playlist = format!("/api/playlists/{playlist_id}");
    let content = json!([{"type": "input_text", "text": "hi"}]);
    let input = json!({"content": content, "attachments": [], "inference_options": {}});
    let message = json!({"id": "m1", "role": "user", "content": "hi"});
    let run = json!({"threadId": conversation_id, "runId": "r1", "messages": [message], "tools": [], "context": [],
        "state": {}, "forwardedProps": {}});
    let client_id = uuid::Uuid::now_v7().to_string();
    let chat = json!({"message": "hi", "conversationId": conversation_id, "clientMessageId": client_id});
    vec![
        Seed::new("POST", "/api/chat/stream", chat),
        Seed::new("POST", "/api/chat/stream", json!({"message": "hi", "agent": "tasks"})),
        Seed::new("POST", "/chatkit", json!({"type": "threads.create", "params": {"input": input}, "metadata": {}})),
        Seed::new("POST", "/ag-ui", run),
        Seed::new("POST", "/api/tasks", json!({"title": "t", "description": "d"})),
        Seed::new(
            "PATCH",
            &format!("/api/tasks/{task_id}"),
            json!({"title": "t", "description": "d", "completed": true}),
        ),
        Seed::new("POST", "/api/playlists", json!({"title": "t", "description": "d", "trackIds": [isrc]})),
        Seed::new("PATCH", &playlist, json!({"title": "t", "description": "d"})),
        Seed::new("PUT", &format!("{playlist}/tracks"), json!({"trackIds": [isrc, isrc], "revision": 1})),
        Seed::new("POST", &format!("{playlist}/tracks"), json!({"trackIds": [isrc], "at": 0})),
        Seed::new("GET", &format!("{playlist}?format=xspf"), json!({})),
        Seed::new("GET", "/api/search?q=rain&limit=3", json!({})),
        Seed::new("GET", "/api/library/tracks?q=a&sort=title&limit=2", json!({})),
        Seed::new("POST", "/api/library/sources", json!({"kind": "folder", "path": folder})),
        // It takes effect at the next start, so it does not change the answers to later requests.
        Seed::new(
            "PUT",
            "/api/settings/connections/embedder",
            json!({"url": "http://127.0.0.1:9", "model": "m", "key": "k"}),
        ),
        Seed::new("DELETE", "/api/settings/connections/embedder", json!({})),
    ]
}

/// Requests of MCP clients.
fn mcp_messages() -> Vec<Value> {
    let client =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
    let requests = [
        ("initialize", client),
        ("tools/list", json!({})),
        ("tools/call", json!({"name": "list_tasks", "arguments": {"filter": "all"}})),
        ("tools/call", json!({"name": "add_task", "arguments": {"title": "t"}, "_meta": {"progressToken": 1}})),
        ("ping", json!({})),
    ];
    let all = requests.into_iter().enumerate();
    all.map(|(n, (method, params))| json!({"jsonrpc": "2.0", "id": n, "method": method, "params": params})).collect()
}

/// Valid inputs of the tools.
fn tool_inputs(things: &Things) -> Vec<(&'static str, Value)> {
    let Things { task_id, playlist_id, isrc, album_id, .. } = things;
    vec![
        ("add_task", json!({"title": "t", "description": "d"})),
        ("list_tasks", json!({"filter": "all"})),
        ("complete_task", json!({"task_id": task_id})),
        ("update_task", json!({"task_id": task_id, "title": "t", "description": "d"})),
        ("delete_task", json!({"task_id": task_id})),
        ("semanticSearch", json!({"query": "rain", "limit": 3})),
        ("tidalSearch", json!({"query": "rain", "searchType": "both", "limit": 3})),
        ("albumTracks", json!({"albumId": album_id})),
        ("batchMetadata", json!({"isrcs": [isrc, "GBAYE0601498"]})),
        ("suggestPlaylist", json!({"title": "p", "tracks": [{"isrc": isrc, "reasoning": "r"}]})),
        ("list_playlists", json!({"playlist": playlist_id})),
        ("edit_playlist", json!({"playlist": playlist_id, "action": "move", "tracks": ["1"], "position": 1})),
    ]
}
