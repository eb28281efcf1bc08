//! MCP tests that need no MCP package; `clients/` runs the official package.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::{TestApp, claims, signed};

async fn call(app: &TestApp, method: &str, params: Value) -> Value {
    let response = send(app, None, method, params).await;
    assert_eq!(response.status(), StatusCode::OK);
    response.json().await.unwrap()
}

async fn send(app: &TestApp, token: Option<&str>, method: &str, params: Value) -> reqwest::Response {
    let mut request = reqwest::Client::new()
        .post(format!("{}/mcp", app.url))
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2025-11-25")
        .json(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    request.send().await.unwrap()
}

#[tokio::test]
async fn every_tool_of_the_api_is_a_tool_of_mcp_with_the_same_schemas() {
    let app = TestApp::scripted([]).await;
    let of_api = app.get("/api/tools").await;
    let of_mcp = call(&app, "tools/list", json!({})).await;
    let pick = |tool: &Value| json!([tool["name"], tool["title"], tool["inputSchema"], tool["outputSchema"]]);
    let (of_api, of_mcp) = (&of_api["tools"], &of_mcp["result"]["tools"]);
    let picked = |tools: &Value| tools.as_array().unwrap().iter().map(pick).collect::<Vec<_>>();
    assert!(!picked(of_mcp).is_empty());
    assert_eq!(picked(of_api), picked(of_mcp));
}

#[tokio::test]
async fn a_result_is_data_and_text_and_a_bad_call_is_a_tool_error() {
    let app = TestApp::scripted([]).await;
    let added = call(&app, "tools/call", json!({"name": "add_task", "arguments": {"title": "strings"}})).await;
    let result = &added["result"];
    assert_eq!(result["structuredContent"]["title"], "strings");
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, result["structuredContent"]);
    assert_eq!(app.get("/api/tasks").await["tasks"][0]["title"], "strings");
    let refused = call(&app, "tools/call", json!({"name": "add_task", "arguments": {"title": ""}})).await;
    assert_eq!(refused["result"]["isError"], true);
    assert_eq!(refused["result"]["content"][0]["text"], "title cannot be empty");
    let unknown = call(&app, "tools/call", json!({"name": "play_song", "arguments": {}})).await;
    assert_eq!(unknown["error"]["code"], -32602);
}

#[tokio::test]
async fn other_origins_and_hosts_cannot_reach_the_tools() {
    let app = TestApp::scripted([]).await;
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    for (name, value) in [("origin", "https://elsewhere.example"), ("host", "elsewhere.example")] {
        let request = reqwest::Client::new().request(Method::POST, format!("{}/mcp", app.url)).header(name, value);
        let response =
            request.header("accept", "application/json, text/event-stream").json(&body).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::FORBIDDEN, "{name}: {value}");
    }
}

#[tokio::test]
async fn each_token_reaches_its_own_tasks_and_a_missing_token_none() {
    let app = TestApp::shared([], &[]).await;
    let tokens = ["ann", "bob"].map(|id| signed(&claims(id)));
    let use_tool = async |token: &str, name: &str, arguments: Value| {
        let response = send(&app, Some(token), "tools/call", json!({"name": name, "arguments": arguments})).await;
        response.json::<Value>().await.unwrap()["result"].clone()
    };
    let task = use_tool(&tokens[0], "add_task", json!({"title": "ann's"})).await["structuredContent"]["id"].clone();
    let of_bob = use_tool(&tokens[1], "list_tasks", json!({})).await;
    assert_eq!(of_bob["structuredContent"]["tasks"], json!([]));
    let refused = use_tool(&tokens[1], "delete_task", json!({"task_id": task})).await;
    assert_eq!(refused["isError"], true);
    assert_eq!(use_tool(&tokens[0], "list_tasks", json!({})).await["structuredContent"]["tasks"][0]["id"], task);

    let anonymous = send(&app, None, "tools/list", json!({})).await;
    assert_eq!(anonymous.status(), StatusCode::UNAUTHORIZED);
    let challenge = anonymous.headers()["www-authenticate"].to_str().unwrap().to_owned();
    let metadata = challenge.split('"').nth(1).unwrap();
    let metadata: Value = reqwest::get(metadata).await.unwrap().json().await.unwrap();
    assert_eq!(metadata["resource"], format!("{}/mcp", app.url));
}
