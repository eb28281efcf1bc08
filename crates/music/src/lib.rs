//! Music: recording codes, the identity of a recording, and what a track is. Types and pure functions.

pub mod identity;
pub mod isrc;
pub mod lrc;
pub mod track;

pub use isrc::Isrc;
pub use track::{AudioFeatures, Track};
