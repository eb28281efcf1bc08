//! Halt: why a turn ends before its answer is complete, and what its reader is told.

use crate::{End, FailureCode, JournalError, ModelError, StopReason};

pub(crate) enum Halt {
    Stopped,
    TimedOut,
    Model(ModelError),
    Journal(JournalError),
}

impl Halt {
    pub(crate) fn into_end(self) -> End {
        let (code, message, retryable) = match self {
            Halt::Stopped => return End::Answered(StopReason::Stopped),
            Halt::TimedOut | Halt::Model(ModelError::TimedOut) => {
                (FailureCode::Timeout, "The answer took too long. Please try again.", true)
            }
            Halt::Model(error) => {
                tracing::error!("The turn failed: {error}");
                match error {
                    ModelError::RateLimited(_) => (
                        FailureCode::RateLimited,
                        "The model is at its rate limit. Please try again in a moment.",
                        true,
                    ),
                    ModelError::Refused(_) => (
                        FailureCode::AiServiceUnavailable,
                        "The model refused the request. Please check its settings.",
                        false,
                    ),
                    ModelError::Unavailable(_) | ModelError::TimedOut => (
                        FailureCode::AiServiceUnavailable,
                        "The model is unavailable right now. Please try again.",
                        true,
                    ),
                }
            }
            Halt::Journal(error) => {
                tracing::error!("The turn failed: {error}");
                (FailureCode::DatabaseError, "Something went wrong while saving. Please try again.", true)
            }
        };
        End::Failed { code, message: message.into(), retryable }
    }
}
