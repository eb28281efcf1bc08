//! The bytes of a reply: a stream or one document, in the format of the family.

use serde_json::{Value, json};

use super::{
    families::Family,
    script::{Fault, Step},
};

/// The message of [`Fault::ErrorInStream`].
const REFUSED: &str = "the script refuses to continue";

#[derive(Clone, Copy)]
pub(super) struct Usage {
    pub(super) n_prompt: usize,
    pub(super) n_answer: usize,
}

pub(super) struct Faults(Vec<Fault>);

impl Faults {
    pub(super) fn of(has: impl Fn(Fault) -> bool) -> Self {
        let known = [
            Fault::NoUsage,
            Fault::Unmarked,
            Fault::NoDone,
            Fault::NoFinishReason,
            Fault::Parts,
            Fault::Message,
            Fault::Cut,
            Fault::OverflowInStream,
            Fault::ErrorInStream,
        ];
        Self(known.into_iter().filter(|fault| has(*fault)).collect())
    }

    fn has(&self, fault: Fault) -> bool {
        self.0.contains(&fault)
    }
}

/// Pieces of a few characters, like tokens.
fn pieces(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(4).map(|piece| piece.iter().collect()).collect()
}

/// The text of a step: word by word if it has a pace, each word with the space before it.
fn text_pieces(step: &Step) -> Vec<String> {
    if step.pace_ms <= 0.0 {
        return pieces(&step.text);
    }
    let mut words: Vec<String> = Vec::new();
    for part in step.text.split_inclusive(char::is_whitespace) {
        let (word, space) = part.split_at(part.trim_end().len());
        match words.last_mut() {
            Some(last) => last.push_str(word),
            None => words.push(word.to_owned()),
        }
        if !space.is_empty() {
            words.push(space.to_owned());
        }
    }
    words
}

pub(super) fn stream(
    family: Family,
    model: &str,
    step: &Step,
    usage: Usage,
    faults: &Faults,
    request: &Value,
) -> Vec<String> {
    let frames = match family {
        Family::Anthropic => messages_frames(model, step, usage, faults),
        _ => completions_frames(family, model, step, usage, faults, request),
    };
    let reads = family == Family::LlamaCpp && request["return_progress"] == true;
    let read = [usage.n_prompt / 2, usage.n_prompt].map(|n_read| progress(model, n_read, usage.n_prompt));
    read.into_iter().filter(|_| reads).chain(frames).collect()
}

fn completions_frames(
    family: Family,
    model: &str,
    step: &Step,
    usage: Usage,
    faults: &Faults,
    request: &Value,
) -> Vec<String> {
    let holder = if faults.has(Fault::Message) { "message" } else { "delta" };
    let chunk = |choices: Value, usage: Value| {
        let body = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model,
            "choices": choices, "usage": usage});
        format!("data: {body}\n\n")
    };
    let piece =
        |delta: Value, reason: Value| chunk(json!([{"index": 0, holder: delta, "finish_reason": reason}]), json!(null));
    let mut frames = vec![piece(json!({"role": "assistant", "content": ""}), json!(null))];
    if faults.has(Fault::OverflowInStream) {
        let (_, said) = family
            .overflow(usage.n_prompt / 2, usage.n_prompt)
            .unwrap_or((400, "context size has been exceeded".into()));
        frames.push(format!("data: {}\n\n", json!({"error": {"message": said}})));
        return frames;
    }
    frames.extend(
        pieces(&step.reasoning).into_iter().map(|text| piece(json!({family.reasoning_field(): text}), json!(null))),
    );
    let content =
        |text: String| if faults.has(Fault::Parts) { json!([{"type": "text", "text": text}]) } else { json!(text) };
    frames.extend(text_pieces(step).into_iter().map(|text| piece(json!({"content": content(text)}), json!(null))));
    if faults.has(Fault::Cut) {
        frames.truncate(frames.len() / 2 + 1);
        return frames;
    }
    for (at, call) in step.calls.iter().enumerate() {
        let arguments = call.arguments.to_string();
        let id = format!("call_{at}");
        // Ollama sends a call in one piece; the others send the arguments in fragments. A pace is for the text only.
        let is_whole = family == Family::Ollama || step.pace_ms > 0.0;
        let fragments = if is_whole { vec![arguments] } else { pieces(&arguments) };
        for (n, fragment) in fragments.into_iter().enumerate() {
            let function =
                if n == 0 { json!({"name": call.name, "arguments": fragment}) } else { json!({"arguments": fragment}) };
            let mut part = json!({"index": at, "type": "function", "function": function});
            if n == 0 {
                part["id"] = json!(id);
            }
            frames.push(piece(json!({"tool_calls": [part]}), json!(null)));
        }
    }
    if faults.has(Fault::ErrorInStream) {
        frames.push(format!("data: {}\n\n", family.error(400, Fault::ErrorInStream, REFUSED.into(), 0, 0)));
        return frames;
    }
    if !faults.has(Fault::Unmarked) && !faults.has(Fault::NoFinishReason) {
        frames.push(piece(json!({}), json!(if step.calls.is_empty() { "stop" } else { "tool_calls" })));
    }
    if !faults.has(Fault::NoUsage) && request["stream_options"]["include_usage"] == true {
        frames.push(chunk(json!([]), completions_usage(usage)));
    }
    if !faults.has(Fault::Unmarked) && !faults.has(Fault::NoDone) {
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

fn messages_frames(model: &str, step: &Step, usage: Usage, faults: &Faults) -> Vec<String> {
    let frame = |body: Value| format!("event: {}\ndata: {body}\n\n", body["type"].as_str().unwrap_or_default());
    let start = json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant",
        "model": model, "content": [], "stop_reason": null,
        "usage": {"input_tokens": usage.n_prompt, "output_tokens": 1}}});
    let mut frames = vec![frame(start), frame(json!({"type": "ping"}))];
    let mut index = 0;
    let mut block = |start: Value, deltas: Vec<Value>| {
        frames.push(frame(json!({"type": "content_block_start", "index": index, "content_block": start})));
        let deltas = deltas
            .into_iter()
            .map(|delta| frame(json!({"type": "content_block_delta", "index": index, "delta": delta})));
        frames.extend(deltas);
        frames.push(frame(json!({"type": "content_block_stop", "index": index})));
        index += 1;
    };
    if !step.reasoning.is_empty() {
        let deltas =
            pieces(&step.reasoning).into_iter().map(|text| json!({"type": "thinking_delta", "thinking": text}));
        block(json!({"type": "thinking", "thinking": "", "signature": ""}), deltas.collect());
    }
    if !step.text.is_empty() {
        let deltas = text_pieces(step).into_iter().map(|text| json!({"type": "text_delta", "text": text}));
        block(json!({"type": "text", "text": ""}), deltas.collect());
    }
    for (at, call) in step.calls.iter().enumerate() {
        let deltas = pieces(&call.arguments.to_string()).into_iter();
        let deltas = deltas.map(|json| json!({"type": "input_json_delta", "partial_json": json})).collect();
        block(json!({"type": "tool_use", "id": format!("toolu_{at}"), "name": call.name, "input": {}}), deltas);
    }
    if faults.has(Fault::Cut) {
        frames.truncate(frames.len() / 2 + 1);
        return frames;
    }
    if faults.has(Fault::ErrorInStream) {
        frames.push(frame(Family::Anthropic.error(400, Fault::ErrorInStream, REFUSED.into(), 0, 0)));
        return frames;
    }
    let reason = if step.calls.is_empty() { "end_turn" } else { "tool_use" };
    frames.push(frame(json!({"type": "message_delta", "delta": {"stop_reason": reason},
        "usage": {"output_tokens": usage.n_answer}})));
    frames.push(frame(json!({"type": "message_stop"})));
    frames
}

/// The response to a request without a stream.
pub(super) fn whole(family: Family, model: &str, step: &Step, usage: Usage, faults: &Faults) -> Value {
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
    let content =
        if faults.has(Fault::Parts) { json!([{"type": "text", "text": step.text}]) } else { json!(step.text) };
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
    if !faults.has(Fault::NoUsage) {
        body["usage"] = completions_usage(usage);
    }
    body
}
