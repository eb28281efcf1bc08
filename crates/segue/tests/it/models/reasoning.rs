//! Reasoning: every protocol shows it in a place of its own, it is stored, and it is no part of the answer.

use doubles::model::{Family, Step};
use engine::script::{Reply, says};
use reqwest::Method;
use serde_json::{Value, json};

use super::Server;
use crate::support::{TestApp, World, command, frames};

fn thinking() -> Reply {
    Reply::default().thinks("The user ").thinks("wants rain.\n").thinks("So I look.").says("Here.")
}

#[tokio::test]
async fn reasoning_is_streamed_by_lines_and_stored_and_not_sent_to_the_model_again() {
    let app = TestApp::scripted([thinking(), says("Again.")]).await;
    let first = app.chat(json!({"message": "go", "agent": "tasks"})).await;
    let thoughts: Vec<_> =
        first.iter().filter(|frame| frame["type"] == "reasoning").map(|frame| &frame["content"]).collect();
    assert_eq!(thoughts, ["The user wants rain.\n", "So I look."], "{first:?}");
    let numbers: Vec<_> = first.iter().map(|frame| frame["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=first.len() as u64).collect::<Vec<_>>());

    let conversation = first[0]["conversationId"].as_str().unwrap();
    let stored = app.get(&format!("/api/conversations/{conversation}")).await;
    let thought = json!({"type": "reasoning", "text": "The user wants rain.\nSo I look."});
    assert_eq!(stored["messages"][1]["content"], json!([thought, {"type": "text", "text": "Here."}]));
    app.chat(json!({"message": "again", "conversationId": conversation})).await;
    let sent = format!("{:?}", app.model.asked()[1].messages);
    assert!(sent.contains("Here.") && !sent.contains("wants rain"), "{sent}");
}

#[tokio::test]
async fn stored_reasoning_is_in_no_text_of_the_conversation() {
    let app = TestApp::scripted([thinking()]).await;
    let turn = app.chat(json!({"message": "go", "agent": "tasks"})).await;
    let conversation = turn[0]["conversationId"].as_str().unwrap();
    let found = |list: &Value| list["conversations"].as_array().unwrap().len();
    assert_eq!(found(&app.get("/api/conversations?q=wants%20rain").await), 0, "it is not searched");
    let listed = app.get("/api/conversations?q=here").await;
    assert_eq!(found(&listed), 1);
    assert!(!listed.to_string().contains("wants rain"), "{listed}");

    let export = |format: &str| format!("/api/conversations/{conversation}/export?format={format}");
    let text = async |path: String| app.request(Method::GET, &path, None).await.text().await.unwrap();
    let markdown = text(export("markdown")).await;
    assert!(markdown.contains("Here.") && !markdown.contains("wants rain"), "{markdown}");
    let whole = text(export("json")).await;
    assert!(whole.contains(r#"{"type":"reasoning","text":"The user wants rain.\nSo I look."}"#), "{whole}");
}

#[tokio::test]
async fn every_protocol_has_a_place_for_reasoning() {
    let app = TestApp::scripted([thinking(), thinking(), thinking(), thinking()]).await;
    let parsed = |body: &str| -> Vec<Value> {
        frames(body).into_iter().filter_map(|frame| serde_json::from_str(frame).ok()).collect()
    };
    let types = |events: &[Value], part: &str| -> Vec<String> {
        let types = events.iter().filter_map(|event| event["type"].as_str());
        types.filter(|kind| kind.to_lowercase().contains(part)).map(str::to_owned).collect()
    };

    let message = json!({"id": "m", "role": "user", "parts": [{"type": "text", "text": "go"}]});
    let ask = json!({"id": "a chat", "agent": "tasks", "messages": [message]});
    let events = parsed(&app.post("/api/ai/chat", ask).await.text().await.unwrap());
    let one = ["reasoning-start", "reasoning-delta", "reasoning-end"];
    assert_eq!(types(&events, "reasoning"), [one, one].concat(), "{events:?}");
    let deltas: Vec<_> = events.iter().filter(|event| event["type"] == "reasoning-delta").collect();
    assert!(deltas[0]["id"] != deltas[1]["id"] && deltas[1]["delta"] == "So I look.", "{deltas:?}");

    let run = json!({"threadId": "t", "runId": "r", "messages": [{"id": "m", "role": "user", "content": "go"}]});
    let events = parsed(&app.post("/ag-ui?agent=tasks", run).await.text().await.unwrap());
    let one = [
        "REASONING_START",
        "REASONING_MESSAGE_START",
        "REASONING_MESSAGE_CONTENT",
        "REASONING_MESSAGE_END",
        "REASONING_END",
    ];
    assert_eq!(types(&events, "reasoning"), [one, one].concat(), "{events:?}");

    let input = json!({"content": [{"type": "input_text", "text": "go"}], "attachments": [], "inference_options": {}});
    let create = json!({"type": "threads.create", "params": {"input": input}});
    let events = parsed(&app.post("/chatkit?agent=tasks", create).await.text().await.unwrap());
    let done: Vec<&Value> = events.iter().filter(|event| event["type"] == "thread.item.done").collect();
    let workflow = &done[1]["item"]["workflow"];
    let thought =
        json!({"type": "thought", "status_indicator": "complete", "content": "The user wants rain.\nSo I look."});
    assert_eq!(workflow["tasks"], json!([thought]), "{events:?}");
    assert_eq!((&workflow["type"], &workflow["expanded"]), (&json!("reasoning"), &json!(false)));
    let added = |event: &&Value| event["type"] == "thread.item.added" && event["item"]["id"] == done[1]["item"]["id"];
    assert_eq!(events.iter().filter(added).count(), 1, "one item for all pieces: {events:?}");
    let read = json!({"type": "threads.get_by_id", "params": {"thread_id": done[1]["item"]["thread_id"]}});
    let thread: Value = app.post("/chatkit", read).await.json().await.unwrap();
    let items: Vec<&Value> = done.iter().map(|event| &event["item"]).collect();
    assert_eq!(thread["items"]["data"], json!(items), "the same items after a reload");

    let (status, answer) = app.answer(Method::POST, "/api/local/chat", Some(json!({"message": "go"}))).await;
    assert_eq!((status, &answer["response"]), (200, &json!("Here.")), "{answer}");
}

#[tokio::test]
async fn a_command_prints_reasoning_as_events_of_its_own_and_never_with_the_answer() {
    let (server, world) = (Server::start(Family::Vllm).await, World::new().await);
    let settings = [("OPENAI_BASE_URL", server.url())];
    let chat = async |args: &[&str]| {
        server.double.play([Step::says("Here.").thinking("The user wants rain.")]);
        command(&world, &settings, &[["chat", "--agent", "tasks", "go"].as_slice(), args].concat()).await
    };
    let (code, out, said) = chat(&[]).await;
    assert_eq!((code, out.as_str(), said.as_str()), (0, "Here.\n", ""), "neither output is a terminal");

    let (_, out, said) = chat(&["--json"]).await;
    let events: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).expect("a JSON object")).collect();
    let of_type = |kind: &str| -> String {
        events.iter().filter(|event| event["type"] == kind).filter_map(|event| event["content"].as_str()).collect()
    };
    assert_eq!(
        (of_type("reasoning"), of_type("text_delta")),
        ("The user wants rain.".into(), "Here.".into()),
        "{said}"
    );
}
