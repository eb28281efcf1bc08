//! Open entries of imports: searched for in catalogues in the background, and again later.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use chrono::TimeDelta;
use engine::UserId;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::Pipeline;
use crate::{
    import::{
        Catalogue, Match, MatchOutcome, Matches, OwnTracks, Remembering, add_codes, encoded, judge, kind_of, match_all,
        new_track,
    },
    turns::pause,
};
use formats::{Gathered, ImportedTrack};
use store::{LEASE, Resolution, StoreError};

type OpenClaim = store::OpenClaim<ImportedTrack>;

const AT_ONCE: usize = 16;
const AT_ONCE_WITHOUT: u32 = 500;
const LOOK_EVERY: Duration = Duration::from_secs(2);

impl Pipeline {
    /// The external catalogues, the most exact first.
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
                Err(error) => warn!("Open entries cannot be searched for, trying again: {error}"),
            }
            if !pause(LOOK_EVERY, &ended).await {
                return;
            }
        }
    }

    /// Whether there is a catalogue that can be asked about entries.
    pub(crate) fn can_match(&self) -> bool {
        !self.catalogues().is_empty()
    }

    /// Adds tracks for entries of versions in which an entry was not a track.
    pub(super) async fn give_tracks_to_entries(&self) -> Result<(), StoreError> {
        loop {
            let entries: Vec<OpenClaim> = self.store.entries_without_tracks(AT_ONCE_WITHOUT).await?;
            if entries.is_empty() {
                return Ok(());
            }
            for claim in entries {
                let found: Match = judge(&claim.entry, &[]);
                let found = Match { outcome: MatchOutcome::Unmatched, isrc: None, ..found };
                let entry = std::slice::from_ref(&claim.entry);
                let mut own = OwnTracks::read(&self.store, &claim.owner, entry, &[]).await?;
                let id = own.id_of(&claim.owner, &claim.entry, &found);
                let new = new_track(&claim.entry, id, &found, kind_of(&claim.kind)?);
                self.store.give_track(&claim.owner, claim.id, &new).await?;
            }
        }
    }

    /// Searches for a few entries that are due. Returns how many there were.
    async fn look_once(&self) -> Result<usize, StoreError> {
        if !self.can_match() {
            return Ok(0);
        }
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
        let asked = tokio::time::timeout(LEASE / 2, self.ask_all_catalogues(owner, &mut gathered)).await;
        let Matches { matches, silent } = match asked {
            Ok(matches) => matches?,
            Err(_) => {
                warn!("The search for {} open entries took too long and is repeated later", claims.len());
                return Ok(());
            }
        };
        let entries: Vec<ImportedTrack> = claims.iter().map(|claim| claim.entry.clone()).collect();
        let mut own = OwnTracks::read(&self.store, owner, &entries, &matches).await?;
        for (claim, found) in claims.iter().zip(matches) {
            let resolution = match found.outcome {
                MatchOutcome::Matched => {
                    let id = own.id_of(owner, &claim.entry, &found);
                    Resolution::Matched(Box::new(new_track(&claim.entry, id, &found, kind_of(&claim.kind)?)))
                }
                MatchOutcome::Ambiguous | MatchOutcome::Unmatched => {
                    let after = if silent.is_empty() { next_look(claim.tries) } else { TimeDelta::minutes(10) };
                    Resolution::Open { found: encoded(&found)?, after }
                }
            };
            match self.store.resolve_entry(owner, claim.id, &resolution).await {
                // The owner has matched or dismissed the entry meanwhile.
                Ok(()) | Err(StoreError::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn ask_all_catalogues(&self, owner: &UserId, gathered: &mut Gathered) -> Result<Matches, StoreError> {
        if let Some(reccobeats) = &self.sources.reccobeats
            && let Err(error) = add_codes(gathered, reccobeats).await
        {
            info!("Codes behind Spotify's ids could not be looked up: {error}");
        }
        let external: Vec<_> = self.catalogues().into_iter().map(|catalogue| self.remembering(catalogue)).collect();
        let home: &dyn Catalogue = &self.home(owner).await?;
        let all: Vec<&dyn Catalogue> =
            std::iter::once(home).chain(external.iter().map(|catalogue| catalogue as &dyn Catalogue)).collect();
        Ok(match_all(gathered, &all).await)
    }

    pub(crate) fn remembering<'a>(&'a self, catalogue: &'a dyn Catalogue) -> Remembering<'a> {
        Remembering { catalogue, store: &self.store }
    }
}

/// Catalogues grow slowly: the search is repeated after a day, a week, then every month.
fn next_look(tries: u32) -> TimeDelta {
    match tries {
        0 | 1 => TimeDelta::days(1),
        2 => TimeDelta::days(7),
        _ => TimeDelta::days(30),
    }
}
