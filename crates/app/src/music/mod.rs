//! Music: recording codes, what a track is, the Tidal catalogue, and the sources that enrich a track.

pub mod deezer;
pub mod identity;
pub mod isrc;
pub mod lrc;
pub mod lrclib;
pub mod musicbrainz;
pub mod playlist_file;
pub mod polite;
pub mod reccobeats;
pub mod tidal;
pub mod track;

pub use isrc::Isrc;
pub use track::{AudioFeatures, Track};
