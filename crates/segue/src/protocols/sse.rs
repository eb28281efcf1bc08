//! Server-sent events: frames out as they come, a comment when nothing does.

use std::{convert::Infallible, time::Duration};

use app::turns::Events;
use axum::{
    body::Body,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use engine::Event;
use futures::{Stream, StreamExt};

/// Proxies close what is silent for too long.
const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(15);

/// Answers with `events`, each written into the buffer by `encode`. Events that are there together leave together;
/// none waits for another.
pub(crate) fn respond(events: Events, encode: impl FnMut(&Event, &mut Vec<u8>) + Send + 'static) -> Response {
    let mut response = Body::from_stream(frames(events, encode)).into_response();
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
        loop {
            match tokio::time::timeout(KEEP_ALIVE_EVERY, events.next()).await {
                Err(_) => yield Ok(Bytes::from_static(b": keep-alive\n\n")),
                Ok(None) => return,
                Ok(Some(batch)) => {
                    let mut buffer = Vec::with_capacity(batch.len() * 128);
                    for event in &batch {
                        encode(event, &mut buffer);
                    }
                    // A client that does not read on holds the text, not the events as well.
                    drop(batch);
                    if !buffer.is_empty() {
                        yield Ok(Bytes::from(buffer));
                    }
                }
            }
        }
    }
}

/// One frame, exactly `data: <json>\n\n`.
pub(crate) fn write_data(buffer: &mut Vec<u8>, frame: &impl serde::Serialize) {
    buffer.extend_from_slice(b"data: ");
    serde_json::to_writer(&mut *buffer, frame).expect("frames are plain data and memory does not fail to write");
    buffer.extend_from_slice(b"\n\n");
}
