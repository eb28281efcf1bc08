//! Events: everything that happens while a turn runs. Only events are streamed.
//!
//! The serialised form belongs to the turn log. No protocol sends it; every protocol encodes its own frames.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{CallId, ConversationId, Done, Failure, MessageId, Notice, TurnId, Usage};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Numbers the events that a native client receives, from 1 without gaps. A client resumes after a number.
    /// An event that only frames others has the number of the event before it.
    pub seq: u32,
    /// The time of the event, in milliseconds since 1970.
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
        /// The name that the model reports. Logs of earlier versions do not contain it.
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
    /// A piece of the model's reasoning before its answer. It needs no start and no end, so nothing is left open when its
    /// node dies. Consecutive pieces are one block of the message. No model reads it again.
    Reasoned {
        text: String,
    },
    /// The model's server is still reading the prompt: so many of its tokens are read.
    Reading {
        n_read: u32,
        n_total: u32,
    },
    /// The reply of a step is complete, with the calls that it requests. The calls run after this event is saved, so
    /// a node that takes the turn over knows all of them.
    Replied {
        step: u32,
        usage: Usage,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<AskedCall>,
    },
    /// Another node continues the turn, or the same node after a restart.
    TakenOver {
        /// Counts from 1.
        takeover: u32,
        node: String,
    },
    ToolStarted {
        call: CallId,
        name: String,
        /// The name for users: "Search your library".
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
        /// The reply is incomplete, because the turn was stopped or failed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_cut: bool,
    },
    Ended {
        usage: Usage,
        stop: StopReason,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notices: Vec<Notice>,
        /// In US dollars, if the model's price is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost_usd: Option<f64>,
    },
    Failed {
        code: FailureCode,
        message: String,
        retryable: bool,
    },
}

/// A call that a reply requests.
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
    /// Whether the event has its own `seq`. The other events only frame steps and text blocks, for the protocols that
    /// need frames.
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

    /// Whether this is the last event of the turn.
    pub fn is_last(&self) -> bool {
        matches!(self, Kind::Ended { .. } | Kind::Failed { .. })
    }
}
