//! Import from the outside: every kind of file, matching, and the sources that enrich a track.

mod files;
mod matching;
