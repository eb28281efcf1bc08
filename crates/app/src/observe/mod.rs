//! Observability for operators: spans for a collector, metrics for Prometheus.
//!
//! Both are computed from the log of a finished turn, so they add no cost while the turn runs. A turn that a dead
//! server left behind is reported like any other.

mod background_calls;
mod cut;
mod export;
pub mod metrics;
mod otlp;
mod sent;
mod spans;

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
};

use engine::{Call, CallId, ConversationId, Event, Kind, Outcome, Toolbox, TurnId, UserId};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub use self::metrics::Metrics;
use self::{
    background_calls::BackgroundCall,
    export::{Ended, Traces},
    metrics::Gauges,
};
pub(crate) use self::{
    background_calls::{BackgroundCalls, Cause},
    sent::{Sent, SentPrompt, Watched},
};
use crate::config::{Config, Content};

/// A finished turn, closed by any node.
pub(crate) struct EndedTurn {
    pub(crate) turn: TurnId,
    pub(crate) conversation: ConversationId,
    pub(crate) owner: UserId,
    pub(crate) agent: String,
    pub(crate) question: String,
    /// All events; the closing one is last.
    pub(crate) events: Vec<Arc<Event>>,
    /// What this node has sent to the model.
    pub(crate) sent: Vec<SentPrompt>,
    /// Model calls of its tools; the observer adds them.
    pub(crate) background_calls: Vec<BackgroundCall>,
}

impl EndedTurn {
    /// One log line per turn, with the ids of its rows and its trace, and without any user text.
    fn log(&self) {
        let (Some(first), Some(last)) = (self.events.first(), self.events.last()) else { return };
        tracing::info!(
            turn.id = %self.turn,
            conversation.id = %self.conversation,
            trace.id = %self.turn.0.simple(),
            user.id = %self.owner,
            agent = %self.agent,
            end = metrics::end_of(&last.kind),
            duration_ms = last.at_ms - first.at_ms,
            "A turn has ended"
        );
    }
}

/// A tool call outside a turn.
pub(crate) struct EndedCall {
    pub(crate) call: Call,
    pub(crate) started_ms: i64,
    pub(crate) ended_ms: i64,
    pub(crate) outcome: Outcome,
    /// As in a turn.
    pub(crate) background_calls: Vec<BackgroundCall>,
}

/// How many replies may wait for the end of the call that they belong to. If another node finishes the turn, they are
/// never collected.
const MOST_WAITING: usize = 1000;

pub struct Observer {
    pub metrics: Arc<Metrics>,
    /// One for each collector.
    traces: Vec<Traces>,
    tells_content: bool,
    background_calls: Mutex<HashMap<CallId, Vec<BackgroundCall>>>,
    /// A model may call any tool name. Only known names become labels.
    tools: HashSet<Cow<'static, str>>,
}

impl Observer {
    pub(crate) fn new(config: &Config, node: &str, tools: &Toolbox) -> anyhow::Result<Self> {
        let metrics = Arc::new(Metrics::new());
        let tools = tools.specs().into_iter().map(|spec| spec.name).collect();
        let traces = config.traces.iter().map(|traces| Traces::new(traces, node, metrics.clone()));
        let traces = traces.collect::<anyhow::Result<_>>()?;
        let tells_content = config.traces.iter().any(|traces| traces.content == Content::Included);
        Ok(Self { metrics, traces, tells_content, background_calls: Mutex::default(), tools })
    }

    /// Whether traces contain the prompts.
    pub(crate) fn tells_content(&self) -> bool {
        self.tells_content
    }

    /// Exports in the background until `ending`, then the rest of the queue.
    pub(crate) fn start(&self, tasks: &TaskTracker, ending: CancellationToken) {
        for work in self.traces.iter().filter_map(|traces| traces.work(ending.clone())) {
            tasks.spawn(work);
        }
    }

    pub(crate) fn turn_ended(&self, mut ended: EndedTurn) {
        ended.log();
        self.metrics.turn_ended(&ended, |name| self.label_of(name));
        let calls = ended.events.iter().filter_map(|event| match &event.kind {
            Kind::ToolStarted { call, .. } => Some(*call),
            _ => None,
        });
        ended.background_calls = calls.flat_map(|call| self.background_calls_of(call)).collect();
        self.offer(Ended::Turn(Arc::new(ended)));
    }

    pub(crate) fn call_ended(&self, mut ended: EndedCall) {
        self.metrics.call_ended(self.label_of(&ended.call.name), &ended.outcome);
        ended.background_calls = self.background_calls_of(ended.call.id);
        self.offer(Ended::Call(Arc::new(ended)));
    }

    /// A reply for a call becomes part of that call's span when the call or its turn is reported.
    fn background_call_ended(&self, background: BackgroundCall) {
        if self.traces.is_empty() {
            return;
        }
        let Some(call) = background.cause.call else {
            return self.offer(Ended::BackgroundCall(Arc::new(background)));
        };
        let mut background_calls = self.background_calls.lock().unwrap_or_else(PoisonError::into_inner);
        if background_calls.len() >= MOST_WAITING {
            background_calls.clear();
        }
        background_calls.entry(call).or_default().push(background);
    }

    fn background_calls_of(&self, call: CallId) -> Vec<BackgroundCall> {
        self.background_calls.lock().unwrap_or_else(PoisonError::into_inner).remove(&call).unwrap_or_default()
    }

    fn offer(&self, ended: Ended) {
        self.traces.iter().for_each(|traces| traces.offer(ended.clone()));
    }

    fn label_of(&self, tool: &str) -> &str {
        self.tools.get(tool).map_or("unknown", |known| known)
    }

    /// The text for Prometheus.
    pub(crate) fn render(&self, reading: &Gauges) -> String {
        let n_waiting = self.traces.iter().map(Traces::n_waiting).sum();
        self.metrics.render(reading, n_waiting)
    }
}

/// Whether every configured collector answers; `None` if traces are off.
pub async fn check_collector(config: &Config) -> Option<anyhow::Result<String>> {
    if config.traces.is_empty() {
        return None;
    }
    let mut urls = Vec::new();
    for settings in &config.traces {
        match export::check(settings).await {
            Ok(()) => urls.push(settings.url.as_str()),
            Err(error) => return Some(Err(error)),
        }
    }
    Some(Ok(urls.join(" and ")))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use engine::{Done, MessageId, StopReason, Usage};
    use serde_json::json;

    use super::*;

    /// A typical turn: two replies of fifty words, with one search of ten tracks between them.
    fn typical_turn() -> EndedTurn {
        let (turn, conversation, message, call) =
            (TurnId::new(), ConversationId::new(), MessageId::new(), CallId::new());
        let tracks: Vec<_> =
            (0..10).map(|n| json!({"isrc": format!("XSGUE26000{n:02}"), "title": "A song", "score": 0.5})).collect();
        let done = Done {
            summary: "Found 10 tracks".into(),
            count: 10,
            duration_ms: 12,
            output: json!({"tracks": tracks}).into(),
            timings: BTreeMap::from([("searchDurationMs".to_owned(), 9)]),
            was_retried: false,
        };
        let words = |block| (0..50).map(move |_| Kind::TextDelta { block, text: "word ".into() });
        let usage = Usage { input_tokens: 100, output_tokens: 50, ..Usage::default() };
        let mut kinds = vec![Kind::Started { turn, conversation, message }];
        for step in 0..2 {
            kinds.push(Kind::StepStarted { step, model: "anthropic:test".into() });
            kinds.push(Kind::TextStarted { block: step });
            kinds.extend(words(step));
            kinds.push(Kind::TextDone { block: step, text: "word ".repeat(50) });
            if step == 0 {
                let (name, input) = ("semanticSearch".to_owned(), Arc::new(json!({"query": "rain"})));
                kinds.push(Kind::ToolStarted { call, name: name.clone(), title: "Search".into(), input });
                kinds.push(Kind::ToolDone { call, name, done: Arc::new(done.clone()) });
            }
            kinds.push(Kind::StepDone { step, usage, is_cut: false });
        }
        kinds.push(Kind::Ended { usage, stop: StopReason::Complete, notices: Vec::new(), cost_usd: None });
        let events = kinds.into_iter().zip(1..).map(|(kind, n)| Arc::new(Event { seq: n, at_ms: i64::from(n), kind }));
        let (owner, agent, question) = (UserId::new("ann"), "discover".to_owned(), "something for the rain".to_owned());
        let (sent, background_calls) = (Vec::new(), Vec::new());
        EndedTurn { turn, conversation, owner, agent, question, events: events.collect(), sent, background_calls }
    }

    /// The size of a trace compared with the events that every turn writes.
    #[test]
    fn a_trace_carries_no_more_than_twice_what_a_turn_writes() {
        let turn = typical_turn();
        let exported = otlp::encode("node", spans::of_turn(&turn, Content::Included)).len();
        let written: usize = turn.events.iter().map(|event| serde_json::to_string(event.as_ref()).unwrap().len()).sum();
        assert!(exported < written * 2, "{exported} bytes as spans, {written} as events");
    }
}
