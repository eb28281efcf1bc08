//! The spellings of calls as text.
//!
//! | spelling | written by |
//! |---|---|
//! | `<tool_call>{"name", "arguments"}</tool_call>` | Hermes, Qwen 2.5 and 3 |
//! | `<tools>…</tools>`, bare or fenced JSON, `{{…}}` | Qwen 2.5 Coder |
//! | `{"name", "parameters"}`, `<|python_tag|>…`, `[f(x="…")]` | Llama 3.1, 3.2, 4 |
//! | `<function=f>{…}</function>` | Llama 3.1 (custom format) |
//! | `<function=f><parameter=x>…</parameter></function>` | Qwen 3 Coder |
//! | `[TOOL_CALLS][{…}]`, `[TOOL_CALLS]f[ARGS]{…}` | Mistral |
//! | `functools[{…}]`, `<|tool_call|>[{…}]` | Phi 4 mini |
//! | `<tool_call>f <arg_key>x</arg_key><arg_value>…</arg_value></tool_call>` | GLM 4.5 |
//! | `<｜tool▁call▁begin｜>function<｜tool▁sep｜>f ```json {…}``` ` | DeepSeek V3, R1 |
//! | ```` ```tool_code f(x="…") ``` ```` | Gemma 3 |

use engine::{
    ToolSpec,
    lenient::{self, LenientError},
    tool_named,
};
use serde_json::Value;

use super::{
    TextCall,
    named::{function_tag, named},
    python::python_calls,
};

#[derive(Debug, PartialEq)]
pub(super) enum Reading {
    /// Calls, or the start of one.
    Unfinished,
    Calls(Vec<TextCall>),
    Prose,
}

/// Tags that may come before calls, anywhere in a line.
const TAGS: &[&str] = &[
    "<tool_call>",
    "<tool_calls>",
    "<tools>",
    "<function_call>",
    "<function_calls>",
    "<function=",
    "<|python_tag|>",
    "<|tool_call|>",
    "<|tool_calls_section_begin|>",
    "<|tool_call_begin|>",
    "[TOOL_CALLS]",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁call▁begin｜>",
];
/// What may come between and after calls.
const CLOSINGS: &[&str] = &[
    "</tool_call>",
    "</tool_calls>",
    "</tools>",
    "</function_call>",
    "</function_calls>",
    "</function>",
    "<|/tool_call|>",
    "<|tool_call_end|>",
    "<|tool_calls_section_end|>",
    "<｜tool▁call▁end｜>",
    "<｜tool▁calls▁end｜>",
    "<｜end▁of▁sentence｜>",
    "<|eom_id|>",
    "<|eot_id|>",
];
/// Characters that start a call only at the start of a line.
const LINE_OPENINGS: &[&str] = &["{", "[", "```", "functools["];
const FENCES: &[&str] = &["```json", "```tool_calls", "```tool_call", "```tool_code", "```xml", "```python", "```"];
/// The fields of a call, in every spelling.
const KEYS: &[&str] = &["name", "function", "arguments", "parameters", "type", "id", "tool", "tool_name", "tool_calls"];

/// Whether an opening begins with this character. Every character of every reply is examined, and few of them begin one.
pub(super) fn begins_opening(sign: char) -> bool {
    matches!(sign, '<' | '[' | '{' | '`' | 'f')
}

/// Whether a call may begin here.
pub(super) fn opening(rest: &str, at_line_start: bool) -> bool {
    TAGS.iter().any(|tag| rest.starts_with(tag))
        || (at_line_start && LINE_OPENINGS.iter().any(|sign| rest.starts_with(sign)))
}

/// Whether `rest` may become an opening when more text comes.
pub(super) fn could_open(rest: &str, at_line_start: bool) -> bool {
    let begins = |tag: &&str| tag.len() > rest.len() && tag.starts_with(rest);
    TAGS.iter().any(begins) || (at_line_start && LINE_OPENINGS.iter().any(begins))
}

/// Classifies a text that begins with an opening.
pub(super) fn read(text: &str, tools: &[ToolSpec], is_over: bool) -> Reading {
    let mut calls = Vec::new();
    let mut rest = text.trim_start();
    let mut is_tagged = false;
    while !rest.is_empty() {
        if let Some(after) = without_mark(rest, &mut is_tagged) {
            rest = after.trim_start_matches([',', ';']).trim_start();
            continue;
        }
        if !is_over && could_be_mark(rest) {
            return Reading::Unfinished;
        }
        match one_form(rest, tools, is_tagged) {
            Form::Read(mut read, after) => {
                calls.append(&mut read);
                rest = after.trim_start().trim_start_matches([',', ';']).trim_start();
            }
            Form::Cut if !is_over => return Reading::Unfinished,
            Form::Cut => match cut_call(rest, tools) {
                Some(call) => {
                    calls.push(call);
                    break;
                }
                None => return Reading::Prose,
            },
            Form::None => return Reading::Prose,
        }
    }
    match is_over {
        false => Reading::Unfinished,
        // Empty tags are dropped; an empty code fence is prose.
        true if calls.is_empty() && !(is_tagged && text.trim_start().starts_with('<')) => Reading::Prose,
        true => Reading::Calls(calls),
    }
}

/// The text after a tag, a fence or a closing mark.
fn without_mark<'t>(rest: &'t str, is_tagged: &mut bool) -> Option<&'t str> {
    let is_function = rest.starts_with("<function=");
    let tag = TAGS.iter().filter(|_| !is_function).find_map(|tag| rest.strip_prefix(tag));
    if let Some(after) = tag {
        *is_tagged = true;
        return Some(after.trim_start());
    }
    if let Some(after) = CLOSINGS.iter().find_map(|tag| rest.strip_prefix(tag)) {
        return Some(after.trim_start());
    }
    if let Some(after) = rest.strip_prefix("functools[") {
        *is_tagged = true;
        return Some(&rest[rest.len() - after.len() - 1..]);
    }
    let (fence, after) = FENCES.iter().find_map(|fence| rest.strip_prefix(fence).map(|after| (fence, after)))?;
    let ends_line = after.is_empty() || after.starts_with(char::is_whitespace) || after.starts_with(['{', '[', '<']);
    *is_tagged |= matches!(*fence, "```tool_code" | "```tool_call" | "```tool_calls");
    ends_line.then(|| after.trim_start())
}

fn could_be_mark(rest: &str) -> bool {
    let begins = |tag: &&str| tag.len() > rest.len() && tag.starts_with(rest);
    TAGS.iter().chain(CLOSINGS).chain(FENCES).chain(&["functools["]).any(begins)
}

pub(super) enum Form<'t> {
    Read(Vec<TextCall>, &'t str),
    /// The text may be a call, and ends too early.
    Cut,
    None,
}

fn one_form<'t>(rest: &'t str, tools: &[ToolSpec], is_tagged: bool) -> Form<'t> {
    if let Some(after) = rest.strip_prefix("<function=") {
        return function_tag(after, tools);
    }
    if rest.starts_with('[') && !is_json_list(rest) {
        return python_calls(rest, tools);
    }
    if rest.starts_with(['{', '[']) {
        return json(rest, tools);
    }
    if is_tagged { named(rest, tools) } else { Form::None }
}

fn is_json_list(rest: &str) -> bool {
    let inside = rest[1..].trim_start();
    inside.is_empty() || inside.starts_with(['{', ']'])
}

fn json<'t>(rest: &'t str, tools: &[ToolSpec]) -> Form<'t> {
    if let Some(inner) = rest.strip_prefix('{').filter(|inner| inner.trim_start().starts_with('{')) {
        return doubled_braces(inner, tools);
    }
    match lenient::value_prefix(rest) {
        Ok((value, n_bytes)) => match calls_in(&value, tools) {
            Some(calls) => Form::Read(calls, &rest[n_bytes..]),
            None => Form::None,
        },
        Err(LenientError::Cut) if is_viable(rest) => Form::Cut,
        Err(_) => Form::None,
    }
}

/// `{{"name": …}}`: some templates show their example with the doubled braces of a format string.
fn doubled_braces<'t>(inner: &'t str, tools: &[ToolSpec]) -> Form<'t> {
    let single = inner.trim_start().replace("{{", "{").replace("}}", "}");
    let as_it_is = lenient::value_prefix(inner).ok().map(|(value, n_bytes)| (value, &inner[n_bytes..]));
    let read = as_it_is.or_else(|| lenient::value_prefix(&single).ok().map(|(value, _)| (value, "")));
    match read {
        Some((value, after)) => match calls_in(&value, tools) {
            Some(calls) => Form::Read(calls, after.trim_start_matches(['}', ' ', '\n'])),
            None => Form::None,
        },
        None if is_viable(inner.trim_start()) => Form::Cut,
        None => Form::None,
    }
}

/// Whether an incomplete value starts like a call.
fn is_viable(rest: &str) -> bool {
    let inside = rest.trim_start_matches(['[', '{']).trim_start().trim_start_matches('{').trim_start();
    let Some(quote) = inside.chars().next() else { return true };
    if quote != '"' && quote != '\'' {
        return false;
    }
    match inside[1..].split_once(quote) {
        Some((key, _)) => KEYS.contains(&key),
        None => KEYS.iter().any(|key| key.starts_with(&inside[1..])),
    }
}

/// All calls in a value; `None` unless it contains only calls of offered tools.
fn calls_in(value: &Value, tools: &[ToolSpec]) -> Option<Vec<TextCall>> {
    match value {
        Value::Array(items) if !items.is_empty() => {
            let calls: Option<Vec<_>> = items.iter().map(|item| calls_in(item, tools)).collect();
            calls.map(|calls| calls.concat())
        }
        Value::Object(fields) => {
            if let Some(list @ Value::Array(_)) = fields.get("tool_calls").filter(|_| fields.len() == 1) {
                return calls_in(list, tools);
            }
            if let Some(inner @ Value::Object(_)) = fields.get("function") {
                return calls_in(inner, tools);
            }
            call_in(fields, tools).map(|call| vec![call])
        }
        _ => None,
    }
}

fn call_in(fields: &serde_json::Map<String, Value>, tools: &[ToolSpec]) -> Option<TextCall> {
    const NAMES: [&str; 5] = ["name", "function", "tool", "tool_name", "function_name"];
    const ARGUMENTS: [&str; 6] = ["arguments", "parameters", "args", "input", "tool_input", "params"];
    let (name_field, name) = NAMES.iter().find_map(|field| Some((*field, fields.get(*field)?.as_str()?)))?;
    let name = tool_named(name, tools.iter().map(|tool| &*tool.name))?;
    let is_known = |field: &str| field == name_field || matches!(field, "type" | "id" | "index");
    if let Some((field, arguments)) = ARGUMENTS.iter().find_map(|field| Some((*field, fields.get(*field)?))) {
        let is_call = fields.keys().all(|other| other == field || is_known(other));
        return is_call.then(|| TextCall { name: name.to_owned(), input: arguments_text(arguments) });
    }
    // Arguments beside the name are accepted only if the tool has every one of them.
    let tool = tools.iter().find(|tool| tool.name == name)?;
    let has = |field: &str| tool.input_schema.get("properties").is_some_and(|known| known.get(field).is_some());
    let others: serde_json::Map<_, _> = fields
        .iter()
        .filter(|(field, _)| !is_known(field))
        .map(|(field, value)| (field.clone(), value.clone()))
        .collect();
    let is_call = others.keys().all(|field| has(field)) && !has(name_field);
    is_call.then(|| TextCall { name: name.to_owned(), input: Value::Object(others).to_string() })
}

fn arguments_text(arguments: &Value) -> String {
    match arguments {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A call of an offered tool whose arguments are cut. It is returned as it is, so that the model is informed that
/// they were cut.
fn cut_call(rest: &str, tools: &[ToolSpec]) -> Option<TextCall> {
    let quoted_after = |key: &str| {
        let after = rest.split_once(key)?.1.trim_start().strip_prefix(':')?.trim_start();
        let quote = after.chars().next().filter(|sign| matches!(sign, '"' | '\''))?;
        after[1..].split_once(quote).map(|(name, _)| name)
    };
    let name = ["\"name\"", "'name'", "\"function\"", "\"tool\""].iter().find_map(|key| quoted_after(key))?;
    let name = tool_named(name, tools.iter().map(|tool| &*tool.name))?;
    let arguments = ["\"arguments\"", "\"parameters\"", "'arguments'", "'parameters'"];
    let input = arguments.iter().find_map(|key| rest.split_once(key)?.1.trim_start().strip_prefix(':'))?;
    Some(TextCall { name: name.to_owned(), input: input.trim().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_character_of_every_opening_is_known() {
        for opening in TAGS.iter().chain(LINE_OPENINGS) {
            assert!(opening.chars().next().is_some_and(begins_opening), "{opening}");
        }
        assert!(!" aeint.,\n".chars().any(begins_opening), "most characters of a text begin none");
    }
}
