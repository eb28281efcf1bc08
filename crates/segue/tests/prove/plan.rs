//! What one run of the proof tries: how many of its points, and which bug is planted in the servers.

use engine::mutants::Mutant;
use futures::{FutureExt, StreamExt, stream};

/// More points than any scenario has.
const MOST_POINTS: usize = 400;

/// How many runs there were and what did not hold.
pub(crate) type Found = (usize, Vec<String>);

#[derive(Clone, Copy)]
pub(crate) struct Plan {
    /// One of so many points is tried.
    pub(crate) stride: usize,
    /// The servers have this bug: the part is over at the first thing that does not hold.
    pub(crate) mutant: Option<(Mutant, &'static str)>,
}

/// So many points are tried at once: a run mostly waits. More of them would make a busy machine lose leases.
pub(crate) const AT_ONCE: usize = 4;

/// What one point showed: whether there may be a point after it, and what did not hold.
pub(crate) type Tried = (bool, Vec<String>);

/// Tries the 1st, 2nd, … point until there is none. `name`: what a point is called in a report.
pub(crate) async fn enumerate<F>(plan: Plan, stride: usize, name: &str, try_point: impl Fn(usize) -> F) -> Found
where
    F: Future<Output = Tried>,
{
    let points = (1..MOST_POINTS).step_by(stride);
    let tried = stream::iter(points).map(|n| try_point(n).map(move |tried| (n, tried))).buffered(AT_ONCE);
    tokio::pin!(tried);
    let (mut n_runs, mut broken) = (0, Vec::new());
    while let Some((n, (goes_on, found))) = tried.next().await {
        n_runs += 1;
        broken.extend(found.into_iter().map(|why| format!("{name} {n}: {why}")));
        if !goes_on || plan.is_over(&broken) {
            return (n_runs, broken);
        }
    }
    broken.push(format!("there is still a {name} {MOST_POINTS}"));
    (n_runs, broken)
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
