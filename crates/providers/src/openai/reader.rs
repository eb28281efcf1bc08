//! Reads the stream of Chat Completions, from the vendor and from compatible servers.

use std::{borrow::Cow, collections::VecDeque};

use engine::{Delta, Usage};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::{
    answer::{Reader, Stop},
    failure::{Failure, STREAM_WAS_CUT},
};

/// Joins the parts of one reply. Calls are returned at its end, because until then a fragment of any call may arrive.
#[derive(Default)]
pub(crate) struct OpenAiReader {
    calls: Vec<PartialCall>,
    usage: Usage,
    /// Set by a `finish_reason`.
    stop: Option<Stop>,
    has_ended: bool,
}

#[derive(Default)]
struct PartialCall {
    index: Option<u32>,
    id: Option<String>,
    name: String,
    arguments: String,
}

impl Reader for OpenAiReader {
    fn read(&mut self, data: &[u8], deltas: &mut VecDeque<Delta>) -> Result<(), Failure> {
        if data == b"[DONE]" {
            self.end(deltas);
            return Ok(());
        }
        let chunk: Chunk<'_> = serde_json::from_slice(data)
            .map_err(|error| Failure::passing(format!("it sent a frame that cannot be parsed: {error}")))?;
        self.read_chunk(chunk, deltas)
    }

    /// One JSON document is a complete reply: it needs no `finish_reason` and no `[DONE]`.
    fn read_whole(&mut self, body: &[u8], deltas: &mut VecDeque<Delta>) -> Result<(), Failure> {
        let not_ours = || Failure::no_server("it answered with JSON that is not a model reply; check the base URL");
        let chunk: Chunk<'_> = serde_json::from_slice(body).map_err(|_| not_ours())?;
        if chunk.choices.is_none() && chunk.error.is_none() {
            return Err(not_ours());
        }
        self.read_chunk(chunk, deltas)?;
        self.end(deltas);
        Ok(())
    }

    /// Some local servers never send `[DONE]`. A `finish_reason` also marks the end of the reply.
    fn close(&mut self, ends_unmarked: bool, deltas: &mut VecDeque<Delta>) -> Result<(), Failure> {
        if !self.has_ended && self.stop.is_none() && !ends_unmarked {
            return Err(Failure::passing(STREAM_WAS_CUT));
        }
        self.end(deltas);
        Ok(())
    }

    fn stop(&self) -> Stop {
        self.stop.unwrap_or_default()
    }
}

impl OpenAiReader {
    fn read_chunk(&mut self, chunk: Chunk<'_>, deltas: &mut VecDeque<Delta>) -> Result<(), Failure> {
        if let Some(error) = chunk.error {
            return Err(Failure::in_stream(&error));
        }
        if let Some(usage) = chunk.usage {
            self.usage = usage.into();
            deltas.push_back(Delta::Progress { usage: self.usage });
        }
        if let Some(PromptProgress { total, processed }) = chunk.prompt_progress {
            deltas.push_back(Delta::Reading { n_read: processed.min(total), n_total: total });
        }
        for choice in chunk.choices.unwrap_or_default() {
            // Some servers send the complete message, or a part of it, in place of a delta.
            if let Some(piece) = choice.delta.or(choice.message) {
                self.read_piece(piece, deltas);
            }
            self.stop = choice.finish_reason.map(Stop::from).or(self.stop);
        }
        Ok(())
    }

    fn read_piece(&mut self, piece: Piece<'_>, deltas: &mut VecDeque<Delta>) {
        let thought = [piece.reasoning_content, piece.reasoning].into_iter().flatten().next().and_then(text_of);
        deltas.extend(thought.map(Delta::Reasoning));
        let refusal = piece.refusal.filter(|text| !text.is_empty());
        for text in [piece.content.and_then(text_of), refusal].into_iter().flatten() {
            deltas.push_back(Delta::Text(text));
        }
        for fragment in piece.tool_calls.unwrap_or_default() {
            self.join(fragment);
        }
    }

    fn join(&mut self, fragment: Fragment<'_>) {
        let function = fragment.function.unwrap_or_default();
        let id = fragment.id.filter(|id| !id.is_empty());
        let name = function.name.filter(|name| !name.is_empty());
        let known = self.known(fragment.index, id.as_deref(), name.is_some());
        let at = known.unwrap_or_else(|| {
            self.calls.push(PartialCall { index: fragment.index, ..PartialCall::default() });
            self.calls.len() - 1
        });
        let call = &mut self.calls[at];
        call.id = call.id.take().or(id);
        if let Some(name) = name {
            call.name = name;
        }
        call.arguments.push_str(&arguments_text(function.arguments));
    }

    /// Which call a fragment belongs to. The vendor numbers the calls and sends each name once. Other servers omit
    /// the number, number every call 0, repeat the name in each fragment, or create a new id for each fragment.
    fn known(&self, index: Option<u32>, id: Option<&str>, has_name: bool) -> Option<usize> {
        let at = match (index, id) {
            (Some(_), _) => self.calls.iter().rposition(|call| call.index == index),
            (None, Some(_)) if has_name => self.calls.iter().rposition(|call| call.id.as_deref() == id),
            (None, None) if has_name => None,
            (None, _) => self.calls.len().checked_sub(1),
        }?;
        let known_id = self.calls[at].id.as_deref();
        let is_another = has_name && id.is_some() && known_id.is_some() && id != known_id;
        (!is_another).then_some(at)
    }

    fn end(&mut self, deltas: &mut VecDeque<Delta>) {
        if self.has_ended {
            return;
        }
        self.has_ended = true;
        let calls = self.calls.drain(..);
        deltas.extend(calls.map(|call| Delta::ToolCall { name: call.name, input: call.arguments }));
        deltas.push_back(Delta::End { usage: self.usage });
    }
}

/// A text, or the joined texts of a list of parts.
fn text_of(content: Value) -> Option<String> {
    let text = match content {
        Value::String(text) => text,
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.as_str().or_else(|| part.get("text")?.as_str()));
            texts.collect()
        }
        Value::Object(part) => part.get("text").and_then(Value::as_str).unwrap_or_default().to_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// A piece of JSON text; some servers send the complete value instead.
fn arguments_text(arguments: Option<&RawValue>) -> Cow<'_, str> {
    match arguments.map(RawValue::get) {
        None | Some("null") => Cow::Borrowed(""),
        Some(json) => serde_json::from_str::<String>(json).map_or(Cow::Borrowed(json), Cow::Owned),
    }
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow)]
    choices: Option<Vec<Choice<'a>>>,
    usage: Option<WireUsage>,
    error: Option<Value>,
    prompt_progress: Option<PromptProgress>,
}

/// Of llama.cpp. `processed` includes what was in its cache.
#[derive(Deserialize)]
struct PromptProgress {
    total: u32,
    processed: u32,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow)]
    delta: Option<Piece<'a>>,
    #[serde(borrow)]
    message: Option<Piece<'a>>,
    finish_reason: Option<FinishReason>,
}

#[derive(Deserialize)]
struct Piece<'a> {
    content: Option<Value>,
    /// Sent by DeepSeek, llama.cpp, vLLM.
    reasoning_content: Option<Value>,
    /// Sent by Ollama, OpenRouter, newer vLLM.
    reasoning: Option<Value>,
    refusal: Option<String>,
    #[serde(borrow)]
    tool_calls: Option<Vec<Fragment<'a>>>,
}

#[derive(Deserialize)]
struct Fragment<'a> {
    index: Option<u32>,
    id: Option<String>,
    #[serde(borrow)]
    function: Option<FunctionPiece<'a>>,
}

#[derive(Deserialize, Default)]
struct FunctionPiece<'a> {
    name: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum FinishReason {
    Length,
    ContentFilter,
    #[serde(other)]
    Other,
}

impl From<FinishReason> for Stop {
    fn from(reason: FinishReason) -> Self {
        match reason {
            FinishReason::Length => Stop::TooLong,
            FinishReason::ContentFilter => Stop::Declined,
            FinishReason::Other => Stop::Complete,
        }
    }
}

#[derive(Deserialize)]
struct WireUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
}

#[derive(Deserialize, Default)]
struct PromptDetails {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
}

impl From<WireUsage> for Usage {
    /// The vendor's `prompt_tokens` already includes the cached tokens.
    fn from(usage: WireUsage) -> Self {
        let details = usage.prompt_tokens_details.unwrap_or_default();
        Usage {
            input_tokens: usage.prompt_tokens.unwrap_or_default(),
            output_tokens: usage.completion_tokens.unwrap_or_default(),
            cache_read_tokens: details.cached_tokens.unwrap_or_default(),
            cache_write_tokens: details.cache_write_tokens.unwrap_or_default(),
        }
    }
}
