//! Music: recording codes, what a track is, and the Tidal catalogue.

pub mod isrc;
pub mod track;

pub use isrc::Isrc;
pub use track::{AudioFeatures, Track};
