//! Review: checks whether the claims of an answer agree with the results of the tools. The caller supplies the check; the
//! turn asks the model once to correct its answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Block, Kind, Message};

/// Checks an answer before it ends. Pure: the same answer always gets the same verdict.
pub trait Reviewer: Sync {
    /// `answer` is the whole answer so far; the blocks from `from` on were not reviewed yet.
    fn doubt(&self, answer: &[Block], from: usize) -> Option<Doubt>;
}

/// A claim of an answer that no tool result confirms.
#[derive(Clone, Debug, PartialEq)]
pub struct Doubt {
    /// The question to the model.
    pub question: String,
    /// The notice for the user, if the model's second answer makes the same claim.
    pub notice: Notice,
}

/// Something a user should know about an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Notice {
    /// `UNCONFIRMED_CLAIM`.
    pub code: String,
    pub message: String,
}

/// The state of the review of a turn.
#[derive(Default)]
pub(crate) struct Reviews {
    /// The first block that was not reviewed yet.
    from: usize,
    was_asked: bool,
    pub(crate) notices: Vec<Notice>,
}

/// The result of a review.
pub(crate) enum Verdict {
    Fine,
    /// Ask the model this, and let it answer once more.
    Ask(Message),
    /// Show the user this at the end of the answer.
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

/// The events of a text block that Segue adds to the answer.
pub(crate) fn remark(block: u32, text: &str) -> [Kind; 3] {
    [
        Kind::TextStarted { block },
        Kind::TextDelta { block, text: text.to_owned() },
        Kind::TextDone { block, text: text.to_owned() },
    ]
}
