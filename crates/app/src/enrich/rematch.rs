//! Entries of imports that are still open: looked for in the background, now and then again.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use chrono::TimeDelta;
use engine::UserId;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::Pipeline;
use crate::{
    import::{Catalogue, Matches, Outcome, Remembering, add_codes, encoded, kind_of, match_all, track_of},
    turns::pause,
};
use formats::{Gathered, ImportedTrack};
use store::{LEASE, Resolution, StoreError};

type OpenClaim = store::OpenClaim<ImportedTrack>;

const AT_ONCE: usize = 16;
const LOOK_EVERY: Duration = Duration::from_secs(2);

impl Pipeline {
    /// Catalogues elsewhere, the most exact first.
    pub(crate) fn catalogues(&self) -> Vec<&dyn Catalogue> {
        let mut catalogues: Vec<&dyn Catalogue> = vec![];
        if self.tidal.is_configured() {
            catalogues.push(&self.tidal);
        }
        catalogues.extend(self.sources.deezer.as_deref().map(|deezer| deezer as &dyn Catalogue));
        catalogues.extend(self.sources.musicbrainz.as_deref().map(|musicbrainz| musicbrainz as &dyn Catalogue));
        catalogues
    }

    pub(super) async fn look_for_open_entries(self: Arc<Self>, ended: CancellationToken) {
        loop {
            let looked = tokio::select! {
                () = ended.cancelled() => return,
                looked = self.look_once() => looked,
            };
            match looked {
                Ok(0) => {}
                Ok(_) => {
                    self.tell();
                    continue;
                }
                Err(error) => warn!("Open entries cannot be looked for, trying again: {error}"),
            }
            if !pause(LOOK_EVERY, &ended).await {
                return;
            }
        }
    }

    /// A few entries that are due; answers how many there were.
    async fn look_once(&self) -> Result<usize, StoreError> {
        let claims = self.store.claim_entries(&self.node, AT_ONCE).await?;
        let n_claims = claims.len();
        let mut by_owner: BTreeMap<String, Vec<OpenClaim>> = BTreeMap::new();
        for claim in claims {
            by_owner.entry(claim.owner.to_string()).or_default().push(claim);
        }
        for (owner, claims) in by_owner {
            self.look_for(&UserId::new(owner), claims).await?;
        }
        Ok(n_claims)
    }

    async fn look_for(&self, owner: &UserId, claims: Vec<OpenClaim>) -> Result<(), StoreError> {
        let tracks = claims.iter().map(|claim| claim.entry.clone()).collect();
        let mut gathered = Gathered { tracks, ..Gathered::default() };
        let asked = tokio::time::timeout(LEASE / 2, self.ask_everyone(&mut gathered)).await;
        let Matches { matches, silent } = match asked {
            Ok(matches) => matches,
            Err(_) => {
                warn!("Looking for {} open entries took too long; they are looked for later", claims.len());
                return Ok(());
            }
        };
        for (claim, found) in claims.iter().zip(matches) {
            let resolution = match (found.outcome, found.isrc.clone()) {
                (Outcome::Matched, Some(isrc)) => {
                    Resolution::Matched(Box::new(track_of(&claim.entry, isrc, &found, kind_of(&claim.kind)?)))
                }
                _ => {
                    let wait = if silent.is_empty() { next_look(claim.tries) } else { TimeDelta::minutes(10) };
                    Resolution::Open { found: encoded(&found)?, due_at: chrono::Utc::now() + wait }
                }
            };
            match self.store.resolve_entry(owner, claim.id, &resolution).await {
                // Its owner has chosen or dismissed it meanwhile.
                Ok(()) | Err(StoreError::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn ask_everyone(&self, gathered: &mut Gathered) -> Matches {
        if let Some(reccobeats) = &self.sources.reccobeats
            && let Err(error) = add_codes(gathered, reccobeats).await
        {
            info!("Codes behind Spotify's ids could not be looked up: {error}");
        }
        let elsewhere: Vec<_> = self.catalogues().into_iter().map(|catalogue| self.remembering(catalogue)).collect();
        let home: &dyn Catalogue = &self.home();
        let all: Vec<&dyn Catalogue> =
            std::iter::once(home).chain(elsewhere.iter().map(|catalogue| catalogue as &dyn Catalogue)).collect();
        match_all(gathered, &all).await
    }

    pub(crate) fn remembering<'a>(&'a self, catalogue: &'a dyn Catalogue) -> Remembering<'a> {
        Remembering { catalogue, store: &self.store }
    }
}

/// Catalogues grow slowly: after a day, a week, then every month.
fn next_look(tries: u32) -> TimeDelta {
    match tries {
        0 | 1 => TimeDelta::days(1),
        2 => TimeDelta::days(7),
        _ => TimeDelta::days(30),
    }
}
