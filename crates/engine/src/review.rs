//! Review: is what an answer says true of what the tools did? The caller decides; the turn asks the model once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Block, Kind, Message};

/// Looks at an answer before it ends. Pure: the same answer gets the same verdict.
pub trait Reviewer: Sync {
    /// `answer` is everything so far, `from` where the words begin that were not reviewed yet.
    fn doubt(&self, answer: &[Block], from: usize) -> Option<Doubt>;
}

/// What an answer says and no tool confirms.
#[derive(Clone, Debug, PartialEq)]
pub struct Doubt {
    /// What the model is asked about it.
    pub question: String,
    /// What the user reads if that changes nothing.
    pub notice: Notice,
}

/// Something a user should know about an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Notice {
    /// `UNCONFIRMED_CLAIM`.
    pub code: String,
    pub message: String,
}

/// How far the review of a turn has come.
#[derive(Default)]
pub(crate) struct Reviews {
    /// Where the words begin that were not reviewed yet.
    from: usize,
    was_asked: bool,
    pub(crate) notices: Vec<Notice>,
}

/// What follows from a review.
pub(crate) enum Verdict {
    Fine,
    /// The model reads this and answers once more.
    Ask(Message),
    /// The user reads this at the end of the answer.
    Mark(Notice),
}

impl Reviews {
    /// `may_ask`: whether the turn has a step left.
    pub(crate) fn of(&mut self, reviewer: Option<&dyn Reviewer>, answer: &[Block], may_ask: bool) -> Verdict {
        let Some(doubt) = reviewer.and_then(|reviewer| reviewer.doubt(answer, self.from)) else { return Verdict::Fine };
        self.from = answer.len();
        if may_ask && !self.was_asked {
            self.was_asked = true;
            return Verdict::Ask(Message::user(doubt.question));
        }
        self.notices.push(doubt.notice.clone());
        Verdict::Mark(doubt.notice)
    }
}

/// A text block that the model did not write, as events.
pub(crate) fn remark(block: u32, text: &str) -> [Kind; 3] {
    [
        Kind::TextStarted { block },
        Kind::TextDelta { block, text: text.to_owned() },
        Kind::TextDone { block, text: text.to_owned() },
    ]
}
