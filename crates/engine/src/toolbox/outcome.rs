//! One call of a tool and its outcome, as the journal stores them.

use std::{collections::BTreeMap, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::{CallId, MessageId, ToolError, UserId};

/// One call, as the journal stores it.
#[derive(Clone, Debug)]
pub struct Call {
    pub id: CallId,
    pub owner: UserId,
    /// The answer to which it belongs; `None` if a tool is called directly.
    pub message: Option<MessageId>,
    pub name: String,
    pub input: Arc<Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Done(Arc<Done>),
    Failed(Failure),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Done {
    pub summary: String,
    pub count: usize,
    pub duration_ms: u64,
    /// The complete output, including `summary` and `durationMs`.
    pub output: Arc<Value>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub timings: BTreeMap<String, u64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub was_retried: bool,
}

/// As it is stored in a `tool_result` with `is_error`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    pub error: String,
    /// Whether the user may try again later.
    pub retryable: bool,
    pub was_retried: bool,
    pub duration_ms: u64,
    /// The question to the user, when the call waits for their consent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consent_id: Option<Uuid>,
    /// Who can fix it. It is not stored; only the current caller gets a status for it.
    #[serde(skip)]
    pub cause: Cause,
}

impl Failure {
    pub fn new(error: impl Into<String>, retryable: bool) -> Self {
        let (error, cause) = (error.into(), Cause::default());
        Self { error, retryable, was_retried: false, duration_ms: 0, consent_id: None, cause }
    }

    /// The failure of a call that was stopped, or whose outcome is unknown.
    pub fn interrupted() -> Self {
        Self::new("Interrupted", true)
    }

    /// The failure of a call to another server that was running when its node died. Its effect may have happened.
    pub(crate) fn outcome_unknown() -> Self {
        Self::new(
            "The server was restarted during this call, so its outcome is unknown: it may have been carried out. \
                     Check before calling again.",
            false,
        )
    }

    pub(super) fn of(error: &ToolError, was_retried: bool, duration_ms: u64) -> Self {
        Self {
            consent_id: if let ToolError::NeedsConsent { id, .. } = error { Some(*id) } else { None },
            retryable: matches!(error, ToolError::Unavailable { retryable: true, .. }),
            error: error.to_string(),
            was_retried,
            duration_ms,
            cause: Cause::of(error),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cause {
    /// Read from the store.
    #[default]
    Unknown,
    BadInput,
    NotFound,
    NotConfigured,
    NeedsConsent,
    Unavailable,
    Refused,
    Bug,
}

impl Cause {
    fn of(error: &ToolError) -> Self {
        match error {
            ToolError::BadInput(_) => Self::BadInput,
            ToolError::NotFound(_) => Self::NotFound,
            ToolError::NotConfigured(_) => Self::NotConfigured,
            ToolError::NeedsConsent { .. } => Self::NeedsConsent,
            ToolError::Unavailable { .. } => Self::Unavailable,
            ToolError::Refused(_) => Self::Refused,
            ToolError::Bug(_) => Self::Bug,
        }
    }
}
