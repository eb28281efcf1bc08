//! What one run of the proof tries: how many of its points, and which bug is planted in the servers.

use engine::mutants::Mutant;

/// How many runs there were and what did not hold.
pub(crate) type Found = (usize, Vec<String>);

#[derive(Clone, Copy)]
pub(crate) struct Plan {
    /// One of so many points is tried.
    pub(crate) stride: usize,
    /// The servers have this bug: the part is over at the first thing that does not hold.
    pub(crate) mutant: Option<(Mutant, &'static str)>,
}

impl Plan {
    /// Whether nothing new can be learned.
    pub(crate) fn is_over(&self, broken: &[String]) -> bool {
        self.mutant.is_some() && !broken.is_empty()
    }

    /// What every server is started with.
    pub(crate) fn settings(&self) -> Option<(&'static str, String)> {
        self.mutant.map(|(_, name)| ("SEGUE_MUTANT", name.to_owned()))
    }
}

/// Settings of a server with a lease of this length.
pub(crate) fn with_lease(settings: &[(&'static str, String)], lease_ms: u64) -> Vec<(&'static str, String)> {
    settings.iter().cloned().chain([("SEGUE_LEASE_MS", lease_ms.to_string())]).collect()
}
