//! Halt: why a turn ends before its answer is complete, and the message that the user gets.

use crate::{End, FailureCode, JournalError, ModelError, StopReason};

pub(crate) enum Halt {
    Stopped,
    TimedOut,
    Model(ModelError),
    Journal(JournalError),
}

impl Halt {
    /// Whether the model or the turn took too long.
    pub(crate) fn is_timeout(&self) -> bool {
        matches!(self, Halt::TimedOut | Halt::Model(ModelError::TimedOut))
    }

    pub(crate) fn into_end(self) -> End {
        let (code, message, retryable) = match self {
            Halt::Stopped => return End::Answered(StopReason::Stopped),
            Halt::TimedOut => (FailureCode::Timeout, ModelError::TimedOut.for_user(), true),
            Halt::Model(error) => {
                tracing::error!("The turn failed: {error}");
                let code = match &error {
                    ModelError::TimedOut => FailureCode::Timeout,
                    ModelError::RateLimited(_) | ModelError::OverBudget(_) => FailureCode::RateLimited,
                    ModelError::ContextOverflow { .. } => FailureCode::ValidationError,
                    _ => FailureCode::AiServiceUnavailable,
                };
                (code, error.for_user(), error.is_retryable())
            }
            Halt::Journal(error) => {
                tracing::error!("The turn failed: {error}");
                (FailureCode::DatabaseError, "Something went wrong while saving. Please try again.".into(), true)
            }
        };
        End::Failed { code, message, retryable }
    }
}
