//! Reads a stream like a strict client: exactly `data: <json>`, an optional `id:`, comments skipped.

use std::time::Duration;

use futures::StreamExt;
use reqwest::Response;
use serde_json::Value;

pub(crate) struct Stream {
    response: futures::stream::BoxStream<'static, reqwest::Result<bytes::Bytes>>,
    buffer: Vec<u8>,
}

const LONGEST_SILENCE: Duration = Duration::from_secs(120);

impl Stream {
    pub(crate) fn new(response: Response) -> Self {
        Self { response: response.bytes_stream().boxed(), buffer: Vec::new() }
    }

    /// The next event; `None` at the end of the stream. Fails after two minutes without an event, so that the output
    /// names the test that waits.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        tokio::time::timeout(LONGEST_SILENCE, self.event()).await.expect("an event within two minutes")
    }

    async fn event(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.buffer.windows(2).position(|pair| pair == b"\n\n") {
                let frame: Vec<u8> = self.buffer.drain(..end + 2).collect();
                match parse(std::str::from_utf8(&frame).expect("frames are UTF-8")) {
                    Some(event) => return Some(event),
                    None => continue,
                }
            }
            match self.response.next().await {
                Some(chunk) => self.buffer.extend_from_slice(&chunk.expect("the connection is not closed early")),
                None => {
                    let left = String::from_utf8_lossy(&self.buffer);
                    assert!(left.is_empty(), "a stream ends in the middle of a frame: {left}");
                    return None;
                }
            }
        }
    }

    pub(crate) async fn rest(mut self) -> Vec<Value> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}

fn parse(frame: &str) -> Option<Value> {
    let mut event = None;
    for line in frame.trim_end_matches('\n').split('\n') {
        if let Some(data) = line.strip_prefix("data: ") {
            assert!(event.is_none(), "one data line per frame");
            event = Some(serde_json::from_str(data).expect("JSON"));
        } else {
            assert!(line.starts_with("id: ") || line.starts_with(':'), "unexpected line {line:?}");
        }
    }
    event
}

/// Reads events until the stream ends or the server dies.
pub(crate) async fn read_until_cut(response: Response, events: &mut Vec<Value>) {
    let mut bytes = response.bytes_stream();
    let mut buffer = Vec::new();
    while let Some(Ok(chunk)) = bytes.next().await {
        buffer.extend_from_slice(&chunk);
        while let Some(end) = buffer.windows(2).position(|pair| pair == b"\n\n") {
            let frame: Vec<u8> = buffer.drain(..end + 2).collect();
            let data = frame.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"data: "));
            events.extend(data.map(|data| serde_json::from_slice::<Value>(data).unwrap()));
        }
    }
}
