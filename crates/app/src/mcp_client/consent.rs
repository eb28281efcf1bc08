//! Consent: a call that changes something elsewhere is made after its user has allowed exactly that, and not before. What a
//! model or a message says is no consent.

use engine::{ToolContext, ToolError};
use serde_json::Value;
use store::{NewConsent, Store, StoreError};

/// Lets a call of an answer pass, or asks its user.
pub(super) async fn check(
    store: &Store,
    cx: &ToolContext,
    tool_name: &'static str,
    title: &str,
    input: &Value,
) -> Result<(), ToolError> {
    // Without an agent in between the user calls, and only tools that the operator named for that.
    let Some(answer) = cx.answer else { return Ok(()) };
    if store.use_consent(&cx.owner, answer, tool_name, input).await.map_err(bug)? {
        return Ok(());
    }
    let new = NewConsent { owner: &cx.owner, answer, call: cx.call, tool_name, input };
    let id = store.ask_consent(&new).await.map_err(bug)?;
    Err(ToolError::NeedsConsent {
        id,
        message: format!("Not done: {title} changes something outside Segue and waits for the user's consent."),
    })
}

fn bug(error: StoreError) -> ToolError {
    ToolError::Bug(error.into())
}
