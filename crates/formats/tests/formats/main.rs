//! Import of every kind of file: recognition by content, and parsing entry by entry.
#![allow(clippy::unwrap_used)]

mod archive;
mod audio;
mod content_hash;
mod files;
mod folder;
mod outcomes;
mod sounds;
