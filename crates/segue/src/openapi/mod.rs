//! `/openapi.json`: every JSON endpoint and every tool, derived from the types.

mod page;

use std::{
    collections::BTreeSet,
    sync::{Arc, OnceLock},
};

use aide::openapi::{Info, License, OpenApi, ReferenceOr, SecurityScheme, Server};
use axum::{Router, body::Bytes, http::header, response::Html, routing::get};
use engine::{ToolSpec, Toolbox};
use serde_json::{Map, Value, json};

/// The document without routes.
pub(crate) fn beginning() -> OpenApi {
    aide::generate::extract_schemas(true);
    let mut api = OpenApi {
        info: Info {
            title: "Segue".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            summary: Some("A self-hosted chat-agent server".into()),
            license: Some(License {
                name: "Apache-2.0".into(),
                identifier: Some("Apache-2.0".into()),
                ..License::default()
            }),
            ..Info::default()
        },
        servers: vec![Server { url: "/".into(), ..Server::default() }],
        ..OpenApi::default()
    };
    let bearer = SecurityScheme::Http {
        scheme: "bearer".into(),
        bearer_format: None,
        description: Some("A bearer token. The web page uses a session cookie instead.".into()),
        extensions: Default::default(),
    };
    let components = api.components.get_or_insert_default();
    components.security_schemes.insert("bearer".into(), ReferenceOr::Item(bearer));
    api
}

/// Serves the complete document, and an HTML page of it.
pub(crate) fn serve(router: Router, api: OpenApi, toolbox: &Toolbox) -> Router {
    // Shared by all responses, so that a slow client costs no copy.
    let document = Bytes::from(complete(&api, toolbox).to_string());
    // Few people read the page, so the first one waits for it and not every start.
    let (page, source) = (Arc::new(OnceLock::new()), document.clone());
    let page = move || page.get_or_init(|| Bytes::from(page::render(&source))).clone();
    router
        .route("/openapi.json", get(async move || ([(header::CONTENT_TYPE, "application/json")], document.clone())))
        .route("/docs", get(async move || Html(page())))
        .route("/docs/style.css", get(async || ([(header::CONTENT_TYPE, "text/css")], page::STYLE)))
}

/// Adds what the routes do not contain: names for generated functions, groups, and one operation per tool.
fn complete(api: &OpenApi, toolbox: &Toolbox) -> Value {
    let mut document = serde_json::to_value(api).expect("the document is plain data");
    normalise(&mut document);
    let Some(Value::Object(paths)) = document.get_mut("paths") else { return document };
    add_tools(paths, toolbox);
    paths.insert("/mcp".into(), json!({"post": mcp_operation()}));
    let mut groups = Vec::new();
    for (path, operations) in paths.iter_mut() {
        let group = group_of(path);
        if !groups.contains(&group) {
            groups.push(group.clone());
        }
        for (method, operation) in operations.as_object_mut().into_iter().flatten() {
            finish(path, method, &group, operation);
        }
    }
    prune(&mut document);
    document["tags"] = groups.iter().map(|group| json!({"name": group, "description": about(group)})).collect();
    document
}

/// Removes unused schemas: those of queries and paths are inlined where they are used.
fn prune(document: &mut Value) {
    let mut used = BTreeSet::new();
    let mut open = vec![&document["paths"]];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(fields) => open.extend(fields.values()),
            Value::Array(items) => open.extend(items),
            Value::String(text) => {
                if let Some(name) = text.strip_prefix("#/components/schemas/")
                    && used.insert(name.to_owned())
                {
                    open.push(&document["components"]["schemas"][name]);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    if let Value::Object(schemas) = &mut document["components"]["schemas"] {
        schemas.retain(|name, _| used.contains(name));
    }
}

/// Replaces constructs that some readers do not support: a default of `null` by no default, and "anything" by an
/// empty schema.
fn normalise(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if fields.get("default").is_some_and(Value::is_null) {
                fields.remove("default");
            }
            if fields.get("schema") == Some(&Value::Bool(true)) {
                fields.insert("schema".into(), json!({}));
            }
            fields.values_mut().for_each(normalise);
        }
        Value::Array(items) => items.iter_mut().for_each(normalise),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// One path per tool, with its own input and output, instead of one path for all.
fn add_tools(paths: &mut Map<String, Value>, toolbox: &Toolbox) {
    const TEMPLATE: &str = "/api/tools/{name}";
    let Some(template) = paths.remove(TEMPLATE) else { return };
    for spec in toolbox.specs() {
        let operation = tool_operation(&spec, &template["post"]);
        paths.insert(TEMPLATE.replace("{name}", &spec.name), json!({"post": operation}));
    }
}

fn tool_operation(spec: &ToolSpec, template: &Value) -> Value {
    let mut operation = template.clone();
    if let Value::Object(fields) = &mut operation {
        fields.remove("parameters");
    }
    operation["summary"] = spec.title.as_ref().into();
    operation["description"] = spec.description.clone().into();
    operation["requestBody"] =
        json!({"required": true, "content": {"application/json": {"schema": spec.input_schema}}});
    operation["responses"]["200"] = json!({"description": "The output of the tool", "content": {"application/json": {"schema": spec.output_schema}}});
    operation
}

/// The MCP library serves this route and provides no OpenAPI description: JSON-RPC in, JSON-RPC out.
fn mcp_operation() -> Value {
    let message = json!({"type": "object", "required": ["jsonrpc"], "properties": {"jsonrpc": {"const": "2.0"}}});
    json!({
        "summary": "Every tool over MCP (streamable HTTP, without sessions)",
        "description": "One JSON-RPC message of the Model Context Protocol: initialize, tools/list, tools/call. \
                        A notification is answered with 202 and no body. The Accept header must name \
                        application/json and text/event-stream.",
        "security": [{"bearer": []}],
        "requestBody": {"required": true, "content": {"application/json": {"schema": message}}},
        "responses": {
            "200": {"description": "The answer", "content": {"application/json": {"schema": message}}},
            "202": {"description": "The notification was accepted"},
            // The MCP library answers with plain text and no media type, authentication with JSON.
            "4XX": {"description": "The request was rejected; the body contains the reason"},
        },
    })
}

fn finish(path: &str, method: &str, group: &str, operation: &mut Value) {
    operation["operationId"] = operation_id(method, path).into();
    operation["tags"] = json!([group]);
    if operation.get("security").is_none() {
        operation["security"] = json!([]);
    }
    if operation.get("responses").is_none() {
        operation["responses"] = json!({});
    }
    let responses = operation["responses"].as_object_mut().expect("responses are an object");
    let body = json!({"application/json": {"schema": {"$ref": "#/components/schemas/ErrorBody"}}});
    responses.remove("default");
    responses
        .entry("4XX")
        .or_insert(json!({"description": "The request was rejected; the body contains the reason", "content": body}));
    responses.insert("5XX".into(), json!({"description": "The server or a service it needs failed; the body contains the reason", "content": body}));
    if !responses.keys().any(|status| status.starts_with('2')) {
        let (status, description) = if method == "delete" { ("204", "Done") } else { ("200", "Done") };
        responses.insert(status.into(), json!({"description": description}));
    }
}

/// `getConversationsByConversationId`: a function name, built from the path.
fn operation_id(method: &str, path: &str) -> String {
    let mut id = method.to_owned();
    for part in path.trim_start_matches("/api").split('/').filter(|part| !part.is_empty()) {
        let name = part.strip_prefix('{').and_then(|part| part.strip_suffix('}'));
        if name.is_some() {
            id.push_str("By");
        }
        for word in name.unwrap_or(part).split(['_', '-', '.']) {
            let mut letters = word.chars();
            id.extend(letters.next().into_iter().flat_map(char::to_uppercase).chain(letters));
        }
    }
    id
}

/// The first part of a path that names its group.
fn group_of(path: &str) -> String {
    let words = path.trim_start_matches("/api/").trim_start_matches('/').split('/');
    let word = words.map(|word| word.trim_matches(['{', '}'])).next().unwrap_or_default();
    match word {
        "user_id" | "turns" | "ai" | "chatkit" | "ag-ui" => "chat".into(),
        "mcp" => "tools".into(),
        "healthz" | "readyz" | "metrics" => "operations".into(),
        word => word.into(),
    }
}

fn about(group: &str) -> &'static str {
    match group {
        "chat" => "Chat with an agent, in the protocol of your front end",
        "conversations" => "Conversations and their messages",
        "tasks" => "The to-do list, without an agent",
        "tools" => "Direct calls of the agents' tools",
        "library" => "The user's tracks and albums",
        "playlists" => "Playlists that agents suggested",
        "index" | "search" => "Search for tracks by meaning, words and sound",
        "operations" => "Health, metrics and other endpoints for operators",
        _ => "Information about this server and the signed-in user",
    }
}

#[cfg(test)]
mod tests {
    use super::{group_of, operation_id};

    #[test]
    fn function_names_and_groups_follow_from_paths() {
        let cases = [
            ("get", "/api/conversations/{conversation_id}", "getConversationsByConversationId", "conversations"),
            ("post", "/api/tools/add_task", "postToolsAddTask", "tools"),
            ("post", "/api/{user_id}/chat", "postByUserIdChat", "chat"),
            ("post", "/ag-ui", "postAgUi", "chat"),
            ("get", "/healthz", "getHealthz", "operations"),
        ];
        for (method, path, id, group) in cases {
            assert_eq!((operation_id(method, path).as_str(), group_of(path).as_str()), (id, group), "{path}");
        }
    }
}
