//! Feeds recorded bytes to the readers without a provider, for fuzzing.

use std::collections::VecDeque;

use engine::Delta;

use super::{answer::Reader, anthropic::AnthropicReader, openai::OpenAiReader, sse::Frames};

/// The deltas of an Anthropic body, which may be complete, cut or malformed, split into these pieces.
pub fn anthropic<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Delta> {
    replay::<AnthropicReader>(pieces)
}

/// The same for Chat Completions.
pub fn openai<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Delta> {
    replay::<OpenAiReader>(pieces)
}

fn replay<'a, R: Reader>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Delta> {
    let (mut frames, mut reader, mut deltas) = (Frames::default(), R::default(), VecDeque::new());
    for piece in pieces {
        frames.push(piece);
        while let Ok(Some(data)) = frames.next() {
            if reader.read(&data, &mut deltas).is_err() {
                return deltas.into();
            }
        }
    }
    // A body that ends too early fails here, which is expected.
    let _ = reader.close(false, &mut deltas);
    deltas.into()
}
