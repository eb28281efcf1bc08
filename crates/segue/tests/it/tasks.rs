//! Tasks through the API and through chat are one list.

use engine::script::{calls, says};
use reqwest::Method;
use serde_json::json;

use crate::support::TestApp;

#[tokio::test]
async fn a_task_is_added_changed_completed_deleted_and_restored() {
    let app = TestApp::scripted([]).await;
    let (status, task) = app.answer(Method::POST, "/api/tasks", Some(json!({"title": " buy strings "}))).await;
    assert_eq!((status, task["title"].as_str(), task["completed"].as_bool()), (201, Some("buy strings"), Some(false)));
    let path = format!("/api/tasks/{}", task["id"].as_str().unwrap());
    let (status, task) =
        app.answer(Method::PATCH, &path, Some(json!({"completed": true, "description": "nylon"}))).await;
    assert_eq!((status, task["completed"].as_bool(), task["description"].as_str()), (200, Some(true), Some("nylon")));
    assert_eq!(app.get("/api/tasks?filter=pending").await, json!({"tasks": []}));
    assert_eq!(app.get("/api/tasks?filter=completed").await, json!({"tasks": [task]}));
    assert_eq!(app.answer(Method::DELETE, &path, None).await.0, 204);
    assert_eq!(app.answer(Method::DELETE, &path, None).await.0, 404);
    assert_eq!(app.answer(Method::PATCH, &path, Some(json!({"title": "x"}))).await.0, 404);
    assert_eq!(app.answer(Method::POST, &format!("{path}/restore"), None).await, (200, task.clone()));
    assert_eq!(app.get("/api/tasks").await, json!({"tasks": [task]}));
}

#[tokio::test]
async fn completing_a_task_twice_changes_nothing_and_a_deletion_by_chat_can_be_undone() {
    let app = TestApp::scripted([]).await;
    let (_, task) = app.answer(Method::POST, "/api/tasks", Some(json!({"title": "sweep"}))).await;
    let id = task["id"].clone();
    app.model.play([
        calls("complete_task", json!({"task_id": id})),
        calls("complete_task", json!({"task_id": id})),
        calls("delete_task", json!({"task_id": id})),
        says("Gone."),
    ]);
    let frames = app.say("do it").await;
    let summaries: Vec<_> = frames.iter().filter_map(|frame| frame["summary"].as_str()).collect();
    assert_eq!(summaries, ["Completed 'sweep'", "Completed 'sweep'", "Deleted 'sweep'"]);
    assert_eq!(app.get("/api/tasks").await, json!({"tasks": []}));
    let (status, restored) =
        app.answer(Method::POST, &format!("/api/tasks/{}/restore", id.as_str().unwrap()), None).await;
    assert_eq!((status, restored["completed"].as_bool()), (200, Some(true)));
}

#[tokio::test]
async fn the_user_chat_answers_as_json_or_as_a_stream() {
    let app = TestApp::scripted([]).await;
    let script = || [says("Adding.").calls("add_task", json!({"title": "dust"})), says("Added.")];
    app.model.play(script());
    let (status, answer) = app.answer(Method::POST, "/api/local/chat", Some(json!({"message": "add dust"}))).await;
    assert_eq!((status, answer["response"].as_str()), (200, Some("Adding.\n\nAdded.")));
    let call = &answer["tool_calls"][0];
    assert_eq!((call["tool_name"].as_str(), &call["parameters"]), (Some("add_task"), &json!({"title": "dust"})));
    assert_eq!(call["result"]["title"], "dust");
    app.model.play([says("Hello again.")]);
    let follow_up = json!({"message": "hello", "conversation_id": answer["conversation_id"]});
    let (status, second) = app.answer(Method::POST, "/api/local/chat", Some(follow_up)).await;
    assert_eq!((status, &second["conversation_id"]), (200, &answer["conversation_id"]));
    assert!(uuid::Uuid::parse_str(answer["message_id"].as_str().unwrap()).is_ok(), "{answer}");
    assert!(uuid::Uuid::parse_str(call["id"].as_str().unwrap()).is_ok(), "{call}");

    app.model.play(script());
    let request = reqwest::Client::new().post(format!("{}/api/local/chat", app.url)).json(&json!({"message": "dust"}));
    let response = request.header("accept", "text/event-stream").send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let frames = crate::support::Stream::new(response).rest().await;
    let kinds: Vec<_> = frames.iter().map(|frame| frame["type"].as_str().unwrap()).collect();
    assert_eq!((kinds[0], kinds[kinds.len() - 1]), ("message_start", "message_end"));
    assert!(kinds.contains(&"tool_call_end"), "{kinds:?}");

    app.model.play([says("Music.")]);
    let discover = app.chat(json!({"message": "hello", "agent": "discover"})).await[0]["conversationId"].clone();
    let other = json!({"message": "hello", "conversation_id": discover});
    assert_eq!(
        app.answer(Method::POST, "/api/local/chat", Some(other)).await.0,
        404,
        "this endpoint serves only the Tasks agent"
    );
    let (status, refusal) = app.answer(Method::POST, "/api/someone-else/chat", Some(json!({"message": "hi"}))).await;
    assert_eq!((status, refusal["error"]["code"].as_str()), (403, Some("FORBIDDEN")));
}

#[tokio::test]
async fn null_clears_a_description_and_an_absent_field_keeps_it() {
    let app = TestApp::scripted([]).await;
    let (_, task) = app.answer(Method::POST, "/api/tasks", Some(json!({"title": "a", "description": "b"}))).await;
    let path = format!("/api/tasks/{}", task["id"].as_str().unwrap());
    for (change, description) in [(json!({"title": "c"}), "b"), (json!({"description": null}), "")] {
        let (status, changed) = app.answer(Method::PATCH, &path, Some(change.clone())).await;
        assert_eq!((status, changed["description"].as_str()), (200, Some(description)), "{change}");
    }
    assert_eq!(app.get("/api/tasks").await["tasks"][0]["description"], "");
    assert_eq!(
        app.answer(Method::PATCH, &path, Some(json!({"title": null}))).await.0,
        400,
        "the title cannot be cleared"
    );
}

#[tokio::test]
async fn an_agent_clears_a_description_with_an_empty_text_and_null_keeps_it() {
    let app = TestApp::scripted([]).await;
    let (_, task) = app.answer(Method::POST, "/api/tasks", Some(json!({"title": "a", "description": "b"}))).await;
    let id = &task["id"];
    for (input, description) in [
        (json!({"task_id": id, "title": "c", "description": null}), "b"),
        (json!({"task_id": id, "description": " "}), ""),
    ] {
        let (status, changed) = app.answer(Method::POST, "/api/tools/update_task", Some(input.clone())).await;
        assert_eq!((status, changed["description"].as_str()), (200, Some(description)), "{input}");
    }
}

#[tokio::test]
async fn a_length_limit_is_the_same_for_the_api_and_the_tool() {
    let app = TestApp::scripted([]).await;
    for (n_title, n_description, ok) in [(200, 2000, true), (201, 0, false), (1, 2001, false), (0, 0, false)] {
        let task = json!({"title": "ä".repeat(n_title), "description": "ä".repeat(n_description)});
        let (by_hand, refusal) = app.answer(Method::POST, "/api/tasks", Some(task.clone())).await;
        let (by_tool, _) = app.answer(Method::POST, "/api/tools/add_task", Some(task)).await;
        assert_eq!((by_hand, by_tool), if ok { (201, 200) } else { (400, 400) }, "{n_title} {n_description}");
        if !ok {
            let field = if n_description > 2000 { "description" } else { "title" };
            assert_eq!(refusal["error"]["details"][0]["field"], field);
        }
    }
}

#[tokio::test]
async fn the_agent_lists_tasks_in_the_order_of_their_owner() {
    let app = TestApp::scripted([]).await;
    let mut ids = vec![];
    for title in ["a", "b", "c", "d"] {
        let (_, task) = app.answer(Method::POST, "/api/tasks", Some(json!({"title": title}))).await;
        ids.push(task["id"].as_str().unwrap().to_owned());
    }
    let titles = async || {
        let tasks = app.get("/api/tasks").await["tasks"].as_array().unwrap().clone();
        tasks.iter().map(|task| task["title"].as_str().unwrap().to_owned()).collect::<String>()
    };
    let before = app.get("/api/tasks").await["tasks"][0]["updatedAt"].clone();
    for (moved, change, order) in [
        (0, json!({"after": ids[3]}), "bcda"),
        (3, json!({"before": ids[1]}), "dbca"),
        (2, json!({"after": ids[3]}), "dcba"),
        (2, json!({"before": ids[2]}), "dcba"),
        (0, json!({"before": ids[1], "completed": true}), "dcab"),
    ] {
        let (status, task) =
            app.answer(Method::PATCH, &format!("/api/tasks/{}", ids[moved]), Some(change.clone())).await;
        assert_eq!((status, titles().await.as_str()), (200, order), "{change}");
        assert_eq!(task["updatedAt"] == before, change.get("completed").is_none() && moved == 0, "{change}");
    }
    let (_, new) = app.answer(Method::POST, "/api/tasks", Some(json!({"title": "e"}))).await;
    assert_eq!(titles().await, "dcabe", "new tasks are last");
    let path = format!("/api/tasks/{}", ids[2]);
    app.answer(Method::DELETE, &path, None).await;
    app.answer(Method::POST, &format!("{path}/restore"), None).await;
    assert_eq!(titles().await, "dcabe", "a restored task has its old position");
    let (_, listed) = app.answer(Method::POST, "/api/tools/list_tasks", Some(json!({}))).await;
    assert_eq!(listed["tasks"][0]["title"], "d");
    let first = app.get("/api/tasks?limit=2").await;
    let rest = app.get(&format!("/api/tasks?cursor={}", first["next"].as_str().unwrap())).await;
    assert_eq!((rest["tasks"][0]["title"].as_str(), rest["tasks"].as_array().unwrap().len()), (Some("a"), 3));

    let path = format!("/api/tasks/{}", new["id"].as_str().unwrap());
    let nowhere = json!({"before": "01890000-0000-7000-8000-000000000000", "title": "x"});
    assert_eq!(app.answer(Method::PATCH, &path, Some(nowhere)).await.0, 404);
    let both = json!({"before": ids[0], "after": ids[1]});
    assert_eq!(app.answer(Method::PATCH, &path, Some(both)).await.0, 400);
    assert_eq!(titles().await, "dcabe", "a rejected request changes nothing");
}
