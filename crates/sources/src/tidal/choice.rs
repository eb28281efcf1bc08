//! Chooses which of the releases of one recording to show. The choice is deterministic.

use super::catalogue::TidalTrack;

/// Best first: the artist's own release before a compilation, an album before a single, then by popularity, then the
/// lowest id.
pub(super) fn sort_by_preference(candidates: &mut [TidalTrack]) {
    candidates.sort_by(|a, b| {
        let by_release = release_rank(a).cmp(&release_rank(b));
        by_release.then(b.popularity.total_cmp(&a.popularity)).then_with(|| id_order(a).cmp(&id_order(b)))
    });
}

fn release_rank(track: &TidalTrack) -> u8 {
    let Some(album) = &track.album else { return 4 };
    let is_own = track.artists.first().is_some_and(|artist| album.artists.contains(artist));
    match album.kind.as_deref() {
        // An album without artists in Tidal is not treated as a compilation.
        _ if !is_own && !album.artists.is_empty() => 3,
        Some("ALBUM") => 0,
        Some("EP") => 1,
        _ => 2,
    }
}

/// Ids are numbers written as text; a longer one is a larger one.
fn id_order(track: &TidalTrack) -> (usize, &str) {
    (track.tidal_id.len(), &track.tidal_id)
}

#[cfg(test)]
mod tests {
    use super::{super::catalogue::TrackAlbum, *};

    fn track(id: &str, title: &str, album: Option<(&str, &str)>, popularity: f64, duration: f64) -> TidalTrack {
        TidalTrack {
            tidal_id: id.into(),
            isrc: None,
            title: title.into(),
            version: None,
            artists: vec!["Ivy Marlow".into()],
            album: album.map(|(artist, kind)| TrackAlbum {
                id: "1".into(),
                title: "Low Tide".into(),
                artists: vec![artist.into()],
                kind: Some(kind.into()),
            }),
            artwork_url: None,
            duration: Some(duration),
            explicit: false,
            popularity,
            volume_number: None,
            track_number: None,
        }
    }

    #[test]
    fn the_order_does_not_depend_on_the_input_order() {
        let own = |kind| Some(("Ivy Marlow", kind));
        let mut candidates = vec![
            track("9", "Tide", None, 1.0, 200.0),
            track("8", "Tide", Some(("Various Artists", "ALBUM")), 0.9, 200.0),
            track("7", "Tide", own("SINGLE"), 0.9, 200.0),
            track("10", "Tide", own("ALBUM"), 0.5, 200.0),
            track("6", "Tide", own("ALBUM"), 0.5, 200.0),
            track("5", "Tide", own("ALBUM"), 0.6, 200.0),
        ];
        for _ in 0..candidates.len() {
            candidates.rotate_left(1);
            let mut sorted = candidates.clone();
            sort_by_preference(&mut sorted);
            let ids: Vec<_> = sorted.iter().map(|track| track.tidal_id.as_str()).collect();
            assert_eq!(ids, ["5", "6", "10", "7", "8", "9"]);
        }
    }
}
