//! Calls of other servers' tools that need the user's consent: over HTTP, in every protocol and in the terminal.

use std::{process::Stdio, time::Duration};

use engine::script::{calls, says};
use serde_json::{Value, json};
use tokio::{
    io::AsyncWriteExt,
    process::{Child, Command},
};

use super::{decide, offered, question, say, titles, with_server_at};
use crate::support::{TestApp, Upstream, frames};

#[tokio::test]
async fn a_call_that_changes_something_waits_for_consent_and_no_message_counts_as_consent() {
    let other = TestApp::scripted([]).await;
    let add = || calls("othermcp__add_task", json!({"title": "from outside"}));
    let app = with_server_at(&other.url, "tools = ['add_task']", [add(), add(), add(), says("Done.")]).await;
    let frames = say(&app, None, "add it over there").await;
    let conversation = &frames[0]["conversationId"];
    let first = question(&frames);
    assert_eq!(app.model.asked().len(), 1, "the model is not called again before the user decides");
    for word in ["NO! Do not change anything.", "yes, do"] {
        let frames = say(&app, Some(conversation), word).await;
        assert_ne!(question(&frames), first, "each new call needs its own consent");
    }
    assert_eq!(titles(&other).await, Vec::<String>::new(), "neither yes nor no in a message is a decision");

    let frames = decide(&app, &first, "once").await;
    let calls: Vec<_> = frames.iter().filter(|frame| frame["type"] == "tool_call_start").collect();
    assert_eq!((calls.len(), &calls[0]["input"]), (1, &json!({"title": "from outside"})), "exactly that call");
    assert_eq!(titles(&other).await, ["from outside"]);
    let opened = app.get(&format!("/api/conversations/{}", conversation.as_str().unwrap())).await;
    let decision =
        &opened["messages"].as_array().unwrap().iter().rfind(|message| message["role"] == "user").unwrap()["content"];
    assert_eq!(decision[0]["text"], "Allow once: othermcp__add_task", "no text of the other server is the user's");
    let again = app.post(&format!("/api/consents/{first}"), json!({"decision": "once"})).await;
    assert_eq!(again.status(), 409, "a decision is made once");
    assert_eq!(offered(&app), ["othermcp__add_task"], "only the tool in the list");
}

#[tokio::test]
async fn a_refusal_changes_nothing_and_consent_to_one_call_does_not_allow_another() {
    let other = TestApp::scripted([]).await;
    let add = |title: &str| calls("othermcp__add_task", json!({"title": title}));
    let replies = [add("one"), add("one"), add("two"), says("ok"), add("three"), says("ok")];
    let app = with_server_at(&other.url, "tools = ['add_task']", replies).await;
    let frames = say(&app, None, "add it").await;
    let conversation = frames[0]["conversationId"].clone();
    let refused = question(&frames);
    let response = app.post(&format!("/api/consents/{refused}"), json!({"decision": "refuse"})).await;
    assert_eq!(response.status(), 204);
    assert_eq!(app.post(&format!("/api/consents/{refused}"), json!({"decision": "once"})).await.status(), 409);

    let asked = question(&say(&app, Some(&conversation), "again").await);
    // The allowed call is made. Then the model requests another call, which needs its own consent.
    let frames = decide(&app, &asked, "once").await;
    let second = question(&frames);
    assert_eq!(titles(&other).await, ["one"]);
    decide(&app, &second, "conversation").await;
    say(&app, Some(&conversation), "and a third").await;
    assert_eq!(titles(&other).await.len(), 3, "the tool may act in this conversation now");
}

#[tokio::test]
async fn a_reopened_conversation_has_the_state_of_each_consent() {
    let other = TestApp::scripted([]).await;
    let add = || calls("othermcp__add_task", json!({"title": "x"}));
    let app = with_server_at(&other.url, "tools = ['add_task']", [add(), add(), add(), says("ok")]).await;
    let frames = say(&app, None, "one").await;
    let path = format!("/api/conversations/{}", frames[0]["conversationId"].as_str().unwrap());
    let conversation = &frames[0]["conversationId"];
    let refused = question(&frames);
    let allowed = question(&say(&app, Some(conversation), "two").await);
    app.post(&format!("/api/consents/{refused}"), json!({"decision": "refuse"})).await;
    let waiting = question(&say(&app, Some(conversation), "three").await);
    decide(&app, &allowed, "once").await;
    let opened = app.get(&path).await;
    let states = opened["consents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["id"].as_str().unwrap(), one["decided"].as_bool().unwrap(), one["scope"].as_str()));
    assert_eq!(
        states.collect::<Vec<_>>(),
        [(refused.as_str(), true, None), (&allowed, true, Some("once")), (&waiting, false, None)]
    );
    let stored = &opened["messages"][1]["content"][1]["content"]["consentId"];
    assert_eq!(
        stored,
        &json!(refused),
        "the stored call has the consent id, so that the page can show it after a reload"
    );
}

#[tokio::test]
async fn an_allowed_call_runs_on_the_branch_that_requested_it() {
    let other = TestApp::scripted([]).await;
    let replies = [calls("othermcp__add_task", json!({"title": "x"})), says("another way"), says("done")];
    let app = with_server_at(&other.url, "tools = ['add_task']", replies).await;
    let frames = say(&app, None, "add it").await;
    let path = format!("/api/conversations/{}", frames[0]["conversationId"].as_str().unwrap());
    let asked = question(&frames);
    let edited = app.get(&path).await["messages"][0]["id"].clone();
    app.chat(json!({"message": "do not", "conversationId": frames[0]["conversationId"], "editOf": edited})).await;
    decide(&app, &asked, "once").await;
    let shown = app.get(&path).await;
    assert_eq!(shown["messages"][0]["content"][0]["text"], "add it");
    assert_eq!(shown["messages"].as_array().unwrap().len(), 4);
    assert_eq!(titles(&other).await, ["x"]);
}

#[tokio::test]
async fn the_other_protocols_send_the_consent_id_and_the_decision_runs_the_call() {
    let other = TestApp::scripted([]).await;
    let add = |title: &str| calls("othermcp__add_task", json!({"title": title}));
    let app = with_server_at(&other.url, "tools = ['add_task']", [add("sdk"), says("ok"), add("ag"), says("ok")]).await;
    let message = json!({"id": "m1", "role": "user", "parts": [{"type": "text", "text": "add"}]});
    let body = app.post("/api/ai/chat", json!({"id": "c", "messages": [message]})).await.text().await.unwrap();
    let chunks: Vec<Value> = frames(&body).iter().filter_map(|frame| serde_json::from_str(frame).ok()).collect();
    let chunk = chunks.iter().find(|chunk| chunk["type"] == "data-consent").expect("a part with the consent id");
    decide(&app, chunk["data"]["consentId"].as_str().unwrap(), "once").await;

    let run = json!({"threadId": "t", "runId": "r", "messages": [{"id": "m1", "role": "user", "content": "add"}]});
    let body = app.post("/ag-ui", run).await.text().await.unwrap();
    let events: Vec<Value> = frames(&body).iter().filter_map(|frame| serde_json::from_str(frame).ok()).collect();
    let result = events.iter().find(|event| event["type"] == "TOOL_CALL_RESULT").expect("a result");
    decide(&app, result["metadata"]["consentId"].as_str().unwrap(), "once").await;
    assert_eq!(titles(&other).await, ["sdk", "ag"]);
}

async fn chatkit(app: &TestApp, kind: &str, params: Value) -> Vec<Value> {
    let body = app.post("/chatkit", json!({"type": kind, "params": params})).await.text().await.unwrap();
    frames(&body).iter().filter_map(|frame| serde_json::from_str(frame).ok()).collect()
}

/// The consent card of a stream, and the action of each of its buttons.
fn card(events: &[Value], kind: &str) -> (Value, Vec<Value>) {
    let is_card = |event: &&Value| event["type"] == kind && event["item"]["widget"]["type"] == "Card";
    let item = &events.iter().find(is_card).unwrap_or_else(|| panic!("a card in {events:#?}"))["item"];
    let buttons = item["widget"]["children"][1]["children"].as_array().cloned().unwrap_or_default();
    (item.clone(), buttons.iter().map(|button| button["onClickAction"].clone()).collect())
}

#[tokio::test]
async fn chatkit_shows_a_card_whose_buttons_decide_about_the_call() {
    let other = TestApp::scripted([]).await;
    let add = |title: &str| calls("othermcp__add_task", json!({"title": title}));
    let app =
        with_server_at(&other.url, "tools = ['add_task']", [add("milk"), says("ok"), add("bread"), add("salt")]).await;
    let said = |text: &str| {
        let content = [json!({"type": "input_text", "text": text})];
        json!({"content": content, "attachments": [], "inference_options": {}})
    };
    let events = chatkit(&app, "threads.create", json!({"input": said("add milk")})).await;
    let thread = events[0]["thread"]["id"].clone();
    let (item, actions) = card(&events, "thread.item.done");
    assert!(
        item["widget"]["children"][0]["value"].as_str().unwrap().contains("milk"),
        "the card shows the call: {item}"
    );
    let decisions: Vec<_> = actions.iter().map(|action| &action["payload"]["decision"]).collect();
    assert_eq!(decisions, ["once", "conversation", "refuse"]);

    let press = |thread: &Value, action: &Value| json!({"thread_id": thread, "item_id": item["id"], "action": action});
    let made_up = json!({"type": "segue.consent", "payload": {"consentId": uuid::Uuid::now_v7(), "decision": "once"}});
    let body = json!({"type": "threads.custom_action", "params": press(&thread, &made_up)});
    assert_eq!(app.post("/chatkit", body).await.status(), 404);
    let events = chatkit(&app, "threads.custom_action", press(&thread, &actions[0])).await;
    let (replaced, buttons) = card(&events, "thread.item.replaced");
    assert_eq!((&replaced["id"], buttons.len()), (&item["id"], 0), "the replaced card has no buttons");
    assert_eq!(titles(&other).await, ["milk"]);
    let body = json!({"type": "threads.custom_action", "params": press(&thread, &actions[0])});
    assert_eq!(app.post("/chatkit", body).await.status(), 409);

    let events = chatkit(&app, "threads.add_user_message", json!({"thread_id": thread, "input": said("bread")})).await;
    let (_, actions) = card(&events, "thread.item.done");
    let events = chatkit(&app, "threads.custom_action", press(&thread, &actions[2])).await;
    let (refused, _) = card(&events, "thread.item.replaced");
    assert_eq!(refused["widget"]["children"][1]["value"], "Refused");
    assert_eq!(titles(&other).await, ["milk"], "a refusal changes nothing");
    let list = json!({"type": "items.list", "params": {"thread_id": thread, "order": "asc", "limit": 100}});
    let items: Value = app.post("/chatkit", list).await.json().await.unwrap();
    let kept: Vec<_> = items["data"].as_array().unwrap().iter().filter(|item| item["type"] == "widget").collect();
    assert_eq!(kept, [&replaced, &refused], "the stored cards equal the streamed ones");

    // A consent of one thread cannot be given through another thread.
    let events = chatkit(&app, "threads.create", json!({"input": said("salt")})).await;
    let (_, actions) = card(&events, "thread.item.done");
    let body = json!({"type": "threads.custom_action", "params": press(&thread, &actions[0])});
    assert_eq!(app.post("/chatkit", body).await.status(), 404);
}

/// Runs `segue chat` on a terminal, types `answer`, and returns the output and the effects. The program `script`
/// provides the terminal.
async fn at_the_terminal(answer: &str) -> (String, Vec<String>) {
    let (other, folder) = (TestApp::scripted([]).await, tempfile::tempdir().unwrap());
    let upstream = Upstream::calling("othermcp__add_task", Duration::ZERO, 2).await;
    let settings = folder.path().join("segue.toml");
    let table = format!("[mcp.othermcp]\nurl = '{}/mcp'\ntools = ['add_task']\n", other.url);
    std::fs::write(&settings, table).unwrap();
    let command = format!("{} chat --config {} 'remember this'", env!("CARGO_BIN_EXE_segue"), settings.display());
    let mut chat: Child = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .env("SEGUE_DATA_DIR", folder.path().join("data"))
        .envs(upstream.settings())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the program `script` is installed");
    // Kept open, because the end of the input would end the session.
    let mut keyboard = chat.stdin.take().unwrap();
    keyboard.write_all(answer.as_bytes()).await.unwrap();
    let output = chat.wait_with_output().await.unwrap();
    drop(keyboard);
    (String::from_utf8_lossy(&output.stdout).into_owned(), titles(&other).await)
}

#[tokio::test]
async fn the_chat_command_asks_for_consent_with_three_choices() {
    let (said, done) = at_the_terminal("o\n").await;
    assert!(said.contains("[o]nce, in this [c]onversation, or [r]efuse"), "{said}");
    assert_eq!(done, ["remember this"], "{said}");
    assert_eq!(at_the_terminal("c\n").await.1, ["remember this"]);
    for word in ["r\n", "yes, sure\n", "\n"] {
        assert_eq!(at_the_terminal(word).await.1, Vec::<String>::new(), "any other answer refuses: {word:?}");
    }
}

#[tokio::test]
async fn a_consent_belongs_to_its_user_and_its_conversation() {
    let other = TestApp::scripted([]).await;
    let add = || calls("othermcp__add_task", json!({"title": "x"}));
    let app = with_server_at(&other.url, "tools = ['add_task']", [add(), says("ok"), add()]).await;
    let asked = question(&say(&app, None, "add it").await);
    let nowhere = uuid::Uuid::now_v7();
    assert_eq!(app.post(&format!("/api/consents/{nowhere}"), json!({"decision": "once"})).await.status(), 404);
    app.world.execute("UPDATE consents SET user_id = 'bob'").await;
    let foreign = app.post(&format!("/api/consents/{asked}"), json!({"decision": "once"})).await;
    assert_eq!(foreign.status(), 404, "another user's consent answers 404");
    app.world.execute("UPDATE consents SET user_id = 'local'").await;
    decide(&app, &asked, "conversation").await;
    question(&say(&app, None, "add it in another conversation").await);
    assert_eq!(titles(&other).await.len(), 1);
}
