//! Every route against every kind of caller. The routes come from the router itself: one without a row fails.

mod people;
pub(crate) mod things;

use std::{collections::BTreeSet, fmt::Write};

use expect_test::expect_file;
use reqwest::{Method, Response};
use serde_json::{Value, json};

use self::things::{Seen, Things, ask_consent, playlist, shared_app, things_of};
use crate::support::{Person, TestApp, signed};

/// Text in everything that Ann stores. No response to Bob may contain it.
const CANARY: &str = "ann-keeps-this-to-herself";
const NOWHERE: &str = "01890000-0000-7000-8000-000000000000";

/// Which callers a route serves.
#[derive(Clone, Copy, PartialEq)]
enum Access {
    /// Every caller, with or without a token.
    Public,
    /// Every user, with the user's own data.
    Own,
    /// The owner of one resource. Other users get 404, as for a resource that does not exist.
    Thing,
    /// The user whom the path names. Other users get 403.
    Person,
}

struct Row {
    call: &'static str,
    access: Access,
    /// The body, with ids of Ann's resources where the route takes them in the body.
    body: fn(&Things) -> Option<Value>,
    /// The status that Ann gets, or that every caller of a public route gets.
    good: u16,
}

fn row(call: &'static str, access: Access, good: u16) -> Row {
    Row { call, access, body: |_| None, good }
}

fn with(mut row: Row, body: fn(&Things) -> Option<Value>) -> Row {
    row.body = body;
    row
}

/// One row for each route: which callers it serves, and which status its owner gets.
#[allow(clippy::too_many_lines, reason = "a table")]
fn rows() -> Vec<Row> {
    use Access::{Own, Person, Public, Thing};
    let sign_in = |_: &Things| Some(json!({"name": "ann", "password": "no such account"}));
    let sign_up = |_: &Things| Some(json!({"invitation": "none", "name": "ann", "password": "long enough"}));
    vec![
        row("GET /healthz", Public, 200),
        row("GET /readyz", Public, 200),
        // The tests send requests from loopback, which may read metrics; `metrics.rs` sends them from other addresses.
        row("GET /metrics", Public, 200),
        row("GET /openapi.json", Public, 200),
        row("GET /docs", Public, 200),
        row("GET /docs/style.css", Public, 200),
        row("GET /.well-known/oauth-protected-resource", Public, 200),
        row("GET /.well-known/oauth-protected-resource/mcp", Public, 200),
        row("GET /api/about", Public, 200),
        // Without built-in accounts these routes answer 404 to every caller.
        with(row("POST /api/auth/sign-in", Public, 404), sign_in),
        with(row("POST /api/auth/sign-up", Public, 404), sign_up),
        row("POST /api/auth/session", Own, 404),
        row("POST /api/auth/sign-out", Own, 404),
        row("POST /api/auth/sign-out-everywhere", Own, 404),
        with(row("POST /api/auth/password", Own, 404), |_| Some(json!({"current": "-", "next": "long enough"}))),
        row("GET /api/me", Own, 200),
        row("GET /api/artwork", Own, 400),
        row("GET /api/conversations", Own, 200),
        row("GET /api/conversations/{conversation_id}", Thing, 200),
        with(row("PATCH /api/conversations/{conversation_id}", Thing, 200), |_| Some(json!({"title": "renamed"}))),
        with(row("PUT /api/conversations/{conversation_id}/branch", Thing, 200), |things| {
            Some(json!({"messageId": things.message_id}))
        }),
        row("GET /api/conversations/{conversation_id}/export", Thing, 200),
        row("DELETE /api/conversations/{conversation_id}", Thing, 204),
        row("POST /api/conversations/{conversation_id}/restore", Thing, 200),
        row("GET /api/conversations/{conversation_id}/stream", Thing, 204),
        row("GET /api/turns/{turn_id}/stream", Thing, 200),
        row("POST /api/turns/{turn_id}/stop", Thing, 202),
        with(row("POST /api/chat/stream", Thing, 200), |things| {
            Some(json!({"message": "hi", "conversationId": things.conversation_id}))
        }),
        with(row("POST /api/{user_id}/chat", Person, 200), |_| Some(json!({"message": "hi"}))),
        // The client chooses the id of a chat, and ids are per user: another user's id starts a new chat.
        with(row("POST /api/ai/chat", Own, 200), |things| {
            let message = json!({"id": "m", "role": "user", "parts": [{"type": "text", "text": "hi"}]});
            Some(json!({"id": things.conversation_id, "agent": "tasks", "messages": [message]}))
        }),
        row("GET /api/ai/chat/{id}/stream", Own, 204),
        with(row("POST /ag-ui", Own, 200), |things| {
            let message = json!({"id": "m", "role": "user", "content": "hi"});
            Some(json!({"threadId": things.conversation_id, "runId": "r", "messages": [message]}))
        }),
        with(row("POST /chatkit", Thing, 200), |things| {
            Some(json!({"type": "threads.get_by_id", "params": {"thread_id": things.conversation_id}}))
        }),
        with(row("POST /mcp", Own, 200), |_| {
            let params = json!({"name": "list_tasks", "arguments": {}});
            Some(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}))
        }),
        row("GET /api/export", Own, 200),
        row("GET /api/tasks", Own, 200),
        with(row("POST /api/tasks", Own, 201), |_| Some(json!({"title": "mine"}))),
        with(row("PATCH /api/tasks/{task_id}", Thing, 200), |_| Some(json!({"completed": true}))),
        row("DELETE /api/tasks/{task_id}", Thing, 204),
        row("POST /api/tasks/{task_id}/restore", Thing, 200),
        row("GET /api/trash", Own, 200),
        row("DELETE /api/trash", Own, 204),
        row("DELETE /api/trash/{trash_id}", Thing, 204),
        row("GET /api/library/tracks", Own, 200),
        with(row("POST /api/library/tracks", Own, 201), |things| Some(json!({"isrc": things.isrc}))),
        // Every user may read the public data of a recording. Only the owner sees that it is in the library.
        row("GET /api/library/tracks/{isrc}", Own, 200),
        row("DELETE /api/library/tracks/{isrc}", Thing, 204),
        row("POST /api/library/tracks/{isrc}/restore", Thing, 200),
        row("GET /api/library/sources", Own, 200),
        // Only operators may name paths of the server.
        with(row("POST /api/library/sources", Own, 403), |_| Some(json!({"kind": "folder", "path": "/"}))),
        with(row("DELETE /api/library/sources/{source_id}", Own, 404), |_| None),
        with(row("POST /api/library/sources/{source_id}/sync", Own, 404), |_| None),
        row("GET /api/library/artists", Own, 200),
        row("GET /api/library/genres", Own, 200),
        // Only operators may load what every user finds.
        row("POST /api/library/sample", Own, 403),
        row("DELETE /api/library/sample", Own, 204),
        row("POST /api/library/sample/restore", Own, 204),
        row("GET /api/tracks/{isrc}/similar", Own, 200),
        // `artwork.rs` and `merges.rs` ask for tracks that have a file; here they have none.
        row("GET /api/tracks/{isrc}/artwork", Own, 404),
        with(row("POST /api/tracks/{isrc}/merge", Thing, 400), |things| Some(json!({"into": things.isrc}))),
        with(row("POST /api/tracks/{isrc}/split", Thing, 400), |_| Some(json!({}))),
        row("GET /api/tracks/merges", Own, 200),
        row("POST /api/tracks/merges/{merge_id}/undo", Own, 404),
        row("GET /api/library/albums", Own, 200),
        with(row("POST /api/library/albums", Own, 201), |things| Some(json!({"albumId": things.album_id}))),
        row("GET /api/library/albums/{album_id}", Thing, 200),
        row("DELETE /api/library/albums/{album_id}", Thing, 204),
        row("POST /api/library/albums/{album_id}/restore", Thing, 204),
        with(row("POST /api/library/import", Own, 201), |_| Some(playlist("mine"))),
        row("GET /api/library/imports", Own, 200),
        row("GET /api/library/unmatched", Own, 200),
        row("POST /api/library/unmatched/retry", Own, 202),
        with(row("POST /api/library/unmatched/{entry_id}", Thing, 200), |_| Some(json!({"isrc": "XSGUE2600001"}))),
        row("DELETE /api/library/unmatched/{entry_id}", Thing, 204),
        row("POST /api/library/unmatched/{entry_id}/restore", Thing, 204),
        row("GET /api/playlists", Own, 200),
        row("GET /api/playlists/{playlist_id}", Thing, 200),
        with(row("POST /api/playlists", Own, 201), |_| Some(json!({"title": "mine"}))),
        with(row("PATCH /api/playlists/{playlist_id}", Thing, 200), |_| Some(json!({"title": "renamed"}))),
        with(row("PUT /api/playlists/{playlist_id}/tracks", Thing, 200), |_| Some(json!({"trackIds": []}))),
        with(row("POST /api/playlists/{playlist_id}/tracks", Thing, 200), |things| {
            Some(json!({"trackIds": [things.isrc]}))
        }),
        row("DELETE /api/playlists/{playlist_id}/tracks/{item_id}", Thing, 200),
        row("POST /api/playlists/{playlist_id}/duplicate", Thing, 201),
        row("POST /api/undo/{undo_id}", Thing, 200),
        with(row("POST /api/library/tracks/remove", Thing, 200), |things| Some(json!({"trackIds": [things.isrc]}))),
        row("DELETE /api/playlists/{playlist_id}", Thing, 204),
        row("POST /api/playlists/{playlist_id}/restore", Thing, 204),
        row("GET /api/search", Own, 200),
        row("GET /api/index", Own, 200),
        row("GET /api/index/stream", Own, 200),
        row("GET /api/tools", Own, 200),
        with(row("POST /api/consents/{consent_id}", Thing, 204), |_| Some(json!({"decision": "refuse"}))),
        row("GET /api/usage", Own, 200),
        row("GET /api/models", Own, 200),
        // Only operators may choose; `models.rs` asks as one.
        with(row("POST /api/models/select", Own, 403), |_| Some(json!({}))),
        // Only operators may connect; `connections.rs` asks as one.
        row("GET /api/settings/connections", Own, 403),
        with(row("PUT /api/settings/connections/{service}", Own, 403), |_| Some(json!({}))),
        row("DELETE /api/settings/connections/{service}", Own, 403),
        with(row("POST /api/settings/connections/{service}/test", Own, 403), |_| Some(json!({}))),
        with(row("POST /api/tools/{name}", Own, 200), |_| Some(json!({}))),
    ]
}

#[tokio::test]
async fn every_route_keeps_everyone_out_but_its_owner() {
    let (app, _tidal) = shared_app().await;
    let mut table = format!("{:<52} nobody  expired  stranger  missing  owner\n", "route");
    for row in rows() {
        let line = check(&app, &row).await;
        writeln!(table, "{:<52} {line}", row.call).unwrap();
    }
    println!("{table}");
    expect_file!["ownership.txt"].assert_eq(&table);
}

/// Calls a route as each kind of caller, and returns the row of the table.
async fn check(app: &TestApp, row: &Row) -> String {
    let of_this_row = row.call.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
    let (ann_id, bob_id) = (format!("ann-{of_this_row}"), format!("bob-{of_this_row}"));
    let (ann, bob) = (app.person(&ann_id), app.person(&bob_id));
    let expired = app.with_token(&signed(&json!({"sub": ann_id, "exp": 1_000_000_000})));
    let anns = Things { user_id: ann_id.clone(), ..things_of(app, &ann).await };
    ask_consent(app, &anns).await;
    let nothing = Things {
        user_id: "someone who does not exist".into(),
        conversation_id: NOWHERE.into(),
        turn_id: NOWHERE.into(),
        message_id: NOWHERE.into(),
        task_id: NOWHERE.into(),
        trash_id: NOWHERE.into(),
        // A track that exists and is in no library, so that it can be added.
        isrc: "XSGUE2600002".into(),
        album_id: if row.access == Access::Own { anns.album_id.clone() } else { "0".into() },
        playlist_id: NOWHERE.into(),
        item_id: NOWHERE.into(),
        undo_id: NOWHERE.into(),
        entry_id: NOWHERE.into(),
        consent_id: NOWHERE.into(),
    };
    let nobody = Seen::of(call(&app.anonymous(), row, &anns).await).await;
    let expired = Seen::of(call(&expired, row, &anns).await).await;
    let stranger = Seen::of(call(&bob, row, &anns).await).await;
    let missing = Seen::of(call(&bob, row, &nothing).await).await;
    let owner = Seen::of(call(&ann, row, &anns).await).await;
    let outside = match row.access {
        Access::Public => row.good,
        Access::Own | Access::Thing | Access::Person => 401,
    };
    let inside = match row.access {
        Access::Public | Access::Own => row.good,
        Access::Thing => 404,
        Access::Person => 403,
    };
    assert_eq!(nobody.status, outside, "{}: nobody got {}", row.call, nobody.body);
    assert_eq!(expired.status, outside, "{}: an expired token got {}", row.call, expired.body);
    assert_eq!(stranger.status, inside, "{}: a stranger got {}", row.call, stranger.body);
    assert_eq!(owner.status, row.good, "{}: the owner got {}", row.call, owner.body);
    if matches!(row.access, Access::Thing | Access::Person) {
        assert_eq!(stranger, missing, "{}: foreign and missing can be told apart", row.call);
    }
    for seen in [&nobody, &expired, &stranger, &missing] {
        let whole = format!("{seen:?}");
        assert!(!whole.contains(CANARY), "{}: leaked {whole}", row.call);
    }
    let (nobody, expired, stranger) = (nobody.status, expired.status, stranger.status);
    format!("{nobody:<7} {expired:<8} {stranger:<9} {:<8} {}", missing.status, owner.status)
}

/// A valid request for each route: method, path and body.
pub(crate) fn requests(things: &Things) -> Vec<(String, String, Option<Value>)> {
    let request = |row: &Row| {
        let (method, path) = row.call.split_once(' ').expect("a method and a path");
        (method.to_owned(), filled(path, things), (row.body)(things))
    };
    rows().iter().map(request).collect()
}

fn filled(path: &str, things: &Things) -> String {
    path.replace("{conversation_id}", &things.conversation_id)
        .replace("{turn_id}", &things.turn_id)
        .replace("{task_id}", &things.task_id)
        .replace("{trash_id}", &things.trash_id)
        .replace("{isrc}", &things.isrc)
        .replace("{album_id}", &things.album_id)
        .replace("{playlist_id}", &things.playlist_id)
        .replace("{item_id}", &things.item_id)
        .replace("{undo_id}", &things.undo_id)
        .replace("{entry_id}", &things.entry_id)
        .replace("{consent_id}", &things.consent_id)
        .replace("{source_id}", NOWHERE)
        .replace("{merge_id}", NOWHERE)
        .replace("{user_id}", &things.user_id)
        .replace("{id}", &things.conversation_id)
        .replace("{service}", "model")
        .replace("{name}", "list_tasks")
}

async fn call(person: &Person<'_>, row: &Row, things: &Things) -> Response {
    let (method, path) = row.call.split_once(' ').expect("a method and a path");
    let path = filled(path, things);
    let path = if path == "/api/search" { format!("/api/search?q={}", CANARY.replace('-', "%20")) } else { path };
    person.request(Method::from_bytes(method.as_bytes()).unwrap(), &path, (row.body)(things)).await
}

#[tokio::test]
async fn no_route_is_without_a_row() {
    let app = TestApp::shared([], &[]).await;
    let document = app.anonymous().get("/openapi.json").await;
    let mut calls = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        // The document has a path for each tool; the router has one for all.
        let path = if path.starts_with("/api/tools/") { "/api/tools/{name}" } else { path };
        for method in item.as_object().unwrap().keys() {
            calls.insert(format!("{} {path}", method.to_uppercase()));
        }
    }
    let listed: BTreeSet<_> = rows().iter().map(|row| row.call.to_owned()).collect();
    let missing: Vec<_> = calls.difference(&listed).collect();
    assert!(missing.is_empty(), "these routes have no row in the matrix: {missing:#?}");

    // Routes that are not in the document are found in the router itself.
    let known: BTreeSet<_> = listed.iter().filter_map(|call| call.split_once(' ')).map(|(_, path)| path).collect();
    let router = format!("{:?}", segue::router::router(app.app.clone()));
    let paths: BTreeSet<_> = router.split('"').filter(|part| part.starts_with('/')).collect();
    assert!(paths.contains("/api/tasks"), "the router shows its paths: {router}");
    // "/" and what begins with a wildcard are the fallback: the page, or nothing.
    let is_page = |path: &str| path == "/" || path.starts_with("/{*");
    let unknown: Vec<_> = paths.iter().filter(|path| !known.contains(**path) && !is_page(path)).collect();
    assert!(unknown.is_empty(), "these paths have no row in the matrix: {unknown:#?}");
}
