//! Music: ISRCs, the identity of a recording, and the track. Types and pure functions.

pub mod features;
pub mod fingerprint;
pub mod identity;
pub mod isrc;
pub mod lrc;
pub mod name_words;
pub mod playlist;
pub mod scope;
pub mod track;
pub mod track_id;

pub use features::{AudioFeatures, Feature};
pub use fingerprint::Fingerprint;
pub use isrc::Isrc;
pub use track::Track;
pub use track_id::{DocumentId, TrackId, TrackRef};
