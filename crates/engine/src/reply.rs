//! One reply of the model: a pure fold from deltas to events and calls.

use std::sync::Arc;

use crate::{
    AskedCall, CallId, Delta, Kind, Usage, repair,
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
}

impl Reply {
    /// `open_text`: the text of this reply that an earlier node has streamed. `next_text_block`: the number of text
    /// blocks in the message.
    pub(crate) fn new(open_text: Option<(u32, String)>, next_text_block: u32) -> Self {
        Self { open_text, next_text_block, ..Self::default() }
    }

    pub(crate) fn push(&mut self, delta: Delta, emit: &mut (dyn FnMut(Kind) + Send)) {
        self.n_chars += written(&delta);
        match delta {
            Delta::Reasoning(_) => {}
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
        let Some((block, text)) = self.open_text.take() else { return };
        emit(Kind::TextDone { block, text });
    }

    fn push_text(&mut self, text: String, emit: &mut (dyn FnMut(Kind) + Send)) {
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
        Delta::Progress { .. } | Delta::End { .. } => 0,
    }
}
