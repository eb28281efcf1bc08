//! The sample library: three hundred fictional tracks, so that the first search of a new user finds something.

use engine::UserId;
use serde::Deserialize;
use tracing::instrument;

use crate::{Error, Operator, library::Library};
use music::Track;

const FILES: [&str; 3] = [
    include_str!("../assets/sample/a.jsonl"),
    include_str!("../assets/sample/b.jsonl"),
    include_str!("../assets/sample/c.jsonl"),
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SampleTrack {
    #[serde(flatten)]
    track: Track,
    in_library: bool,
}

/// The result of loading the sample.
#[derive(Debug, PartialEq, Eq)]
pub struct Loaded {
    pub n_tracks: usize,
    /// Tracks that are new or changed.
    pub n_new: u64,
    /// Tracks that were added to the owner's library.
    pub n_added: u64,
}

impl Library {
    /// Loads the sample once, into an installation that has never contained a track. In an installation with several users
    /// no library is changed: every user finds the sample until they remove it.
    #[instrument(name = "sample.offer", skip_all)]
    pub async fn offer_sample(&self, owner: Option<&UserId>) -> Result<bool, Error> {
        if !self.take_sample_offer().await? {
            return Ok(false);
        }
        match owner {
            Some(owner) => _ = self.load_sample(&Operator::of_this_machine(), owner).await?,
            None => {
                let all: Vec<Track> = tracks().into_iter().map(|sample| sample.track).collect();
                self.put_tracks(&all).await?;
            }
        }
        Ok(true)
    }

    /// Loads the sample tracks and adds a third of them to a library. Every user of the installation finds its tracks, so only
    /// an operator may load them. A second call changes nothing: a track that the owner has removed since stays removed.
    #[instrument(name = "sample.load", skip_all, fields(user.id = %owner))]
    pub async fn load_sample(&self, _: &Operator, owner: &UserId) -> Result<Loaded, Error> {
        self.restore_sample(owner).await?;
        self.take_sample_offer().await?;
        let sample = tracks();
        let all: Vec<Track> = sample.iter().map(|sample| sample.track.clone()).collect();
        let n_new = self.put_tracks(&all).await?;
        let owned = sample.into_iter().filter(|sample| sample.in_library).map(|sample| sample.track);
        let n_added = self.add_new_tracks(owner, &owned.collect::<Vec<Track>>()).await?;
        Ok(Loaded { n_tracks: all.len(), n_new, n_added })
    }
}

fn tracks() -> Vec<SampleTrack> {
    let lines = FILES.iter().flat_map(|file| file.lines()).filter(|line| !line.trim().is_empty());
    lines
        .map(|line| {
            let mut sample: SampleTrack = serde_json::from_str(line).expect("the sample library is well formed");
            sample.track.is_sample = true;
            sample.track.provenance = [("all".to_owned(), "sample library".to_owned())].into();
            sample
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_sample_is_three_hundred_distinct_tracks_a_third_of_them_owned() {
        let sample = tracks();
        assert_eq!(sample.len(), 300);
        let isrcs: BTreeSet<_> = sample.iter().map(|sample| &sample.track.isrc).collect();
        let names: BTreeSet<_> = sample.iter().map(|sample| sample.track.recording_name().to_string()).collect();
        assert_eq!((isrcs.len(), names.len()), (300, 300));
        assert!((90..=110).contains(&sample.iter().filter(|sample| sample.in_library).count()));
        for SampleTrack { track, .. } in &sample {
            assert!(track.isrc_text().starts_with("XSGUE26"), "{}", track.isrc_text());
            assert!(track.interpretation.is_some() && track.short_description.is_some() && track.tags.len() >= 5);
            assert!(track.audio_features.is_some() && track.duration.is_some());
            assert!(
                track.language.is_some() && track.year().is_some(),
                "search limits need language and year: {}",
                track.isrc_text()
            );
        }
    }
}
