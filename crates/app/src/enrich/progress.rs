//! How far is it? Counts of steps by state, for people and pages; counters of this process, for metrics.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU64, Ordering},
};

use schemars::JsonSchema;
use serde::Serialize;

use store::{Ending, Step, StepCounts};

/// How far one step has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepProgress {
    /// Tracks for which it has ended, well or not at all needed.
    pub done: u64,
    /// Tracks for which it will be done, now or when an earlier step has ended.
    pub waiting: u64,
    pub running: u64,
    /// Tracks for which a person must look.
    pub failed: u64,
    /// Tracks that went without, because the source is switched off.
    pub off: u64,
}

impl StepProgress {
    pub fn left(&self) -> u64 {
        self.waiting + self.running
    }
}

pub type Progress = BTreeMap<Step, StepProgress>;

pub(crate) fn progress(counts: &StepCounts) -> Progress {
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

/// What this process has done since it started, step by step.
#[derive(Debug, Default)]
pub struct Counters {
    steps: [StepCounters; Step::ALL.len()],
}

#[derive(Debug, Default)]
pub struct StepCounters {
    pub done: AtomicU64,
    /// Put off to a later try.
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
