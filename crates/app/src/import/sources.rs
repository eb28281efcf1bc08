//! The external services as catalogues, and the lookup of codes for entries with only a Spotify id.

use super::{
    catalogue::{Candidates, CannotAsk, Catalogue},
    matching::Candidate,
};
use formats::Gathered;
use http_client::service::SourceError;
use music::Isrc;
use sources::{
    deezer::{Deezer, DeezerTrack},
    musicbrainz::{MusicBrainz, Recording},
    reccobeats::ReccoBeats,
    tidal::{Tidal, TidalError, TidalTrack},
};

/// Tidal returns twenty results per page. A recording that is not on the first page is not considered.
const TIDAL_RESULTS: usize = 20;

/// Looks up the code of every track that has a Spotify id and no code: Spotify's own exports contain no codes. Returns
/// the number of codes found. Codes found before an error are kept.
pub async fn add_codes(gathered: &mut Gathered, reccobeats: &ReccoBeats) -> Result<usize, SourceError> {
    let without_code = gathered.tracks.iter().filter(|track| track.isrcs.is_empty());
    let ids: Vec<String> = without_code.filter_map(|track| track.ids.spotify.clone()).collect();
    let mut n_found = 0;
    for batch in ids.chunks(sources::reccobeats::BATCH) {
        let codes = reccobeats.codes_of_spotify_ids(batch).await?;
        n_found += codes.len();
        for track in gathered.tracks.iter_mut().filter(|track| track.isrcs.is_empty()) {
            track.isrcs = track.ids.spotify.as_ref().and_then(|id| codes.get(id)).cloned().into_iter().collect();
        }
    }
    Ok(n_found)
}

impl Catalogue for Deezer {
    fn name(&self) -> &'static str {
        "Deezer"
    }

    fn by_isrc<'a>(&'a self, isrcs: &'a [Isrc]) -> Candidates<'a> {
        Box::pin(async move {
            let mut found = vec![];
            for isrc in isrcs {
                found.extend(Deezer::by_isrc(self, isrc).await?.and_then(from_deezer));
            }
            Ok(found)
        })
    }

    fn by_name<'a>(&'a self, title: &'a str, artist: &'a str) -> Candidates<'a> {
        Box::pin(async move { Ok(self.search(title, artist).await?.into_iter().filter_map(from_deezer).collect()) })
    }
}

impl Catalogue for MusicBrainz {
    fn name(&self) -> &'static str {
        "MusicBrainz"
    }

    fn by_isrc<'a>(&'a self, isrcs: &'a [Isrc]) -> Candidates<'a> {
        Box::pin(async move {
            let mut found = vec![];
            for isrc in isrcs {
                // Several recordings with one code are a mistake in the catalogue; the first one is used.
                let recording = MusicBrainz::by_isrc(self, isrc).await?.into_iter().next();
                found.extend(recording.map(|recording| from_musicbrainz(&recording, isrc.clone())));
            }
            Ok(found)
        })
    }

    fn by_name<'a>(&'a self, title: &'a str, artist: &'a str) -> Candidates<'a> {
        Box::pin(async move {
            let recordings = self.search(title, artist).await?;
            let each = |recording: &Recording| {
                recording.isrcs.iter().map(|isrc| from_musicbrainz(recording, isrc.clone())).collect::<Vec<_>>()
            };
            Ok(recordings.iter().flat_map(each).collect())
        })
    }
}

impl Catalogue for Tidal {
    fn name(&self) -> &'static str {
        "Tidal"
    }

    fn by_isrc<'a>(&'a self, isrcs: &'a [Isrc]) -> Candidates<'a> {
        Box::pin(async move {
            let found = self.tracks_by_isrc(isrcs).await?;
            Ok(found.into_values().filter_map(|tracks| from_tidal(tracks.into_iter().next()?)).collect())
        })
    }

    fn by_name<'a>(&'a self, title: &'a str, artist: &'a str) -> Candidates<'a> {
        Box::pin(async move {
            let found = self.search_tracks(&format!("{artist} {title}"), TIDAL_RESULTS).await?;
            Ok(found.into_iter().filter_map(from_tidal).collect())
        })
    }
}

fn from_deezer(track: DeezerTrack) -> Option<Candidate> {
    Some(Candidate {
        isrc: track.isrc?,
        title: track.title,
        version: track.version,
        artist: track.artist,
        album: track.album,
        duration: track.duration,
        source: "Deezer".into(),
    })
}

fn from_musicbrainz(recording: &Recording, isrc: Isrc) -> Candidate {
    Candidate {
        isrc,
        title: recording.title.clone(),
        version: (!recording.disambiguation.is_empty()).then(|| recording.disambiguation.clone()),
        artist: recording.artist.clone(),
        album: None,
        duration: recording.duration,
        source: "MusicBrainz".into(),
    }
}

fn from_tidal(track: TidalTrack) -> Option<Candidate> {
    Some(Candidate {
        isrc: track.isrc?,
        artist: track.artists.join(", "),
        title: track.title,
        version: track.version,
        album: track.album.map(|album| album.title),
        duration: track.duration,
        source: "Tidal".into(),
    })
}

impl From<SourceError> for CannotAsk {
    fn from(error: SourceError) -> Self {
        if error.is_transient() { Self::Anything(error.to_string()) } else { Self::This(error.to_string()) }
    }
}

impl From<TidalError> for CannotAsk {
    fn from(error: TidalError) -> Self {
        match error {
            TidalError::NotConfigured | TidalError::Unavailable(_) => Self::Anything(error.to_string()),
            TidalError::Refused(_) | TidalError::NotFound(_) | TidalError::Broken(_) => Self::This(error.to_string()),
        }
    }
}
