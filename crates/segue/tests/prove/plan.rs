//! The plan of a run: how many of its points are tried, and which bug is planted in the servers.

use engine::mutants::Mutant;
use futures::{FutureExt, StreamExt, stream};

/// An upper limit of the points of a scenario.
const MOST_POINTS: usize = 400;

/// The number of runs and the broken promises.
pub(crate) type Found = (usize, Vec<String>);

#[derive(Clone, Copy)]
pub(crate) struct Plan {
    /// Only every n-th point is tried.
    pub(crate) stride: usize,
    /// The bug that is planted in the servers. The part then ends at the first broken promise.
    pub(crate) mutant: Option<(Mutant, &'static str)>,
}

/// How many points are tried at once: a run mostly waits. With more, a busy machine would lose leases.
pub(crate) const AT_ONCE: usize = 4;

/// The number of statements differs a little between runs, so that one run without this point is not the end.
const MISSES_AT_END: usize = 3;

/// The result of one point: whether a later point may exist, and the broken promises.
pub(crate) type Tried = (bool, Vec<String>);

/// For a planted bug: every sixth point first, then those between them. Most bugs show at several neighbouring points.
const LEAP: usize = 6;

/// Tries the 1st, 2nd, … point until there are no more. `name` is the name of a point in the report.
pub(crate) async fn enumerate<F>(plan: Plan, stride: usize, name: &str, try_point: impl Fn(usize) -> F) -> Found
where
    F: Future<Output = Tried>,
{
    if plan.mutant.is_none() {
        return enumerate_from(1, plan, stride, name, &try_point).await;
    }
    let mut n_runs = 0;
    for first in 1..=LEAP {
        let (n, broken) = enumerate_from(first, plan, LEAP, name, &try_point).await;
        n_runs += n;
        if !broken.is_empty() {
            return (n_runs, broken);
        }
    }
    (n_runs, Vec::new())
}

async fn enumerate_from<F>(
    first: usize,
    plan: Plan,
    stride: usize,
    name: &str,
    try_point: &impl Fn(usize) -> F,
) -> Found
where
    F: Future<Output = Tried>,
{
    let misses_at_end = if stride == 1 { MISSES_AT_END } else { 1 };
    let points = (first..MOST_POINTS).step_by(stride);
    let tried = stream::iter(points).map(|n| try_point(n).map(move |tried| (n, tried))).buffered(AT_ONCE);
    tokio::pin!(tried);
    let (mut n_runs, mut n_misses, mut broken) = (0, 0, Vec::new());
    while let Some((n, (goes_on, found))) = tried.next().await {
        n_runs += 1;
        n_misses = if goes_on { 0 } else { n_misses + 1 };
        broken.extend(found.into_iter().map(|why| format!("{name} {n}: {why}")));
        if n_misses == misses_at_end || plan.is_over(&broken) {
            return (n_runs, broken);
        }
    }
    broken.push(format!("{name} {MOST_POINTS} still exists"));
    (n_runs, broken)
}

impl Plan {
    /// Whether the part can end: a planted bug was found.
    pub(crate) fn is_over(&self, broken: &[String]) -> bool {
        self.mutant.is_some() && !broken.is_empty()
    }

    /// The settings of every server.
    pub(crate) fn settings(&self) -> Option<(&'static str, String)> {
        self.mutant.map(|(_, name)| ("SEGUE_MUTANT", name.to_owned()))
    }
}

/// Settings of a server with a lease of this length.
pub(crate) fn with_lease(settings: &[(&'static str, String)], lease_ms: u64) -> Vec<(&'static str, String)> {
    settings.iter().cloned().chain([("SEGUE_LEASE_MS", lease_ms.to_string())]).collect()
}
