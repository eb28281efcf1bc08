//! Conversations over HTTP: a long conversation is read page by page and completely.

use std::collections::HashSet;

use engine::script::says;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{TestApp, World};

async fn conversation_of(app: &TestApp, n_turns: usize) -> String {
    let first = app.say("message 0").await;
    let id = first[0]["conversationId"].as_str().unwrap().to_owned();
    for n in 1..n_turns {
        app.chat(json!({"message": format!("message {n}"), "conversationId": id})).await;
    }
    id
}

fn messages(page: &Value) -> &Vec<Value> {
    page["messages"].as_array().unwrap()
}

#[tokio::test]
async fn pages_contain_every_message_once() {
    let app = TestApp::scripted((0..4).map(|n| says(&format!("answer {n}")))).await;
    let id = conversation_of(&app, 4).await;
    let path = format!("/api/conversations/{id}");
    let whole = app.get(&path).await;
    assert_eq!((messages(&whole).len(), whole.get("next")), (8, None), "a short conversation is one page");
    let mut read: Vec<Value> = Vec::new();
    let mut page = app.get(&format!("{path}?limit=3")).await;
    loop {
        assert_eq!(page["title"], whole["title"]);
        read.splice(0..0, messages(&page).clone());
        let Some(next) = page["next"].as_str() else { break };
        assert_eq!(messages(&page).len(), 3);
        page = app.get(&format!("{path}?limit=3&cursor={next}")).await;
    }
    assert_eq!(&read, messages(&whole));
    let other = conversation_of(&TestApp::scripted([says("other")]).await, 1).await;
    for query in ["limit=0", "limit=201", "cursor=nonsense", &format!("cursor={other}")] {
        assert_eq!(app.answer(Method::GET, &format!("{path}?{query}"), None).await.0, 400, "{query}");
    }
}

#[tokio::test]
async fn a_conversation_longer_than_one_page_has_a_cursor_for_the_next() {
    let world = World::new().await;
    let app = TestApp::start(world.clone(), [says("first answer")], &[]).await;
    let id = conversation_of(&app, 1).await;
    for sql in MANY_MESSAGES {
        world.execute(sql).await;
    }
    let path = format!("/api/conversations/{id}");
    let newest = app.get(&path).await;
    assert_eq!(messages(&newest).len(), 1000);
    let next = newest["next"].as_str().expect("the two oldest messages are on the next page");
    let oldest = app.get(&format!("{path}?cursor={next}")).await;
    assert_eq!((messages(&oldest).len(), oldest.get("next")), (2, None));
    assert_eq!(messages(&oldest)[1]["content"][0]["text"], "first answer");
    let ids: HashSet<_> = messages(&newest).iter().chain(messages(&oldest)).map(|message| &message["id"]).collect();
    assert_eq!(ids.len(), 1002);
}

#[tokio::test]
async fn a_page_of_messages_ends_at_four_megabytes() {
    let world = World::new().await;
    let app = TestApp::start(world.clone(), [says("first answer")], &[]).await;
    let first = app.say(&"x".repeat(10_000)).await;
    for sql in MANY_MESSAGES {
        world.execute(sql).await;
    }
    let path = format!("/api/conversations/{}", first[0]["conversationId"].as_str().unwrap());
    let (mut ids, mut cursor) = (HashSet::new(), String::new());
    loop {
        let page = app.get(&format!("{path}{cursor}")).await;
        let n_bytes = page.to_string().len();
        assert!(n_bytes < 5 << 20, "{n_bytes}");
        ids.extend(messages(&page).iter().map(|message| message["id"].to_string()));
        let Some(next) = page["next"].as_str() else { break };
        cursor = format!("?limit=200&cursor={next}");
    }
    assert_eq!(ids.len(), 1002, "the pages contain every message");
}

/// Adds a thousand messages at the end of the only conversation.
const MANY_MESSAGES: [&str; 3] = [
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
    INSERT INTO messages (id, conversation_id, position, role, content, status, searchable, created_at)
    SELECT RANDOM_UUID, conversation_id, 1000 + i, role, content, status, searchable, created_at
    FROM messages, n WHERE role = 'user'",
    "UPDATE messages SET parent_id = (SELECT e.id FROM messages e
        WHERE e.position < messages.position ORDER BY e.position DESC LIMIT 1) WHERE position > 1000",
    "UPDATE conversations SET active_leaf = (SELECT id FROM messages ORDER BY position DESC LIMIT 1)",
];
