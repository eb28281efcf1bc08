//! Models: the providers, and the one that needs none.
