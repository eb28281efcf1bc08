//! The review of an answer, by this node or again after another: a question to the model, or a remark in the answer.

use super::Run;
use crate::{
    Block, Kind,
    progress::Answered,
    review::{Verdict, remark},
};

impl Run<'_, '_> {
    /// What an earlier node has reviewed, reviewed again: the verdicts are the same. What followed from the last one may
    /// not be in the log.
    pub(super) fn review_again(&mut self) {
        let content = self.progress.content();
        for Answered { step, n_blocks } in self.progress.answers().to_vec() {
            self.reviewed = Some(step);
            let (is_last, is_open) = self.progress.is_last(step);
            let may_ask = step < self.turn.limits.max_steps;
            match self.reviews.of(self.reviewer, &content[..n_blocks], may_ask) {
                Verdict::Ask(question) => {
                    self.question = Some((n_blocks, question));
                    self.asks_again = is_last;
                }
                Verdict::Mark(notice) if is_open => self.finish_saying(&notice.message, content.get(n_blocks)),
                Verdict::Mark(_) | Verdict::Fine => {}
            }
        }
    }

    /// Words of ours that an earlier node may have begun to say.
    fn finish_saying(&mut self, text: &str, said: Option<&Block>) {
        match self.progress.open_text() {
            Some((block, begun)) => {
                if let Some(rest) = text.strip_prefix(begun.as_str()).filter(|rest| !rest.is_empty()) {
                    self.record(Kind::TextDelta { block, text: rest.to_owned() });
                }
                self.close_text();
            }
            None if said.is_none() => self.say(text),
            None => {}
        }
    }

    /// Whether the model is asked about its answer before the turn ends. Logs of version 0.1 do not tell of replies.
    pub(super) fn is_doubted(&mut self, step: u32) -> bool {
        if self.reviewed.is_none() && !self.progress.awaits_consent() {
            self.review(step);
        }
        std::mem::take(&mut self.asks_again)
    }

    pub(super) fn review(&mut self, step: u32) {
        self.reviewed = Some(step);
        let content = self.progress.content();
        match self.reviews.of(self.reviewer, &content, step < self.turn.limits.max_steps) {
            Verdict::Fine => {}
            Verdict::Ask(question) => {
                self.question = Some((content.len(), question));
                self.asks_again = true;
            }
            Verdict::Mark(notice) => self.say(&notice.message),
        }
    }

    /// Adds text to the end of the answer.
    pub(super) fn say(&mut self, text: &str) {
        remark(self.progress.n_texts(), text).into_iter().for_each(|kind| self.record(kind));
    }
}
