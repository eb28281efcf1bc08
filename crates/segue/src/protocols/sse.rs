//! Server-sent events: frames are sent without delay, and a comment is sent when there is no frame for a while.

use std::{convert::Infallible, time::Duration};

use aide::{
    OperationOutput,
    generate::GenContext,
    openapi::{self, Operation},
};
use app::turns::Events;
use axum::{
    body::Body,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use engine::{Event, Kind};
use futures::{Stream, StreamExt};
use schemars::JsonSchema;

/// Proxies close connections without data.
const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(15);

/// The turn continues on another node: the client resumes there from its last event.
const LEAVING: &[u8] = b": leaving; resume elsewhere\n\n";

/// Streams `events`; `encode` writes each into the buffer. Events that are available together are sent together; no
/// event waits for another.
pub(crate) fn respond(events: Events, encode: impl FnMut(&Event, &mut Vec<u8>) + Send + 'static) -> Response {
    as_stream(Body::from_stream(frames(events, encode)))
}

/// Streams JSON objects, one per event.
pub(crate) fn respond_json<T: serde::Serialize + Send>(values: impl Stream<Item = T> + Send + 'static) -> Response {
    let frames = async_stream::stream! {
        let mut values = std::pin::pin!(values);
        loop {
            match tokio::time::timeout(KEEP_ALIVE_EVERY, values.next()).await {
                Err(_) => yield Ok::<_, Infallible>(Bytes::from_static(b": keep-alive\n\n")),
                Ok(None) => return,
                Ok(Some(value)) => {
                    let mut buffer = Vec::new();
                    write_data(&mut buffer, &value);
                    yield Ok(Bytes::from(buffer));
                }
            }
        }
    };
    as_stream(Body::from_stream(frames))
}

fn as_stream(body: Body) -> Response {
    let mut response = body.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

fn frames(
    mut events: Events,
    mut encode: impl FnMut(&Event, &mut Vec<u8>) + Send + 'static,
) -> impl Stream<Item = Result<Bytes, Infallible>> + Send {
    async_stream::stream! {
        let mut is_over = false;
        // The model has not sent anything yet: a local model may read its prompt for minutes.
        let mut is_reading = false;
        loop {
            match tokio::time::timeout(KEEP_ALIVE_EVERY, events.next()).await {
                Err(_) if is_reading => yield Ok(Bytes::from_static(b": reading\n\n")),
                Err(_) => yield Ok(Bytes::from_static(b": keep-alive\n\n")),
                Ok(None) => {
                    if !is_over {
                        yield Ok(Bytes::from_static(LEAVING));
                    }
                    return;
                }
                Ok(Some(batch)) => {
                    is_over = batch.last().is_some_and(|event| event.kind.is_last());
                    let reads = |kind: &Kind| matches!(kind, Kind::StepStarted { .. } | Kind::Reading { .. });
                    is_reading = batch.last().is_some_and(|event| reads(&event.kind));
                    let mut buffer = Vec::with_capacity(batch.len() * 128);
                    for event in &batch {
                        encode(event, &mut buffer);
                    }
                    // The events are dropped before the write, so that a slow client holds only the text in memory.
                    drop(batch);
                    if !buffer.is_empty() {
                        yield Ok(Bytes::from(buffer));
                    }
                }
            }
        }
    }
}

/// A stream of events of type `T`, for the OpenAPI document.
pub(crate) struct EventStream<T>(std::marker::PhantomData<T>);

impl<T: JsonSchema> OperationOutput for EventStream<T> {
    type Inner = T;

    fn operation_response(cx: &mut GenContext, _: &mut Operation) -> Option<openapi::Response> {
        let schema =
            openapi::SchemaObject { json_schema: cx.schema.subschema_for::<T>(), external_docs: None, example: None };
        let media = openapi::MediaType { schema: Some(schema), ..Default::default() };
        Some(openapi::Response {
            description: "Server-sent events; the data of each is one JSON object".into(),
            content: [("text/event-stream".to_owned(), media)].into_iter().collect(),
            ..Default::default()
        })
    }
}

/// One frame, exactly `data: <json>\n\n`.
pub(crate) fn write_data(buffer: &mut Vec<u8>, frame: &impl serde::Serialize) {
    buffer.extend_from_slice(b"data: ");
    serde_json::to_writer(&mut *buffer, frame).expect("frames are plain data and memory does not fail to write");
    buffer.extend_from_slice(b"\n\n");
}

/// A stream that ends at once.
pub(crate) fn respond_once(frames: &[serde_json::Value]) -> Response {
    let mut buffer = Vec::new();
    frames.iter().for_each(|frame| write_data(&mut buffer, frame));
    as_stream(Body::from(buffer))
}

#[cfg(test)]
mod tests {
    use futures::stream;
    use tokio::time::Instant;

    use super::*;

    /// The first data of a stream without events, and after how many seconds it was sent.
    async fn first_word(response: Response) -> (Bytes, u64) {
        let began = Instant::now();
        let mut body = response.into_body().into_data_stream();
        let word = body.next().await.expect("a frame").expect("a body");
        (word, began.elapsed().as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_without_events_sends_a_comment_every_fifteen_seconds() {
        let silent = respond_json(stream::pending::<u8>());
        assert_eq!(first_word(silent).await, (Bytes::from_static(b": keep-alive\n\n"), 15));
        let turn = respond(stream::pending().boxed(), |_, _| {});
        assert_eq!(first_word(turn).await, (Bytes::from_static(b": keep-alive\n\n"), 15));
    }
}
