//! One audio file. Its tags need random access, so another module reads them.

use crate::{
    beginning::{Beginning, Shape},
    format::{AUDIO_ID, Entries, Format, Source},
    track::LineError,
};

pub(super) struct Audio;

impl Format for Audio {
    fn id(&self) -> &'static str {
        AUDIO_ID
    }

    fn name(&self) -> &'static str {
        "audio file"
    }

    fn recognise(&self, beginning: &Beginning) -> bool {
        beginning.shape == Shape::Audio
    }

    fn entries(&self, _source: Source) -> Entries {
        let why = "audio files are read from their path, not as text";
        Box::new(std::iter::once(Err(LineError::broken(1, why))))
    }
}
