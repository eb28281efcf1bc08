//! The error of a query string: which parameter is wrong, and what it should be. The parser's own words name types of
//! the program ("invalid digit found in string").

use crate::error::ApiError;

/// The error of a query string that could not be read, from the text of the parser: `FIELD: PROBLEM`.
pub(crate) fn query_error(text: &str) -> ApiError {
    let text = text.strip_prefix("Failed to deserialize query string: ").unwrap_or(text);
    match text.split_once(": ") {
        Some((field, problem)) if is_name(field) => ApiError::invalid_field(field, in_our_words(field, problem)),
        _ => ApiError::invalid(text),
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn in_our_words(field: &str, problem: &str) -> String {
    let words = match problem {
        _ if field == "cursor" => "is not the `next` of a page",
        _ if problem.starts_with("UUID parsing failed") => "is not an id",
        "invalid digit found in string" | "cannot parse integer from empty string" => "is not a whole number",
        "invalid float literal" | "cannot parse float from empty string" => "is not a number",
        "number too large to fit in target type" => "is too large",
        "number too small to fit in target type" => "is too small",
        "provided string was not `true` or `false`" => "must be true or false",
        // A list of the values that are allowed.
        _ => problem,
    };
    words.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_names_its_parameter_and_no_type_of_the_program() {
        for (text, field, message) in [
            ("cursor: UUID parsing failed: invalid character: found `x` at 0", "cursor", "is not the `next` of a page"),
            ("cursor: invalid digit found in string", "cursor", "is not the `next` of a page"),
            ("limit: invalid digit found in string", "limit", "is not a whole number"),
            ("before: UUID parsing failed: invalid length", "before", "is not an id"),
            ("filter: unknown variant `late`, expected `all`", "filter", "unknown variant `late`, expected `all`"),
        ] {
            let error = query_error(&format!("Failed to deserialize query string: {text}"));
            assert_eq!((error.details[0].field.as_str(), error.message.as_str()), (field, message));
            assert_eq!(error.code, "VALIDATION_ERROR");
        }
        let missing = query_error("Failed to deserialize query string: missing field `q`");
        assert_eq!((missing.message.as_str(), missing.details.len()), ("missing field `q`", 0));
    }
}
