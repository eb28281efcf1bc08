//! How a turn runs: ask the model, call its tools, ask again. No IO of its own.

mod event;
mod foreign;
mod halt;
mod ids;
mod message;
mod model;
mod progress;
mod prompt;
mod reply;
pub mod script;
mod tool;
mod toolbox;
mod turn;
pub mod untrusted;

pub use event::{AskedCall, Event, FailureCode, Kind, StopReason};
pub use foreign::{ForeignOutput, ForeignTool};
pub use ids::{CallId, ConversationId, MessageId, TurnId, UserId};
pub use message::{Block, Message, Role};
pub use model::{Delta, Model, ModelError, Prompt, ToolSpec, Usage};
pub use progress::{OpenCall, Progress, Recorded};
pub use tool::{Effect, Report, Timings, Tool, ToolContext, ToolError};
pub use toolbox::{Call, Done, Failure, Journal, JournalError, NoJournal, Outcome, Toolbox, UnknownTool};
pub use turn::{End, Finished, Limits, Turn, run};
