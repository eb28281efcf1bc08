//! Audio features: requested from ReccoBeats for forty tracks at once, unless the file has them.

use super::worker::{done, ending_of};
use music::Isrc;
use sources::reccobeats::ReccoBeats;
use store::{Claimed, Ending, FeaturesFound};

/// One outcome for each track, in their order.
pub(super) async fn find(reccobeats: Option<&ReccoBeats>, claimed: &[Claimed]) -> Vec<Ending> {
    let Some(reccobeats) = reccobeats else { return vec![Ending::Off; claimed.len()] };
    let mut isrcs: Vec<Isrc> = claimed.iter().filter_map(|claimed| claimed.track.isrc.clone()).collect();
    isrcs.sort_unstable();
    isrcs.dedup();
    let asked = if isrcs.is_empty() { Ok(Default::default()) } else { reccobeats.features(&isrcs).await };
    match asked {
        Ok(found) => {
            // A track without a code cannot be requested. That counts as a result without features.
            let of = |claimed: &Claimed| found.get(claimed.track.isrc.as_ref()?).cloned();
            claimed.iter().map(|claimed| done(&FeaturesFound { features: of(claimed) }, "ReccoBeats")).collect()
        }
        Err(error) => claimed.iter().map(|claimed| ending_of(error.clone(), claimed.tries)).collect(),
    }
}
