//! Import files of every kind: recognised by content, read entry by entry.
#![allow(clippy::unwrap_used)]

mod archive;
mod audio;
mod content_hash;
mod files;
mod folder;
mod outcomes;
