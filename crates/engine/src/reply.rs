//! One reply of the model: a pure fold from deltas to events and calls.

use std::sync::Arc;

use crate::{
    AskedCall, CallId, Delta, Kind, Progress, Usage, repair,
    untrusted::{storable, without_nul},
};

/// The state of a reply.
#[derive(Default)]
pub(crate) struct Reply {
    pub(crate) calls: Vec<AskedCall>,
    /// Set by the delta that ends the reply. If it is not set at the end of the stream, the stream was cut.
    pub(crate) usage: Option<Usage>,
    /// The usage that the provider reported before the end of the reply.
    pub(crate) usage_so_far: Usage,
    /// Number of characters that the model wrote, including reasoning. The usage is estimated from it.
    pub(crate) n_chars: usize,
    open_text: Option<(u32, String)>,
    next_text_block: u32,
    /// Reasoning that is not emitted yet.
    thought: String,
    /// Number of characters of reasoning in the answer so far.
    n_thought_chars: usize,
}

/// Reasoning is emitted by lines, and by pieces of this length where a line is longer: an event for every word would
/// double the log of a turn.
const MAX_THOUGHT_BYTES: usize = 400;
/// Maximum length of the reasoning of one answer, which is stored with it. Models that reason long write 100,000 characters
/// and more.
const MAX_REASONING_CHARS: usize = 32_000;

impl Reply {
    /// The next reply of a turn. An earlier node may have streamed a part of it.
    pub(crate) fn after(progress: &Progress) -> Self {
        // The model reasons again from the start.
        let thought = if progress.ends_with_reasoning() { "\n\n".to_owned() } else { String::new() };
        Self {
            open_text: progress.open_text(),
            next_text_block: progress.n_texts(),
            thought,
            n_thought_chars: progress.n_reasoning_chars(),
            ..Self::default()
        }
    }

    pub(crate) fn push(&mut self, delta: Delta, emit: &mut (dyn FnMut(Kind) + Send)) {
        self.n_chars += written(&delta);
        match delta {
            Delta::Reasoning(text) => self.think(&text, emit),
            Delta::Reading { n_read, n_total } => emit(Kind::Reading { n_read, n_total }),
            Delta::Progress { usage } => self.usage_so_far = usage,
            Delta::Text(text) if text.is_empty() => {}
            Delta::Text(text) if text.contains('\0') => self.push_text(without_nul(&text), emit),
            Delta::Text(text) => self.push_text(text, emit),
            Delta::ToolCall { name, input } => {
                self.close_text(emit);
                let (name, input) = (without_nul(&name), storable(repair::parse(input)));
                self.calls.push(AskedCall { call: CallId::new(), name, input: Arc::new(input) });
            }
            Delta::End { usage } => {
                self.close_text(emit);
                self.usage = Some(usage);
            }
        }
    }

    /// Ends an open text block, at the end of the reply or before another kind of block.
    pub(crate) fn close_text(&mut self, emit: &mut (dyn FnMut(Kind) + Send)) {
        if let Some((block, text)) = self.open_text.take() {
            emit(Kind::TextDone { block, text });
        }
        self.emit_thought(emit);
    }

    /// While text is open, reasoning waits for its end: protocols have no place for it inside a text.
    fn think(&mut self, text: &str, emit: &mut (dyn FnMut(Kind) + Send)) {
        self.thought.push_str(&without_nul(text));
        if self.open_text.is_none() && (text.contains('\n') || self.thought.len() >= MAX_THOUGHT_BYTES) {
            self.emit_thought(emit);
        }
    }

    fn emit_thought(&mut self, emit: &mut (dyn FnMut(Kind) + Send)) {
        if self.thought.trim().is_empty() {
            return;
        }
        let mut text = std::mem::take(&mut self.thought);
        if self.n_thought_chars > MAX_REASONING_CHARS {
            return;
        }
        // Limited here and not where it is stored, so that the stored reasoning equals the streamed reasoning.
        let n_left = MAX_REASONING_CHARS - self.n_thought_chars;
        if let Some((end, _)) = text.char_indices().nth(n_left) {
            text.truncate(end);
            text.push_str(&format!(" … [cut: the model reasoned for more than {MAX_REASONING_CHARS} characters]"));
        }
        self.n_thought_chars += text.chars().count();
        emit(Kind::Reasoned { text });
    }

    fn push_text(&mut self, text: String, emit: &mut (dyn FnMut(Kind) + Send)) {
        if self.open_text.is_none() {
            self.emit_thought(emit);
        }
        let (block, so_far) = self.open_text.get_or_insert_with(|| {
            let block = self.next_text_block;
            self.next_text_block += 1;
            emit(Kind::TextStarted { block });
            (block, String::new())
        });
        so_far.push_str(&text);
        emit(Kind::TextDelta { block: *block, text });
    }
}

fn written(delta: &Delta) -> usize {
    match delta {
        Delta::Text(text) | Delta::Reasoning(text) => text.chars().count(),
        Delta::ToolCall { name, input } => name.chars().count() + input.chars().count(),
        Delta::Reading { .. } | Delta::Progress { .. } | Delta::End { .. } => 0,
    }
}
