//! The OpenAPI document and its HTML page.

use std::collections::HashSet;

use expect_test::expect_file;
use serde_json::Value;

use crate::support::TestApp;

#[tokio::test]
async fn the_document_equals_the_stored_snapshot() {
    let app = TestApp::scripted([]).await;
    let document = app.get("/openapi.json").await;
    let text = serde_json::to_string_pretty(&document).unwrap() + "\n";
    expect_file!["openapi.json"].assert_eq(&text);
}

#[tokio::test]
async fn every_operation_has_a_unique_id_a_summary_and_a_response() {
    let app = TestApp::scripted([]).await;
    let document = app.get("/openapi.json").await;
    let mut names = HashSet::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let name = operation["operationId"].as_str().unwrap();
            assert!(names.insert(name.to_owned()), "{name} twice");
            assert!(operation["summary"].is_string(), "{method} {path} has no summary");
            assert!(operation["responses"].as_object().unwrap().keys().any(|status| status.starts_with('2')));
        }
    }
    for tool in app.get("/api/tools").await["tools"].as_array().unwrap() {
        let path = format!("/api/tools/{}", tool["name"].as_str().unwrap());
        let body = &document["paths"][&path]["post"]["requestBody"]["content"]["application/json"]["schema"];
        assert_eq!(body, &tool["inputSchema"], "{path}");
    }
}

#[tokio::test]
async fn every_group_has_a_description_of_its_own() {
    let app = TestApp::scripted([]).await;
    let document = app.get("/openapi.json").await;
    let mut descriptions = HashSet::new();
    for group in document["tags"].as_array().unwrap() {
        let description = group["description"].as_str();
        let description =
            description.unwrap_or_else(|| panic!("{} is not in GROUPS of openapi/groups.rs", group["name"]));
        assert!(descriptions.insert(description), "{description} twice");
    }
    assert!(descriptions.len() > 15);
}

#[tokio::test]
async fn every_tool_output_is_a_named_type_made_of_named_types() {
    let app = TestApp::scripted([]).await;
    let document = app.get("/openapi.json").await;
    let known = document["components"]["schemas"].as_object().unwrap();
    for tool in app.get("/api/tools").await["tools"].as_array().unwrap() {
        let path = format!("/api/tools/{}", tool["name"].as_str().unwrap());
        let schema = &document["paths"][&path]["post"]["responses"]["200"]["content"]["application/json"]["schema"];
        let output = &known[schema["$ref"].as_str().unwrap().strip_prefix("#/components/schemas/").unwrap()];
        let fields = output["properties"].as_object().unwrap();
        let inlined = tool["outputSchema"]["properties"].as_object().unwrap();
        assert_eq!(fields.keys().collect::<Vec<_>>(), inlined.keys().collect::<Vec<_>>(), "{path}");
        for (name, field) in fields {
            let text = field.to_string();
            assert!(!text.contains("\"properties\""), "{path}: {name} describes an object without a name: {text}");
            for (_, rest) in
                text.match_indices("#/components/schemas/").map(|(at, mark)| text.split_at(at + mark.len()))
            {
                let name = rest.split('"').next().unwrap();
                assert!(known.contains_key(name), "{path}: there is no {name}");
            }
        }
    }
}

#[tokio::test]
async fn the_page_shows_every_operation_and_loads_nothing_from_other_hosts() {
    let app = TestApp::scripted([]).await;
    let document = app.get("/openapi.json").await;
    let page = app.request(reqwest::Method::GET, "/docs", None).await.text().await.unwrap();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for operation in operations.as_object().unwrap().values() {
            let summary = operation["summary"].as_str().unwrap().replace('&', "&amp;");
            assert!(page.contains(path.as_str()) && page.contains(&summary), "{path}");
        }
    }
    assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("<script"));
    let style: Value = app.request(reqwest::Method::GET, "/docs/style.css", None).await.headers()["content-type"]
        .to_str()
        .unwrap()
        .into();
    assert_eq!(style, "text/css");
}

#[tokio::test]
async fn the_document_describes_mcp_as_it_is_served() {
    let app = TestApp::scripted([]).await;
    let operation = app.get("/openapi.json").await["paths"]["/mcp"]["post"].clone();
    assert_eq!((&operation["operationId"], &operation["tags"][0]), (&"postMcp".into(), &"tools".into()));
    let message = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let request = reqwest::Client::new().post(format!("{}/mcp", app.url)).json(&message);
    let answer = request.header("accept", "application/json, text/event-stream").send().await.unwrap();
    assert!(operation["responses"].get(answer.status().as_str()).is_some(), "{}", answer.status());
    let told: Value = answer.json().await.unwrap();
    assert_eq!(
        told["result"]["tools"].as_array().unwrap().len(),
        app.get("/api/tools").await["tools"].as_array().unwrap().len()
    );
}
