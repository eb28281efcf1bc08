//! Pages of lists: how many items, and where the next page starts.

/// The `limit` of most lists.
pub(super) type PageLimit<const DEFAULT: u32 = 200> = app::Count<1, 200, DEFAULT>;

/// The offset of the page after `n_items` from `offset`; `None` after the last page.
pub(super) fn next_offset(offset: u32, n_items: usize, total: i64) -> Option<u32> {
    let end = offset.saturating_add(u32::try_from(n_items).unwrap_or(u32::MAX));
    (i64::from(end) < total).then_some(end)
}
