//! How a tool describes itself to models and programs: its name, and the JSON Schemas of its input and output.

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, transform::RecursiveTransform};
use serde_json::{Value, json};

use crate::{Tool, ToolSpec};

pub(super) fn spec<T: Tool>() -> ToolSpec {
    let mut input_schema = schema_of::<T::Input>();
    let description = input_schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    if let Value::Object(fields) = &mut input_schema {
        fields.remove("description");
        fields.remove("title");
    }
    ToolSpec {
        name: T::NAME.into(),
        title: T::TITLE.into(),
        description,
        effect: T::EFFECT,
        input_schema,
        output_schema: with_report_fields(schema_of::<T::Output>()),
    }
}

/// The output with `$ref` to the types that it shares with others. `generator` gets their definitions.
pub(super) fn output_with_references<T: Tool>(generator: &mut SchemaGenerator) -> Value {
    with_report_fields(T::Output::json_schema(generator).to_value())
}

fn schema_of<T: JsonSchema>() -> Value {
    // Subschemas are inlined, because several model providers do not support `$ref`.
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    // `uint32` and similar formats are specific to Rust; validators of other languages warn about them.
    let settings = settings.with_transform(RecursiveTransform(|schema: &mut Schema| {
        if schema.get("format").and_then(Value::as_str).is_some_and(|format| format.contains("int")) {
            schema.remove("format");
        }
    }));
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

fn with_report_fields(mut schema: Value) -> Value {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert("summary".into(), json!({"type": "string"}));
        properties.insert("durationMs".into(), json!({"type": "integer", "minimum": 0}));
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.extend([json!("summary"), json!("durationMs")]);
    }
    schema
}
