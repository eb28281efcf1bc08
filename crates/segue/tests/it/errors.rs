//! Every error has the same format and says what to change. A failed request loses no data.

use engine::script::says;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::TestApp;

#[tokio::test]
async fn invalid_requests_get_errors_in_one_format() {
    let app = TestApp::scripted([]).await;
    let nowhere = "01890000-0000-7000-8000-000000000000";
    let chat = "/api/chat/stream";
    let missing = format!("/api/conversations/{nowhere}");
    let cases: Vec<(Method, &str, Option<Value>, u16, &str)> = vec![
        (Method::POST, chat, Some(json!({"message": ""})), 400, "VALIDATION_ERROR"),
        (Method::POST, chat, Some(json!({"message": "  \n "})), 400, "VALIDATION_ERROR"),
        (Method::POST, chat, Some(json!({"message": "x".repeat(10_001)})), 400, "VALIDATION_ERROR"),
        (Method::POST, chat, Some(json!({"message": 7})), 400, "VALIDATION_ERROR"),
        (Method::POST, chat, Some(json!({})), 400, "VALIDATION_ERROR"),
        (Method::POST, chat, Some(json!({"message": "hi", "model": "gpt"})), 400, "VALIDATION_ERROR"),
        (Method::POST, chat, Some(json!({"message": "hi", "agent": "chef"})), 400, "VALIDATION_ERROR"),
        (Method::POST, chat, Some(json!({"message": "hi", "clientMessageId": ""})), 400, "VALIDATION_ERROR"),
        (Method::POST, chat, Some(json!({"message": "hi", "conversationId": "nope"})), 400, "VALIDATION_ERROR"),
        (Method::POST, chat, Some(json!({"message": "hi", "conversationId": nowhere})), 404, "NOT_FOUND"),
        (Method::POST, chat, Some(json!({"message": "x".repeat(300_000)})), 413, "PAYLOAD_TOO_LARGE"),
        (Method::POST, chat, None, 415, "UNSUPPORTED_MEDIA_TYPE"),
        (Method::GET, &missing, None, 404, "NOT_FOUND"),
        (Method::GET, "/api/conversations/not-an-id", None, 404, "NOT_FOUND"),
        (Method::PATCH, &missing, Some(json!({"title": "x"})), 404, "NOT_FOUND"),
        (Method::DELETE, &missing, None, 404, "NOT_FOUND"),
        (Method::GET, "/api/conversations?limit=0", None, 400, "VALIDATION_ERROR"),
        (Method::GET, "/api/conversations?limit=many", None, 400, "VALIDATION_ERROR"),
        (Method::GET, "/api/tasks?filter=late", None, 400, "VALIDATION_ERROR"),
        (Method::POST, "/api/tasks", Some(json!({"title": "x".repeat(201)})), 400, "VALIDATION_ERROR"),
        (Method::POST, "/api/tools/no_such_tool", Some(json!({})), 404, "NOT_FOUND"),
        (Method::POST, "/api/tools/add_task", Some(json!({"titel": "x"})), 400, "VALIDATION_ERROR"),
        (Method::GET, "/api/turns/not-an-id/stream", None, 404, "NOT_FOUND"),
        (Method::GET, "/api/nowhere", None, 404, "NOT_FOUND"),
    ];
    for (method, path, body, status, code) in cases {
        let shown = body.as_ref().map(|body| body.to_string().chars().take(60).collect::<String>());
        let (got, answer) = app.answer(method.clone(), path, body).await;
        assert_eq!(got, status, "{method} {path} {shown:?} answered {answer}");
        assert_eq!(answer["error"]["code"], code, "{method} {path} {shown:?}");
        assert!(!answer["error"]["message"].as_str().unwrap_or_default().is_empty(), "{method} {path}");
    }
    assert_eq!(
        app.get("/api/conversations").await,
        json!({"conversations": []}),
        "a rejected message creates no conversation"
    );
}

#[tokio::test]
async fn an_unknown_agent_is_answered_with_the_agents_that_exist() {
    let app = TestApp::scripted([]).await;
    let request = json!({"message": "hi", "agent": "chef"});
    let (_, answer) = app.answer(Method::POST, "/api/chat/stream", Some(request)).await;
    let message = answer.to_string();
    let agents = app.get("/api/about").await["agents"].clone();
    assert!(agents.as_array().unwrap().len() > 1);
    for agent in agents.as_array().unwrap() {
        assert!(message.contains(agent["id"].as_str().unwrap()), "{message} does not name {}", agent["id"]);
        for field in ["title", "description", "greeting", "placeholder"] {
            assert!(agent[field].as_str().is_some_and(|text| !text.is_empty()), "{agent} has no {field}");
        }
        assert!(!agent["tools"].as_array().unwrap().is_empty() && !agent["examples"].as_array().unwrap().is_empty());
    }
}

#[tokio::test]
async fn an_error_in_a_query_names_its_parameter_and_no_type_of_the_program() {
    let app = TestApp::scripted([]).await;
    let no_page = "is not the `next` of a page";
    for (path, field, message) in [
        ("/api/tracks/merges?cursor=x", "cursor", no_page),
        ("/api/tasks?cursor=x", "cursor", no_page),
        ("/api/playlists?cursor=x", "cursor", no_page),
        ("/api/library/imports?cursor=x", "cursor", no_page),
        ("/api/library/tracks?cursor=x", "cursor", no_page),
        ("/api/trash?cursor=x", "cursor", no_page),
        ("/api/conversations?limit=many", "limit", "is not a whole number"),
    ] {
        let (status, answer) = app.answer(Method::GET, path, None).await;
        assert_eq!((status, &answer["error"]["code"]), (400, &json!("VALIDATION_ERROR")), "{path}: {answer}");
        assert_eq!(answer["error"]["details"], json!([{"field": field, "message": message}]), "{path}");
        assert_eq!(answer["error"]["message"], format!("`{field}` {message}"), "{path}");
    }
}

#[tokio::test]
async fn an_error_in_a_body_names_its_field_in_the_message() {
    let app = TestApp::scripted([]).await;
    for (path, body, field, problem) in [
        ("/api/chat/stream", json!({"message": 7}), "message", "must be a string, not 7"),
        ("/api/chat/stream", json!({}), "message", "is missing"),
        ("/api/chat/stream", json!({"message": "hi", "conversationId": "nope"}), "conversationId", "is not an id"),
        ("/api/tasks", json!({"title": "x".repeat(201)}), "title", "must have 1 to 200 characters"),
        ("/api/playlists", json!({"title": "x", "trackIds": {}}), "trackIds", "must be a list, not an object"),
    ] {
        let (status, answer) = app.answer(Method::POST, path, Some(body)).await;
        assert_eq!((status, &answer["error"]["code"]), (400, &json!("VALIDATION_ERROR")), "{path}: {answer}");
        assert_eq!(answer["error"]["details"], json!([{"field": field, "message": problem}]), "{path}");
        assert_eq!(answer["error"]["message"], format!("`{field}` {problem}"), "{path}");
    }
    let (_, answer) = app.answer(Method::POST, "/api/tasks", Some(json!({"titel": "x"}))).await;
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("`titel` is an unknown field; expected"), "{answer}");
}

#[tokio::test]
async fn an_error_in_json_names_its_position() {
    let app = TestApp::scripted([]).await;
    let client = reqwest::Client::new();
    let request = client.post(format!("{}/api/chat/stream", app.url)).header("content-type", "application/json");
    let answer: Value = request.body("{\"message\": ").send().await.unwrap().json().await.unwrap();
    assert!(answer["error"]["message"].as_str().unwrap().contains("line 1"), "{answer}");
}

#[tokio::test]
async fn pages_of_other_sites_cannot_use_a_local_server() {
    let app = TestApp::scripted([says("no")]).await;
    let client = reqwest::Client::new();
    let cases = [
        ("origin", "https://evil.example", 403),
        ("origin", "null", 403),
        ("host", "rebound.example", 403),
        ("origin", "http://localhost:5173", 200),
        ("host", "localhost:1", 200),
    ];
    for (name, value, expected) in cases {
        let response = client.get(format!("{}/api/tasks", app.url)).header(name, value).send().await.unwrap();
        assert_eq!(response.status().as_u16(), expected, "{name}: {value}");
    }
}

#[tokio::test]
async fn a_client_message_id_is_bound_to_its_conversation_and_text() {
    let app = TestApp::scripted([says("one"), says("two")]).await;
    let send = async |body: Value| app.answer(Method::POST, "/api/chat/stream", Some(body)).await.0;
    let first = json!({"message": "hello", "agent": "tasks", "clientMessageId": "m-1"});
    assert_eq!(send(first.clone()).await, 200);
    assert_eq!(send(first).await, 200, "a repeated request attaches to the same turn");
    let other_words = json!({"message": "something else", "agent": "tasks", "clientMessageId": "m-1"});
    assert_eq!(send(other_words).await, 409);
    let other = app.say("another conversation").await;
    let there = json!({"message": "hello", "conversationId": other[0]["conversationId"], "clientMessageId": "m-1"});
    assert_eq!(send(there).await, 409, "another conversation does not get this answer");
}

#[tokio::test]
async fn a_reader_may_resume_after_the_largest_sequence_number() {
    let app = TestApp::scripted([says("one")]).await;
    let turn = app.say("hello").await[0]["turnId"].as_str().unwrap().to_owned();
    for after in [u32::MAX, u32::MAX - 1] {
        let (status, body) = app.answer(Method::GET, &format!("/api/turns/{turn}/stream?after={after}"), None).await;
        assert!(status == 200 && !body.to_string().contains("seq"), "{after}: {status} {body}");
    }
}
