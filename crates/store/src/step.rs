//! The enrichment steps of a track, and the outcomes of a step.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use music::{DocumentId, Track};

/// Lyrics and audio features are fetched in parallel. Then the track is described. Then it is added to the index, or
/// removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Step {
    Lyrics,
    Features,
    Describe,
    Index,
}

impl Step {
    pub const ALL: [Self; 4] = [Self::Lyrics, Self::Features, Self::Describe, Self::Index];

    pub fn name(self) -> &'static str {
        match self {
            Self::Lyrics => "lyrics",
            Self::Features => "features",
            Self::Describe => "describe",
            Self::Index => "index",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|step| step.name() == name)
    }
}

/// The priority of a track; a smaller number is processed first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// A user added it by hand and is waiting for it.
    ByHand = 0,
    Import = 10,
    /// The track is already searchable and is only improved.
    Again = 20,
}

/// A step that this node has claimed. No other node claims it before the lease ends.
#[derive(Clone, Debug)]
pub struct Claimed {
    pub id: DocumentId,
    /// The number of attempts, including this one.
    pub tries: u32,
    /// Everything known so far, including the results of earlier steps.
    pub track: Track,
}

/// The outcome of an attempt.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// The result is stored, and the step is not repeated automatically.
    Done { result: Value, version: String },
    /// The source is disabled. The step runs when it is enabled.
    Off,
    /// Retry after `wait`. A source that asks us to wait does not count as a failure of this track.
    Later { wait: Duration, counts: bool, error: String },
    /// A person must act: a retry would not help, or there were enough retries.
    Failed { error: String },
}
