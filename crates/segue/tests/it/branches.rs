//! Branches: an edited question and a repeated question become siblings of the earlier one.

use std::time::Duration;

use engine::script::{Reply, says};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Process, TestApp, Upstream, World};

/// The texts of the branch that is shown.
fn texts(conversation: &Value) -> Vec<&str> {
    let messages = conversation["messages"].as_array().unwrap().iter();
    messages.map(|message| message["content"][0]["text"].as_str().unwrap_or("")).collect()
}

fn id_of(conversation: &Value, n: usize) -> &str {
    conversation["messages"][n]["id"].as_str().unwrap()
}

/// Two questions and their answers.
async fn two_turns(replies: impl IntoIterator<Item = Reply>) -> (TestApp, String) {
    let app = TestApp::scripted([says("A one."), says("A two.")].into_iter().chain(replies)).await;
    let first = app.say("one").await;
    let path = format!("/api/conversations/{}", first[0]["conversationId"].as_str().unwrap());
    app.chat(json!({"message": "two", "conversationId": first[0]["conversationId"]})).await;
    (app, path)
}

async fn ask_again(app: &TestApp, path: &str, question: &str, words: &str) -> Vec<Value> {
    let id = path.rsplit('/').next().unwrap();
    app.chat(json!({"message": words, "conversationId": id, "editOf": question})).await
}

async fn choose(app: &TestApp, path: &str, message: &str) -> (u16, Value) {
    app.answer(Method::PUT, &format!("{path}/branch"), Some(json!({"messageId": message}))).await
}

#[tokio::test]
async fn an_edited_question_is_a_sibling_and_the_model_reads_only_its_branch() {
    let (app, path) = two_turns([says("A three."), says("A four.")]).await;
    let before = app.get(&path).await;
    ask_again(&app, &path, id_of(&before, 2), "three").await;
    let edited = app.get(&path).await;
    assert_eq!(texts(&edited), ["one", "A one.", "three", "A three."]);
    let siblings = &edited["messages"][2]["siblings"];
    let ids = json!([id_of(&before, 2), id_of(&edited, 2)]);
    assert_eq!(*siblings, json!({"index": 1, "count": 2, "ids": ids}));
    assert_eq!(edited["messages"][0].get("siblings"), None, "a single version has no siblings");
    let read = |n: usize| -> Vec<String> { app.model.asked()[n].messages.iter().map(engine::Message::text).collect() };
    assert_eq!(read(2)[..3], ["one", "A one.", "three"]);

    let (status, chosen) = choose(&app, &path, id_of(&before, 2)).await;
    assert_eq!((status, texts(&chosen)), (200, vec!["one", "A one.", "two", "A two."]));
    assert_eq!(app.get(&path).await, chosen, "the choice is stored, so another device shows the same branch");
    app.chat(json!({"message": "four", "conversationId": chosen["id"]})).await;
    assert_eq!(read(3)[..5], ["one", "A one.", "two", "A two.", "four"], "the model reads the branch that is shown");
    let (_, back) = choose(&app, &path, id_of(&edited, 3)).await;
    assert_eq!(texts(&back), ["one", "A one.", "three", "A three."]);
}

#[tokio::test]
async fn the_first_question_can_be_edited_and_a_chosen_branch_is_shown_to_its_newest_message() {
    let (app, path) = two_turns([says("A other.")]).await;
    let before = app.get(&path).await;
    ask_again(&app, &path, id_of(&before, 0), "other").await;
    let edited = app.get(&path).await;
    assert_eq!(texts(&edited), ["other", "A other."]);
    assert_eq!(edited["messages"][0]["siblings"]["count"], 2);
    let (_, chosen) = choose(&app, &path, id_of(&before, 0)).await;
    assert_eq!(texts(&chosen), ["one", "A one.", "two", "A two."]);
}

#[tokio::test]
async fn repeating_a_question_adds_an_answer_and_keeps_the_first() {
    let (app, path) = two_turns([says("A two again.")]).await;
    let before = app.get(&path).await;
    ask_again(&app, &path, id_of(&before, 2), "two").await;
    let after = app.get(&path).await;
    assert_eq!(texts(&after), ["one", "A one.", "two", "A two again."]);
    assert_eq!(id_of(&after, 2), id_of(&before, 2), "one question");
    assert_eq!(after["messages"][3]["siblings"]["ids"], json!([id_of(&before, 3), id_of(&after, 3)]));
    assert_eq!(app.model.asked()[2].messages.len(), app.model.asked()[1].messages.len());
}

#[tokio::test]
async fn an_edit_that_is_sent_twice_starts_one_turn() {
    let (app, path) = two_turns([says("A three.")]).await;
    let before = app.get(&path).await;
    let body = json!({"message": "three", "conversationId": before["id"], "editOf": id_of(&before, 2),
        "clientMessageId": "edit-1"});
    let (first, second) = (app.chat(body.clone()).await, app.chat(body).await);
    assert_eq!(first[0]["turnId"], second[0]["turnId"]);
    assert_eq!(app.get(&path).await["messages"][2]["siblings"]["count"], 2);
}

#[tokio::test]
async fn invalid_edits_and_choices_are_rejected_and_change_nothing() {
    let (app, path) = two_turns([]).await;
    let before = app.get(&path).await;
    let nowhere = uuid::Uuid::now_v7().to_string();
    let other = TestApp::scripted([says("x")]).await.say("other").await;
    for (edit_of, conversation, expected) in [
        (nowhere.as_str(), Some(&before["id"]), 404),
        (id_of(&before, 1), Some(&before["id"]), 404),
        (other[0]["messageId"].as_str().unwrap(), Some(&before["id"]), 404),
        (id_of(&before, 0), None, 400),
        ("nonsense", Some(&before["id"]), 400),
    ] {
        let body = json!({"message": "x", "conversationId": conversation, "editOf": edit_of});
        let (status, answer) = app.answer(Method::POST, "/api/chat/stream", Some(body)).await;
        assert_eq!(status, expected, "{edit_of} {answer}");
    }
    for (message, expected) in [(nowhere.as_str(), 404), (id_of(&before, 1), 200), ("nonsense", 400)] {
        assert_eq!(choose(&app, &path, message).await.0, expected, "{message}");
    }
    assert_eq!(app.get(&path).await, before);
}

#[tokio::test]
async fn the_turn_of_a_branch_can_be_stopped_and_no_other_branch_can_be_chosen_while_it_runs() {
    let (app, path) = two_turns([says("Half").then_hangs()]).await;
    let before = app.get(&path).await;
    let body = json!({"message": "three", "conversationId": before["id"], "editOf": id_of(&before, 2)});
    let mut stream = app.open_chat(body).await;
    let start = stream.next().await.unwrap();
    stream.next().await.expect("some words");
    assert_eq!(choose(&app, &path, id_of(&before, 2)).await.0, 409, "a turn runs");
    assert_eq!(app.get("/api/conversations").await["conversations"][0]["running"], true);
    app.post(&format!("/api/turns/{}/stop", start["turnId"].as_str().unwrap()), json!({})).await;
    assert_eq!(stream.rest().await.last().unwrap()["stopReason"], "stopped");
    let stopped = app.get(&path).await;
    assert_eq!(
        (texts(&stopped)[2..].to_vec(), &stopped["messages"][3]["status"]),
        (vec!["three", "Half"], &json!("stopped"))
    );
    assert_eq!(app.get("/api/conversations").await["conversations"][0]["running"], false);
    let (status, back) = choose(&app, &path, id_of(&before, 2)).await;
    assert_eq!((status, texts(&back)), (200, vec!["one", "A one.", "two", "A two."]));
}

#[tokio::test]
async fn a_turn_whose_server_dies_is_finished_on_its_branch() {
    let (upstream, world) = (Upstream::start(Duration::from_millis(20), 10).await, World::new().await);
    let settings: Vec<_> = upstream.settings().into_iter().chain([("SEGUE_LEASE_MS", "1000".to_owned())]).collect();
    let server = Process::start(&world, &settings).await;
    let first = server.chat(json!({"message": "one", "agent": "tasks"})).await.rest().await;
    let path = format!("/api/conversations/{}", first[0]["conversationId"].as_str().unwrap());
    let before = server.get(&path).await;
    let body = json!({"message": "edited", "conversationId": before["id"], "editOf": id_of(&before, 0)});
    let mut stream = server.chat(body).await;
    let start = stream.next().await.unwrap();
    stream.next().await.expect("some words");
    server.kill().await;
    let server = Process::start(&world, &settings).await;
    let rest = server.follow(start["turnId"].as_str().unwrap(), 1).await.rest().await;
    assert_eq!(rest.last().unwrap()["stopReason"], "complete");
    let after = server.get(&path).await;
    assert_eq!((after["messages"].as_array().unwrap().len(), texts(&after)[0]), (2, "edited"));
    assert_eq!(after["messages"][0]["siblings"]["count"], 2);
    let tasks = server.get("/api/tasks").await;
    let titles: Vec<_> = tasks["tasks"].as_array().unwrap().iter().map(|task| &task["title"]).collect();
    assert_eq!(titles, ["one", "edited"], "each branch had its effect once");
}

#[tokio::test]
async fn exports_contain_every_branch() {
    let (app, path) = two_turns([says("A **three**.")]).await;
    let before = app.get(&path).await;
    ask_again(&app, &path, id_of(&before, 2), "three").await;
    let shown = app.get(&path).await;
    let whole = app.get("/api/export").await;
    let one = app.get(&format!("{path}/export?format=json")).await;
    for exported in [&whole["conversations"][0], &one] {
        assert_eq!(texts(exported), ["one", "A one.", "two", "A two.", "three", "A **three**."]);
        let branch: Vec<_> =
            shown["messages"].as_array().unwrap().iter().map(|message| message["id"].clone()).collect();
        assert_eq!(exported["branch"], json!(branch));
        assert_eq!(exported["messages"][4]["parentId"], exported["messages"][1]["id"]);
    }
    let markdown = app.request(Method::GET, &format!("{path}/export?format=markdown"), None).await;
    assert_eq!(markdown.headers()["content-type"], "text/markdown; charset=utf-8");
    let markdown = markdown.text().await.unwrap();
    assert!(markdown.contains("A **three**.") && !markdown.contains("A two."), "{markdown}");
    assert_eq!(app.answer(Method::GET, &format!("{path}/export?format=pdf"), None).await.0, 400);
}

#[tokio::test]
async fn every_protocol_adds_branches_and_shows_the_chosen_one() {
    let app = TestApp::scripted((1..=6).map(|n| says(&format!("A{n}")))).await;
    let ai = |text: &str| json!({"id": "m1", "role": "user", "parts": [{"type": "text", "text": text}]});
    app.post("/api/ai/chat", json!({"id": "c", "messages": [ai("first")]})).await.text().await.unwrap();
    let listed = app.get("/api/conversations").await;
    let path = format!("/api/conversations/{}", listed["conversations"][0]["id"].as_str().unwrap());
    let regenerate = json!({"id": "c", "trigger": "regenerate-message", "messages": [ai("first")]});
    app.post("/api/ai/chat", regenerate.clone()).await.text().await.unwrap();
    let edit = json!({"id": "c", "messageId": "m1", "messages": [ai("second")]});
    app.post("/api/ai/chat", edit).await.text().await.unwrap();
    app.post("/api/ai/chat", regenerate).await.text().await.unwrap();
    let stored = app.get(&path).await;
    assert_eq!(
        texts(&stored),
        ["second", "A4"],
        "the id of the front end refers to the newest version of its question"
    );
    assert_eq!(stored["messages"][0]["siblings"]["count"], 2);
    assert_eq!(stored["messages"][1]["siblings"]["count"], 2);

    let thread = path.rsplit('/').next().unwrap();
    let retry =
        json!({"type": "threads.retry_after_item", "params": {"thread_id": thread, "item_id": id_of(&stored, 0)}});
    app.post("/chatkit", retry).await.text().await.unwrap();
    assert_eq!(texts(&app.get(&path).await), ["second", "A5"]);
    let ag_ui = json!({"threadId": "c", "runId": "r", "messages": [{"id": "m1", "role": "user", "content": "second"}]});
    app.post("/ag-ui", ag_ui).await.text().await.unwrap();
    assert_eq!(texts(&app.get(&path).await), ["second", "A6"]);

    let first = stored["messages"][0]["siblings"]["ids"][0].as_str().unwrap();
    choose(&app, &path, first).await;
    let items = json!({"type": "items.list", "params": {"thread_id": thread, "order": "asc"}});
    let items: Value = app.post("/chatkit", items).await.json().await.unwrap();
    let shown: Vec<_> = items["data"].as_array().unwrap().iter().map(|item| &item["content"][0]["text"]).collect();
    assert_eq!(shown, ["first", "A2"]);
}
