//! `/docs`: the OpenAPI document as an HTML page, without scripts and without resources of other hosts.

use std::fmt::Write;

use serde_json::{Map, Value};

pub(super) const STYLE: &str = include_str!("style.css");

/// Fields that are nested deeper are only in the document itself.
const MAX_DEPTH: u32 = 4;

pub(super) fn render(document: &[u8]) -> String {
    let document = serde_json::from_slice(document).expect("the document was encoded by this program");
    let mut page = Page { document: &document, html: String::new() };
    page.write();
    page.html
}

struct Page<'a> {
    document: &'a Value,
    html: String,
}

impl<'a> Page<'a> {
    fn write(&mut self) {
        let title = escaped(text(&self.document["info"]["title"]));
        let version = escaped(text(&self.document["info"]["version"]));
        self.put(&format!(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width\"><title>{title} API</title>\
             <link rel=\"stylesheet\" href=\"/docs/style.css\"></head><body><header><h1>{title} API</h1>\
             <p>Version {version} · the same for programs: <a href=\"/openapi.json\">openapi.json</a></p></header>"
        ));
        let tags = self.document["tags"].as_array().map_or(&[][..], Vec::as_slice);
        let groups: Vec<&str> = tags.iter().map(|tag| text(&tag["name"])).collect();
        self.put("<nav aria-label=\"Groups\"><ul>");
        for group in &groups {
            let group = escaped(group);
            self.put(&format!("<li><a href=\"#{group}\">{group}</a></li>"));
        }
        self.put("</ul></nav><main>");
        for group in groups {
            self.group(group);
        }
        self.put("</main></body></html>");
    }

    fn group(&mut self, group: &str) {
        let heading = escaped(group);
        self.put(&format!("<section id=\"{heading}\"><h2>{heading}</h2>"));
        let document = self.document;
        for (path, operations) in fields(&document["paths"]) {
            for (method, operation) in fields(operations) {
                if operation["tags"][0] == *group {
                    self.operation(method, path, operation);
                }
            }
        }
        self.put("</section>");
    }

    fn operation(&mut self, method: &str, path: &str, operation: &'a Value) {
        let (method, path) = (escaped(&method.to_uppercase()), escaped(path));
        let summary = escaped(text(&operation["summary"]));
        self.put(&format!(
            "<details><summary><code class=\"method\">{method}</code> <code>{path}</code> <span>{summary}</span></summary>"
        ));
        for paragraph in text(&operation["description"]).split("\n\n").filter(|paragraph| !paragraph.is_empty()) {
            self.put(&format!("<p>{}</p>", escaped(paragraph)));
        }
        self.parameters(operation);
        self.content("Body", &operation["requestBody"]);
        for (status, response) in fields(&operation["responses"]) {
            self.content(&format!("{status}: {}", text(&response["description"])), response);
        }
        self.put("</details>");
    }

    fn parameters(&mut self, operation: &'a Value) {
        let Some(parameters) = operation["parameters"].as_array().filter(|parameters| !parameters.is_empty()) else {
            return;
        };
        self.put("<h3>Parameters</h3><ul>");
        for parameter in parameters {
            let label = format!("{} ({})", text(&parameter["name"]), text(&parameter["in"]));
            self.field(&label, &parameter["schema"], parameter["required"] == true, 1);
        }
        self.put("</ul>");
    }

    fn content(&mut self, heading: &str, holder: &'a Value) {
        if holder.is_null() {
            return;
        }
        self.put(&format!("<h3>{}</h3>", escaped(heading)));
        for (kind, media) in fields(&holder["content"]) {
            self.put(&format!("<p><code>{}</code> {}</p>", escaped(kind), escaped(&self.kind_of(&media["schema"]))));
            self.schema(&media["schema"], 1);
        }
    }

    /// The fields of a schema; nothing if its type already describes it completely.
    fn schema(&mut self, schema: &'a Value, depth: u32) {
        let schema = self.resolved(schema);
        if depth > MAX_DEPTH {
            return;
        }
        for choice in ["oneOf", "anyOf", "allOf"] {
            for (n, option) in schema[choice].as_array().into_iter().flatten().enumerate() {
                if option["type"] != "null" {
                    self.put(&format!(
                        "<p class=\"choice\">{} {}</p>",
                        if n == 0 { "either" } else { "or" },
                        escaped(&self.kind_of(option))
                    ));
                    self.schema(option, depth + 1);
                }
            }
        }
        if schema["type"] == "array" {
            return self.schema(&schema["items"], depth);
        }
        if fields(&schema["properties"]).next().is_none() {
            return;
        }
        self.put("<ul>");
        for (name, field) in fields(&schema["properties"]) {
            let is_required =
                schema["required"].as_array().is_some_and(|names| names.iter().any(|found| found == name));
            self.field(name, field, is_required, depth + 1);
        }
        self.put("</ul>");
    }

    fn field(&mut self, name: &str, schema: &'a Value, is_required: bool, depth: u32) {
        let optional = if is_required { "" } else { ", optional" };
        let about = schema["description"].as_str().or_else(|| self.resolved(schema)["description"].as_str());
        let about = about.map(|about| format!(" – {}", escaped(about))).unwrap_or_default();
        let kind = escaped(&self.kind_of(schema));
        self.put(&format!("<li><code>{}</code> <em>{kind}{optional}</em>{about}", escaped(name)));
        self.schema(schema, depth);
        self.put("</li>");
    }

    /// `text`, `list of Task`, `"a" or "b"`.
    fn kind_of(&self, schema: &Value) -> String {
        if let Some(reference) = schema["$ref"].as_str() {
            return reference.rsplit('/').next().unwrap_or_default().to_owned();
        }
        if let Some(options) = schema["enum"].as_array() {
            return options.iter().map(Value::to_string).collect::<Vec<_>>().join(" or ");
        }
        if let Some(only) = schema.get("const") {
            return only.to_string();
        }
        let kinds: Vec<&str> = match &schema["type"] {
            Value::String(kind) => vec![kind],
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null").collect(),
            _ => Vec::new(),
        };
        match kinds.first() {
            Some(&"array") => format!("list of {}", self.kind_of(&schema["items"])),
            Some(&"string") => schema["format"].as_str().unwrap_or("text").to_owned(),
            Some(kind) => (*kind).to_owned(),
            None => String::new(),
        }
    }

    fn resolved(&self, schema: &'a Value) -> &'a Value {
        let target = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
        target.and_then(|pointer| self.document.pointer(pointer)).unwrap_or(schema)
    }

    fn put(&mut self, html: &str) {
        self.html.write_str(html).expect("memory does not fail to write");
    }
}

fn fields(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    static EMPTY: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
    value.as_object().unwrap_or(&EMPTY).iter()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::render;

    #[test]
    fn texts_of_the_document_are_escaped_on_the_page() {
        let document = json!({
            "info": {"title": "<b>", "version": "1"},
            "tags": [{"name": "tasks"}],
            "paths": {"/tasks": {"get": {"tags": ["tasks"], "summary": "a & b <script>", "responses": {}}}},
        });
        let page = render(document.to_string().as_bytes());
        assert!(
            page.contains("a &amp; b &lt;script&gt;") && !page.contains("<script") && !page.contains("<b>"),
            "{page}"
        );
    }
}
