//! The embedder: text in, vectors out, built in or remote.
