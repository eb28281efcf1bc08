//! Music: recording codes, the Tidal catalogue, and what a track is.
