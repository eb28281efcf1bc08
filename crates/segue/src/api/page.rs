//! Pages of lists: how many items, and where the next page starts.

use super::prelude::*;

/// The default and the maximum of most lists.
const MAX_PAGE: u32 = 200;

/// The `limit` of a query: 1 to 200, default 200.
pub(super) fn limit_of(limit: Option<u32>) -> Result<u32> {
    limit_within(limit, MAX_PAGE, MAX_PAGE)
}

pub(super) fn limit_within(limit: Option<u32>, default: u32, max: u32) -> Result<u32> {
    let limit = limit.unwrap_or(default);
    if !(1..=max).contains(&limit) {
        return Err(ApiError::invalid_field("limit", format!("must be between 1 and {max}")));
    }
    Ok(limit)
}

/// The offset of the page after `n_items` from `offset`; `None` after the last page.
pub(super) fn next_offset(offset: u32, n_items: usize, total: i64) -> Option<u32> {
    let end = offset.saturating_add(u32::try_from(n_items).unwrap_or(u32::MAX));
    (i64::from(end) < total).then_some(end)
}
