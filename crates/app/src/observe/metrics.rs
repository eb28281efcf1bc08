//! Metrics for Prometheus: counters are updated when something ends; gauges are read on each scrape.

use std::{
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use engine::{Event, Kind, Outcome, StopReason};
use prometheus_client::{
    encoding::text::encode,
    metrics::{
        counter::Counter,
        family::Family,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets},
        info::Info,
    },
    registry::{Registry, Unit},
};

use super::EndedTurn;
use store::{PoolReading, StepCounts};

type Seconds = Family<Labels, Histogram, fn() -> Histogram>;
type Float = Gauge<f64, AtomicU64>;

/// Labels by name. Every value comes from a fixed list, never from user input.
type Labels = Vec<(&'static str, String)>;

pub struct Metrics {
    registry: Registry,
    turns: Family<Labels, Counter>,
    turn_seconds: Seconds,
    first_text_seconds: Seconds,
    events: Counter,
    recovered: Counter,
    tool_calls: Family<Labels, Counter>,
    tool_retries: Family<Labels, Counter>,
    tool_seconds: Seconds,
    model_calls: Family<Labels, Counter>,
    model_tokens: Family<Labels, Counter>,
    model_seconds: Seconds,
    spans_exported: Counter,
    spans_dropped: Family<Labels, Counter>,
    requests: Family<Labels, Counter>,
    request_seconds: Seconds,
    now: Now,
}

/// Gauges, with their values at the time of the scrape.
#[derive(Default)]
struct Now {
    turns_running: Gauge,
    unsaved_events: Gauge,
    log_lag_seconds: Float,
    connections: Family<Labels, Gauge>,
    background_write_longest: Float,
    index_tracks: Gauge,
    index_lag: Gauge,
    traces_waiting: Gauge,
    tasks: Gauge,
    memory_bytes: Gauge,
    open_files: Gauge,
    ingest_steps: Family<Labels, Gauge>,
}

/// The current values of the parts of the server.
#[derive(Debug, Default)]
pub struct Gauges {
    pub turns_running: usize,
    pub unsaved_events: usize,
    /// The age of the oldest event that is not yet stored.
    pub log_lag: Duration,
    pub pools: Vec<PoolReading>,
    /// The longest transaction of an import or of enrichment since the start.
    pub background_write_longest: Duration,
    /// `None` while the index does not answer.
    pub index: Option<IndexReading>,
    /// The number of enrichment steps by state.
    pub ingest: StepCounts,
}

#[derive(Debug)]
pub struct IndexReading {
    pub tracks: u64,
    /// Database changes that the index has not read.
    pub lag: i64,
}

impl Metrics {
    pub(super) fn new() -> Self {
        let mut registry = Registry::with_prefix("segue");
        let metrics = Self {
            turns: family(&mut registry, "turns", "Turns that have ended, by agent and end"),
            turn_seconds: seconds(&mut registry, "turn_duration", "From the message to the end of the answer"),
            first_text_seconds: seconds(&mut registry, "first_text", "From the message to the first word of the model"),
            events: one(&mut registry, "turn_events", "Events of turns that have ended"),
            recovered: one(&mut registry, "turns_recovered", "Turns of dead servers that this one has closed"),
            tool_calls: family(&mut registry, "tool_calls", "Tool calls, by tool and outcome"),
            tool_retries: family(&mut registry, "tool_retries", "Tool calls that were tried twice"),
            tool_seconds: seconds(&mut registry, "tool_duration", "How long tool calls took, retry included"),
            model_calls: family(&mut registry, "model_calls", "Replies asked of a model, by outcome"),
            model_tokens: family(&mut registry, "model_tokens", "Tokens, by model and kind"),
            model_seconds: seconds(&mut registry, "model_duration", "From asking to the end of a reply"),
            spans_exported: one(&mut registry, "spans_exported", "Spans the collector has taken"),
            spans_dropped: family(&mut registry, "spans_dropped", "Spans that were lost, by why"),
            requests: family(&mut registry, "http_requests", "Requests, by route and status"),
            request_seconds: seconds(&mut registry, "http_request_duration", "Until the answer began"),
            now: Now::register(&mut registry),
            registry: Registry::default(),
        };
        registry.register("build", "This version", Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]));
        Self { registry, ..metrics }
    }

    pub(super) fn turn_ended<'l>(&self, ended: &EndedTurn, label_of: impl Fn(&str) -> &'l str) {
        let (Some(first), Some(last)) = (ended.events.first(), ended.events.last()) else { return };
        let agent = || ("agent", ended.agent.clone());
        self.turns.get_or_create(&vec![agent(), ("end", end_of(&last.kind).to_owned())]).inc();
        self.turn_seconds.get_or_create(&vec![agent()]).observe(between(first, last));
        self.events.inc_by(ended.events.len() as u64);
        if let Some(text) = ended.events.iter().find(|event| matches!(event.kind, Kind::TextStarted { .. })) {
            self.first_text_seconds.get_or_create(&vec![agent()]).observe(between(first, text));
        }
        for event in &ended.events {
            match &event.kind {
                Kind::ToolDone { name, done, .. } => self.call_ended(label_of(name), &Outcome::Done(done.clone())),
                Kind::ToolFailed { name, failure, .. } => {
                    self.call_ended(label_of(name), &Outcome::Failed(failure.clone()));
                }
                _ => {}
            }
        }
        self.replies_ended(&ended.events);
    }

    fn replies_ended(&self, events: &[Arc<Event>]) {
        let mut asked: Option<(&Event, &str, Option<&Event>)> = None;
        for event in events {
            match (&event.kind, &mut asked) {
                (Kind::StepStarted { model, .. }, _) => asked = Some((event, model, None)),
                (Kind::ToolStarted { .. }, Some((_, _, replied @ None))) => *replied = Some(event),
                (Kind::StepDone { usage, .. }, Some((began, model, replied))) => {
                    let labels = vec![("model", (*model).to_owned())];
                    let took = between(began, replied.unwrap_or(event));
                    self.model_seconds.get_or_create(&labels).observe(took);
                    let outcome = if usage.output_tokens > 0 { "done" } else { "cut" };
                    let tokens = [
                        ("input", usage.input_tokens),
                        ("output", usage.output_tokens),
                        ("cache_read", usage.cache_read_tokens),
                        ("cache_write", usage.cache_write_tokens),
                    ];
                    for (kind, n) in tokens.into_iter().filter(|(_, n)| *n > 0) {
                        let labels = [labels.clone(), vec![("kind", kind.to_owned())]].concat();
                        self.model_tokens.get_or_create(&labels).inc_by(n);
                    }
                    self.model_calls.get_or_create(&[labels, vec![("outcome", outcome.to_owned())]].concat()).inc();
                    asked = None;
                }
                _ => {}
            }
        }
        if let Some((_, model, _)) = asked {
            self.model_calls.get_or_create(&vec![("model", model.to_owned()), ("outcome", "cut".to_owned())]).inc();
        }
    }

    pub(super) fn call_ended(&self, tool: &str, outcome: &Outcome) {
        let (outcome, duration_ms, was_retried) = match outcome {
            Outcome::Done(done) => ("done", done.duration_ms, done.was_retried),
            Outcome::Failed(failure) => ("failed", failure.duration_ms, failure.was_retried),
        };
        let tool = || ("tool", tool.to_owned());
        self.tool_calls.get_or_create(&vec![tool(), ("outcome", outcome.to_owned())]).inc();
        self.tool_seconds.get_or_create(&vec![tool()]).observe(Duration::from_millis(duration_ms).as_secs_f64());
        if was_retried {
            self.tool_retries.get_or_create(&vec![tool()]).inc();
        }
    }

    pub(crate) fn turn_recovered(&self) {
        self.recovered.inc();
    }

    pub(super) fn spans_exported(&self, n: usize) {
        self.spans_exported.inc_by(n as u64);
    }

    pub(super) fn spans_dropped(&self, why: &'static str, n: usize) {
        self.spans_dropped.get_or_create(&vec![("why", why.to_owned())]).inc_by(n as u64);
    }

    /// `route` is the route pattern, never the requested path.
    pub fn request_answered(&self, method: &str, route: &str, status: u16, took: Duration) {
        let route = || ("route", format!("{method} {route}"));
        self.requests.get_or_create(&vec![route(), ("status", status.to_string())]).inc();
        self.request_seconds.get_or_create(&vec![route()]).observe(took.as_secs_f64());
    }

    pub(super) fn render(&self, reading: &Gauges, n_traces_waiting: usize) -> String {
        self.now.set(reading, n_traces_waiting);
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("writing to memory does not fail");
        text
    }
}

impl Now {
    fn register(registry: &mut Registry) -> Self {
        let now = Self::default();
        registry.register("turns_running", "Turns that run here", now.turns_running.clone());
        registry.register("turn_log_unsaved_events", "Events in memory only", now.unsaved_events.clone());
        let lag = now.log_lag_seconds.clone();
        registry.register_with_unit("turn_log_lag", "Age of the oldest event in memory only", Unit::Seconds, lag);
        registry.register("database_connections", "Connections, by pool and state", now.connections.clone());
        let longest = now.background_write_longest.clone();
        let help = "Longest transaction of an import or of enrichment since the start";
        registry.register_with_unit("background_write_longest", help, Unit::Seconds, longest);
        registry.register("index_tracks", "Tracks that can be found", now.index_tracks.clone());
        registry.register("index_lag", "Changes the index has not read; -1 while it is away", now.index_lag.clone());
        registry.register("traces_waiting", "Turns that wait for the collector", now.traces_waiting.clone());
        registry.register("tasks", "Tasks of the runtime that are alive", now.tasks.clone());
        registry.register_with_unit("memory", "Resident memory", Unit::Bytes, now.memory_bytes.clone());
        registry.register("open_files", "File descriptors in use", now.open_files.clone());
        registry.register("ingest_steps", "Steps of tracks on their way, by state", now.ingest_steps.clone());
        now
    }

    fn set(&self, reading: &Gauges, n_traces_waiting: usize) {
        self.turns_running.set(count(reading.turns_running));
        self.unsaved_events.set(count(reading.unsaved_events));
        self.log_lag_seconds.set(reading.log_lag.as_secs_f64());
        self.background_write_longest.set(reading.background_write_longest.as_secs_f64());
        for pool in &reading.pools {
            for (state, n) in [("idle", pool.idle), ("used", pool.used)] {
                let labels = vec![("pool", pool.name.to_owned()), ("state", state.to_owned())];
                self.connections.get_or_create(&labels).set(count(n));
            }
        }
        self.index_lag.set(reading.index.as_ref().map_or(-1, |index| index.lag));
        if let Some(index) = &reading.index {
            self.index_tracks.set(i64::try_from(index.tracks).unwrap_or(i64::MAX));
        }
        // A state without any track is missing in the reading, so old values must be removed.
        self.ingest_steps.clear();
        for (step, states) in &reading.ingest {
            for (state, n) in states {
                let labels = vec![("step", step.name().to_owned()), ("state", state.clone())];
                self.ingest_steps.get_or_create(&labels).set(i64::try_from(*n).unwrap_or(i64::MAX));
            }
        }
        self.traces_waiting.set(count(n_traces_waiting));
        self.tasks.set(count(tokio::runtime::Handle::current().metrics().num_alive_tasks()));
        self.memory_bytes.set(memory_bytes().unwrap_or(0));
        self.open_files.set(std::fs::read_dir("/proc/self/fd").map_or(0, |files| count(files.count())));
    }
}

/// Resident memory, if the system reports it.
fn memory_bytes() -> Option<i64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse::<i64>().ok().map(|kib| kib * 1024)
}

fn count(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn between(first: &Event, last: &Event) -> f64 {
    Duration::from_millis(u64::try_from(last.at_ms - first.at_ms).unwrap_or(0)).as_secs_f64()
}

pub(super) fn end_of(closing: &Kind) -> &'static str {
    match closing {
        Kind::Ended { stop: StopReason::Stopped, .. } => "stopped",
        Kind::Ended { stop: StopReason::MaxSteps, .. } => "max_steps",
        Kind::Failed { code, .. } => super::spans::code_of(*code),
        _ => "complete",
    }
}

fn one(registry: &mut Registry, name: &str, help: &str) -> Counter {
    let counter = Counter::default();
    registry.register(name, help, counter.clone());
    counter
}

fn family(registry: &mut Registry, name: &str, help: &str) -> Family<Labels, Counter> {
    let family = Family::default();
    registry.register(name, help, family.clone());
    family
}

/// Buckets from one millisecond to about four minutes.
fn seconds(registry: &mut Registry, name: &str, help: &str) -> Seconds {
    let make: fn() -> Histogram = || Histogram::new(exponential_buckets(0.001, 2.0, 19));
    let family = Seconds::new_with_constructor(make);
    registry.register_with_unit(name, help, Unit::Seconds, family.clone());
    family
}
