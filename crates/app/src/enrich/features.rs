//! How does it sound? ReccoBeats is asked about forty tracks at once, unless the file brought the numbers.

use super::worker::{done, ending_of};
use music::Isrc;
use sources::reccobeats::ReccoBeats;
use store::{Claimed, Ending, FeaturesFound};

/// One ending for each, in their order.
pub(super) async fn find(reccobeats: Option<&ReccoBeats>, claimed: &[Claimed]) -> Vec<Ending> {
    let Some(reccobeats) = reccobeats else { return vec![Ending::Off; claimed.len()] };
    let isrcs: Vec<Isrc> = claimed.iter().map(|claimed| claimed.isrc.clone()).collect();
    match reccobeats.features(&isrcs).await {
        Ok(mut found) => {
            let each = isrcs.iter().map(|isrc| done(&FeaturesFound { features: found.remove(isrc) }, "ReccoBeats"));
            each.collect()
        }
        Err(error) => claimed.iter().map(|claimed| ending_of(error.clone(), claimed.tries)).collect(),
    }
}
