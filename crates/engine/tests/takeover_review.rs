//! A turn whose node dies while its answer is reviewed: no question is asked twice, no notice is lost, at every position of
//! the log.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{collections::HashMap, sync::Mutex, time::Duration};

use engine::{
    Block, Delta, Doubt, End, Event, Finished, Kind, Limits, Message, MessageId, Model, ModelError, NoJournal, Notice,
    Progress, Prompt, Reviewer, StopReason, Toolbox, Turn, Usage, UserId, run_reviewed,
};
use futures::{StreamExt, stream::BoxStream};
use tokio_util::sync::CancellationToken;

const QUESTION: &str = "No tool has done that. Is it true?";
const NOTICE: &str = "Note: this is not confirmed.";
const CLAIM: &str = "It is done as you wished. ";

/// Doubts every answer that says it is done.
struct Doubts;

impl Reviewer for Doubts {
    fn doubt(&self, answer: &[Block], from: usize) -> Option<Doubt> {
        let is_claim = |block: &Block| matches!(block, Block::Text { text } if text.contains("done"));
        let notice = Notice { code: "UNCONFIRMED_CLAIM".into(), message: NOTICE.into() };
        answer[from..].iter().any(is_claim).then(|| Doubt { question: QUESTION.into(), notice })
    }
}

/// Claims something, and answers the question about it with `then`. It knows where it is from the prompt alone.
struct Claims {
    then: &'static str,
    asked: Mutex<Vec<Prompt>>,
}

fn was_questioned(prompt: &Prompt) -> bool {
    prompt.messages.iter().any(|message| message.text() == QUESTION)
}

impl Model for Claims {
    fn id(&self) -> &str {
        "claims"
    }

    fn reply(&self, prompt: &Prompt) -> BoxStream<'static, Result<Delta, ModelError>> {
        self.asked.lock().unwrap().push(prompt.clone());
        let text = if was_questioned(prompt) { self.then } else { CLAIM };
        let rest = text.strip_prefix(prompt.cut_text().unwrap_or_default()).expect("its own words");
        let words = rest.split_inclusive(' ').map(|word| Delta::Text(word.to_owned()));
        let thought = Delta::Reasoning("Is it done?\n".into());
        let end = Delta::End { usage: Usage { input_tokens: 10, output_tokens: 5, ..Usage::default() } };
        futures::stream::iter([thought].into_iter().chain(words).chain([end]).map(Ok).collect::<Vec<_>>()).boxed()
    }
}

/// Runs what is left of the turn; returns how often the model was asked, and appends what happens to the log.
async fn go_on(log: &mut Vec<Kind>, then: &'static str) -> (Finished, Vec<Prompt>) {
    let model = Claims { then, asked: Mutex::default() };
    let events: Vec<_> = log.iter().cloned().map(|kind| Event { seq: 0, at_ms: 0, kind }).collect();
    let toolbox = Toolbox::default();
    let turn = Turn {
        model: &model,
        toolbox: &toolbox,
        journal: &NoJournal,
        owner: UserId::new("ann"),
        message: MessageId::new(),
        prompt: Prompt {
            system: "".into(),
            tools: [].into(),
            messages: vec![Message::user("do it")],
            may_call_tools: true,
        },
        limits: Limits::default(),
        progress: Progress::of(&events, HashMap::new()),
        elapsed: Duration::ZERO,
        cancel: CancellationToken::new(),
    };
    let finished = run_reviewed(turn, Some(&Doubts), &mut |kind| log.push(kind)).await;
    (finished, model.asked.into_inner().unwrap())
}

fn texts(content: &[Block]) -> Vec<String> {
    let text = |block: &Block| match block {
        Block::Text { text } => Some(text.clone()),
        Block::Reasoning { .. } => None,
        Block::ToolUse { .. } | Block::ToolResult { .. } => panic!("no calls"),
    };
    content.iter().filter_map(text).collect()
}

async fn cut_everywhere(then: &'static str, expected: &[&str], n_notices: usize) {
    let mut whole = Vec::new();
    let (uncut, asked) = go_on(&mut whole, then).await;
    assert_eq!((texts(&uncut.content), asked.len()), (expected.iter().map(ToString::to_string).collect(), 2));
    assert_eq!(uncut.notices.len(), n_notices);
    assert!(whole.len() > 15, "only {} events", whole.len());
    for n in 0..=whole.len() {
        let mut log = whole[..n].to_vec();
        let (finished, asked) = go_on(&mut log, then).await;
        assert_eq!(finished.end, End::Answered(StopReason::Complete), "cut at {n}");
        assert_eq!(texts(&finished.content), expected, "cut at {n}");
        assert_eq!(finished.notices, uncut.notices, "cut at {n}");
        assert_eq!(finished.usage, uncut.usage, "cut at {n}");
        let is_reply = |kind: &&Kind| matches!(kind, Kind::Replied { .. });
        let n_replies = whole[..n].iter().filter(is_reply).count();
        assert_eq!(asked.len(), 2 - n_replies, "cut at {n}: a complete reply is not asked for again");
        if let Some(last) = asked.last() {
            assert!(was_questioned(last), "cut at {n}: the model reads the question that it answers");
            let claim = Message::assistant(vec![Block::Text { text: CLAIM.into() }]);
            assert_eq!(last.messages[1], claim, "cut at {n}: the question follows the claim");
        }
        let folded: Vec<_> = log.into_iter().map(|kind| Event { seq: 0, at_ms: 0, kind }).collect();
        assert_eq!(Progress::of(&folded, HashMap::new()).content(), finished.content, "cut at {n}: stored as streamed");
    }
}

#[tokio::test]
async fn an_answer_that_is_corrected_is_questioned_once_wherever_its_node_dies() {
    let then = "I was wrong, nothing has changed. ";
    cut_everywhere(then, &[CLAIM, then], 0).await;
}

#[tokio::test]
async fn an_answer_that_stays_unconfirmed_is_marked_once_wherever_its_node_dies() {
    let then = "It really is done. ";
    cut_everywhere(then, &[CLAIM, then, NOTICE], 1).await;
}
