//! Import files of every kind: recognised by content, read entry by entry.

mod audio;
mod files;
