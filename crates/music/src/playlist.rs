//! The size of a playlist. It is one row of the database, which is read and written as a whole.

use crate::Track;

pub const MOST_TRACKS: usize = 10_000;
/// All names of its tracks, with the reasons. Ten thousand tracks with names of ordinary length have 1 MB.
pub const MOST_NAME_BYTES: usize = 4 << 20;

/// What a track adds to the names of a playlist.
pub fn name_bytes(track: &Track) -> usize {
    track.title.len() + track.artist.len() + track.album.len()
}
