//! The bytes of a reply: a stream or one document, in the format of the family.

use serde_json::{Value, json};

use super::{
    body::{Frame, Text, in_tokens},
    families::Family,
};
use crate::script::{Call, Fault, Step};

/// The message of [`Fault::ErrorInStream`].
const REFUSED: &str = "the script refuses to continue";

#[derive(Clone, Copy)]
pub(super) struct Usage {
    pub(super) n_prompt: usize,
    pub(super) n_answer: usize,
}

/// Everything that the bytes of a reply depend on.
pub(super) struct Reply {
    pub(super) family: Family,
    pub(super) model: String,
    pub(super) step: Step,
    pub(super) text: Text,
    pub(super) usage: Usage,
    pub(super) faults: Vec<Fault>,
}

impl Reply {
    pub(super) fn has(&self, fault: Fault) -> bool {
        self.faults.contains(&fault)
    }

    /// The pieces of a call's arguments. A pace is for the text only: then they are sent in one piece, as Ollama always
    /// does.
    fn fragments(&self, call: &Call) -> Vec<String> {
        let arguments = call.arguments.to_string();
        if self.has(Fault::CutInCall) {
            let n_letters = arguments.chars().count() / 2;
            return vec![arguments.chars().take(n_letters).collect()];
        }
        let is_whole = self.family == Family::Ollama || !self.text.timing.is_at_once();
        if is_whole { vec![arguments] } else { in_tokens(&arguments) }
    }
}

pub(super) fn stream(reply: &Reply, request: &Value) -> Vec<Frame> {
    let frames = match reply.family {
        Family::Anthropic => messages_frames(reply),
        _ => completions_frames(reply, request),
    };
    let (n_prompt, reads) =
        (reply.usage.n_prompt, reply.family == Family::LlamaCpp && request["return_progress"] == true);
    let read = [n_prompt / 2, n_prompt].map(|n_read| at_once(progress(&reply.model, n_read, n_prompt)));
    read.into_iter().filter(|_| reads).chain(frames).collect()
}

fn at_once(data: String) -> Frame {
    Frame { data, is_piece: false }
}

fn piece_of_text(data: String) -> Frame {
    Frame { data, is_piece: true }
}

fn completions_frames(reply: &Reply, request: &Value) -> Vec<Frame> {
    let (family, step) = (reply.family, &reply.step);
    let holder = if reply.has(Fault::Message) { "message" } else { "delta" };
    let chunk = |choices: Value, usage: Value| {
        let body = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": reply.model,
            "choices": choices, "usage": usage});
        format!("data: {body}\n\n")
    };
    let piece =
        |delta: Value, reason: Value| chunk(json!([{"index": 0, holder: delta, "finish_reason": reason}]), json!(null));
    let mut frames = vec![at_once(piece(json!({"role": "assistant", "content": ""}), json!(null)))];
    if reply.has(Fault::OverflowInStream) {
        let n_prompt = reply.usage.n_prompt;
        let (_, said) =
            family.overflow(n_prompt / 2, n_prompt).unwrap_or((400, "context size has been exceeded".into()));
        frames.push(at_once(format!("data: {}\n\n", json!({"error": {"message": said}}))));
        return frames;
    }
    let thinking = in_tokens(&step.reasoning).into_iter();
    frames.extend(thinking.map(|text| piece_of_text(piece(json!({family.reasoning_field(): text}), json!(null)))));
    let content =
        |text: &String| if reply.has(Fault::Parts) { json!([{"type": "text", "text": text}]) } else { json!(text) };
    let pieces = reply.text.pieces.iter();
    frames.extend(pieces.map(|text| piece_of_text(piece(json!({"content": content(text)}), json!(null)))));
    if reply.has(Fault::Cut) || reply.has(Fault::Break) {
        frames.truncate(frames.len() / 2 + 1);
        return frames;
    }
    for (at, call) in step.calls.iter().enumerate() {
        for (n, fragment) in reply.fragments(call).into_iter().enumerate() {
            let mut part = json!({"index": at, "type": "function", "function": {"arguments": fragment}});
            if n == 0 {
                part["id"] = json!(format!("call_{at}"));
                part["function"]["name"] = json!(call.name);
            }
            frames.push(at_once(piece(json!({"tool_calls": [part]}), json!(null))));
        }
        if reply.has(Fault::CutInCall) {
            return frames;
        }
    }
    if reply.has(Fault::ErrorInStream) {
        let error = family.error(400, Fault::ErrorInStream, REFUSED.into(), 0, 0);
        frames.push(at_once(format!("data: {error}\n\n")));
        return frames;
    }
    frames.extend(completions_end(reply, request, &piece, &chunk).into_iter().map(at_once));
    frames
}

fn completions_end(
    reply: &Reply,
    request: &Value,
    piece: &dyn Fn(Value, Value) -> String,
    chunk: &dyn Fn(Value, Value) -> String,
) -> Vec<String> {
    let mut frames = Vec::new();
    if !reply.has(Fault::Unmarked) && !reply.has(Fault::NoFinishReason) {
        let reason = if reply.step.calls.is_empty() { "stop" } else { "tool_calls" };
        frames.push(piece(json!({}), json!(reason)));
    }
    if !reply.has(Fault::NoUsage) && request["stream_options"]["include_usage"] == true {
        frames.push(chunk(json!([]), completions_usage(reply.usage)));
    }
    if !reply.has(Fault::Unmarked) && !reply.has(Fault::NoDone) {
        frames.push("data: [DONE]\n\n".into());
    }
    frames
}

/// A chunk without text, as pull request 15827 of llama.cpp describes it.
fn progress(model: &str, n_read: usize, n_total: usize) -> String {
    let body = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model,
        "choices": [{"index": 0, "delta": {"role": "assistant", "content": null}, "finish_reason": null}],
        "prompt_progress": {"total": n_total, "cache": 0, "processed": n_read, "time_ms": 181}});
    format!("data: {body}\n\n")
}

fn completions_usage(usage: Usage) -> Value {
    json!({"prompt_tokens": usage.n_prompt, "completion_tokens": usage.n_answer,
        "total_tokens": usage.n_prompt + usage.n_answer})
}

fn messages_frames(reply: &Reply) -> Vec<Frame> {
    let (step, usage) = (&reply.step, reply.usage);
    let frame = |body: Value| format!("event: {}\ndata: {body}\n\n", body["type"].as_str().unwrap_or_default());
    let start = json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant",
        "model": reply.model, "content": [], "stop_reason": null,
        "usage": {"input_tokens": usage.n_prompt, "output_tokens": 1}}});
    let mut frames = vec![at_once(frame(start)), at_once(frame(json!({"type": "ping"})))];
    let mut index = 0;
    let mut block = |start: Value, is_piece: bool, deltas: Vec<Value>| {
        let open = json!({"type": "content_block_start", "index": index, "content_block": start});
        let deltas =
            deltas.into_iter().map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta}));
        frames.push(at_once(frame(open)));
        frames.extend(deltas.map(|delta| Frame { data: frame(delta), is_piece }));
        frames.push(at_once(frame(json!({"type": "content_block_stop", "index": index}))));
        index += 1;
    };
    if !step.reasoning.is_empty() {
        let deltas = in_tokens(&step.reasoning).into_iter();
        let deltas = deltas.map(|text| json!({"type": "thinking_delta", "thinking": text})).collect();
        block(json!({"type": "thinking", "thinking": "", "signature": ""}), true, deltas);
    }
    // The rest of a reply whose whole text was sent before has a block without text.
    if !step.text.is_empty() {
        let deltas = reply.text.pieces.iter().map(|text| json!({"type": "text_delta", "text": text}));
        block(json!({"type": "text", "text": ""}), true, deltas.collect());
    }
    let is_cut_in_call = reply.has(Fault::CutInCall) && !step.calls.is_empty();
    let n_calls = if is_cut_in_call { 1 } else { step.calls.len() };
    for (at, call) in step.calls.iter().enumerate().take(n_calls) {
        let deltas = reply.fragments(call).into_iter();
        let deltas = deltas.map(|json| json!({"type": "input_json_delta", "partial_json": json})).collect();
        block(json!({"type": "tool_use", "id": format!("toolu_{at}"), "name": call.name, "input": {}}), false, deltas);
    }
    if is_cut_in_call {
        frames.pop();
        return frames;
    }
    if reply.has(Fault::Cut) || reply.has(Fault::Break) {
        frames.truncate(frames.len() / 2 + 1);
        return frames;
    }
    if reply.has(Fault::ErrorInStream) {
        frames.push(at_once(frame(Family::Anthropic.error(400, Fault::ErrorInStream, REFUSED.into(), 0, 0))));
        return frames;
    }
    let reason = if step.calls.is_empty() { "end_turn" } else { "tool_use" };
    let end =
        json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": usage.n_answer}});
    frames.push(at_once(frame(end)));
    frames.push(at_once(frame(json!({"type": "message_stop"}))));
    frames
}

/// The response to a request without a stream.
pub(super) fn whole(reply: &Reply) -> Value {
    let (family, model, step, usage) = (reply.family, &reply.model, &reply.step, reply.usage);
    if family == Family::Anthropic {
        let thinking = (!step.reasoning.is_empty()).then(|| json!({"type": "thinking", "thinking": step.reasoning}));
        let text = (!step.text.is_empty()).then(|| json!({"type": "text", "text": step.text}));
        let calls = step.calls.iter().enumerate();
        let calls = calls.map(|(at, call)| {
            json!({"type": "tool_use", "id": format!("toolu_{at}"), "name": call.name, "input": call.arguments})
        });
        let content: Vec<_> = thinking.into_iter().chain(text).chain(calls).collect();
        return json!({"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": content,
            "stop_reason": if step.calls.is_empty() { "end_turn" } else { "tool_use" },
            "usage": {"input_tokens": usage.n_prompt, "output_tokens": usage.n_answer}});
    }
    let content = if reply.has(Fault::Parts) { json!([{"type": "text", "text": step.text}]) } else { json!(step.text) };
    let mut message = json!({"role": "assistant", "content": content});
    if !step.reasoning.is_empty() {
        message[family.reasoning_field()] = json!(step.reasoning);
    }
    if !step.calls.is_empty() {
        let calls = step.calls.iter().enumerate().map(|(at, call)| {
            let function = json!({"name": call.name, "arguments": call.arguments.to_string()});
            json!({"id": format!("call_{at}"), "type": "function", "function": function})
        });
        message["tool_calls"] = calls.collect();
    }
    let reason = if step.calls.is_empty() { "stop" } else { "tool_calls" };
    let mut body = json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": reason}]});
    if !reply.has(Fault::NoUsage) {
        body["usage"] = completions_usage(usage);
    }
    body
}
