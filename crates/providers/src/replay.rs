//! A provider's bytes without a provider: what fuzzing feeds to the readers.

use std::collections::VecDeque;

use engine::Delta;

use super::{answer::Reader, anthropic::AnthropicReader, openai::OpenAiReader, sse::Frames};

/// What a body of Anthropic becomes, whole or cut or broken, given out in these pieces.
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
    // A body that ends too early fails here, and that is an answer too.
    let _ = reader.close(false, &mut deltas);
    deltas.into()
}
