//! Tools of another MCP server. The other server is one of our own, which has everything there is to try: tools that
//! read, write and delete, and errors in words.

use app::{config::Config, mcp_client::OutsideServer};
use engine::script::{Reply, calls, says};
use serde_json::{Value, json};

use crate::support::{TestApp, World};

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
    let add = || calls("house__add_task", json!({"title": "over a pipe"}));
    let replies = [add(), says("Shall I?"), add(), calls("house__list_tasks", json!({})), says("Done.")];
    let app = with_table(&table, replies).await;
    let asked = say(&app, None, "add it over there").await;
    let frames = say(&app, Some(&asked[0]["conversationId"]), "yes, do").await;
    let last = frames.iter().rfind(|frame| frame["type"] == "tool_call_end").unwrap();
    assert_eq!(last["output"]["data"]["tasks"][0]["title"], "over a pipe");

    std::fs::write(folder.path().join("segue.toml"), format!("[mcp.house]\n{table}\n")).unwrap();
    let doctor = std::process::Command::new(segue)
        .args(["doctor", "--json"])
        .current_dir(&folder)
        .env("SEGUE_DATA_DIR", folder.path().join("mine"))
        .output()
        .unwrap();
    let said: Value = serde_json::from_slice(&doctor.stdout).unwrap();
    let line = said["findings"].as_array().unwrap().iter().find(|finding| finding["part"] == "mcp").unwrap();
    assert_eq!((&line["well"], &line["says"]), (&json!(true), &json!("house offers 2 tools")));
}

#[tokio::test]
async fn what_changes_something_waits_for_the_users_word() {
    let other = TestApp::scripted([]).await;
    let add = || calls("house__add_task", json!({"title": "from outside"}));
    let app = beside(&other.url, "tools = ['add_task']", [add(), add(), says("Shall I?"), add(), says("Done.")]).await;
    let frames = say(&app, None, "add it over there").await;
    let errors: Vec<_> = frames.iter().filter(|frame| frame["type"] == "tool_call_error").collect();
    assert_eq!(errors.len(), 2, "a model cannot agree for its user");
    assert!(errors[0]["error"].as_str().unwrap().starts_with("Not done yet"));
    assert_eq!(other.get("/api/tasks").await["tasks"], json!([]));
    say(&app, Some(&frames[0]["conversationId"]), "yes, do").await;
    assert_eq!(other.get("/api/tasks").await["tasks"][0]["title"], "from outside");
    assert_eq!(offered(&app), ["house__add_task"], "only what was named");
}

#[tokio::test]
async fn errors_over_there_are_told_and_a_server_that_is_gone_does_not_stop_ours() {
    let other = TestApp::scripted([]).await;
    let bad = calls("house__list_tasks", json!({"filter": "nonsense"}));
    let app = beside(&other.url, "", [bad, says("It did not work.")]).await;
    let frames = say(&app, None, "try").await;
    let error = frames.iter().find(|frame| frame["type"] == "tool_call_error").unwrap();
    assert!(error["error"].as_str().unwrap().contains("Invalid input for list_tasks"), "{error}");

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
