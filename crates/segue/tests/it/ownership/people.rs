//! What one user does reaches no other: tools, imports, protocols, and many users at once.

use engine::script::says;
use reqwest::Method;
use serde_json::{Value, json};

use super::{
    CANARY, NOWHERE,
    things::{Seen, shared_app, things_of},
};
use crate::{collection::on_both_engines, support::TestApp};

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
