//! A trace collector: accepts OTLP over HTTP like a real one, and returns what it received.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest, common::v1::any_value::Value as Any, trace::v1::span::SpanKind,
};
use prost::Message;
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::Notify};

#[derive(Clone)]
pub(crate) struct Collector {
    pub(crate) url: String,
    state: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    spans: Mutex<Vec<Span>>,
    headers: Mutex<Vec<HeaderMap>>,
    /// The error statuses of the next requests; after them every request succeeds.
    refusals: Mutex<Vec<StatusCode>>,
    came: Notify,
}

/// A received span.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) trace: String,
    pub(crate) id: String,
    pub(crate) parent: String,
    pub(crate) name: String,
    pub(crate) kind: SpanKind,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) status: i32,
    pub(crate) attributes: BTreeMap<String, Value>,
}

impl Collector {
    pub(crate) async fn start() -> Self {
        let state = Arc::new(Shared::default());
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let router = Router::new()
            .route("/v1/traces", post(take))
            .route("/api/public/otel/v1/traces", post(take))
            .with_state(state.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.expect("the collector serves") });
        Self { url, state }
    }

    pub(crate) fn refuse(&self, with: impl IntoIterator<Item = StatusCode>) {
        lock(&self.state.refusals).extend(with);
    }

    pub(crate) fn headers(&self) -> Vec<HeaderMap> {
        lock(&self.state.headers).clone()
    }

    pub(crate) fn spans(&self) -> Vec<Span> {
        lock(&self.state.spans).clone()
    }

    /// Waits for the root span of a trace, which arrives in the same request as the rest, and returns all spans.
    pub(crate) async fn trace(&self, id: &str) -> Vec<Span> {
        let id = id.replace('-', "");
        loop {
            let came = self.state.came.notified();
            let spans: Vec<_> = self.spans().into_iter().filter(|span| span.trace == id).collect();
            if spans.iter().any(|span| span.parent.is_empty()) {
                return spans;
            }
            came.await;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no thread panics while it holds the lock")
}

async fn take(State(state): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let mut refusals = lock(&state.refusals);
    if !refusals.is_empty() {
        return refusals.remove(0);
    }
    drop(refusals);
    assert_eq!(headers["content-type"], "application/x-protobuf");
    let request = ExportTraceServiceRequest::decode(body).expect("OTLP");
    let mut spans = lock(&state.spans);
    for resource in request.resource_spans {
        let about = resource.resource.expect("a resource");
        let about: Vec<_> = about.attributes.iter().map(|pair| pair.key.as_str()).collect();
        assert_eq!(about, ["service.name", "service.version", "service.instance.id"]);
        spans.extend(resource.scope_spans.into_iter().flat_map(|scope| scope.spans).map(read));
    }
    drop(spans);
    lock(&state.headers).push(headers);
    state.came.notify_waiters();
    StatusCode::OK
}

fn read(span: opentelemetry_proto::tonic::trace::v1::Span) -> Span {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert_eq!((span.trace_id.len(), span.span_id.len()), (16, 8));
    let attributes = span.attributes.into_iter().map(|pair| {
        let value = pair.value.and_then(|value| value.value).expect("a value");
        (pair.key, json_of(value))
    });
    Span {
        trace: hex(&span.trace_id),
        id: hex(&span.span_id),
        parent: hex(&span.parent_span_id),
        kind: SpanKind::try_from(span.kind).expect("a kind"),
        name: span.name,
        start: span.start_time_unix_nano,
        end: span.end_time_unix_nano,
        status: span.status.map_or(0, |status| status.code),
        attributes: attributes.collect(),
    }
}

fn json_of(value: Any) -> Value {
    match value {
        Any::StringValue(text) => json!(text),
        Any::IntValue(number) => json!(number),
        Any::BoolValue(flag) => json!(flag),
        Any::ArrayValue(array) => array.values.into_iter().filter_map(|one| one.value).map(json_of).collect(),
        other => panic!("Segue does not send {other:?}"),
    }
}

/// A trace as an indented list: name, type, level, and the attributes that the test names.
pub(crate) fn tree(spans: &[Span], shown: &[&str]) -> String {
    let mut lines = String::new();
    below("", 0, spans, shown, &mut lines);
    lines
}

fn below(parent: &str, depth: usize, spans: &[Span], shown: &[&str], lines: &mut String) {
    let mut children: Vec<_> = spans.iter().filter(|span| span.parent == parent).collect();
    children.sort_by_key(|span| span.start);
    for span in children {
        assert!(span.end >= span.start);
        let kind = span.attributes["langfuse.observation.type"].as_str().unwrap_or_default();
        let status = if span.status == 2 { " ERROR" } else { "" };
        lines.push_str(&format!("{}{} ({kind}){status}\n", "  ".repeat(depth), span.name));
        for name in shown {
            let found = span.attributes.iter().find(|(key, _)| key.ends_with(name));
            if let Some((_, value)) = found {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                lines.push_str(&format!("{}  {name}: {text}\n", "  ".repeat(depth)));
            }
        }
        below(&span.id, depth + 1, spans, shown, lines);
    }
}
