//! One audio file. Its tags need random access, so another module reads them.

use crate::{
    beginning::Shape,
    format::{AUDIO_ID, Format, Holds},
    track::LineError,
};

pub(super) const FORMAT: Format = Format {
    id: AUDIO_ID,
    name: "audio file",
    holds: Holds::Tracks,
    recognise: |beginning| beginning.shape == Shape::Audio,
    entries: |_source| {
        let why = "audio files are read from their path, not as text";
        Box::new(std::iter::once(Err(LineError::broken(1, why))))
    },
};
