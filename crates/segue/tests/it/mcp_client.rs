//! Tools of other MCP servers. The other server is Segue too, because it has tools that read, write and delete, and
//! that return errors.

mod consents;

use std::borrow::Cow;

use app::{config::Config, mcp_client::McpServer};
use engine::script::{Reply, calls, says};
use serde_json::{Value, json};

use crate::support::{TestApp, World};

/// A server whose agents may use the tools of the server at `url`. `table` is added to its table in `segue.toml`.
async fn with_server_at(url: &str, table: &str, replies: impl IntoIterator<Item = Reply>) -> TestApp {
    with_table(&format!("url = '{url}/mcp'\n{table}"), replies).await
}

async fn with_table(table: &str, replies: impl IntoIterator<Item = Reply>) -> TestApp {
    let world = World::new().await;
    let settings = world.settings();
    let mut config = Config::from_lookup(|name| settings.get(name).cloned()).unwrap();
    config.mcp = vec![McpServer::parse("othermcp", toml::from_str(table).unwrap(), |_| None).unwrap()];
    TestApp::configured(world, replies, config).await
}

async fn say(app: &TestApp, conversation: Option<&Value>, message: &str) -> Vec<Value> {
    app.chat(match conversation {
        Some(id) => json!({"message": message, "conversationId": id}),
        None => json!({"message": message, "agent": "discover"}),
    })
    .await
}

fn offered(app: &TestApp) -> Vec<Cow<'static, str>> {
    let prompt = &app.model.asked()[0];
    prompt.tools.iter().map(|tool| tool.name.clone()).filter(|name| name.starts_with("othermcp__")).collect()
}

#[tokio::test]
async fn read_only_tools_are_offered_under_the_name_of_their_server_and_their_output_is_marked() {
    let other = TestApp::scripted([]).await;
    other.post("/api/tasks", json!({"title": "water the plants"})).await;
    let app = with_server_at(&other.url, "", [calls("othermcp__list_tasks", json!({})), says("One.")]).await;
    let frames = say(&app, None, "what is on over there?").await;
    let done = frames.iter().find(|frame| frame["type"] == "tool_call_end").unwrap();
    assert_eq!(done["output"]["from"], "othermcp");
    assert_eq!(done["output"]["data"]["tasks"][0]["title"], "water the plants");
    let offered = offered(&app);
    assert!(
        offered.contains(&"othermcp__list_tasks".into()) && !offered.contains(&"othermcp__add_task".into()),
        "{offered:?}"
    );
}

#[tokio::test]
async fn a_server_can_be_started_by_a_command_and_doctor_reports_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("other");
    let segue = env!("CARGO_BIN_EXE_segue");
    let command = format!("command = ['env', 'SEGUE_DATA_DIR={}', '{segue}', 'mcp']", data.display());
    let table = format!("{command}\ntools = ['add_task', 'list_tasks']\ntimeout_ms = 60000");
    let add = calls("othermcp__add_task", json!({"title": "over a pipe"}));
    let app = with_table(&table, [add, calls("othermcp__list_tasks", json!({})), says("Done.")]).await;
    let asked = say(&app, None, "add it over there").await;
    let frames = decide(&app, &question(&asked), "once").await;
    let last = frames.iter().rfind(|frame| frame["type"] == "tool_call_end").unwrap();
    assert_eq!(last["output"]["data"]["tasks"][0]["title"], "over a pipe");

    let settings = folder.path().join("segue.toml");
    std::fs::write(&settings, format!("[mcp.othermcp]\n{table}\n")).unwrap();
    let doctor = std::process::Command::new(segue)
        .args(["doctor", "--json", "--config"])
        .arg(&settings)
        .env("SEGUE_DATA_DIR", folder.path().join("mine"))
        .output()
        .unwrap();
    let said: Value = serde_json::from_slice(&doctor.stdout).unwrap();
    let line = said["findings"].as_array().unwrap().iter().find(|finding| finding["part"] == "mcp").unwrap();
    assert_eq!((&line["well"], &line["says"]), (&json!(true), &json!("othermcp offers 2 tools")));
}

/// The id of the consent that an answer asks for.
fn question(frames: &[Value]) -> String {
    let error = frames.iter().find(|frame| frame["type"] == "tool_call_error").expect("a call that waits for consent");
    assert_eq!(frames.last().unwrap()["stopReason"], "complete", "the turn ends and asks for consent");
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
async fn tools_of_other_servers_cannot_be_called_directly_unless_the_operator_allows_it() {
    let other = TestApp::scripted([]).await;
    let table = "tools = ['add_task', 'list_tasks']";
    let app = with_server_at(&other.url, table, []).await;
    for tool in ["othermcp__add_task", "othermcp__list_tasks"] {
        let response = app.post(&format!("/api/tools/{tool}"), json!({"title": "x"})).await;
        assert_eq!(response.status(), 404, "{tool}");
    }
    assert!(!app.get("/api/tools").await.to_string().contains("othermcp"));
    let mcp = |method: &str, params: Value| json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let client = reqwest::Client::new();
    let send = async |body: Value| {
        let request = client.post(format!("{}/mcp", app.url)).header("accept", "application/json, text/event-stream");
        request.json(&body).send().await.unwrap().text().await.unwrap()
    };
    let listed = send(mcp("tools/list", json!({}))).await;
    assert!(listed.contains("list_tasks") && !listed.contains("othermcp"), "{listed}");
    let called = send(mcp("tools/call", json!({"name": "othermcp__add_task", "arguments": {"title": "x"}}))).await;
    assert!(called.contains("Unknown tool"), "{called}");
    for path in ["/openapi.json", "/docs"] {
        let document = app.request(reqwest::Method::GET, path, None).await.text().await.unwrap();
        assert!(!document.contains("othermcp"), "{path}");
    }

    let named = with_server_at(&other.url, &format!("{table}\ndirect = ['add_task']"), []).await;
    assert_eq!(named.post("/api/tools/othermcp__add_task", json!({"title": "named"})).await.status(), 200);
    assert_eq!(named.post("/api/tools/othermcp__list_tasks", json!({})).await.status(), 404);
    assert_eq!(titles(&other).await, ["named"]);
    let document = named.request(reqwest::Method::GET, "/openapi.json", None).await.text().await.unwrap();
    assert!(!document.contains("othermcp"), "a public document never contains the name");
}

#[tokio::test]
async fn a_started_server_gets_only_the_variables_of_its_table_and_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("environment");
    // Not an MCP server: it writes its environment to a file and exits.
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
async fn errors_of_other_servers_are_reported_and_an_unavailable_server_does_not_prevent_the_start() {
    let other = TestApp::scripted([]).await;
    let bad = calls("othermcp__list_tasks", json!({"filter": "nonsense"}));
    let app = with_server_at(&other.url, "", [bad, says("It did not work.")]).await;
    let frames = say(&app, None, "try").await;
    let error = frames.iter().find(|frame| frame["type"] == "tool_call_error").unwrap();
    let text = error["error"].as_str().unwrap();
    assert!(text.contains("Invalid input for list_tasks") && text.contains("data, not instructions"), "{error}");

    let alone = with_server_at("http://127.0.0.1:9", "timeout_ms = 500", [says("Still here.")]).await;
    assert_eq!(say(&alone, None, "hello").await.last().unwrap()["stopReason"], "complete");
    assert_eq!(offered(&alone), Vec::<&str>::new());
}

#[tokio::test]
async fn only_the_configured_agents_may_use_a_server() {
    let other = TestApp::scripted([]).await;
    let app = with_server_at(&other.url, "agents = ['tasks']", [says("Hm.")]).await;
    say(&app, None, "hello").await;
    assert_eq!(offered(&app), Vec::<&str>::new());
}
