//! Every route against every kind of caller. The routes come from the router itself: one without a row fails.

use std::{collections::BTreeSet, fmt::Write};

use app::sample;
use doubles::{
    Running, fiction, serve,
    tidal::{CLIENT_ID, CLIENT_SECRET, Limits, TidalDouble},
};
use engine::{UserId, script::says};
use expect_test::expect_file;
use reqwest::{Method, Response};
use serde_json::{Value, json};

use crate::{
    collection::on_both_engines,
    support::{Person, TestApp, signed},
};

/// What Ann has; Bob must never see a word of it.
const CANARY: &str = "ann-keeps-this-to-herself";
const NOWHERE: &str = "01890000-0000-7000-8000-000000000000";

/// What a route is, as far as people are concerned.
#[derive(Clone, Copy, PartialEq)]
enum Door {
    /// Nothing behind it belongs to anyone.
    Public,
    /// Everyone finds their own behind it.
    Own,
    /// One thing of one person: to anyone else it does not exist.
    Thing,
    /// The path names a person: 403 for anyone else.
    Person,
}

struct Row {
    call: &'static str,
    door: Door,
    /// The body, with Ann's things in it where the route takes them in the body.
    body: fn(&Things) -> Option<Value>,
    /// What Ann gets, or what everyone gets from a public route.
    good: u16,
}

/// Ids to put into paths and bodies.
#[derive(Clone)]
struct Things {
    user_id: String,
    conversation_id: String,
    turn_id: String,
    message_id: String,
    task_id: String,
    trash_id: String,
    isrc: String,
    album_id: String,
    playlist_id: String,
    item_id: String,
    undo_id: String,
    entry_id: String,
    consent_id: String,
}

fn row(call: &'static str, door: Door, good: u16) -> Row {
    Row { call, door, body: |_| None, good }
}

fn with(mut row: Row, body: fn(&Things) -> Option<Value>) -> Row {
    row.body = body;
    row
}

/// One row a route. A new route needs one: what is it, and what does its owner get?
#[allow(clippy::too_many_lines, reason = "a table")]
fn rows() -> Vec<Row> {
    use Door::{Own, Person, Public, Thing};
    let sign_in = |_: &Things| Some(json!({"name": "ann", "password": "no such account"}));
    let sign_up = |_: &Things| Some(json!({"invitation": "none", "name": "ann", "password": "long enough"}));
    vec![
        row("GET /healthz", Public, 200),
        row("GET /readyz", Public, 200),
        // The tests ask from this machine, which is the operator's; `metrics.rs` asks from elsewhere.
        row("GET /metrics", Public, 200),
        row("GET /openapi.json", Public, 200),
        row("GET /docs", Public, 200),
        row("GET /docs/style.css", Public, 200),
        row("GET /.well-known/oauth-protected-resource", Public, 200),
        row("GET /.well-known/oauth-protected-resource/mcp", Public, 200),
        row("GET /api/about", Public, 200),
        // Without built-in accounts there is no one to sign in, whoever asks.
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
        // A chat's id is a name its owner chose: someone else's id is a name nobody has used yet.
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
        // What is known about a recording is known to everyone; whether it is in a library, only to its owner.
        row("GET /api/library/tracks/{isrc}", Own, 200),
        row("DELETE /api/library/tracks/{isrc}", Thing, 204),
        row("POST /api/library/tracks/{isrc}/restore", Thing, 200),
        row("GET /api/library/sources", Own, 200),
        // Paths of the server are its operator's to name.
        with(row("POST /api/library/sources", Own, 403), |_| Some(json!({"kind": "folder", "path": "/"}))),
        with(row("DELETE /api/library/sources/{source_id}", Own, 404), |_| None),
        with(row("POST /api/library/sources/{source_id}/sync", Own, 404), |_| None),
        row("GET /api/library/artists", Own, 200),
        row("GET /api/library/genres", Own, 200),
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

/// A playlist as a file, with one track that nobody knows.
fn playlist(title: &str) -> Value {
    json!({"playlist": {"title": "Unknown", "track": [{"title": title, "creator": title}]}})
}

/// A server with a test catalogue. The people on it change with every row: what Bob adds to his own library in one
/// must not look like Ann's in the next.
async fn shared_app() -> (TestApp, Running) {
    let tidal = serve(TidalDouble::new(fiction::world(), Limits::GENEROUS).router()).await.unwrap();
    let (api, auth) = (format!("http://{}/v2", tidal.addr), format!("http://{}/v1", tidal.addr));
    let settings = [
        ("TIDAL_CLIENT_ID", CLIENT_ID),
        ("TIDAL_CLIENT_SECRET", CLIENT_SECRET),
        ("TIDAL_API_URL", api.as_str()),
        ("TIDAL_AUTH_URL", auth.as_str()),
    ];
    let app = TestApp::shared([], &settings).await;
    app.app.start_ingestion().await.unwrap();
    sample::load(app.app.library(), &UserId::new("someone")).await.unwrap();
    app.app.catch_up().await.unwrap();
    (app, tidal)
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

/// Calls a route as everyone, and says what each got.
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
        // In no library at all, but known: otherwise it could not be added either.
        isrc: "XSGUE2600002".into(),
        album_id: if row.door == Door::Own { anns.album_id.clone() } else { "0".into() },
        playlist_id: NOWHERE.into(),
        item_id: NOWHERE.into(),
        undo_id: NOWHERE.into(),
        entry_id: NOWHERE.into(),
        consent_id: NOWHERE.into(),
    };
    let nobody = Seen::of(call(&app.nobody(), row, &anns).await).await;
    let expired = Seen::of(call(&expired, row, &anns).await).await;
    let stranger = Seen::of(call(&bob, row, &anns).await).await;
    let missing = Seen::of(call(&bob, row, &nothing).await).await;
    let owner = Seen::of(call(&ann, row, &anns).await).await;
    let outside = match row.door {
        Door::Public => row.good,
        Door::Own | Door::Thing | Door::Person => 401,
    };
    let inside = match row.door {
        Door::Public | Door::Own => row.good,
        Door::Thing => 404,
        Door::Person => 403,
    };
    assert_eq!(nobody.status, outside, "{}: nobody got {}", row.call, nobody.body);
    assert_eq!(expired.status, outside, "{}: an expired token got {}", row.call, expired.body);
    assert_eq!(stranger.status, inside, "{}: a stranger got {}", row.call, stranger.body);
    assert_eq!(owner.status, row.good, "{}: the owner got {}", row.call, owner.body);
    if matches!(row.door, Door::Thing | Door::Person) {
        assert_eq!(stranger, missing, "{}: foreign and missing can be told apart", row.call);
    }
    for seen in [&nobody, &expired, &stranger, &missing] {
        let whole = format!("{seen:?}");
        assert!(!whole.contains(CANARY), "{}: leaked {whole}", row.call);
    }
    let (nobody, expired, stranger) = (nobody.status, expired.status, stranger.status);
    format!("{nobody:<7} {expired:<8} {stranger:<9} {:<8} {}", missing.status, owner.status)
}

async fn call(person: &Person<'_>, row: &Row, things: &Things) -> Response {
    let (method, path) = row.call.split_once(' ').expect("a method and a path");
    let path = path
        .replace("{conversation_id}", &things.conversation_id)
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
        .replace("{name}", "list_tasks");
    let path = if path == "/api/search" { format!("/api/search?q={}", CANARY.replace('-', "%20")) } else { path };
    person.request(Method::from_bytes(method.as_bytes()).unwrap(), &path, (row.body)(things)).await
}

async fn things_of(app: &TestApp, person: &Person<'_>) -> Things {
    app.model.play([says(CANARY)]);
    let frames = person.say(CANARY).await;
    let made = async |path: &str, body: Value| {
        let (status, made) = person.answer(Method::POST, path, Some(body)).await;
        assert!(status < 300, "{path}: {status} {made}");
        made
    };
    let isrc = "XSGUE2600001";
    made("/api/library/tracks", json!({"isrc": isrc})).await;
    let tracks = json!([{"isrc": isrc, "reasoning": CANARY}]);
    let saved = made("/api/tools/suggestPlaylist", json!({"title": CANARY, "tracks": tracks})).await;
    let found = made("/api/tools/tidalSearch", json!({"query": "a", "searchType": "albums"})).await;
    let album = &found["albums"][0]["id"];
    made("/api/library/albums", json!({"albumId": album})).await;
    let imported = made("/api/library/import", playlist(CANARY)).await;
    let text = |value: &Value| value.as_str().expect("an id").to_owned();
    let deleted = person.add_task(CANARY).await;
    assert_eq!(person.answer(Method::DELETE, &format!("/api/tasks/{deleted}"), None).await.0, 204);
    Things {
        user_id: "ann".into(),
        conversation_id: text(&frames[0]["conversationId"]),
        turn_id: text(&frames[0]["turnId"]),
        message_id: text(&frames[0]["messageId"]),
        task_id: person.add_task(CANARY).await,
        trash_id: deleted,
        isrc: isrc.into(),
        album_id: text(album),
        playlist_id: text(&saved["id"]),
        item_id: text(&saved["tracks"][0]["itemId"]),
        undo_id: text(&saved["undoId"]),
        entry_id: text(&imported["unmatched"][0]["id"]),
        consent_id: uuid::Uuid::now_v7().to_string(),
    }
}

/// A question to this user about a call; there is no other server here that could make the model ask it.
async fn ask_consent(app: &TestApp, things: &Things) {
    let (id, conversation) = (app.world.id(&things.consent_id), app.world.id(&things.conversation_id));
    let user = &things.user_id;
    let sql = format!(
        "INSERT INTO consents (id, conversation_id, message_id, call_id, user_id, tool_name, input, created_at)
         SELECT {id}, conversation_id, id, {id}, '{user}', '{CANARY}', '{{}}', created_at
         FROM messages WHERE conversation_id = {conversation} LIMIT 1"
    );
    app.world.execute(&sql).await;
}

/// The canary enters the index: it has a code, and the search asks for it.
#[tokio::test]
async fn what_one_user_imports_is_found_by_no_other_user() {
    on_both_engines(&[], async |app| {
        app.app.start_ingestion().await.unwrap();
        let (ann, bob) = (app.person("ann"), app.person("bob"));
        let track = json!({"title": CANARY, "creator": CANARY, "identifier": ["isrc:QZANN2400001"]});
        let file = json!({"playlist": {"title": "Mine", "track": [track]}});
        let (status, body) = ann.answer(Method::POST, "/api/library/import", Some(file)).await;
        assert_eq!(status, 201, "{body}");
        app.app.catch_up().await.unwrap();
        let path = format!("/api/search?q={CANARY}");
        let found = ann.get(&path).await;
        assert!(found["tracks"].to_string().contains("QZANN2400001"), "{found}");
        let reads = [path, "/api/library/tracks/QZANN2400001".into(), "/api/library/tracks".into()];
        for path in reads {
            let (_, seen) = bob.answer(Method::GET, &path, None).await;
            assert!(!seen.to_string().contains("QZANN2400001"), "{path}: {seen}");
        }
        let input = json!({"isrcs": ["QZANN2400001"]});
        let (_, seen) = bob.answer(Method::POST, "/api/tools/batchMetadata", Some(input)).await;
        assert!(!seen.to_string().contains(CANARY), "{seen}");
    })
    .await;
}

/// Everything a caller can see of an answer, but the time.
#[derive(Debug, PartialEq)]
struct Seen {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

impl Seen {
    async fn of(response: Response) -> Self {
        let headers = response.headers().iter().filter(|(name, _)| *name != "date");
        let mut headers: Vec<_> =
            headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect();
        headers.sort();
        Self { status: response.status().as_u16(), headers, body: response.text().await.unwrap() }
    }
}

#[tokio::test]
async fn no_route_is_without_a_row() {
    let app = TestApp::shared([], &[]).await;
    let document = app.nobody().get("/openapi.json").await;
    let mut calls = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        // The document has a path for each tool; the router has one for all.
        let path = if path.starts_with("/api/tools/") { "/api/tools/{name}" } else { path };
        for method in item.as_object().unwrap().keys() {
            // The document lists every tool by its name; the route is one.
            let path = if path.starts_with("/api/tools/") { "/api/tools/{name}" } else { path };
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

#[tokio::test]
async fn no_tool_reaches_into_what_belongs_to_someone_else() {
    let app = TestApp::shared([], &[]).await;
    let (ann, bob) = (app.person("ann"), app.person("bob"));
    let task = ann.add_task(CANARY).await;
    let before = ann.get("/api/tasks").await;
    let anns = json!({"task_id": task});
    let named = |tool: &'static str, input: Value| (tool, input);
    let attempts = [
        named("complete_task", anns.clone()),
        named("delete_task", anns.clone()),
        named("update_task", json!({"task_id": task, "title": "gone"})),
        named("update_task", json!({"task_id": task, "title": "gone", "user_id": "ann"})),
        named("complete_task", json!({"task_id": task, "owner": "ann"})),
        named("list_tasks", json!({"user_id": "ann"})),
        named("list_tasks", json!({"filter": "all' OR '1'='1"})),
        named("add_task", json!({"title": "x", "user_id": "ann"})),
        named("complete_task", json!({"task_id": "x' OR '1'='1"})),
        named("delete_task", json!({"task_id": "1; DROP TABLE tasks; --"})),
        named("delete_task", json!({"task_id": ["*"]})),
        named("delete_task", json!({"task_id": null})),
    ];
    for (tool, input) in attempts {
        // By hand, and by a model that tries the same.
        let (status, body) = bob.answer(Method::POST, &format!("/api/tools/{tool}"), Some(input.clone())).await;
        let names_a_task =
            input["task_id"].is_string() && input.as_object().unwrap().len() <= 1 + usize::from(tool == "update_task");
        assert_eq!(status, if names_a_task { 404 } else { 400 }, "{tool} {input}: {body}");
        app.model.play([engine::script::calls(tool, input.clone()), says("done")]);
        let frames = bob.say("please").await;
        // A model's extra fields are dropped: the call then acts on the data of the user who asked.
        let is_own = matches!(tool, "add_task" | "list_tasks") && input["user_id"].is_string();
        let expected = if is_own { "tool_call_end" } else { "tool_call_error" };
        assert!(frames.iter().any(|frame| frame["type"] == expected), "{tool} {input}: {frames:?}");
        assert!(!format!("{frames:?}{body}").contains(CANARY), "{tool} {input}");
    }
    assert_eq!(ann.get("/api/tasks").await, before, "nothing of Ann's has changed");
    let bobs = bob.get("/api/tasks").await;
    let titles: Vec<_> = bobs["tasks"].as_array().unwrap().iter().map(|task| &task["title"]).collect();
    assert_eq!(titles, ["x"], "only the task that Bob's own turn added");
    let foreign = bob.answer(Method::POST, "/api/tools/complete_task", Some(anns)).await.1;
    let missing = bob.answer(Method::POST, "/api/tools/complete_task", Some(json!({"task_id": NOWHERE}))).await.1;
    assert_eq!(foreign["error"], missing["error"], "foreign and missing are the same");
}

#[tokio::test]
async fn no_tool_reaches_into_a_foreign_playlist() {
    let app = TestApp::shared([], &[]).await;
    let (ann, bob) = (app.person("ann"), app.person("bob"));
    let (_, made) = ann.answer(Method::POST, "/api/playlists", Some(json!({"title": CANARY}))).await;
    let path = format!("/api/playlists/{}", made["id"].as_str().unwrap());
    let before = ann.get(&path).await;
    let attempts = [
        ("list_playlists", json!({"playlist": made["id"]})),
        ("list_playlists", json!({"playlist": CANARY})),
        ("list_playlists", json!({"user_id": "ann"})),
        ("edit_playlist", json!({"playlist": made["id"], "action": "rename", "title": "gone"})),
        ("edit_playlist", json!({"playlist": CANARY, "action": "rename", "title": "gone"})),
        ("edit_playlist", json!({"playlist": "x' OR '1'='1", "action": "remove", "tracks": ["1"]})),
    ];
    for (tool, input) in attempts {
        let (status, body) = bob.answer(Method::POST, &format!("/api/tools/{tool}"), Some(input.clone())).await;
        assert_eq!(status, 400, "{tool} {input}: {body}");
        let mut missing = input.clone();
        missing["playlist"] = NOWHERE.into();
        let missing = bob.answer(Method::POST, &format!("/api/tools/{tool}"), Some(missing)).await.1;
        assert!(input["user_id"].is_string() || body["error"] == missing["error"], "foreign and missing are the same");
    }
    assert_eq!(bob.get("/api/playlists").await["playlists"], json!([]));
    assert_eq!(ann.get(&path).await, before, "nothing of Ann's has changed");
}

#[tokio::test]
async fn a_foreign_conversation_cannot_be_continued_through_the_path_of_ones_own() {
    let (app, _tidal) = shared_app().await;
    let (ann, bob) = (app.person("ann"), app.person("bob"));
    let anns = things_of(&app, &ann).await;
    let say = |conversation: &str| Some(json!({"message": "hi", "conversation_id": conversation}));
    let foreign = Seen::of(bob.request(Method::POST, "/api/bob/chat", say(&anns.conversation_id)).await).await;
    let missing = Seen::of(bob.request(Method::POST, "/api/bob/chat", say(NOWHERE)).await).await;
    assert_eq!((foreign.status, &foreign), (404, &missing));
}

#[tokio::test]
async fn no_request_of_chatkit_reaches_a_foreign_thread() {
    let (app, _tidal) = shared_app().await;
    let (ann, bob) = (app.person("ann"), app.person("bob"));
    let thread = things_of(&app, &ann).await.conversation_id;
    let before = ann.get(&format!("/api/conversations/{thread}")).await;
    let item = before["messages"][0]["id"].clone();
    let input = json!({"content": [{"type": "input_text", "text": "hi"}], "attachments": [], "inference_options": {}});
    let requests = |thread: &str| {
        [
            ("threads.get_by_id", json!({"thread_id": thread})),
            ("threads.add_user_message", json!({"thread_id": thread, "input": input})),
            ("threads.retry_after_item", json!({"thread_id": thread, "item_id": item})),
            ("threads.update", json!({"thread_id": thread, "title": "mine now"})),
            ("threads.delete", json!({"thread_id": thread})),
            ("items.list", json!({"thread_id": thread})),
            ("items.feedback", json!({"thread_id": thread, "item_ids": [item], "kind": "positive"})),
        ]
    };
    for ((kind, foreign), (_, missing)) in requests(&thread).into_iter().zip(requests(NOWHERE)) {
        let send = async |params: Value| {
            let body = json!({"type": kind, "params": params});
            Seen::of(bob.request(Method::POST, "/chatkit", Some(body)).await).await
        };
        let (foreign, missing) = (send(foreign).await, send(missing).await);
        assert_eq!(foreign.status, 404, "{kind}: {}", foreign.body);
        assert_eq!(foreign, missing, "{kind}");
    }
    assert_eq!(ann.get(&format!("/api/conversations/{thread}")).await, before, "nothing of Ann's has changed");
}

#[tokio::test]
async fn the_same_client_message_id_of_two_people_is_two_messages() {
    let app = TestApp::shared([says(CANARY), says("hello bob")], &[]).await;
    let body = json!({"message": "hi", "agent": "tasks", "clientMessageId": "m-1"});
    let path = "/api/chat/stream";
    let first = Seen::of(app.person("ann").request(Method::POST, path, Some(body.clone())).await).await;
    let second = Seen::of(app.person("bob").request(Method::POST, path, Some(body)).await).await;
    assert!(first.body.contains(CANARY) && !second.body.contains(CANARY));
}

#[tokio::test]
async fn people_who_act_at_once_see_only_what_is_theirs() {
    const N_PEOPLE: usize = 8;
    let app = TestApp::shared(vec![says("ok"); 3 * N_PEOPLE], &[]).await;
    let one = async |n: usize| {
        let name = format!("person-{n}-");
        let person = app.person(&name);
        for round in 0..3 {
            person.add_task(&format!("{name}{round}")).await;
            person.say(&format!("{name}{round}")).await;
        }
        let mut seen = Vec::new();
        for (path, list) in [("/api/tasks", "tasks"), ("/api/conversations", "conversations")] {
            let body = person.get(path).await;
            let titles = body[list].as_array().unwrap().iter().map(|item| item["title"].as_str().unwrap().to_owned());
            seen.extend(titles);
        }
        seen.push(person.get("/api/me").await["id"].as_str().unwrap().to_owned());
        assert_eq!(seen.len(), 7, "{seen:?}");
        assert!(seen.iter().all(|text| text.starts_with(&name)), "{name} saw {seen:?}");
        let export = person.get("/api/export").await.to_string();
        let others = (0..N_PEOPLE).filter(|other| *other != n).map(|other| format!("person-{other}-"));
        assert!(others.into_iter().all(|other| !export.contains(&other)), "{name}: {export}");
    };
    futures::future::join_all((0..N_PEOPLE).map(one)).await;
}
