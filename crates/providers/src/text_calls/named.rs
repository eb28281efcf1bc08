//! Calls whose name is not part of the arguments: it is in a tag, or after one.

use engine::{
    ToolSpec,
    lenient::{self, LenientError},
    tool_named,
};
use serde_json::Value;

use super::{TextCall, forms::Form, python::python_calls};

/// `f>{…}</function>` or `f><parameter=x>…</parameter></function>`.
pub(super) fn function_tag<'t>(rest: &'t str, tools: &[ToolSpec]) -> Form<'t> {
    let Some((name, after)) = rest.split_once('>') else { return Form::Cut };
    let Some(name) = tool_named(name.trim(), tools.iter().map(|tool| &*tool.name)) else { return Form::None };
    let Some((body, after)) = after.split_once("</function>").or_else(|| {
        let (_, n_bytes) = lenient::value_prefix(after).ok()?;
        Some(after.split_at(n_bytes))
    }) else {
        return Form::Cut;
    };
    let call = |input: String| Form::Read(vec![TextCall { name: name.to_owned(), input }], after);
    match pairs(body, "<parameter=", ">", "</parameter>") {
        Some(fields) if !fields.is_empty() => call(Value::Object(fields).to_string()),
        _ => call(body.trim().to_owned()),
    }
}

/// A name and its arguments after a tag: Mistral's, GLM's, DeepSeek's and Gemma's forms.
pub(super) fn named<'t>(rest: &'t str, tools: &[ToolSpec]) -> Form<'t> {
    if "function<｜tool▁sep｜>".starts_with(rest) {
        return Form::Cut;
    }
    let rest =
        ["function<｜tool▁sep｜>", "functions."].iter().find_map(|prefix| rest.strip_prefix(prefix)).unwrap_or(rest);
    let is_name = |sign: char| sign.is_alphanumeric() || matches!(sign, '_' | '-' | '.');
    let n_bytes = rest.find(|sign| !is_name(sign)).unwrap_or(rest.len());
    let (word, after) = rest.split_at(n_bytes);
    if after.is_empty() {
        return Form::Cut;
    }
    if after.starts_with('(') || after.starts_with(".call(") {
        return python_calls(rest, tools);
    }
    let Some(name) = tool_named(word, tools.iter().map(|tool| &*tool.name)) else { return Form::None };
    let call = |input: String, after| Form::Read(vec![TextCall { name: name.to_owned(), input }], after);
    let after = after.trim_start();
    if after.starts_with("<arg_key>") {
        let Some((body, after)) = after.split_once("</tool_call>") else { return Form::Cut };
        return match pairs(body, "<arg_key>", "</arg_key>", "</arg_value>") {
            Some(fields) => call(Value::Object(fields).to_string(), after),
            None => Form::None,
        };
    }
    const MARKS: [&str; 5] = ["<｜tool▁sep｜>", "[ARGS]", "[CALL_ID]", "```json", "<arg_key>"];
    let could_be_mark = MARKS.iter().any(|mark| mark.len() > after.len() && mark.starts_with(after));
    if could_be_mark || (after.starts_with("[CALL_ID]") && !after.contains("[ARGS]")) {
        return Form::Cut;
    }
    let after = without_call_id(after);
    let after =
        ["<｜tool▁sep｜>", "[ARGS]", "```json"].iter().find_map(|mark| after.strip_prefix(mark)).unwrap_or(after);
    match lenient::value_prefix(after) {
        Ok((Value::Object(fields), n_bytes)) => call(Value::Object(fields).to_string(), &after[n_bytes..]),
        Err(LenientError::Cut) => Form::Cut,
        _ => Form::None,
    }
}

/// Mistral writes a call id between the name and the arguments.
fn without_call_id(rest: &str) -> &str {
    let after = rest.strip_prefix("[CALL_ID]").and_then(|rest| rest.find("[ARGS]").map(|at| &rest[at..]));
    after.unwrap_or(rest)
}

/// Fields written as tags: `open` name `middle` value `close`. `None` if there is anything else between them.
fn pairs(body: &str, open: &str, middle: &str, close: &str) -> Option<serde_json::Map<String, Value>> {
    let (mut fields, mut rest) = (serde_json::Map::new(), body.trim());
    while !rest.is_empty() {
        let (name, after) = rest.strip_prefix(open)?.split_once(middle)?;
        let (value, after) = after.split_once(close)?;
        let value = value.trim().trim_start_matches("<arg_value>").trim();
        // Numbers and lists are written as JSON; other values are the text itself.
        let is_json =
            value.starts_with(['[', '{']) || value.parse::<f64>().is_ok() || matches!(value, "true" | "false");
        let value =
            is_json.then(|| lenient::value(value).ok()).flatten().unwrap_or_else(|| Value::String(value.into()));
        fields.insert(name.trim().to_owned(), value);
        rest = after.trim_start();
    }
    Some(fields)
}
