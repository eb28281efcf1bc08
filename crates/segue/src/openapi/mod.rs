//! `/openapi.json`: every JSON endpoint and every tool, derived from the types.

mod groups;
mod page;

use std::{
    collections::BTreeSet,
    sync::{Arc, OnceLock},
};

use aide::{
    openapi::{Info, License, OpenApi, ReferenceOr, SchemaObject, SecurityScheme, Server},
    transform::TransformOpenApi,
};
use axum::{Router, body::Bytes, http::header, response::Html, routing::get};
use engine::{ToolSpec, Toolbox};
use serde_json::{Map, Value, json};

pub(crate) use self::groups::{CHAT, CONVERSATIONS, OPERATIONS};
use self::groups::{described, group_of};

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

/// Names the output of every tool. The types that outputs share with routes get their names from the same generator.
pub(crate) fn with_tool_outputs<'a>(mut api: TransformOpenApi<'a>, toolbox: &Toolbox) -> TransformOpenApi<'a> {
    let outputs = aide::generate::in_context(|context| toolbox.outputs_with_references(&mut context.schema));
    let components = api.inner_mut().components.get_or_insert_default();
    for (tool, schema) in outputs {
        let json_schema = schema.try_into().expect("the schema of an output is an object");
        let named = SchemaObject { json_schema, external_docs: None, example: None };
        components.schemas.insert(output_name(tool), named);
    }
    api
}

/// `add_task` returns an `AddTaskOutput`.
fn output_name(tool: &str) -> String {
    let mut name = String::new();
    for word in tool.split('_') {
        push_capitalised(&mut name, word);
    }
    name + "Output"
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
        for (method, operation) in operations.as_object_mut().into_iter().flatten() {
            let group = group_of(path, operation);
            finish(path, method, &group, operation);
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
    }
    prune(&mut document);
    document["tags"] = groups.iter().map(|group| described(group)).collect();
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
    let output = json!({"$ref": format!("#/components/schemas/{}", output_name(&spec.name))});
    operation["responses"]["200"] =
        json!({"description": "The output of the tool", "content": {"application/json": {"schema": output}}});
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
        "tags": [groups::TOOLS],
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
            push_capitalised(&mut id, word);
        }
    }
    id
}

fn push_capitalised(name: &mut String, word: &str) {
    let mut letters = word.chars();
    name.extend(letters.next().into_iter().flat_map(char::to_uppercase).chain(letters));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{group_of, operation_id, output_name};

    #[test]
    fn function_names_and_groups_follow_from_paths() {
        let cases = [
            ("get", "/api/conversations/{conversation_id}", "getConversationsByConversationId", "conversations"),
            ("post", "/api/tools/add_task", "postToolsAddTask", "tools"),
            ("post", "/api/{user_id}/chat", "postByUserIdChat", "chat"),
            ("post", "/ag-ui", "postAgUi", "chat"),
        ];
        for (method, path, id, group) in cases {
            let operation = if group == "chat" { json!({"tags": [group]}) } else { json!({}) };
            let found = (operation_id(method, path), group_of(path, &operation));
            assert_eq!((found.0.as_str(), found.1.as_str()), (id, group), "{path}");
        }
        assert_eq!([output_name("add_task"), output_name("tidalSearch")], ["AddTaskOutput", "TidalSearchOutput"]);
    }
}
