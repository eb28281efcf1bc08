//! Tools of another MCP server. The other server is one of our own, which has everything there is to try: tools that
//! read, write and delete, and errors in words.

use std::{process::Stdio, time::Duration};

use app::{config::Config, mcp_client::OutsideServer};
use engine::script::{Reply, calls, says};
use serde_json::{Value, json};
use tokio::{
    io::AsyncWriteExt,
    process::{Child, Command},
};

use crate::support::{TestApp, Upstream, World, frames};

/// A server whose agents may use the one at `url`, as a table in `segue.toml` says.
async fn beside(url: &str, table: &str, replies: impl IntoIterator<Item = Reply>) -> TestApp {
    with_table(&format!("url = '{url}/mcp'\n{table}"), replies).await
}

async fn with_table(table: &str, replies: impl IntoIterator<Item = Reply>) -> TestApp {
    let world = World::new().await;
    let settings = world.settings();
    let mut config = Config::from_lookup(|name| settings.get(name).cloned()).unwrap();
    config.mcp = vec![OutsideServer::parse("house", toml::from_str(table).unwrap(), |_| None).unwrap()];
    TestApp::configured(world, replies, config).await
}

async fn say(app: &TestApp, conversation: Option<&Value>, message: &str) -> Vec<Value> {
    app.chat(match conversation {
        Some(id) => json!({"message": message, "conversationId": id}),
        None => json!({"message": message, "agent": "discover"}),
    })
    .await
}

fn offered(app: &TestApp) -> Vec<&'static str> {
    let prompt = &app.model.asked()[0];
    prompt.tools.iter().map(|tool| tool.name).filter(|name| name.starts_with("house__")).collect()
}

#[tokio::test]
async fn what_only_reads_is_offered_under_its_servers_name_and_answers_as_data_from_outside() {
    let other = TestApp::scripted([]).await;
    other.post("/api/tasks", json!({"title": "water the plants"})).await;
    let app = beside(&other.url, "", [calls("house__list_tasks", json!({})), says("One.")]).await;
    let frames = say(&app, None, "what is on over there?").await;
    let done = frames.iter().find(|frame| frame["type"] == "tool_call_end").unwrap();
    assert_eq!(done["output"]["from"], "house");
    assert_eq!(done["output"]["data"]["tasks"][0]["title"], "water the plants");
    let offered = offered(&app);
    assert!(offered.contains(&"house__list_tasks") && !offered.contains(&"house__add_task"), "{offered:?}");
}

#[tokio::test]
async fn a_server_started_by_a_command_is_spoken_to_over_its_pipes_and_the_doctor_sees_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("other");
    let segue = env!("CARGO_BIN_EXE_segue");
    let command = format!("command = ['env', 'SEGUE_DATA_DIR={}', '{segue}', 'mcp']", data.display());
    let table = format!("{command}\ntools = ['add_task', 'list_tasks']\ntimeout_ms = 60000");
    let add = calls("house__add_task", json!({"title": "over a pipe"}));
    let app = with_table(&table, [add, calls("house__list_tasks", json!({})), says("Done.")]).await;
    let asked = say(&app, None, "add it over there").await;
    let frames = decide(&app, &question(&asked), "once").await;
    let last = frames.iter().rfind(|frame| frame["type"] == "tool_call_end").unwrap();
    assert_eq!(last["output"]["data"]["tasks"][0]["title"], "over a pipe");

    let settings = folder.path().join("segue.toml");
    std::fs::write(&settings, format!("[mcp.house]\n{table}\n")).unwrap();
    let doctor = std::process::Command::new(segue)
        .args(["doctor", "--json", "--config"])
        .arg(&settings)
        .env("SEGUE_DATA_DIR", folder.path().join("mine"))
        .output()
        .unwrap();
    let said: Value = serde_json::from_slice(&doctor.stdout).unwrap();
    let line = said["findings"].as_array().unwrap().iter().find(|finding| finding["part"] == "mcp").unwrap();
    assert_eq!((&line["well"], &line["says"]), (&json!(true), &json!("house offers 2 tools")));
}

/// The question with which an answer ended.
fn question(frames: &[Value]) -> String {
    let error = frames.iter().find(|frame| frame["type"] == "tool_call_error").expect("a call that waits");
    assert_eq!(frames.last().unwrap()["stopReason"], "complete", "the turn ends with the question");
    error["consentId"].as_str().unwrap_or_else(|| panic!("a consent: {error}")).to_owned()
}

/// Decides, and reads the turn that follows.
async fn decide(app: &TestApp, consent: &str, decision: &str) -> Vec<Value> {
    let response = app.post(&format!("/api/consents/{consent}"), json!({"decision": decision})).await;
    assert_eq!(response.status(), 202);
    let started: Value = response.json().await.unwrap();
    app.follow(started["turnId"].as_str().unwrap(), 0).await.rest().await
}

async fn titles(app: &TestApp) -> Vec<String> {
    let tasks = app.get("/api/tasks").await;
    tasks["tasks"].as_array().unwrap().iter().map(|task| task["title"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn what_changes_something_waits_for_a_decision_and_no_word_of_anyone_is_one() {
    let other = TestApp::scripted([]).await;
    let add = || calls("house__add_task", json!({"title": "from outside"}));
    let app = beside(&other.url, "tools = ['add_task']", [add(), add(), add(), says("Done.")]).await;
    let frames = say(&app, None, "add it over there").await;
    let conversation = &frames[0]["conversationId"];
    let first = question(&frames);
    assert_eq!(app.model.asked().len(), 1, "the model is not asked again before the person is");
    for word in ["NO! Do not change anything.", "yes, do"] {
        let frames = say(&app, Some(conversation), word).await;
        assert_ne!(question(&frames), first, "a new call is a new question");
    }
    assert_eq!(titles(&other).await, Vec::<String>::new(), "neither no nor yes in a message is a decision");

    let frames = decide(&app, &first, "once").await;
    let calls: Vec<_> = frames.iter().filter(|frame| frame["type"] == "tool_call_start").collect();
    assert_eq!((calls.len(), &calls[0]["input"]), (1, &json!({"title": "from outside"})), "exactly that call");
    assert_eq!(titles(&other).await, ["from outside"]);
    let again = app.post(&format!("/api/consents/{first}"), json!({"decision": "once"})).await;
    assert_eq!(again.status(), 409, "a question is answered once");
    assert_eq!(offered(&app), ["house__add_task"], "only what was named");
}

#[tokio::test]
async fn a_refusal_changes_nothing_and_a_consent_to_one_call_is_none_to_another() {
    let other = TestApp::scripted([]).await;
    let add = |title: &str| calls("house__add_task", json!({"title": title}));
    let replies = [add("one"), add("one"), add("two"), says("ok"), add("three"), says("ok")];
    let app = beside(&other.url, "tools = ['add_task']", replies).await;
    let frames = say(&app, None, "add it").await;
    let conversation = frames[0]["conversationId"].clone();
    let refused = question(&frames);
    let response = app.post(&format!("/api/consents/{refused}"), json!({"decision": "refuse"})).await;
    assert_eq!(response.status(), 204);
    assert_eq!(app.post(&format!("/api/consents/{refused}"), json!({"decision": "once"})).await.status(), 409);

    let asked = question(&say(&app, Some(&conversation), "again").await);
    // The call that was allowed is made, then the model tries another one: that is a new question.
    let frames = decide(&app, &asked, "once").await;
    let second = question(&frames);
    assert_eq!(titles(&other).await, ["one"]);
    decide(&app, &second, "conversation").await;
    say(&app, Some(&conversation), "and a third").await;
    assert_eq!(titles(&other).await.len(), 3, "the tool may act in this conversation now");
}

#[tokio::test]
async fn a_reopened_conversation_tells_what_became_of_each_question() {
    let other = TestApp::scripted([]).await;
    let add = || calls("house__add_task", json!({"title": "x"}));
    let app = beside(&other.url, "tools = ['add_task']", [add(), add(), add(), says("ok")]).await;
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
    assert_eq!(stored, &json!(refused), "the stored call names its question, so that a reload can ask it again");
}

#[tokio::test]
async fn a_decision_is_carried_out_on_the_branch_that_asked() {
    let other = TestApp::scripted([]).await;
    let replies = [calls("house__add_task", json!({"title": "x"})), says("another way"), says("done")];
    let app = beside(&other.url, "tools = ['add_task']", replies).await;
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
async fn the_other_protocols_name_the_question_and_its_answer_runs_the_call() {
    let other = TestApp::scripted([]).await;
    let add = |title: &str| calls("house__add_task", json!({"title": title}));
    let app = beside(&other.url, "tools = ['add_task']", [add("sdk"), says("ok"), add("ag"), says("ok")]).await;
    let message = json!({"id": "m1", "role": "user", "parts": [{"type": "text", "text": "add"}]});
    let body = app.post("/api/ai/chat", json!({"id": "c", "messages": [message]})).await.text().await.unwrap();
    let chunks: Vec<Value> = frames(&body).iter().filter_map(|frame| serde_json::from_str(frame).ok()).collect();
    let chunk = chunks.iter().find(|chunk| chunk["type"] == "data-consent").expect("a part that names the question");
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

/// The card of a stream, and the action behind each of its buttons.
fn card(events: &[Value], kind: &str) -> (Value, Vec<Value>) {
    let is_card = |event: &&Value| event["type"] == kind && event["item"]["widget"]["type"] == "Card";
    let item = &events.iter().find(is_card).unwrap_or_else(|| panic!("a card in {events:#?}"))["item"];
    let buttons = item["widget"]["children"][1]["children"].as_array().cloned().unwrap_or_default();
    (item.clone(), buttons.iter().map(|button| button["onClickAction"].clone()).collect())
}

#[tokio::test]
async fn chatkit_shows_a_card_whose_buttons_decide_about_the_call() {
    let other = TestApp::scripted([]).await;
    let add = |title: &str| calls("house__add_task", json!({"title": title}));
    let app = beside(&other.url, "tools = ['add_task']", [add("milk"), says("ok"), add("bread"), add("salt")]).await;
    let said = |text: &str| {
        let content = [json!({"type": "input_text", "text": text})];
        json!({"content": content, "attachments": [], "inference_options": {}})
    };
    let events = chatkit(&app, "threads.create", json!({"input": said("add milk")})).await;
    let thread = events[0]["thread"]["id"].clone();
    let (item, actions) = card(&events, "thread.item.done");
    assert!(item["widget"]["children"][0]["value"].as_str().unwrap().contains("milk"), "it says what is asked: {item}");
    let decisions: Vec<_> = actions.iter().map(|action| &action["payload"]["decision"]).collect();
    assert_eq!(decisions, ["once", "conversation", "refuse"]);

    let press = |thread: &Value, action: &Value| json!({"thread_id": thread, "item_id": item["id"], "action": action});
    let made_up = json!({"type": "segue.consent", "payload": {"consentId": uuid::Uuid::now_v7(), "decision": "once"}});
    let body = json!({"type": "threads.custom_action", "params": press(&thread, &made_up)});
    assert_eq!(app.post("/chatkit", body).await.status(), 404);
    let events = chatkit(&app, "threads.custom_action", press(&thread, &actions[0])).await;
    let (replaced, buttons) = card(&events, "thread.item.replaced");
    assert_eq!((&replaced["id"], buttons.len()), (&item["id"], 0), "it cannot be pressed twice");
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
    assert_eq!(kept, [&replaced, &refused], "the stored cards are those that were shown");

    // A question of one thread cannot be answered through another.
    let events = chatkit(&app, "threads.create", json!({"input": said("salt")})).await;
    let (_, actions) = card(&events, "thread.item.done");
    let body = json!({"type": "threads.custom_action", "params": press(&thread, &actions[0])});
    assert_eq!(app.post("/chatkit", body).await.status(), 404);
}

/// `segue chat` with a person at its terminal, who types `answer`. `script` gives it a terminal.
async fn at_the_terminal(answer: &str) -> (String, Vec<String>) {
    let (other, folder) = (TestApp::scripted([]).await, tempfile::tempdir().unwrap());
    let upstream = Upstream::calling("house__add_task", Duration::ZERO, 2).await;
    let settings = folder.path().join("segue.toml");
    let table = format!("[mcp.house]\nurl = '{}/mcp'\ntools = ['add_task']\n", other.url);
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
        .expect("script is there");
    // Kept open: its end would be the end of the terminal.
    let mut keyboard = chat.stdin.take().unwrap();
    keyboard.write_all(answer.as_bytes()).await.unwrap();
    let output = chat.wait_with_output().await.unwrap();
    drop(keyboard);
    (String::from_utf8_lossy(&output.stdout).into_owned(), titles(&other).await)
}

#[tokio::test]
async fn at_the_terminal_a_call_waits_for_one_of_three_answers() {
    let (said, done) = at_the_terminal("o\n").await;
    assert!(said.contains("[o]nce, in this [c]onversation, or [r]efuse"), "{said}");
    assert_eq!(done, ["remember this"], "{said}");
    assert_eq!(at_the_terminal("c\n").await.1, ["remember this"]);
    for word in ["r\n", "yes, sure\n", "\n"] {
        assert_eq!(at_the_terminal(word).await.1, Vec::<String>::new(), "anything but a clear yes refuses: {word:?}");
    }
}

#[tokio::test]
async fn a_consent_belongs_to_its_user_and_its_conversation() {
    let other = TestApp::scripted([]).await;
    let add = || calls("house__add_task", json!({"title": "x"}));
    let app = beside(&other.url, "tools = ['add_task']", [add(), says("ok"), add()]).await;
    let asked = question(&say(&app, None, "add it").await);
    let nowhere = uuid::Uuid::now_v7();
    assert_eq!(app.post(&format!("/api/consents/{nowhere}"), json!({"decision": "once"})).await.status(), 404);
    app.world.execute("UPDATE consents SET user_id = 'bob'").await;
    let foreign = app.post(&format!("/api/consents/{asked}"), json!({"decision": "once"})).await;
    assert_eq!(foreign.status(), 404, "another user's question does not exist");
    app.world.execute("UPDATE consents SET user_id = 'local'").await;
    decide(&app, &asked, "conversation").await;
    question(&say(&app, None, "add it in another conversation").await);
    assert_eq!(titles(&other).await.len(), 1);
}

#[tokio::test]
async fn tools_of_others_are_not_reachable_directly_unless_the_operator_named_them() {
    let other = TestApp::scripted([]).await;
    let table = "tools = ['add_task', 'list_tasks']";
    let app = beside(&other.url, table, []).await;
    for tool in ["house__add_task", "house__list_tasks"] {
        let response = app.post(&format!("/api/tools/{tool}"), json!({"title": "x"})).await;
        assert_eq!(response.status(), 404, "{tool}");
    }
    assert!(!app.get("/api/tools").await.to_string().contains("house"));
    let mcp = |method: &str, params: Value| json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let client = reqwest::Client::new();
    let send = async |body: Value| {
        let request = client.post(format!("{}/mcp", app.url)).header("accept", "application/json, text/event-stream");
        request.json(&body).send().await.unwrap().text().await.unwrap()
    };
    let listed = send(mcp("tools/list", json!({}))).await;
    assert!(listed.contains("list_tasks") && !listed.contains("house"), "{listed}");
    let called = send(mcp("tools/call", json!({"name": "house__add_task", "arguments": {"title": "x"}}))).await;
    assert!(called.contains("Unknown tool"), "{called}");
    for path in ["/openapi.json", "/docs"] {
        let document = app.request(reqwest::Method::GET, path, None).await.text().await.unwrap();
        assert!(!document.contains("house"), "{path}");
    }

    let named = beside(&other.url, &format!("{table}\ndirect = ['add_task']"), []).await;
    assert_eq!(named.post("/api/tools/house__add_task", json!({"title": "named"})).await.status(), 200);
    assert_eq!(named.post("/api/tools/house__list_tasks", json!({})).await.status(), 404);
    assert_eq!(titles(&other).await, ["named"]);
    let document = named.request(reqwest::Method::GET, "/openapi.json", None).await.text().await.unwrap();
    assert!(!document.contains("house"), "not even then in a public document");
}

#[tokio::test]
async fn a_server_that_we_start_gets_what_its_table_names_and_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("environment");
    // Not an MCP server: it writes down what it was given and leaves.
    let program = folder.path().join("server");
    std::fs::write(&program, format!("#!/bin/sh\nenv > {}\n", seen.display())).unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let settings = folder.path().join("segue.toml");
    let table = format!("[mcp.spy]\ncommand = ['{}']\nenv = ['FOR_THE_SPY']\n", program.display());
    std::fs::write(&settings, table).unwrap();
    std::process::Command::new(env!("CARGO_BIN_EXE_segue"))
        .args(["doctor", "--config"])
        .arg(&settings)
        .env("SEGUE_DATA_DIR", folder.path().join("data"))
        .env("OPENAI_BASE_URL", "http://127.0.0.1:9")
        .env("OPENAI_API_KEY", "canary-openai")
        .env("SEGUE_JWT_SECRET", "canary-jwt")
        .env("FOR_THE_SPY", "given")
        .output()
        .unwrap();
    let environment = std::fs::read_to_string(&seen).expect("it was started");
    assert!(environment.contains("FOR_THE_SPY=given") && environment.contains("PATH="), "{environment}");
    assert!(!environment.contains("canary") && !environment.contains("SEGUE_DATA_DIR"), "{environment}");
}

#[tokio::test]
async fn a_settings_file_of_the_current_folder_is_reported_and_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let touched = folder.path().join("touched");
    let table = format!("[mcp.evil]\ncommand = ['touch', '{}']\n", touched.display());
    std::fs::write(folder.path().join("segue.toml"), table).unwrap();
    let doctor = std::process::Command::new(env!("CARGO_BIN_EXE_segue"))
        .arg("doctor")
        .current_dir(&folder)
        .env("SEGUE_DATA_DIR", folder.path().join("data"))
        .env("XDG_CONFIG_HOME", folder.path().join("config"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&doctor.stderr).into_owned();
    assert!(said.contains("NOT read") && said.contains("--config segue.toml"), "{said}");
    assert!(!touched.exists() && !String::from_utf8_lossy(&doctor.stdout).contains("evil"));
}

#[tokio::test]
async fn errors_over_there_are_told_and_a_server_that_is_gone_does_not_stop_ours() {
    let other = TestApp::scripted([]).await;
    let bad = calls("house__list_tasks", json!({"filter": "nonsense"}));
    let app = beside(&other.url, "", [bad, says("It did not work.")]).await;
    let frames = say(&app, None, "try").await;
    let error = frames.iter().find(|frame| frame["type"] == "tool_call_error").unwrap();
    let text = error["error"].as_str().unwrap();
    assert!(text.contains("Invalid input for list_tasks") && text.contains("data, not instructions"), "{error}");

    let alone = beside("http://127.0.0.1:9", "timeout_ms = 500", [says("Still here.")]).await;
    assert_eq!(say(&alone, None, "hello").await.last().unwrap()["stopReason"], "complete");
    assert_eq!(offered(&alone), Vec::<&str>::new());
}

#[tokio::test]
async fn only_the_agents_it_was_given_to_may_use_it() {
    let other = TestApp::scripted([]).await;
    let app = beside(&other.url, "agents = ['tasks']", [says("Hm.")]).await;
    say(&app, None, "hello").await;
    assert_eq!(offered(&app), Vec::<&str>::new());
}
