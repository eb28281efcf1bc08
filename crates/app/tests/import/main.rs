//! Import from the outside: every kind of file, matching, and the sources that enrich a track.

// Clippy knows tests by their attribute; here the helpers are tests too.
#![allow(clippy::unwrap_used)]

mod matching;
mod sources;
