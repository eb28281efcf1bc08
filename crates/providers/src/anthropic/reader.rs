//! Reads the stream of the Messages API.

use std::collections::VecDeque;

use engine::{Delta, Usage};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::{
    answer::{Reader, Stop},
    failure::{Failure, STREAM_WAS_CUT},
};

/// Joins the parts of one reply. It ignores unknown kinds of events, blocks and deltas, as the vendor's documentation
/// asks.
#[derive(Default)]
pub(crate) struct AnthropicReader {
    usage: WireUsage,
    /// Calls whose input is not complete yet.
    open: Vec<OpenCall>,
    stop: Stop,
    has_ended: bool,
}

struct OpenCall {
    index: u32,
    name: String,
    /// Some compatible servers send the complete input here. The vendor sends `{}`.
    input_at_start: String,
    input: String,
}

impl Reader for AnthropicReader {
    fn read(&mut self, data: &[u8], deltas: &mut VecDeque<Delta>) -> Result<(), Failure> {
        let frame: Frame<'_> = match serde_json::from_slice(data) {
            Ok(frame) => frame,
            Err(_) if is_of_unknown_kind(data) => return Ok(()),
            Err(error) => return Err(Failure::passing(format!("it sent a frame that cannot be parsed: {error}"))),
        };
        match frame.kind {
            EventKind::MessageStart => {
                self.usage.update(frame.message.and_then(|message| message.usage));
                deltas.push_back(Delta::Progress { usage: self.usage.total() });
            }
            EventKind::ContentBlockStart => self.start_block(frame.index, frame.content_block, deltas),
            EventKind::ContentBlockDelta => self.read_delta(frame.index, frame.delta, deltas),
            EventKind::ContentBlockStop => self.close_calls(deltas, |call| call.index == frame.index),
            EventKind::MessageDelta => {
                self.usage.update(frame.usage);
                self.stop = frame.delta.and_then(|delta| delta.stop_reason).map_or(self.stop, Stop::from);
            }
            EventKind::MessageStop => self.end(deltas),
            EventKind::Error => return Err(Failure::in_stream(&frame.error.unwrap_or_default())),
            EventKind::Other => {}
        }
        Ok(())
    }

    fn read_whole(&mut self, body: &[u8], deltas: &mut VecDeque<Delta>) -> Result<(), Failure> {
        let not_ours = || Failure::no_server("it answered with JSON that is not a model reply; check the base URL");
        let message: WholeMessage<'_> = serde_json::from_slice(body).map_err(|_| not_ours())?;
        if let Some(error) = message.error {
            return Err(Failure::in_stream(&error));
        }
        for (index, block) in (0..).zip(message.content.ok_or_else(not_ours)?) {
            self.start_block(index, Some(block), deltas);
            self.close_calls(deltas, |call| call.index == index);
        }
        self.usage.update(message.usage);
        self.stop = message.stop_reason.map_or(self.stop, Stop::from);
        self.end(deltas);
        Ok(())
    }

    fn close(&mut self, _: bool, _: &mut VecDeque<Delta>) -> Result<(), Failure> {
        if self.has_ended { Ok(()) } else { Err(Failure::passing(STREAM_WAS_CUT)) }
    }

    fn stop(&self) -> Stop {
        self.stop
    }
}

impl AnthropicReader {
    fn start_block(&mut self, index: u32, block: Option<StartedBlock<'_>>, deltas: &mut VecDeque<Delta>) {
        let Some(block) = block else { return };
        match block.kind {
            BlockKind::Text => say(block.text, deltas),
            BlockKind::ToolUse => self.open.push(OpenCall {
                index,
                name: block.name.unwrap_or_default(),
                input_at_start: block.input.map(|input| input.get().to_owned()).unwrap_or_default(),
                input: String::new(),
            }),
            BlockKind::Thinking => think(block.thinking, deltas),
            BlockKind::Other => {}
        }
    }

    fn read_delta(&mut self, index: u32, delta: Option<BlockDelta>, deltas: &mut VecDeque<Delta>) {
        let Some(delta) = delta else { return };
        match delta.kind {
            DeltaKind::TextDelta => say(delta.text, deltas),
            DeltaKind::ThinkingDelta => think(delta.thinking, deltas),
            DeltaKind::InputJsonDelta => {
                if let Some(call) = self.open.iter_mut().find(|call| call.index == index) {
                    call.input.push_str(&delta.partial_json.unwrap_or_default());
                }
            }
            DeltaKind::Other => {}
        }
    }

    fn close_calls(&mut self, deltas: &mut VecDeque<Delta>, is_closed: impl Fn(&OpenCall) -> bool) {
        for call in self.open.extract_if(.., |call| is_closed(call)) {
            let input = if call.input.is_empty() { call.input_at_start } else { call.input };
            deltas.push_back(Delta::ToolCall { name: call.name, input });
        }
    }

    fn end(&mut self, deltas: &mut VecDeque<Delta>) {
        self.close_calls(deltas, |_| true);
        deltas.push_back(Delta::End { usage: self.usage.total() });
        self.has_ended = true;
    }
}

fn say(text: Option<String>, deltas: &mut VecDeque<Delta>) {
    deltas.extend(text.filter(|text| !text.is_empty()).map(Delta::Text));
}

fn think(text: Option<String>, deltas: &mut VecDeque<Delta>) {
    deltas.extend(text.filter(|text| !text.is_empty()).map(Delta::Reasoning));
}

/// A frame that cannot be parsed is an error only if every kind in it is a known one.
fn is_of_unknown_kind(data: &[u8]) -> bool {
    let Ok(frame) = serde_json::from_slice::<Value>(data) else { return false };
    let (block, delta) = (&frame["content_block"]["type"], &frame["delta"]["type"]);
    EventKind::deserialize(&frame["type"]).is_ok_and(|kind| kind == EventKind::Other)
        || BlockKind::deserialize(block).is_ok_and(|kind| kind == BlockKind::Other)
        || DeltaKind::deserialize(delta).is_ok_and(|kind| kind == DeltaKind::Other)
}

/// All events share one struct, so that a frame is parsed once and without copies.
#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(rename = "type")]
    kind: EventKind,
    #[serde(default)]
    index: u32,
    message: Option<StartedMessage>,
    #[serde(borrow)]
    content_block: Option<StartedBlock<'a>>,
    delta: Option<BlockDelta>,
    usage: Option<WireUsage>,
    error: Option<Value>,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum EventKind {
    MessageStart,
    ContentBlockStart,
    ContentBlockDelta,
    ContentBlockStop,
    MessageDelta,
    MessageStop,
    Error,
    /// `ping`, and kinds that the vendor adds later.
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct StartedMessage {
    usage: Option<WireUsage>,
}

#[derive(Deserialize)]
struct StartedBlock<'a> {
    #[serde(rename = "type")]
    kind: BlockKind,
    text: Option<String>,
    thinking: Option<String>,
    name: Option<String>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

/// The response to a request without a stream.
#[derive(Deserialize)]
struct WholeMessage<'a> {
    #[serde(borrow)]
    content: Option<Vec<StartedBlock<'a>>>,
    usage: Option<WireUsage>,
    stop_reason: Option<StopReason>,
    error: Option<Value>,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum BlockKind {
    Text,
    ToolUse,
    Thinking,
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct BlockDelta {
    /// Absent in `message_delta`.
    #[serde(rename = "type", default)]
    kind: DeltaKind,
    text: Option<String>,
    thinking: Option<String>,
    partial_json: Option<String>,
    stop_reason: Option<StopReason>,
}

#[derive(Deserialize, PartialEq, Default)]
#[serde(rename_all = "snake_case")]
enum DeltaKind {
    TextDelta,
    InputJsonDelta,
    ThinkingDelta,
    #[default]
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum StopReason {
    MaxTokens,
    ModelContextWindowExceeded,
    Refusal,
    #[serde(other)]
    Other,
}

impl From<StopReason> for Stop {
    fn from(reason: StopReason) -> Self {
        match reason {
            StopReason::MaxTokens | StopReason::ModelContextWindowExceeded => Stop::TooLong,
            StopReason::Refusal => Stop::Declined,
            StopReason::Other => Stop::Complete,
        }
    }
}

/// Running totals: each event that carries a count replaces it.
#[derive(Deserialize, Default)]
struct WireUsage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
}

impl WireUsage {
    fn update(&mut self, newer: Option<WireUsage>) {
        let Some(newer) = newer else { return };
        self.input_tokens = newer.input_tokens.or(self.input_tokens);
        self.output_tokens = newer.output_tokens.or(self.output_tokens);
        self.cache_read_input_tokens = newer.cache_read_input_tokens.or(self.cache_read_input_tokens);
        self.cache_creation_input_tokens = newer.cache_creation_input_tokens.or(self.cache_creation_input_tokens);
    }

    /// The vendor's `input_tokens` excludes tokens read from or written to the cache. Our count includes them.
    fn total(&self) -> Usage {
        let read = self.cache_read_input_tokens.unwrap_or_default();
        let write = self.cache_creation_input_tokens.unwrap_or_default();
        Usage {
            input_tokens: self.input_tokens.unwrap_or_default() + read + write,
            output_tokens: self.output_tokens.unwrap_or_default(),
            cache_read_tokens: read,
            cache_write_tokens: write,
        }
    }
}
