//! An OTLP collector over HTTP, as Langfuse and others are: it decodes the traces and returns the spans that it received.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{
    Json, Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode, Uri, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
    routing::{get, post},
};
pub use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{KeyValue, any_value::Value as Any},
    trace::v1::Span as SentSpan,
};
use prost::Message;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::{
    fault::{self, Fault, Plan},
    script::Script,
};

#[derive(Clone, Default)]
pub struct OtlpDouble(Arc<Collected>);

#[derive(Default)]
struct Collected {
    spans: Mutex<Vec<Span>>,
    /// Path and headers of every accepted request.
    requests: Mutex<Vec<(String, HeaderMap)>>,
    plan: Mutex<Plan>,
    came: Notify,
}

/// A received span.
#[derive(Clone, Debug)]
pub struct Span {
    pub trace: String,
    pub id: String,
    pub parent: String,
    pub name: String,
    pub kind: SpanKind,
    pub start: u64,
    pub end: u64,
    pub status: i32,
    pub attributes: BTreeMap<String, Value>,
    /// What the sender says about itself.
    pub resource: BTreeMap<String, Value>,
    /// The position of its request in the list of requests.
    n_request: usize,
}

impl OtlpDouble {
    /// The paths of OpenTelemetry and of Langfuse; `GET /spans` returns the received spans.
    pub fn router(&self) -> Router {
        Router::new()
            .route("/v1/traces", post(take))
            .route("/api/public/otel/v1/traces", post(take))
            .route("/spans", get(show))
            .with_state(self.clone())
    }

    /// Refuses the next requests with these statuses, one each.
    pub fn refuse(&self, with: impl IntoIterator<Item = StatusCode>) {
        lock(&self.0.plan).add(with.into_iter().map(|status| Some(Fault::Status { code: status.as_u16() })));
    }

    /// Plans the faults of a script for the next requests.
    pub fn play_script(&self, script: Script) {
        lock(&self.0.plan).play_script(script);
    }

    /// The headers of every accepted request.
    pub fn headers(&self) -> Vec<HeaderMap> {
        lock(&self.0.requests).iter().map(|(_, headers)| headers.clone()).collect()
    }

    pub fn spans(&self) -> Vec<Span> {
        lock(&self.0.spans).clone()
    }

    /// Waits for the root span of a trace, which arrives in the same request as the rest, and returns all spans.
    pub async fn trace(&self, id: &str) -> Vec<Span> {
        let id = id.replace('-', "");
        loop {
            let came = self.0.came.notified();
            let spans: Vec<_> = self.spans().into_iter().filter(|span| span.trace == id).collect();
            if spans.iter().any(|span| span.parent.is_empty()) {
                return spans;
            }
            came.await;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Decodes one request. A body in another format is refused, as a real collector refuses it.
async fn take(State(double): State<OtlpDouble>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let planned = lock(&double.0.plan).next(uri.path());
    match fault::play(planned).await {
        Some(faulty) => faulty,
        None => accept(&double, &uri, headers, body).into_response(),
    }
}

fn accept(double: &OtlpDouble, uri: &Uri, headers: HeaderMap, body: Bytes) -> StatusCode {
    if headers.get(CONTENT_TYPE).is_none_or(|format| format != "application/x-protobuf") {
        return StatusCode::UNSUPPORTED_MEDIA_TYPE;
    }
    let Ok(request) = ExportTraceServiceRequest::decode(body) else { return StatusCode::BAD_REQUEST };
    let mut requests = lock(&double.0.requests);
    let n_request = requests.len();
    requests.push((uri.path().to_owned(), headers));
    drop(requests);
    let mut received = Vec::new();
    for sent in request.resource_spans {
        let resource = pairs(sent.resource.map(|resource| resource.attributes).unwrap_or_default());
        for span in sent.scope_spans.into_iter().flat_map(|scope| scope.spans) {
            let Some(span) = read(span, &resource, n_request) else { return StatusCode::BAD_REQUEST };
            received.push(span);
        }
    }
    lock(&double.0.spans).extend(received);
    double.0.came.notify_waiters();
    StatusCode::OK
}

/// The received spans as JSON, for tests in other languages.
async fn show(State(double): State<OtlpDouble>) -> Json<Vec<Value>> {
    let requests = lock(&double.0.requests).clone();
    let spans = double.spans().into_iter().map(|span| {
        let (path, headers) = &requests[span.n_request];
        let headers = headers.iter().map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes())));
        json!({"path": path, "headers": headers.collect::<BTreeMap<_, _>>(), "service": span.resource.get("service.name"),
            "trace": span.trace, "id": span.id, "parent": span.parent, "name": span.name, "start": span.start,
            "end": span.end, "status": span.status, "attributes": span.attributes})
    });
    Json(spans.collect())
}

/// `None` if an id has another length than OTLP gives it.
fn read(span: SentSpan, resource: &BTreeMap<String, Value>, n_request: usize) -> Option<Span> {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    if (span.trace_id.len(), span.span_id.len()) != (16, 8) {
        return None;
    }
    Some(Span {
        trace: hex(&span.trace_id),
        id: hex(&span.span_id),
        parent: hex(&span.parent_span_id),
        kind: span.kind(),
        start: span.start_time_unix_nano,
        end: span.end_time_unix_nano,
        status: span.status.map_or(0, |status| status.code),
        attributes: pairs(span.attributes),
        name: span.name,
        resource: resource.clone(),
        n_request,
    })
}

fn pairs(sent: Vec<KeyValue>) -> BTreeMap<String, Value> {
    let value = |pair: KeyValue| (pair.key, pair.value.and_then(|value| value.value).map_or(Value::Null, json_of));
    sent.into_iter().map(value).collect()
}

fn json_of(value: Any) -> Value {
    match value {
        Any::StringValue(text) => json!(text),
        Any::IntValue(number) => json!(number),
        Any::DoubleValue(number) => json!(number),
        Any::BoolValue(flag) => json!(flag),
        Any::ArrayValue(array) => array.values.into_iter().filter_map(|one| one.value).map(json_of).collect(),
        other => json!(format!("{other:?}")),
    }
}
