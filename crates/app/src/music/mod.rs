//! Music: recording codes, what a track is, and the Tidal catalogue.

pub mod identity;
pub mod isrc;
pub mod playlist_file;
pub mod tidal;
pub mod track;

pub use isrc::Isrc;
pub use track::{AudioFeatures, Track};
