//! Progress of enrichment: the number of steps by state, for users and pages, and counters of this process for metrics.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU64, Ordering},
};

use schemars::JsonSchema;
use serde::Serialize;

use store::{Ending, Step, StepCounts};

/// The progress of one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepProgress {
    /// Tracks for which the step is done or not needed.
    pub done: u64,
    /// Tracks for which it will be done, now or after an earlier step.
    pub waiting: u64,
    pub running: u64,
    /// Tracks for which a user must act.
    pub failed: u64,
    /// Tracks without this step, because the source is disabled.
    pub off: u64,
}

impl StepProgress {
    pub fn left(&self) -> u64 {
        self.waiting + self.running
    }

    pub(crate) fn all(&self) -> u64 {
        self.left() + self.done + self.failed + self.off
    }
}

pub type EnrichProgress = BTreeMap<Step, StepProgress>;

pub(crate) fn progress(counts: &StepCounts) -> EnrichProgress {
    let of_step = |states: &BTreeMap<String, u64>| {
        let n = |state: &str| states.get(state).copied().unwrap_or(0);
        StepProgress {
            done: n("done"),
            waiting: n("waiting") + n("blocked"),
            running: n("running"),
            failed: n("failed"),
            off: n("off"),
        }
    };
    counts.iter().map(|(step, states)| (*step, of_step(states))).collect()
}

/// The work of this process since its start, by step.
#[derive(Debug, Default)]
pub struct Counters {
    steps: [StepCounters; Step::ALL.len()],
}

#[derive(Debug, Default)]
pub struct StepCounters {
    pub done: AtomicU64,
    /// Attempts that are retried later.
    pub put_off: AtomicU64,
    pub failed: AtomicU64,
    pub off: AtomicU64,
}

impl Counters {
    pub fn of(&self, step: Step) -> &StepCounters {
        &self.steps[step as usize]
    }

    pub(super) fn count(&self, step: Step, ending: &Ending) {
        let counters = self.of(step);
        let counter = match ending {
            Ending::Done { .. } => &counters.done,
            Ending::Later { .. } => &counters.put_off,
            Ending::Failed { .. } => &counters.failed,
            Ending::Off => &counters.off,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_done(&self, step: Step, n: usize) {
        self.of(step).done.fetch_add(n as u64, Ordering::Relaxed);
    }
}
