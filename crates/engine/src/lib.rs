//! The turn loop: ask the model, call its tools, ask again. This crate does no IO.

mod budget;
mod event;
mod explain;
mod external;
mod halt;
mod ids;
pub mod lenient;
mod message;
mod model;
pub mod mutants;
mod progress;
mod prompt;
mod repair;
mod reply;
mod review;
mod schema;
pub mod script;
mod tool;
mod toolbox;
mod turn;
pub mod untrusted;

pub use budget::{Trimmed, estimated_usage, fit, prompt_chars};
pub use event::{AskedCall, Event, FailureCode, Kind, StopReason};
pub use external::{ExternalOutput, ExternalTool};
pub use ids::{CallId, ConversationId, MessageId, TurnId, UserId};
pub use message::{Block, Message, Role, json_bytes, text_of};
pub use model::{Delta, Model, ModelError, Prompt, ToolSpec, Usage, Window};
pub use progress::{OpenCall, Progress, Recorded};
pub use repair::tool_named;
pub use review::{Doubt, Notice, Reviewer};
pub use tool::{Effect, Report, Timings, Tool, ToolContext, ToolError};
pub use toolbox::{
    Call, Cause, Done, Failure, Journal, JournalError, NoJournal, Outcome, Prepared, Toolbox, UnknownTool,
};
pub use turn::{End, Finished, Limits, Turn, run, run_reviewed};
