//! Consent: a call that changes something on another server requires the user's consent to exactly this call. Text of
//! a model or in a message is not consent.

use engine::{ToolContext, ToolError};
use serde_json::Value;
use store::{NewConsent, Store, StoreError};

/// Returns if a call of an answer is allowed; otherwise requests the user's consent.
pub(super) async fn check(
    store: &Store,
    cx: &ToolContext,
    tool_name: &str,
    title: &str,
    input: &Value,
) -> Result<(), ToolError> {
    // Without an agent the user makes the call directly, and only tools that the operator listed in `direct` are
    // available.
    let Some(answer) = cx.answer else { return Ok(()) };
    let asked = NewConsent { owner: &cx.owner, answer, call: cx.call, tool_name, input };
    if store.use_consent(&asked).await.map_err(bug)? {
        return Ok(());
    }
    let id = store.ask_consent(&asked).await.map_err(bug)?;
    Err(ToolError::NeedsConsent {
        id,
        message: format!(
            "Not done: {title} changes something outside Segue and waits for the user's consent. The call: {}",
            shortened(&input.to_string())
        ),
    })
}

/// A protocol that shows no input shows this: the user decides about exactly this call.
const MOST_CHARACTERS: usize = 2000;

fn shortened(input: &str) -> String {
    match input.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => format!("{}… ({} characters in all)", &input[..end], input.chars().count()),
        None => input.to_owned(),
    }
}

fn bug(error: StoreError) -> ToolError {
    ToolError::Bug(error.into())
}
