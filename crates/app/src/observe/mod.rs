//! Observability for operators: spans for a collector, metrics for Prometheus.
//!
//! Both are computed from the log of a finished turn, so they add no cost while the turn runs. A turn that a dead
//! server left behind is reported like any other.

mod export;
pub mod metrics;
mod otlp;
mod spans;

use std::{collections::HashSet, sync::Arc};

use engine::{Call, ConversationId, Event, Outcome, TurnId, UserId};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use self::{export::Traces, metrics::Reading};
pub use self::{metrics::Metrics, spans::Content};
use crate::config::Config;

/// A finished turn, closed by any node.
pub(crate) struct EndedTurn {
    pub(crate) turn: TurnId,
    pub(crate) conversation: ConversationId,
    pub(crate) owner: UserId,
    pub(crate) agent: String,
    pub(crate) question: String,
    /// All events; the closing one is last.
    pub(crate) events: Vec<Arc<Event>>,
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
}

pub struct Observer {
    pub metrics: Arc<Metrics>,
    traces: Option<Traces>,
    /// A model may call any tool name. Only known names become labels.
    tools: HashSet<&'static str>,
}

impl Observer {
    pub(crate) fn new(config: &Config, node: &str, tools: impl Iterator<Item = &'static str>) -> anyhow::Result<Self> {
        let metrics = Arc::new(Metrics::new());
        let traces = config.traces.as_ref().map(|traces| Traces::new(traces, node, metrics.clone())).transpose()?;
        Ok(Self { metrics, traces, tools: tools.collect() })
    }

    /// Exports in the background until `ending`, then the rest of the queue.
    pub(crate) fn start(&self, tasks: &TaskTracker, ending: CancellationToken) {
        if let Some(work) = self.traces.as_ref().and_then(|traces| traces.work(ending)) {
            tasks.spawn(work);
        }
    }

    pub(crate) fn turn_ended(&self, ended: EndedTurn) {
        ended.log();
        self.metrics.turn_ended(&ended, |name| self.label_of(name));
        if let Some(traces) = &self.traces {
            traces.offer(ended.into());
        }
    }

    pub(crate) fn call_ended(&self, ended: EndedCall) {
        self.metrics.call_ended(self.label_of(&ended.call.name), &ended.outcome);
        if let Some(traces) = &self.traces {
            traces.offer(ended.into());
        }
    }

    fn label_of(&self, tool: &str) -> &'static str {
        self.tools.get(tool).copied().unwrap_or("unknown")
    }

    /// The text for Prometheus.
    pub(crate) fn render(&self, reading: &Reading) -> String {
        let n_waiting = self.traces.as_ref().map_or(0, Traces::n_waiting);
        self.metrics.render(reading, n_waiting)
    }
}

/// Whether the configured collector answers; `None` if traces are off.
pub async fn check_collector(config: &Config) -> Option<anyhow::Result<String>> {
    let settings = config.traces.as_ref()?;
    Some(export::check(settings).await.map(|()| settings.url.clone()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use engine::{CallId, Done, Kind, MessageId, StopReason, Usage};
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
            output: json!({"tracks": tracks}),
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
        EndedTurn { turn, conversation, owner, agent, question, events: events.collect() }
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
