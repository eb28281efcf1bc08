//! What a listener's words mean: terms, and the plan that a message asks for.

pub mod emoji;
pub mod features;
pub mod gloss;
pub mod latin;
pub mod plan;
pub mod stop;
pub mod words;

pub use features::{Feature, FeatureRange};
pub use plan::{Limits, Plan, parse};

/// A track with a lower score does not really match: the one threshold of search, tools and answers.
pub const MATCHES_FROM: f32 = 0.25;
