//! Pages of lists: how many at once, and where the next page begins.

use crate::error::ApiError;

/// What a list without `limit` answers, and the most it ever does.
const MOST: u32 = 200;

/// The `limit` of a query, or the most there may be.
pub(super) fn limit_of(limit: Option<u32>) -> Result<u32, ApiError> {
    let limit = limit.unwrap_or(MOST);
    if !(1..=MOST).contains(&limit) {
        return Err(ApiError::invalid_field("limit", "must be between 1 and 200"));
    }
    Ok(limit)
}
