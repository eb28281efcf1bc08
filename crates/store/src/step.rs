//! Which steps lead a track into the index, and how one of them can end.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use music::{Isrc, Track};

/// Words and sound are looked up side by side; then it is described; then it enters the index, or leaves it.
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

/// How urgent a track is; smaller is sooner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// Someone added it by hand and is looking at it.
    ByHand = 0,
    Import = 10,
    /// It can be found already, and is only made better.
    Again = 20,
}

/// A step that this node may do now: nobody else will until the lease ends.
#[derive(Clone, Debug)]
pub struct Claimed {
    pub isrc: Isrc,
    /// This try included.
    pub tries: u32,
    /// Everything known so far, results of earlier steps included.
    pub track: Track,
}

/// How a try ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// The result is kept, and the step never done again by itself.
    Done { result: Value, version: String },
    /// The source is switched off; when it is switched on, the step is done.
    Off,
    /// To be tried again then. A source that asks us to wait is not a failure of this track.
    Later { wait: Duration, counts: bool, error: String },
    /// A person must look: asking again would change nothing, or has been tried often enough.
    Failed { error: String },
}
