//! Event: what happens while a turn runs; the only thing that streams.
//!
//! The serialised form is the turn log's own. No protocol sends it: each spells its own frames.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{CallId, ConversationId, Done, Failure, MessageId, Notice, TurnId, Usage};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Counts the events a native client sees, from 1 without gaps; clients resume by it.
    /// An event that only frames others carries the number of the one before it.
    pub seq: u32,
    /// When it happened, in milliseconds since 1970.
    pub at_ms: i64,
    #[serde(flatten)]
    pub kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Kind {
    Started {
        turn: TurnId,
        conversation: ConversationId,
        message: MessageId,
    },
    /// The model is asked for the `step`th time.
    StepStarted {
        step: u32,
        /// Which model, as it calls itself; logs of earlier versions do not say.
        #[serde(default)]
        model: String,
    },
    /// `block` counts the text blocks of the message.
    TextStarted {
        block: u32,
    },
    TextDelta {
        block: u32,
        text: String,
    },
    TextDone {
        block: u32,
        text: String,
    },
    /// The reply of a step is complete, with the calls it asks for. They run after this event is saved, so a node that
    /// takes the turn over knows them all.
    Replied {
        step: u32,
        usage: Usage,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<AskedCall>,
    },
    /// Another node goes on with the turn, or the same one after its restart.
    TakenOver {
        /// Counts from 1.
        takeover: u32,
        node: String,
    },
    ToolStarted {
        call: CallId,
        name: String,
        /// What a person reads: "Search your library".
        title: String,
        input: Arc<Value>,
    },
    ToolDone {
        call: CallId,
        name: String,
        #[serde(flatten)]
        done: Arc<Done>,
    },
    ToolFailed {
        call: CallId,
        name: String,
        #[serde(flatten)]
        failure: Failure,
    },
    StepDone {
        step: u32,
        usage: Usage,
        /// The reply did not reach its end: the turn was stopped or failed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_cut: bool,
    },
    Ended {
        usage: Usage,
        stop: StopReason,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notices: Vec<Notice>,
        /// In US dollars, where the model's price is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost_usd: Option<f64>,
    },
    Failed {
        code: FailureCode,
        message: String,
        retryable: bool,
    },
}

/// A call that a reply asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AskedCall {
    pub call: CallId,
    pub name: String,
    pub input: Arc<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    Complete,
    Stopped,
    MaxSteps,
}

/// Why a turn failed, in the words of the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum FailureCode {
    AiServiceUnavailable,
    DatabaseError,
    ValidationError,
    RateLimited,
    Timeout,
    Interrupted,
    InternalError,
}

impl Kind {
    /// Whether the event counts in `seq`; the others only frame steps and text blocks for protocols that need it.
    pub fn is_numbered(&self) -> bool {
        !matches!(
            self,
            Kind::StepStarted { .. }
                | Kind::TextStarted { .. }
                | Kind::TextDone { .. }
                | Kind::Replied { .. }
                | Kind::TakenOver { .. }
                | Kind::StepDone { .. }
        )
    }

    /// Whether nothing comes after it.
    pub fn is_last(&self) -> bool {
        matches!(self, Kind::Ended { .. } | Kind::Failed { .. })
    }
}
