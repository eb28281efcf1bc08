//! The list of conversations: pinned conversations, the matching line of a search, and titles.

use engine::script::{calls, says};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{TestApp, World};

async fn listed(app: &TestApp, query: &str) -> Vec<Value> {
    app.get(&format!("/api/conversations{query}")).await["conversations"].as_array().unwrap().clone()
}

async fn change(app: &TestApp, id: &Value, body: Value) -> (u16, Value) {
    app.answer(Method::PATCH, &format!("/api/conversations/{}", id.as_str().unwrap()), Some(body)).await
}

#[tokio::test]
async fn pinned_conversations_come_first_on_every_page() {
    let app = TestApp::scripted((0..5).map(|n| says(&format!("answer {n}")))).await;
    let mut ids = Vec::new();
    for n in 0..5 {
        ids.push(app.say(&format!("question {n}")).await[0]["conversationId"].clone());
    }
    for id in [&ids[1], &ids[0]] {
        let (status, pinned) = change(&app, id, json!({"pinned": true})).await;
        assert_eq!((status, &pinned["pinned"]), (200, &json!(true)));
    }
    let mut read = Vec::new();
    let mut page = app.get("/api/conversations?limit=2").await;
    loop {
        read.extend(page["conversations"].as_array().unwrap().iter().map(|one| one["id"].clone()));
        let Some(next) = page["next"].as_str() else { break };
        page = app.get(&format!("/api/conversations?limit=2&before={next}")).await;
    }
    assert_eq!(read, [1, 0, 4, 3, 2].map(|n| ids[n].clone()), "pinned conversations first, then by newest message");
    change(&app, &ids[0], json!({"pinned": false})).await;
    assert_eq!(listed(&app, "").await[4]["id"], ids[0]);
    assert_eq!(change(&app, &ids[0], json!({})).await.0, 400, "a request without a change is invalid");
}

#[tokio::test]
async fn a_search_returns_the_line_with_the_searched_words() {
    let app = TestApp::scripted([says("First line.\nBegin with **Sodium** by Latchkey Physics.\nLast line.")]).await;
    app.say("something warm").await;
    let found = listed(&app, "?q=latchkey").await;
    assert_eq!(found[0]["match"], "…Sodium by Latchkey Physics.");
    assert_eq!(listed(&app, "?q=warm").await[0]["match"], "something warm");
    assert_eq!(listed(&app, "").await[0].get("match"), None);
}

#[tokio::test]
async fn a_title_is_made_from_the_result_and_does_not_replace_one_of_the_user() {
    let add = |title: &str| calls("add_task", json!({"title": title}));
    let app = TestApp::scripted([add("buy strings"), says("Added."), add("call home"), says("Added.")]).await;
    let first = app.chat(json!({"message": "please remember that I need strings", "agent": "tasks"})).await;
    let id = &first[0]["conversationId"];
    assert_eq!(listed(&app, "").await[0]["title"], "Buy strings");
    change(&app, id, json!({"title": "Mine"})).await;
    app.chat(json!({"message": "and to call", "conversationId": id})).await;
    assert_eq!(listed(&app, "").await[0]["title"], "Mine");
}

#[tokio::test]
async fn a_model_improves_a_title_once_after_the_turn() {
    let settings = [("SEGUE_MODEL", "openai:test"), ("OPENAI_API_KEY", "test")];
    let replies = [says("It rains."), says("\"Rain at night.\""), says("Still."), says("not asked")];
    let app = TestApp::start(World::new().await, replies, &settings).await;
    let first = app.say("why does it sound like rain?").await;
    assert_eq!(first.last().unwrap()["stopReason"], "complete");
    while listed(&app, "").await[0]["title"] != "Rain at night" {
        tokio::task::yield_now().await;
    }
    app.chat(json!({"message": "and now?", "conversationId": first[0]["conversationId"]})).await;
    assert_eq!(app.model.asked().len(), 3, "the conversation causes one request for a title");
    let prompt = &app.model.asked()[1];
    assert!(prompt.tools.is_empty() && !prompt.may_call_tools);
    assert!(prompt.messages[0].text().contains("why does it sound like rain?"));
}
