//! Calls in Python syntax: `[add_task(title="Milk"), list_tasks()]`, `search.call(query="…")`.

use engine::{ToolSpec, lenient, tool_named};
use serde_json::{Map, Value};

use super::{TextCall, forms::Form};

/// One call, or a list of calls in brackets.
pub(super) fn python_calls<'t>(rest: &'t str, tools: &[ToolSpec]) -> Form<'t> {
    let Some(mut inside) = rest.strip_prefix('[') else {
        return match one_call(rest, tools) {
            Step::Read(call, after) => Form::Read(vec![call], after),
            Step::Cut => Form::Cut,
            Step::None => Form::None,
        };
    };
    let mut calls = Vec::new();
    loop {
        inside = inside.trim_start().trim_start_matches(',').trim_start();
        if let Some(after) = inside.strip_prefix(']').filter(|_| !calls.is_empty()) {
            return Form::Read(calls, after);
        }
        match one_call(inside, tools) {
            Step::Read(call, after) => (calls.push(call), inside = after).1,
            Step::Cut => return Form::Cut,
            Step::None => return Form::None,
        }
    }
}

enum Step<'t> {
    Read(TextCall, &'t str),
    Cut,
    None,
}

fn one_call<'t>(rest: &'t str, tools: &[ToolSpec]) -> Step<'t> {
    let is_name = |sign: char| sign.is_alphanumeric() || matches!(sign, '_' | '.');
    let n_bytes = rest.find(|sign| !is_name(sign)).unwrap_or(rest.len());
    let (word, after) = rest.split_at(n_bytes);
    let names = || tools.iter().map(|tool| &*tool.name);
    let Some(arguments) = after.strip_prefix('(') else {
        let could_be = after.is_empty() && names().any(|name| name.starts_with(word));
        return if could_be { Step::Cut } else { Step::None };
    };
    let word = word.strip_suffix(".call").unwrap_or(word);
    let Some(name) = tool_named(word, names()) else { return Step::None };
    match fields(arguments) {
        Some(Ok((fields, after))) => {
            Step::Read(TextCall { name: name.to_owned(), input: Value::Object(fields).to_string() }, after)
        }
        Some(Err(())) => Step::None,
        None => Step::Cut,
    }
}

/// `x="…", n=5)` and the text after it. `None` if it is cut.
#[allow(clippy::type_complexity, reason = "used once, above")]
fn fields(mut rest: &str) -> Option<Result<(Map<String, Value>, &str), ()>> {
    let mut fields = Map::new();
    loop {
        rest = rest.trim_start().trim_start_matches(',').trim_start();
        if let Some(after) = rest.strip_prefix(')') {
            return Some(Ok((fields, after)));
        }
        let end = rest.find(|sign: char| !(sign.is_alphanumeric() || sign == '_'))?;
        let (name, after) = rest.split_at(end);
        let Some(after) = after.trim_start().strip_prefix('=').filter(|_| !name.is_empty()) else {
            return Some(Err(()));
        };
        match lenient::value_prefix(after) {
            Ok((value, n_bytes)) => {
                fields.insert(name.to_owned(), value);
                rest = &after[n_bytes..];
            }
            Err(lenient::LenientError::Cut) => return None,
            Err(lenient::LenientError::Malformed { .. }) => return Some(Err(())),
        }
    }
}
