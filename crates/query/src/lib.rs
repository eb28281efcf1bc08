//! Understands a listener's message: its search terms, and the plan with limits, preferences and seeds.

pub mod emoji;
pub mod features;
pub mod frame;
pub mod gloss;
pub mod latin;
mod lexicon;
pub mod plan;
pub mod stop;
pub mod words;

pub use features::{Feature, FeatureRange};
pub use plan::{Plan, TrackLimits, parse};

/// A track with a lower score is not a match. Search, tools and answers share this threshold.
pub const MATCHES_FROM: f32 = 0.25;
