//! Prompted tools: lets a model call tools when its server does not support them.
//!
//! The tools are described in the instructions in the Hermes format, which most open models know. Calls are read from
//! the text; earlier calls and results are written back in the same format.

use engine::Prompt;
use serde_json::json;

use super::unfold::CallWithResult;

/// The instructions followed by the tool descriptions.
pub(crate) fn with_tools(system: &str, prompt: &Prompt) -> String {
    let tools = prompt.tools.iter().map(|tool| {
        json!({"name": tool.name, "description": tool.description, "parameters": tool.input_schema}).to_string()
    });
    let tools: Vec<_> = tools.collect();
    let how = if prompt.may_call_tools {
        "To use a tool, reply with nothing but one line for each call:\n\
         <tool_call>{\"name\": \"the tool's name\", \"arguments\": {…}}</tool_call>\n\
         You then get its result in <tool_response>. Never say that something was done or found before you have a result."
    } else {
        "Do not call a tool now: answer with what you have."
    };
    format!("{system}\n\n# Tools\n\n<tools>\n{}\n</tools>\n\n{how}", tools.join("\n")).trim_start().to_owned()
}

/// A reply with its calls as text, and the user message with their results.
pub(crate) fn as_text(texts: &[&str], calls: &[CallWithResult<'_>]) -> (String, String) {
    let said = calls
        .iter()
        .map(|call| format!("<tool_call>{}</tool_call>", json!({"name": call.name, "arguments": call.input})));
    let said: Vec<_> = texts.iter().map(|text| (*text).to_owned()).chain(said).collect();
    let results = calls.iter().map(|call| {
        let mark = if call.is_error { "Error: " } else { "" };
        format!("<tool_response>\n{mark}{}\n</tool_response>", call.result)
    });
    (said.join("\n"), results.collect::<Vec<_>>().join("\n"))
}
