//! Consent: a call that changes something elsewhere is made only after the user has spoken again.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use engine::{MessageId, ToolContext, UserId};
use serde_json::Value;

/// A question that was not answered for this long is asked again.
const VALID_FOR: Duration = Duration::from_secs(15 * 60);

/// The calls users were asked about. A model cannot agree for its user: the same call in the same answer is asked about
/// again, and a call with other input is another call.
#[derive(Default)]
pub(super) struct Consent {
    asked: Mutex<HashMap<Call, Asked>>,
}

/// Who calls what, with which input.
type Call = (UserId, String, String);
/// In which answer, and when.
type Asked = (MessageId, Instant);

impl Consent {
    pub(super) fn is_given(&self, cx: &ToolContext, tool: &str, input: &Value) -> bool {
        // Without an agent in between it is the user who calls.
        let Some(answer) = cx.answer else { return true };
        let key = (cx.owner.clone(), tool.to_owned(), input.to_string());
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.retain(|_, (_, at)| at.elapsed() < VALID_FOR);
        if asked.get(&key).is_some_and(|(earlier, _)| *earlier != answer) {
            asked.remove(&key);
            return true;
        }
        asked.insert(key, (answer, Instant::now()));
        false
    }
}

#[cfg(test)]
mod tests {
    use engine::{CallId, MessageId, ToolContext, UserId};
    use serde_json::json;
    use tokio_util::sync::CancellationToken;

    use super::Consent;

    #[test]
    fn a_model_cannot_agree_for_its_user() {
        let consent = Consent::default();
        let context = |owner: &str, answer| {
            let mut cx = ToolContext::new(UserId::new(owner), CallId::new(), CancellationToken::new());
            cx.answer = answer;
            cx
        };
        let (first, second, third) = (MessageId::new(), MessageId::new(), MessageId::new());
        let (input, other) = (json!({"id": 1}), json!({"id": 2}));
        let cases = [
            ("ann", Some(first), &input, false, "never asked"),
            ("ann", Some(first), &input, false, "asked in this very answer"),
            ("bob", Some(second), &input, false, "someone else was asked"),
            ("ann", Some(second), &other, false, "asked about another call"),
            ("ann", Some(second), &input, true, "the user has spoken since"),
            ("ann", Some(third), &input, false, "an agreement counts once"),
            ("ann", None, &input, true, "the user calls without an agent"),
        ];
        for (owner, answer, input, expected, why) in cases {
            assert_eq!(consent.is_given(&context(owner, answer), "mail__send", input), expected, "{why}");
        }
    }
}
