//! ChatKit, as far as it can be tested without its package; `clients/` runs the package itself.

use engine::script::says;
use expect_test::expect;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{TestApp, World, frames, redacted};

fn input(text: &str) -> Value {
    json!({"content": [{"type": "input_text", "text": text}], "attachments": [], "inference_options": {}})
}

async fn send(app: &TestApp, kind: &str, params: Value) -> String {
    let response = app.post("/chatkit?agent=tasks", json!({"type": kind, "params": params})).await;
    assert_eq!(response.status(), 200);
    response.text().await.unwrap()
}

#[tokio::test]
async fn a_turn_is_streamed_as_a_thread_with_items() {
    let app = TestApp::scripted([
        says("Let me see.").calls("list_tasks", json!({})).calls("add_task", json!({"title": ""})),
        says("Nothing there."),
    ])
    .await;
    let body = send(&app, "threads.create", json!({"input": input("what is on?")})).await;
    expect![[r##"
        {"thread":{"created_at":0,"id":"#1","items":{"data":[],"has_more":false},"metadata":{},"status":{"type":"active"},"title":"what is on?"},"type":"thread.created"}
        {"item":{"attachments":[],"content":[{"text":"what is on?","type":"input_text"}],"created_at":0,"id":"#2","inference_options":{},"thread_id":"#1","type":"user_message"},"type":"thread.item.done"}
        {"stream_options":{"allow_cancel":false},"type":"stream_options"}
        {"item":{"content":[],"created_at":0,"id":"#3.0","thread_id":"#1","type":"assistant_message"},"type":"thread.item.added"}
        {"item_id":"#3.0","type":"thread.item.updated","update":{"content":{"annotations":[],"text":"","type":"output_text"},"content_index":0,"type":"assistant_message.content_part.added"}}
        {"item_id":"#3.0","type":"thread.item.updated","update":{"content_index":0,"delta":"Let ","type":"assistant_message.content_part.text_delta"}}
        {"item_id":"#3.0","type":"thread.item.updated","update":{"content_index":0,"delta":"me ","type":"assistant_message.content_part.text_delta"}}
        {"item_id":"#3.0","type":"thread.item.updated","update":{"content_index":0,"delta":"see.","type":"assistant_message.content_part.text_delta"}}
        {"item_id":"#3.0","type":"thread.item.updated","update":{"content":{"annotations":[],"text":"Let me see.","type":"output_text"},"content_index":0,"type":"assistant_message.content_part.done"}}
        {"item":{"content":[{"annotations":[],"text":"Let me see.","type":"output_text"}],"created_at":0,"id":"#3.0","thread_id":"#1","type":"assistant_message"},"type":"thread.item.done"}
        {"icon":"bolt","text":"List tasks","type":"progress_update"}
        {"item":{"created_at":0,"id":"#4","thread_id":"#1","type":"workflow","workflow":{"expanded":false,"tasks":[{"icon":"bolt","status_indicator":"loading","title":"List tasks","type":"custom"}],"type":"custom"}},"type":"thread.item.added"}
        {"item_id":"#4","type":"thread.item.updated","update":{"task":{"icon":"check","status_indicator":"complete","title":"No tasks","type":"custom"},"task_index":0,"type":"workflow.task.updated"}}
        {"item":{"created_at":0,"id":"#4","thread_id":"#1","type":"workflow","workflow":{"expanded":false,"summary":{"icon":"check","title":"No tasks"},"tasks":[{"icon":"check","status_indicator":"complete","title":"No tasks","type":"custom"}],"type":"custom"}},"type":"thread.item.done"}
        {"icon":"bolt","text":"Add a task","type":"progress_update"}
        {"item":{"created_at":0,"id":"#5","thread_id":"#1","type":"workflow","workflow":{"expanded":false,"tasks":[{"icon":"bolt","status_indicator":"loading","title":"Add a task","type":"custom"}],"type":"custom"}},"type":"thread.item.added"}
        {"item_id":"#5","type":"thread.item.updated","update":{"task":{"content":"title cannot be empty","icon":"bug","status_indicator":"complete","title":"add_task failed","type":"custom"},"task_index":0,"type":"workflow.task.updated"}}
        {"item":{"created_at":0,"id":"#5","thread_id":"#1","type":"workflow","workflow":{"expanded":false,"summary":{"icon":"bug","title":"add_task failed"},"tasks":[{"content":"title cannot be empty","icon":"bug","status_indicator":"complete","title":"add_task failed","type":"custom"}],"type":"custom"}},"type":"thread.item.done"}
        {"item":{"content":[],"created_at":0,"id":"#3.1","thread_id":"#1","type":"assistant_message"},"type":"thread.item.added"}
        {"item_id":"#3.1","type":"thread.item.updated","update":{"content":{"annotations":[],"text":"","type":"output_text"},"content_index":0,"type":"assistant_message.content_part.added"}}
        {"item_id":"#3.1","type":"thread.item.updated","update":{"content_index":0,"delta":"Nothing ","type":"assistant_message.content_part.text_delta"}}
        {"item_id":"#3.1","type":"thread.item.updated","update":{"content_index":0,"delta":"there.","type":"assistant_message.content_part.text_delta"}}
        {"item_id":"#3.1","type":"thread.item.updated","update":{"content":{"annotations":[],"text":"Nothing there.","type":"output_text"},"content_index":0,"type":"assistant_message.content_part.done"}}
        {"item":{"content":[{"annotations":[],"text":"Nothing there.","type":"output_text"}],"created_at":0,"id":"#3.1","thread_id":"#1","type":"assistant_message"},"type":"thread.item.done"}
    "##]].assert_eq(&redacted(frames(&body)));
}

#[tokio::test]
async fn the_stored_items_equal_the_streamed_items() {
    let app = TestApp::scripted([says("Let me see.").calls("list_tasks", json!({})), says("Nothing.")]).await;
    let body = send(&app, "threads.create", json!({"input": input("what is on?")})).await;
    let events: Vec<Value> = frames(&body).into_iter().map(|frame| serde_json::from_str(frame).unwrap()).collect();
    let done: Vec<_> = events.iter().filter(|event| event["type"] == "thread.item.done").map(|e| &e["item"]).collect();
    let params = json!({"thread_id": events[0]["thread"]["id"], "order": "asc"});
    let stored: Value = serde_json::from_str(&send(&app, "items.list", params).await).unwrap();
    assert_eq!(stored["data"].as_array().unwrap().iter().collect::<Vec<_>>(), done);
}

#[tokio::test]
async fn a_quote_is_part_of_the_question() {
    let app = TestApp::scripted([says("Yes.")]).await;
    let mut input = input("really?");
    input["quoted_text"] = "it rains".into();
    send(&app, "threads.create", json!({"input": input})).await;
    assert_eq!(app.model.asked()[0].messages[0].text(), "> it rains\n\nreally?");
}

#[tokio::test]
async fn a_second_message_during_an_answer_is_rejected() {
    let app = TestApp::scripted([says("Hm").then_hangs()]).await;
    let mut stream = app.open_chat(json!({"message": "go", "agent": "tasks"})).await;
    let start = stream.next().await.unwrap();
    let thread = &start["conversationId"];
    let question =
        app.get(&format!("/api/conversations/{}", thread.as_str().unwrap())).await["messages"][0]["id"].clone();
    for (kind, params) in [
        ("threads.add_user_message", json!({"thread_id": thread, "input": input("me too")})),
        ("threads.retry_after_item", json!({"thread_id": thread, "item_id": question})),
    ] {
        let (status, _) = app.answer(Method::POST, "/chatkit", Some(json!({"type": kind, "params": params}))).await;
        assert_eq!(status, 409, "{kind}");
    }
    app.post(&format!("/api/turns/{}/stop", start["turnId"].as_str().unwrap()), json!({})).await;
    assert_eq!(stream.rest().await.last().unwrap()["stopReason"], "stopped", "the first answer was not affected");
}

#[tokio::test]
async fn another_users_thread_answers_404() {
    let app = TestApp::shared([says("Mine.")], &[]).await;
    let (ann, bob) = (app.person("ann"), app.person("bob"));
    let frames = ann.say("hello").await;
    let thread = &frames[0]["conversationId"];
    let stored = ann.get(&format!("/api/conversations/{}", thread.as_str().unwrap())).await;
    let (question, answer) = (&stored["messages"][0]["id"], stored["messages"][1]["id"].as_str().unwrap());
    let requests = [
        json!({"type": "threads.get_by_id", "params": {"thread_id": thread}}),
        json!({"type": "items.list", "params": {"thread_id": thread}}),
        json!({"type": "threads.add_user_message", "params": {"thread_id": thread, "input": input("hi")}}),
        json!({"type": "threads.retry_after_item", "params": {"thread_id": thread, "item_id": question}}),
        json!({"type": "items.feedback", "params": {"thread_id": thread, "item_ids": [format!("{answer}.0")], "kind": "positive"}}),
        json!({"type": "threads.update", "params": {"thread_id": thread, "title": "taken"}}),
        json!({"type": "threads.custom_action", "params": {"thread_id": thread, "action": {"type": "x"}}}),
        json!({"type": "threads.delete", "params": {"thread_id": thread}}),
    ];
    for request in requests {
        let (status, body) = bob.answer(Method::POST, "/chatkit", Some(request.clone())).await;
        assert_eq!((status, body["error"]["code"].as_str()), (404, Some("NOT_FOUND")), "{request}");
    }
    let (_, list) = bob.answer(Method::POST, "/chatkit", Some(json!({"type": "threads.list", "params": {}}))).await;
    assert_eq!(list, json!({"data": [], "has_more": false}));
    assert_eq!(ann.get(&format!("/api/conversations/{}", thread.as_str().unwrap())).await, stored);
    let opinion = json!({"thread_id": thread, "item_ids": [format!("{answer}.0")], "kind": "negative"});
    ann.answer(Method::POST, "/chatkit", Some(json!({"type": "items.feedback", "params": opinion}))).await;
    assert_eq!(ann.get("/api/export").await["feedback"][0]["kind"], "negative", "the export contains the feedback");
    assert_eq!(bob.get("/api/export").await["feedback"], json!([]));
}

async fn list(app: &TestApp, params: Value) -> Value {
    serde_json::from_str(&send(app, "items.list", params).await).unwrap()
}

#[tokio::test]
async fn items_are_paged_in_both_orders_and_a_page_reads_only_its_own_messages() {
    let world = World::new().await;
    let replies = [
        says("First."),
        says("Let me see.").calls("list_tasks", json!({})).calls("add_task", json!({"title": ""})),
        says("Nothing."),
        says("Third."),
    ];
    let app = TestApp::start(world.clone(), replies, &[]).await;
    let thread = app.say("one").await[0]["conversationId"].clone();
    for text in ["two", "three"] {
        app.chat(json!({"message": text, "conversationId": thread})).await;
    }
    for order in ["asc", "desc"] {
        let all = list(&app, json!({"thread_id": thread, "order": order})).await["data"].as_array().unwrap().clone();
        assert_eq!(all.len(), 9, "{all:?}");
        for limit in 1..=9 {
            let (mut read, mut after) = (Vec::new(), Value::Null);
            loop {
                let params = json!({"thread_id": thread, "order": order, "limit": limit, "after": after});
                let page = list(&app, params).await;
                read.extend(page["data"].as_array().unwrap().clone());
                if page["has_more"] == false {
                    break;
                }
                after = page["after"].clone();
            }
            assert_eq!(read, all, "{order} by {limit}");
        }
    }
    let unknown_item = json!({"thread_id": thread, "after": "0190b5a0-0000-7000-8000-000000000000"});
    let (status, _) =
        app.answer(Method::POST, "/chatkit", Some(json!({"type": "items.list", "params": unknown_item}))).await;
    assert_eq!(status, 400);
    world.execute("UPDATE messages SET content = '{}' WHERE position = (SELECT MIN(position) FROM messages)").await;
    let newest = list(&app, json!({"thread_id": thread, "limit": 1})).await;
    assert_eq!(newest["data"][0]["content"][0]["text"], "Third.", "a page does not read the whole thread");
    let opinion = json!({"thread_id": thread, "item_ids": [newest["data"][0]["id"]], "kind": "positive"});
    assert_eq!(
        send(&app, "items.feedback", opinion).await,
        "{}",
        "feedback on one item does not read the whole thread either"
    );
}

async fn stored(app: &TestApp, thread: &Value) -> Vec<Value> {
    let params = json!({"thread_id": thread, "order": "asc"});
    let items: Value = serde_json::from_str(&send(app, "items.list", params).await).unwrap();
    items["data"].as_array().unwrap().clone()
}

fn done(body: &str) -> Vec<Value> {
    let events = frames(body).into_iter().map(|frame| serde_json::from_str::<Value>(frame).unwrap());
    events.filter(|event| event["type"] == "thread.item.done").map(|event| event["item"].clone()).collect()
}

#[tokio::test]
async fn results_are_shown_as_widgets_live_and_from_the_store() {
    let add = says("Adding.").calls("add_task", json!({"title": "strings", "description": "for the guitar"}));
    let app = TestApp::scripted([add.calls("list_tasks", json!({})), says("There.")]).await;
    let body = send(&app, "threads.create", json!({"input": input("what is on?")})).await;
    let live = done(&body);
    let widget = live.iter().find(|item| item["type"] == "widget").expect("a list of tasks");
    let row = &widget["widget"]["children"][0]["children"];
    assert_eq!((&widget["widget"]["type"], &widget["copy_text"]), (&json!("ListView"), &json!("strings")));
    assert_eq!((&row[0]["children"][0]["value"], &row[1]["label"]), (&json!("strings"), &json!("Open")));
    assert_eq!(row[0]["children"][1]["value"], "for the guitar");
    assert_eq!(stored(&app, &live[0]["thread_id"]).await, live);
}

#[tokio::test]
async fn a_thread_reopened_after_a_failure_or_a_stop_shows_what_was_streamed() {
    let app =
        TestApp::scripted([says("I was about").then_fails("overloaded"), says("Let me think").then_hangs()]).await;
    let body = send(&app, "threads.create", json!({"input": input("fail")})).await;
    let live = done(&body);
    let last = live.last().unwrap();
    assert_eq!(last["workflow"]["tasks"][0]["title"], "The answer failed");
    let why = last["workflow"]["tasks"][0]["content"].as_str().unwrap();
    assert!(body.trim_end().ends_with(&format!("\"message\":\"{why}\",\"type\":\"error\"}}")), "{body}");
    assert_eq!(stored(&app, &live[0]["thread_id"]).await, live);

    let request = json!({"type": "threads.create", "params": {"input": input("stop")}});
    let mut stream = crate::support::Stream::new(app.post("/chatkit?agent=tasks", request).await);
    let mut items = Vec::new();
    let mut is_stopped = false;
    while let Some(event) = stream.next().await {
        if event["type"] == "thread.item.done" {
            items.push(event["item"].clone());
        }
        if event["update"]["delta"] == "think" && !is_stopped {
            is_stopped = true;
            let thread = items[0]["thread_id"].as_str().unwrap();
            let running = app.get(&format!("/api/conversations/{thread}")).await;
            let turn = running["messages"][1]["turnId"].as_str().unwrap();
            app.post(&format!("/api/turns/{turn}/stop"), json!({})).await;
        }
    }
    assert_eq!(items.last().unwrap()["workflow"]["tasks"][0]["title"], "Stopped");
    assert_eq!(stored(&app, &items[0]["thread_id"]).await, items);
}

/// ChatKit has no request that resumes a stream.
#[tokio::test]
async fn a_thread_opened_while_an_answer_runs_shows_it_when_it_has_ended() {
    let app = TestApp::scripted([says("Let me think").then_hangs()]).await;
    let mut stream = app.open_chat(json!({"message": "go", "agent": "tasks"})).await;
    let start = stream.next().await.unwrap();
    while stream.next().await.unwrap()["content"] != "think" {}
    let opened = stored(&app, &start["conversationId"]).await;
    assert_eq!(opened.len(), 1, "only the question, because ChatKit cannot resume a partial answer: {opened:?}");
    app.post(&format!("/api/turns/{}/stop", start["turnId"].as_str().unwrap()), json!({})).await;
    stream.rest().await;
    let opened = stored(&app, &start["conversationId"]).await;
    assert_eq!(opened[1]["content"][0]["text"], "Let me think");
}
