//! What `make prove` asks of a process that was built for it.

/// Where the process is to abort or to stop, for `make prove`: at the n-th point from its start, or from when it is ready.
pub(crate) fn point(name: &str) -> Option<i64> {
    std::env::var(name).ok()?.parse().ok()
}

/// The bug that this process is to have, for `make prove`.
pub(crate) fn plant_mutant() -> anyhow::Result<()> {
    use anyhow::Context;
    if let Ok(name) = std::env::var("SEGUE_MUTANT") {
        engine::mutants::plant(name.parse().with_context(|| format!("SEGUE_MUTANT={name}"))?);
    }
    Ok(())
}
