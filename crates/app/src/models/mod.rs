//! Models: the providers, and the one that needs none.

mod offline;

pub use offline::OfflineModel;
