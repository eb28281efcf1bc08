//! Clients for catalogues, lyrics and audio features: Tidal, Deezer, MusicBrainz, LRCLIB, ReccoBeats.

pub mod deezer;
pub mod lrclib;
pub mod musicbrainz;
pub mod reccobeats;
pub mod tidal;
