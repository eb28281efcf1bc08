//! Another node continues the turn of a dead node from the log and the journal, at every position of both.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex},
    time::Duration,
};

use engine::{
    Block, Call, CallId, Delta, Effect, End, Event, ExternalOutput, ExternalTool, Failure, FailureCode, Finished,
    Journal, JournalError, Kind, Limits, Message, MessageId, Model, ModelError, Outcome, Progress, Prompt, Recorded,
    Report, StopReason, Tool, ToolContext, ToolError, ToolSpec, Toolbox, Turn, Usage, UserId, run,
};
use futures::{StreamExt, future::BoxFuture, stream::BoxStream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// The state that survives a crash.
#[derive(Clone, Default)]
struct Disk {
    events: Vec<Kind>,
    rows: BTreeMap<CallId, Recorded>,
    effects: Vec<(CallId, String)>,
    n_reads: u32,
    n_foreign: u32,
}

/// A disk that records each of its states.
#[derive(Clone, Default)]
struct World(Arc<Mutex<(Disk, Vec<Disk>)>>);

impl World {
    fn at(disk: Disk) -> Self {
        Self(Arc::new(Mutex::new((disk, Vec::new()))))
    }

    fn change<T>(&self, change: impl FnOnce(&mut Disk) -> T) -> T {
        let mut world = self.0.lock().unwrap();
        let result = change(&mut world.0);
        let disk = world.0.clone();
        world.1.push(disk);
        result
    }

    fn disk(&self) -> Disk {
        self.0.lock().unwrap().0.clone()
    }
}

impl Journal for World {
    fn begin<'a>(&'a self, call: &'a Call, _: &'a str) -> BoxFuture<'a, Result<(), JournalError>> {
        self.change(|disk| {
            disk.rows.entry(call.id).or_insert(Recorded::Begun);
        });
        Box::pin(async { Ok(()) })
    }

    fn finish<'a>(&'a self, call: &'a Call, outcome: Outcome) -> BoxFuture<'a, Result<Outcome, JournalError>> {
        self.change(|disk| disk.rows.insert(call.id, Recorded::Closed(outcome.clone())));
        Box::pin(async { Ok(outcome) })
    }

    fn refuse<'a>(&'a self, _: &'a Call, _: &'a str, _: &'a Failure) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(async { Ok(()) })
    }
}

#[derive(Deserialize, JsonSchema)]
struct Input {
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

struct Read(World);

impl Tool for Read {
    const NAME: &'static str = "read";
    const TITLE: &'static str = "Read";
    const EFFECT: Effect = Effect::Reads;
    type Input = Input;
    type Output = Output;

    async fn call(&self, _: &ToolContext, input: Input) -> Result<Output, ToolError> {
        self.0.change(|disk| disk.n_reads += 1);
        Ok(Output { name: input.name })
    }
}

struct Write(World);

impl Tool for Write {
    const NAME: &'static str = "write";
    const TITLE: &'static str = "Write";
    const EFFECT: Effect = Effect::Writes;
    type Input = Input;
    type Output = Output;

    /// Like the store: the effect and its row change together, and a second attempt finds the result of the first.
    async fn call(&self, cx: &ToolContext, input: Input) -> Result<Output, ToolError> {
        let output = Output { name: input.name };
        self.0.change(|disk| {
            if !disk.effects.iter().any(|(call, _)| *call == cx.call) {
                disk.effects.push((cx.call, output.name.clone()));
                disk.rows.insert(cx.call, Recorded::Effect(Outcome::Failed(unfinished())));
            }
        });
        tokio::task::yield_now().await;
        Ok(output)
    }
}

/// Never shown, because the tool runs again and returns its own output.
fn unfinished() -> Failure {
    Failure::new("unfinished", false)
}

struct External(World, ToolSpec);

impl ExternalTool for External {
    fn spec(&self) -> &ToolSpec {
        &self.1
    }
    fn deadline(&self) -> Duration {
        Duration::from_secs(1)
    }
    fn call<'a>(&'a self, _: &'a ToolContext, _: &'a Value) -> BoxFuture<'a, Result<ExternalOutput, ToolError>> {
        self.0.change(|disk| disk.n_foreign += 1);
        Box::pin(async { Ok(ExternalOutput { summary: "sent".into(), count: 1, output: json!({}) }) })
    }
}

/// The reply of the model in each step: text, then calls.
type Script = &'static [(&'static str, &'static [(&'static str, &'static str)])];

/// A model that finds its position in the script from the prompt alone, like a real model.
struct Reader {
    script: Script,
    asked: Mutex<Vec<Prompt>>,
}

impl Model for Reader {
    fn id(&self) -> &str {
        "reader"
    }

    fn reply(&self, prompt: &Prompt) -> BoxStream<'static, Result<Delta, ModelError>> {
        self.asked.lock().unwrap().push(prompt.clone());
        let answer = prompt.messages.iter().rfind(|message| message.role == engine::Role::Assistant).unwrap();
        let n_results = answer.content.iter().filter(|block| matches!(block, Block::ToolResult { .. })).count();
        let mut n_calls = 0;
        let n_steps = self.script.iter().take_while(|(_, calls)| {
            n_calls += calls.len();
            n_calls <= n_results && !calls.is_empty()
        });
        let (text, calls) = self.script[n_steps.count()];
        let rest =
            text.strip_prefix(prompt.cut_text().unwrap_or_default()).expect("the cut text is a prefix of the reply");
        let thoughts = ["I think ", "of it.\n", "So be it."].map(|thought| Delta::Reasoning(thought.to_owned()));
        let words = rest.split_inclusive(' ').map(|word| Delta::Text(word.to_owned()));
        let words = thoughts.into_iter().chain(words).collect::<Vec<_>>();
        let calls = calls.iter().map(|(name, input)| Delta::ToolCall {
            name: (*name).to_owned(),
            input: json!({"name": input}).to_string(),
        });
        let end = Delta::End { usage: Usage { input_tokens: 10, output_tokens: 5, ..Usage::default() } };
        futures::stream::iter(words.into_iter().chain(calls).chain([end]).map(Ok).collect::<Vec<_>>()).boxed()
    }
}

const SCRIPT: Script = &[
    ("Let me look for it. ", &[("read", "a"), ("read", "b"), ("write", "c")]),
    ("Two more to add.", &[("write", "d"), ("send", "x"), ("write", "e")]),
    ("All of it is done now.", &[]),
];

struct Given {
    progress: Progress,
    elapsed: Duration,
    cancel: CancellationToken,
    limits: Limits,
}

impl Given {
    fn progress(progress: Progress) -> Self {
        let (elapsed, cancel) = (Duration::ZERO, CancellationToken::new());
        Self { progress, elapsed, cancel, limits: Limits::default() }
    }
}

async fn turn(world: &World, given: Given) -> (Finished, Vec<Prompt>) {
    let model = Reader { script: SCRIPT, asked: Mutex::default() };
    let spec = ToolSpec {
        name: "send".into(),
        title: "Send".into(),
        description: String::new(),
        effect: Effect::Writes,
        input_schema: json!({}),
        output_schema: json!({}),
    };
    let toolbox = Toolbox::default()
        .with(Read(world.clone()))
        .with(Write(world.clone()))
        .with_external(Arc::new(External(world.clone(), spec)));
    let turn = Turn {
        model: &model,
        toolbox: &toolbox,
        journal: world,
        owner: UserId::new("ann"),
        message: MessageId::new(),
        prompt: Prompt {
            system: "".into(),
            tools: toolbox.specs().into(),
            messages: vec![Message::user("go")],
            may_call_tools: true,
        },
        limits: given.limits,
        progress: given.progress,
        elapsed: given.elapsed,
        cancel: given.cancel,
    };
    let finished = run(turn, &mut |kind| world.change(|disk| disk.events.push(kind))).await;
    (finished, model.asked.into_inner().unwrap())
}

/// The progress that a node reads when it takes the turn over.
fn found(disk: &Disk) -> Progress {
    let events: Vec<_> = disk.events.iter().cloned().map(|kind| Event { seq: 0, at_ms: 0, kind }).collect();
    Progress::of(&events, disk.rows.clone().into_iter().collect::<HashMap<_, _>>())
}

async fn every_state() -> (Finished, Vec<Disk>) {
    let world = World::default();
    let (finished, _) = turn(&world, Given::progress(Progress::default())).await;
    assert_eq!(finished.end, End::Answered(StopReason::Complete));
    let states = world.0.lock().unwrap().1.clone();
    assert!(states.len() >= 60, "only {} states", states.len());
    (finished, states)
}

/// The blocks without ids and durations, which differ from run to run. A model whose reply was cut reasons again.
fn essence(content: &[Block]) -> Vec<String> {
    let named = content.iter().filter_map(|block| match block {
        Block::Text { text } => Some(format!("text {text}")),
        Block::Reasoning { .. } => None,
        Block::ToolUse { name, input, .. } => Some(format!("use {name} {input}")),
        Block::ToolResult { content, is_error, .. } => Some(format!("result {} {is_error}", content["name"])),
    });
    named.collect()
}

fn stored_reasoning(content: &[Block]) -> Vec<&str> {
    let thoughts = content.iter().filter_map(|block| match block {
        Block::Reasoning { text } => Some(text.as_str()),
        _ => None,
    });
    thoughts.collect()
}

/// The reasoning that a client has seen.
fn shown_reasoning(events: &[Kind]) -> String {
    let pieces = events.iter().filter_map(|kind| match kind {
        Kind::Reasoned { text } => Some(text.as_str()),
        _ => None,
    });
    pieces.collect()
}

fn outcome_is_unknown(block: &Block) -> bool {
    matches!(block, Block::ToolResult { content, is_error: true, .. }
        if content["error"].as_str().is_some_and(|error| error.contains("outcome is unknown")))
}

/// The text that a client assembles from the events.
fn shown_text(events: &[Kind]) -> Vec<String> {
    let mut texts = BTreeMap::<u32, String>::new();
    for kind in events {
        if let Kind::TextDelta { block, text } = kind {
            texts.entry(*block).or_default().push_str(text);
        }
    }
    texts.into_values().collect()
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_cut_at_any_position_ends_like_one_that_is_not_cut() {
    let (uncut, states) = every_state().await;
    for (n, state) in states.iter().enumerate() {
        let world = World::at(state.clone());
        let (finished, _) = turn(&world, Given::progress(found(state))).await;
        let disk = world.disk();
        assert_eq!(finished.end, End::Answered(StopReason::Complete), "state {n}");
        let effects: Vec<_> = disk.effects.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(effects, ["c", "d", "e"], "state {n}: every effect once");
        assert_eq!(
            found(&disk).content(),
            finished.content,
            "state {n}: the stored content equals the streamed content"
        );
        let stored: Vec<_> = finished
            .content
            .clone()
            .into_iter()
            .filter_map(|block| match block {
                Block::Text { text } => Some(text),
                _ => None,
            })
            .collect();
        assert_eq!(shown_text(&disk.events), stored, "state {n}: the deltas add up to the stored text");
        let thoughts = stored_reasoning(&finished.content);
        assert_eq!(thoughts.concat(), shown_reasoning(&disk.events), "state {n}: reasoning that was shown is stored");
        assert!(thoughts.concat().matches("I think of it.\nSo be it.").count() >= 3, "state {n}: {thoughts:?}");
        let joined = thoughts.iter().any(|thought| thought.contains("of it.\nI") || thought.contains("be it.I"));
        assert!(!joined, "state {n}: reasoning that begins again is a new paragraph: {thoughts:?}");
        let is_unknown = finished.content.iter().any(outcome_is_unknown);
        assert!(disk.n_foreign <= 1, "state {n}: a call to another server is not made twice");
        if !is_unknown {
            assert_eq!(disk.n_foreign, 1, "state {n}");
            assert_eq!(essence(&finished.content), essence(&uncut.content), "state {n}");
        }
        let was_sending = state.rows.values().filter(|row| **row == Recorded::Begun).count() == 1
            && found(state).open_calls().first().is_some_and(|call| call.name == "send");
        assert_eq!(is_unknown, was_sending, "state {n}");
    }
}

#[tokio::test(start_paused = true)]
async fn tokens_are_counted_across_a_takeover() {
    let (uncut, states) = every_state().await;
    for (n, state) in states.iter().enumerate() {
        let (finished, asked) = turn(&World::at(state.clone()), Given::progress(found(state))).await;
        let n_asked_before = state.events.iter().filter(|kind| matches!(kind, Kind::Replied { .. })).count();
        assert_eq!(asked.len() + n_asked_before, 3, "state {n}: a complete reply is not asked for again");
        assert_eq!(finished.usage, uncut.usage, "state {n}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_is_asked_to_continue_after_its_own_text() {
    let (_, states) = every_state().await;
    let cut = |disk: &&Disk| found(disk).content().last() == Some(&Block::Text { text: "Let me look ".into() });
    let state = states.iter().find(cut).unwrap();
    let (_, asked) = turn(&World::at(state.clone()), Given::progress(found(state))).await;
    let [question, answer, instruction] = asked[0].messages.as_slice() else { panic!("{:?}", asked[0].messages) };
    assert_eq!(question.text(), "go");
    assert_eq!(answer, &Message::assistant(vec![Block::Text { text: "Let me look ".into() }]));
    assert!(instruction.text().contains("<<Let me look >>"), "{}", instruction.text());
    assert_eq!(asked[0].cut_text(), Some("Let me look "));
    let after = &asked[1].messages;
    assert_eq!(after.len(), 2, "later steps read the whole text and no instruction");
    assert_eq!(after[1].content[0], Block::Text { text: "Let me look for it. ".into() });
}

#[tokio::test(start_paused = true)]
async fn stop_deadline_and_steps_hold_across_a_takeover() {
    let (_, states) = every_state().await;
    for (n, state) in states.iter().enumerate() {
        let is_answered = state.events.iter().filter(|kind| matches!(kind, Kind::StepDone { .. })).count() == 3;
        let stopped = Given::progress(found(state));
        stopped.cancel.cancel();
        let world = World::at(state.clone());
        let (finished, asked) = turn(&world, stopped).await;
        assert!(asked.is_empty() && world.disk().effects.len() == state.effects.len(), "state {n}: no new effect");
        let end = if is_answered { StopReason::Complete } else { StopReason::Stopped };
        // Only the end of the last step is missing, so the stop comes too late.
        let is_replied = state.events.iter().filter(|kind| matches!(kind, Kind::Replied { .. })).count() == 3;
        if !is_replied {
            assert_eq!(finished.end, End::Answered(end), "state {n}");
        }
        assert!(finished.progress.open_calls().is_empty(), "state {n}: every call has its result");
        assert_eq!(found(&world.disk()).content(), finished.content, "state {n}");

        let late = Given { elapsed: Duration::from_secs(301), ..Given::progress(found(state)) };
        let (finished, _) = turn(&World::at(state.clone()), late).await;
        let is_late = matches!(finished.end, End::Failed { code: FailureCode::Timeout, .. });
        assert_eq!(is_late, !is_replied, "state {n}: {:?}", finished.end);

        let limits = Limits { max_steps: 1, ..Limits::default() };
        let (finished, asked) =
            turn(&World::at(state.clone()), Given { limits, ..Given::progress(found(state)) }).await;
        let n_replied = state.events.iter().filter(|kind| matches!(kind, Kind::Replied { .. })).count();
        assert!(asked.len() <= 2_usize.saturating_sub(n_replied), "state {n}: {} more replies", asked.len());
        assert!(matches!(finished.end, End::Answered(_)), "state {n}: {:?}", finished.end);
    }
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_no_node_continues_is_closed_with_the_outcomes_in_the_journal() {
    let (_, states) = every_state().await;
    for (n, state) in states.iter().enumerate() {
        let mut progress = found(state);
        let closing = progress.closing(str::to_owned);
        closing.iter().for_each(|kind| progress.apply(kind));
        assert!(progress.open_calls().is_empty() && progress.closing(str::to_owned).is_empty(), "state {n}");
        let content = progress.content();
        let n_uses = content.iter().filter(|block| matches!(block, Block::ToolUse { .. })).count();
        let n_results = content.iter().filter(|block| matches!(block, Block::ToolResult { .. })).count();
        assert_eq!(n_uses, n_results, "state {n}");
        let n_interrupted = content
            .iter()
            .filter(|block| matches!(block, Block::ToolResult { content, .. } if content["error"] == "Interrupted"));
        let n_known = state.rows.values().filter(|row| **row != Recorded::Begun).count();
        assert_eq!(n_uses - n_interrupted.count(), n_known, "state {n}");
    }
}

/// A journal whose first writes fail.
struct Flaky {
    world: World,
    n_failures: Mutex<u32>,
}

impl Flaky {
    fn write<'a, T>(&'a self, work: BoxFuture<'a, Result<T, JournalError>>) -> BoxFuture<'a, Result<T, JournalError>>
    where
        T: 'a,
    {
        let mut left = self.n_failures.lock().unwrap();
        if *left == 0 {
            return work;
        }
        *left -= 1;
        Box::pin(async { Err(JournalError::Unwritable(anyhow::anyhow!("the database is not available"))) })
    }
}

impl Journal for Flaky {
    fn begin<'a>(&'a self, call: &'a Call, title: &'a str) -> BoxFuture<'a, Result<(), JournalError>> {
        self.write(self.world.begin(call, title))
    }
    fn finish<'a>(&'a self, call: &'a Call, outcome: Outcome) -> BoxFuture<'a, Result<Outcome, JournalError>> {
        self.write(self.world.finish(call, outcome))
    }
    fn refuse<'a>(
        &'a self,
        call: &'a Call,
        title: &'a str,
        failure: &'a Failure,
    ) -> BoxFuture<'a, Result<(), JournalError>> {
        self.write(self.world.refuse(call, title, failure))
    }
    fn retry_for(&self) -> Duration {
        Duration::from_secs(10)
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_journal_write_is_retried_until_its_time_limit() {
    for (n_failures, is_done) in [(0, true), (5, true), (1000, false)] {
        let world = World::default();
        let toolbox = Toolbox::default().with(Write(world.clone()));
        let journal = Flaky { world, n_failures: Mutex::new(n_failures) };
        let call = Call {
            id: CallId::new(),
            owner: UserId::new("ann"),
            message: None,
            name: "write".into(),
            input: Arc::new(json!({"name": "a"})),
        };
        let cx = ToolContext::new(UserId::new("ann"), call.id, CancellationToken::new());
        let began = tokio::time::Instant::now();
        let outcome = toolbox.call(&journal, &cx, &call).await;
        assert_eq!(matches!(outcome, Ok(Outcome::Done(_))), is_done, "{n_failures}: {outcome:?}");
        assert!(began.elapsed() <= Duration::from_secs(11));
        assert_eq!(journal.world.disk().effects.len(), usize::from(is_done), "without a row there is no effect");
    }
}
