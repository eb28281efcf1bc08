//! What a listener's words mean: terms, and the sound that a query asks for.

pub mod features;
pub mod words;

pub use features::{Feature, FeatureRange};
