//! Is the input of a call valid? A model also gets an example of a valid one.

use serde_json::Value;

use super::any_tool::AnyTool;
use crate::{ToolError, ToolSpec, explain, tool::Caller};

/// Every input must be a JSON object. Without this check, serde would also read a list as a struct.
pub(super) fn check(tool: &dyn AnyTool, caller: Caller, input: &Value) -> Result<(), ToolError> {
    let spec = tool.spec();
    let checked = if input.is_object() {
        tool.check(input)
    } else {
        let what = explain::problems(spec, input).join("; ");
        Err(ToolError::BadInput(format!("Invalid input for {}: {what}", spec.name)))
    };
    match (checked, caller) {
        (Err(ToolError::BadInput(error)), Caller::Model) => Err(ToolError::BadInput(explained(spec, input, error))),
        (checked, _) => checked,
    }
}

/// The error for a model: which fields are invalid, and an example of a valid input.
fn explained(spec: &ToolSpec, input: &Value, error: String) -> String {
    let problems = explain::problems(spec, input);
    let error =
        if problems.is_empty() { error } else { format!("Invalid input for {}: {}", spec.name, problems.join("; ")) };
    format!("{error}. Example: {}", explain::example(&spec.input_schema))
}
