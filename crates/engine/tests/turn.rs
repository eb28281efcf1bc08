//! The turn loop with a paused clock: retries, deadlines, order and interruption.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use engine::{
    Effect, End, FailureCode, Finished, Kind, Limits, Message, MessageId, NoJournal, Progress, Prompt, Report,
    StopReason, Tool, ToolContext, ToolError, Toolbox, Turn, UserId, run,
    script::{Reply, ScriptedModel, calls, says},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The behaviour of a fake tool in one attempt.
#[derive(Clone)]
enum Attempt {
    Works,
    Takes(u64),
    Transient,
    Refused,
    Bug,
}

type CallLog = Arc<Mutex<Vec<String>>>;

/// A tool that follows a script and records its start and its end, in seconds.
#[derive(Clone)]
struct Fake {
    attempts: Arc<Mutex<VecDeque<Attempt>>>,
    log: CallLog,
    started: Instant,
}

/// Does something.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Which one.
    name: String,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    name: String,
}

impl Report for Output {
    fn summary(&self) -> String {
        format!("did {}", self.name)
    }
    fn count(&self) -> usize {
        1
    }
}

impl Fake {
    fn new(attempts: impl IntoIterator<Item = Attempt>) -> Self {
        let attempts = Arc::new(Mutex::new(attempts.into_iter().collect()));
        Self { attempts, log: CallLog::default(), started: Instant::now() }
    }

    fn note(&self, what: &str) {
        self.log.lock().expect("the lock is not poisoned").push(format!("{} {what}", self.started.elapsed().as_secs()));
    }

    async fn call(&self, input: Input) -> Result<Output, ToolError> {
        let attempt = self.attempts.lock().expect("the lock is not poisoned").pop_front().unwrap_or(Attempt::Works);
        self.note(&format!("{} begins", input.name));
        let result = match attempt {
            Attempt::Works => Ok(()),
            Attempt::Takes(seconds) => {
                tokio::time::sleep(Duration::from_secs(seconds)).await;
                Ok(())
            }
            Attempt::Transient => Err(ToolError::Unavailable { message: "busy".into(), retryable: true }),
            Attempt::Refused => Err(ToolError::Refused("no".into())),
            Attempt::Bug => Err(ToolError::Bug(anyhow::anyhow!("the secret cause"))),
        };
        self.note(&format!("{} ends", input.name));
        result.map(|()| Output { name: input.name })
    }
}

struct Reader(Fake);

impl Tool for Reader {
    const NAME: &'static str = "read";
    const TITLE: &'static str = "Read";
    const EFFECT: Effect = Effect::Reads;
    type Input = Input;
    type Output = Output;

    async fn call(&self, _: &ToolContext, input: Input) -> Result<Output, ToolError> {
        self.0.call(input).await
    }
}

struct Writer(Fake);

impl Tool for Writer {
    const NAME: &'static str = "write";
    const TITLE: &'static str = "Write";
    const EFFECT: Effect = Effect::Writes;
    type Input = Input;
    type Output = Output;

    async fn call(&self, _: &ToolContext, input: Input) -> Result<Output, ToolError> {
        self.0.call(input).await
    }
}

/// Runs one turn. Returns its result and the emitted events.
async fn turn(
    fake: &Fake,
    replies: impl IntoIterator<Item = Reply>,
    cancel: CancellationToken,
) -> (Finished, Vec<Kind>) {
    let model = ScriptedModel::new(replies);
    let toolbox = Toolbox::default().with(Reader(fake.clone())).with(Writer(fake.clone()));
    let mut emitted = Vec::new();
    let turn = Turn {
        model: &model,
        toolbox: &toolbox,
        journal: &NoJournal,
        owner: UserId::new("ann"),
        message: MessageId::new(),
        prompt: Prompt {
            system: "".into(),
            tools: toolbox.specs().into(),
            messages: vec![Message::user("go")],
            may_call_tools: true,
        },
        limits: Limits::default(),
        progress: Progress::default(),
        elapsed: Duration::ZERO,
        cancel,
    };
    let finished = run(turn, &mut |kind| emitted.push(kind)).await;
    (finished, emitted)
}

async fn one_call(attempts: impl IntoIterator<Item = Attempt>) -> (Kind, u64) {
    let fake = Fake::new(attempts);
    let replies = [calls("read", json!({"name": "a"})), says("Done.")];
    let (finished, emitted) = turn(&fake, replies, CancellationToken::new()).await;
    assert_eq!(finished.end, End::Answered(StopReason::Complete));
    let ends = |kind: &Kind| matches!(kind, Kind::ToolDone { .. } | Kind::ToolFailed { .. });
    let end = emitted.into_iter().find(ends).expect("the call ends");
    (end, fake.started.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn only_transient_failures_are_retried_once_after_a_second() {
    use Attempt::{Bug, Refused, Takes, Transient, Works};
    let cases: [(Vec<Attempt>, &str, bool, u64); 8] = [
        (vec![Works], "did a", false, 0),
        (vec![Transient, Works], "did a", true, 1),
        (vec![Transient, Transient, Works], "busy", true, 1),
        (vec![Refused, Works], "no", false, 0),
        (vec![Bug, Works], "internal error", false, 0),
        (vec![Transient, Refused], "no", true, 1),
        (vec![Takes(11), Works], "did a", true, 11),
        (vec![Takes(11), Takes(11)], "Read took longer than 10 s", true, 21),
    ];
    for (attempts, text, was_retried, seconds) in cases {
        let (end, took) = one_call(attempts).await;
        let (got, retried) = match end {
            Kind::ToolDone { done, .. } => (done.summary.clone(), done.was_retried),
            Kind::ToolFailed { failure, .. } => (failure.error, failure.was_retried),
            _ => unreachable!("one of the two was looked for"),
        };
        assert_eq!((got.as_str(), retried, took), (text, was_retried, seconds));
    }
}

#[tokio::test(start_paused = true)]
async fn reads_run_together_and_writes_in_order() {
    let fake = Fake::new(vec![Attempt::Takes(2); 5]);
    let reply = calls("read", json!({"name": "r1"}))
        .calls("read", json!({"name": "r2"}))
        .calls("write", json!({"name": "w1"}))
        .calls("write", json!({"name": "w2"}))
        .calls("read", json!({"name": "r3"}));
    turn(&fake, [reply, says("Done.")], CancellationToken::new()).await;
    let log = fake.log.lock().unwrap().join(", ");
    let expected = "0 r1 begins, 0 r2 begins, 2 r1 ends, 2 r2 ends, 2 w1 begins, 4 w1 ends, 4 w2 begins, 6 w2 ends, \
                    6 r3 begins, 8 r3 ends";
    assert_eq!(log, expected);
}

#[tokio::test(start_paused = true)]
async fn reads_that_end_in_another_order_are_stored_as_they_were_streamed() {
    let fake = Fake::new([Attempt::Takes(3), Attempt::Takes(1), Attempt::Takes(2)]);
    let reply =
        ["r1", "r2", "r3"].into_iter().fold(Reply::default(), |reply, name| reply.calls("read", json!({"name": name})));
    let (finished, emitted) = turn(&fake, [reply, says("Done.")], CancellationToken::new()).await;
    let streamed: Vec<_> = emitted
        .iter()
        .filter_map(|kind| match kind {
            Kind::ToolDone { call, done, .. } => Some((*call, done.summary.as_str())),
            _ => None,
        })
        .collect();
    let stored: Vec<_> = finished
        .content
        .iter()
        .filter_map(|block| match block {
            engine::Block::ToolResult { tool_use_id, .. } => Some(*tool_use_id),
            _ => None,
        })
        .collect();
    assert_eq!(streamed.iter().map(|(_, summary)| *summary).collect::<Vec<_>>(), ["did r2", "did r3", "did r1"]);
    assert_eq!(stored, streamed.into_iter().map(|(call, _)| call).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn a_silent_model_and_an_endless_turn_time_out() {
    let long = |n: usize| (0..n).map(|_| Attempt::Takes(9)).collect::<Vec<_>>();
    let cases: [(Vec<Reply>, Vec<Attempt>, u64); 2] =
        [(vec![Reply::default().then_hangs()], vec![], 30), (vec![says("Well").then_hangs()], vec![], 60)];
    for (replies, attempts, seconds) in cases {
        let fake = Fake::new(attempts);
        let (finished, _) = turn(&fake, replies, CancellationToken::new()).await;
        assert!(matches!(finished.end, End::Failed { code: FailureCode::Timeout, retryable: true, .. }));
        assert_eq!(fake.started.elapsed().as_secs(), seconds);
    }
    // Eight writes of nine seconds each in five rounds would take six minutes.
    let round = |n: usize| {
        (0..8).fold(Reply::default(), |reply, call| reply.calls("write", json!({"name": format!("{n}.{call}")})))
    };
    let fake = Fake::new(long(40));
    let (finished, _) = turn(&fake, (0..5).map(round), CancellationToken::new()).await;
    assert!(matches!(finished.end, End::Failed { code: FailureCode::Timeout, .. }), "{:?}", finished.end);
    assert_eq!(fake.started.elapsed().as_secs(), 300);
    let (n_uses, n_results) = finished.content.iter().fold((0, 0), |(uses, results), block| match block {
        engine::Block::ToolUse { .. } => (uses + 1, results),
        engine::Block::ToolResult { .. } => (uses, results + 1),
        engine::Block::Text { .. } | engine::Block::Reasoning { .. } => (uses, results),
    });
    assert_eq!(n_uses, n_results, "every call that was made has its result");
}

/// The tool succeeded, and the model was too slow to read the result. The answer still contains the result.
#[tokio::test(start_paused = true)]
async fn a_turn_that_times_out_after_its_tools_shows_their_results() {
    let fake = Fake::new([]);
    let replies = [calls("read", json!({"name": "a"})), Reply::default().then_hangs()];
    let (finished, emitted) = turn(&fake, replies, CancellationToken::new()).await;
    assert!(matches!(finished.end, End::Failed { code: FailureCode::Timeout, retryable: true, .. }));
    let said = Message::assistant(finished.content).text();
    assert_eq!(said, "The model took too long to answer. The tools have reported:\n\n- did a");
    let streamed = emitted.iter().any(|kind| matches!(kind, Kind::TextDone { text, .. } if *text == said));
    assert!(streamed, "{emitted:?}");
    assert!(matches!(emitted.last(), Some(Kind::StepDone { .. })), "the text is inside its step");
    let (finished, _) = turn(&fake, [Reply::default().then_hangs()], CancellationToken::new()).await;
    assert!(finished.content.is_empty(), "no tool has a result");
}

#[tokio::test(start_paused = true)]
async fn a_stop_interrupts_the_running_tool_and_closes_the_calls_after_it() {
    let fake = Fake::new([Attempt::Takes(8), Attempt::Works]);
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(3)).await;
        stop.cancel();
    });
    let reply = says("On it.").calls("read", json!({"name": "slow"})).calls("write", json!({"name": "never"}));
    let (finished, emitted) = turn(&fake, [reply, says("unreached")], cancel).await;
    assert_eq!(finished.end, End::Answered(StopReason::Stopped));
    assert_eq!(fake.started.elapsed().as_secs(), 3);
    let errors: Vec<_> = emitted
        .iter()
        .filter_map(|kind| match kind {
            Kind::ToolFailed { failure, .. } => Some(failure.error.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(errors, ["Interrupted", "Interrupted"]);
    assert_eq!(fake.log.lock().unwrap().as_slice(), ["0 slow begins"], "the second call is never made");
}

#[test]
fn choosing_a_tool_that_does_not_exist_is_an_error() {
    let toolbox = Toolbox::default().with(Reader(Fake::new([]))).with(Writer(Fake::new([])));
    let chosen = toolbox.only(&["read"]).expect("the tool exists");
    assert_eq!(chosen.specs().iter().map(|spec| spec.name.clone()).collect::<Vec<_>>(), ["read"]);
    let error = toolbox.only(&["read", "wrtie"]).err().expect("refused");
    assert_eq!(error.to_string(), "there is no tool 'wrtie'; the tools are: read, write");
}
