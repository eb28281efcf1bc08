//! The error of a query string or a JSON body that could not be read: which field is wrong, and what it should be. The
//! parser's own words name types of the program ("invalid digit found in string", "expected u32").

use crate::error::ApiError;

/// The beginnings of the texts of axum.
const INTRODUCTIONS: [&str; 2] =
    ["Failed to deserialize query string: ", "Failed to deserialize the JSON body into the target type: "];

/// A longer value is cut in a message.
const MOST_VALUE_CHARS: usize = 60;

/// A problem that starts with one of these has its field as its subject. Any other problem is a sentence of its own.
const VERBS: [&str; 6] = ["is", "must", "cannot", "has", "needs", "does"];

/// The message of an error about a field: "`limit` is not a whole number".
pub(crate) fn with_subject(field: &str, problem: &str) -> String {
    let first = problem.split(' ').next().unwrap_or_default();
    if VERBS.contains(&first) { format!("`{field}` {problem}") } else { problem.to_owned() }
}

/// The error of input that could not be read, from the text of the parser: `FIELD: PROBLEM`.
pub(crate) fn input_error(text: &str) -> ApiError {
    let text = INTRODUCTIONS.iter().find_map(|introduction| text.strip_prefix(introduction)).unwrap_or(text);
    // The position is left out: the field is named.
    let text = text.rsplit_once(" at line ").map_or(text, |(problem, _)| problem);
    let (path, problem) = match text.split_once(": ") {
        Some((path, problem)) if is_path(path) => (path, problem),
        _ => ("", text),
    };
    match named(path, problem).or_else(|| (!path.is_empty()).then(|| (path.to_owned(), in_our_words(path, problem)))) {
        Some((field, problem)) => ApiError::invalid_field(&field, problem),
        None => ApiError::invalid(text),
    }
}

fn is_path(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "_.[]?".contains(c))
}

/// The field and its problem, if the parser names the field within the problem.
fn named(path: &str, problem: &str) -> Option<(String, String)> {
    let below = |name: &str| match path.trim_end_matches(['.', '?']) {
        "" => name.to_owned(),
        path if path == name || path.ends_with(&format!(".{name}")) => path.to_owned(),
        path => format!("{path}.{name}"),
    };
    if let Some(name) = problem.strip_prefix("missing field `") {
        return Some((below(name.split('`').next()?), "is missing".into()));
    }
    let (name, rest) = problem.strip_prefix("unknown field `")?.split_once("`, ")?;
    Some((below(name), format!("is an unknown field; {rest}")))
}

fn in_our_words(field: &str, problem: &str) -> String {
    if let Some(said) = problem.strip_prefix("invalid type: ").or_else(|| problem.strip_prefix("invalid value: "))
        && let Some((given, expected)) = said.rsplit_once(", expected ")
    {
        return format!("must be {}, not {}", wanted(expected), value(given));
    }
    if let Some((given, allowed)) =
        problem.strip_prefix("unknown variant ").and_then(|said| said.split_once(", expected "))
    {
        return format!("must be {allowed}, not {}", text::shortened(given, MOST_VALUE_CHARS));
    }
    let words = match problem {
        _ if field == "cursor" => "is not the `next` of a page",
        _ if problem.starts_with("UUID parsing failed") => "is not an id",
        _ if problem.starts_with("data did not match any variant") => "has none of the forms that are allowed",
        "invalid digit found in string" | "cannot parse integer from empty string" => "is not a whole number",
        "invalid float literal" | "cannot parse float from empty string" => "is not a number",
        "number too large to fit in target type" => "is too large",
        "number too small to fit in target type" => "is too small",
        "provided string was not `true` or `false`" => "must be true or false",
        "input contains invalid characters" | "premature end of input" | "input is out of range" => {
            "is not a time such as 2026-11-16T12:00:00Z"
        }
        _ => problem,
    };
    words.to_owned()
}

/// What a field should be.
fn wanted(expected: &str) -> &str {
    match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number that is not negative",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "string or map" => "a string or an object",
        _ if expected.contains("UUID") => "an id",
        _ if expected.starts_with("struct ") || expected == "a map" => "an object",
        _ => expected,
    }
}

/// What a field is.
fn value(given: &str) -> String {
    match given {
        "map" => "an object".into(),
        "sequence" => "a list".into(),
        "null" | "unit value" | "Option value" => "null".into(),
        _ => match given.strip_prefix("string ") {
            Some(text) => text::shortened(text, MOST_VALUE_CHARS),
            // A number or a flag: its kind, and its value in backquotes.
            None => given.split('`').nth(1).unwrap_or(given).to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_its_field_and_no_type_of_the_program() {
        for (text, field, problem) in [
            ("cursor: UUID parsing failed: invalid character: found `x` at 0", "cursor", "is not the `next` of a page"),
            ("cursor: invalid digit found in string", "cursor", "is not the `next` of a page"),
            ("limit: invalid digit found in string", "limit", "is not a whole number"),
            ("before: UUID parsing failed: invalid length", "before", "is not an id"),
            ("filter: unknown variant `late`, expected `all`", "filter", "must be `all`, not `late`"),
            ("missing field `q`", "q", "is missing"),
            ("tracks[1]: missing field `isrc` at line 1 column 9", "tracks[1].isrc", "is missing"),
            ("a.b: unknown field `b`, expected `c` at line 2 column 1", "a.b", "is an unknown field; expected `c`"),
            (
                "n: invalid type: string \"x, expected y\", expected u32",
                "n",
                "must be a whole number that is not negative, not \"x, expected y\"",
            ),
            ("n: invalid value: integer `-1`, expected i64", "n", "must be a whole number, not -1"),
            ("on: invalid type: null, expected a boolean at line 1 column 3", "on", "must be true or false, not null"),
            ("ids: invalid type: map, expected a sequence", "ids", "must be a list, not an object"),
        ] {
            for introduction in INTRODUCTIONS {
                let error = input_error(&format!("{introduction}{text}"));
                let (detail, code) = (&error.details[0], error.code);
                assert_eq!(
                    (detail.field.as_str(), detail.message.as_str(), code),
                    (field, problem, "VALIDATION_ERROR")
                );
                assert_eq!(error.message, format!("`{field}` {problem}"));
            }
        }
    }

    #[test]
    fn a_sentence_keeps_its_own_subject_and_a_long_value_is_cut() {
        assert_eq!(with_subject("file", "the file is empty"), "the file is empty");
        assert_eq!(with_subject("message", "Message cannot be empty"), "Message cannot be empty");
        let error = input_error(&format!("title: invalid type: string \"{}\", expected u32", "é".repeat(300)));
        assert!(error.message.ends_with('…') && error.message.chars().count() < 140, "{}", error.message);
    }
}
