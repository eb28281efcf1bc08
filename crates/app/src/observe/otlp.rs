//! Converts spans to one OTLP export request in protobuf.

use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{AnyValue, ArrayValue, InstrumentationScope, KeyValue, any_value},
    resource::v1::Resource,
    trace::v1::{ResourceSpans, ScopeSpans, Span as OtlpSpan, Status, span::SpanKind, status::StatusCode},
};
use prost::Message;

use super::spans::{Attribute, Span};

pub(super) fn encode(node: &str, spans: Vec<Span>) -> Vec<u8> {
    let scope = InstrumentationScope { name: "segue".into(), version: VERSION.into(), ..Default::default() };
    let resource = Resource {
        attributes: vec![
            text("service.name", "segue"),
            text("service.version", VERSION),
            text("service.instance.id", node),
        ],
        ..Default::default()
    };
    let spans = spans.into_iter().map(otlp).collect();
    let scope_spans = vec![ScopeSpans { scope: Some(scope), spans, ..Default::default() }];
    let resource_spans = vec![ResourceSpans { resource: Some(resource), scope_spans, ..Default::default() }];
    ExportTraceServiceRequest { resource_spans }.encode_to_vec()
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn otlp(span: Span) -> OtlpSpan {
    let status = match span.error {
        Some(message) => Status { message, code: StatusCode::Error.into() },
        // OTLP reserves "Ok" for explicit decisions of operators; without an error the status stays unset.
        None => Status { message: String::new(), code: StatusCode::Unset.into() },
    };
    OtlpSpan {
        trace_id: span.trace.as_bytes().to_vec(),
        span_id: span.id.to_vec(),
        parent_span_id: span.parent.map(|id| id.to_vec()).unwrap_or_default(),
        name: span.name,
        kind: if span.is_client { SpanKind::Client } else { SpanKind::Internal }.into(),
        start_time_unix_nano: nanos(span.start_ms),
        end_time_unix_nano: nanos(span.end_ms.max(span.start_ms)),
        attributes: span.attributes.into_iter().map(|(key, value)| pair(key.into_owned(), any(value))).collect(),
        status: Some(status),
        ..Default::default()
    }
}

fn any(value: Attribute) -> any_value::Value {
    match value {
        Attribute::Text(text) => any_value::Value::StringValue(text),
        Attribute::Number(number) => any_value::Value::IntValue(number),
        Attribute::Flag(flag) => any_value::Value::BoolValue(flag),
        Attribute::Texts(texts) => {
            let values = texts.into_iter().map(|text| AnyValue { value: Some(any_value::Value::StringValue(text)) });
            any_value::Value::ArrayValue(ArrayValue { values: values.collect() })
        }
    }
}

fn text(key: &str, value: &str) -> KeyValue {
    pair(key.into(), any_value::Value::StringValue(value.into()))
}

fn pair(key: String, value: any_value::Value) -> KeyValue {
    KeyValue { key, value: Some(AnyValue { value: Some(value) }), ..Default::default() }
}

fn nanos(at_ms: i64) -> u64 {
    u64::try_from(at_ms).unwrap_or(0) * 1_000_000
}
