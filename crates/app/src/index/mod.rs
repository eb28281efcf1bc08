//! The track index: hybrid search over what is indexed, embedded or in Qdrant.
