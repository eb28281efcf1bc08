//! Tracks by their ISRCs.

use doubles::{fiction, tidal::Fault};
use music::Isrc;
use sources::tidal::TidalError;

use crate::Stage;

fn code(n: u32) -> Isrc {
    format!("XTDBL26{n:05}").parse().unwrap()
}

#[tokio::test]
async fn codes_are_requested_in_batches_of_twenty() {
    for (n_codes, n_calls) in [(0, 0), (2, 1), (20, 1), (21, 2), (100, 5)] {
        let stage = Stage::new().await;
        // From 11 on, everything is available in the US, and no code has several releases.
        let codes: Vec<Isrc> = (11..11 + n_codes).map(code).collect();
        let found = stage.tidal.tracks_by_isrc(&codes).await.unwrap();
        assert_eq!((found.len(), stage.double.requests().len()), (n_codes as usize, n_calls), "{n_codes}");
        for (code, tracks) in found {
            assert_eq!(tracks.len(), 1);
            assert_eq!(tracks[0].isrc.as_ref(), Some(&code));
            assert!(tracks[0].album.is_some() && tracks[0].artwork_url.is_some());
        }
    }
}

#[tokio::test]
async fn of_many_releases_the_artists_own_album_comes_first() {
    let stage = Stage::new().await;
    let harbour_lights: Isrc = fiction::HARBOUR_LIGHTS.parse().unwrap();
    let found = stage.tidal.tracks_by_isrc(std::slice::from_ref(&harbour_lights)).await.unwrap();
    let tracks = &found[&harbour_lights];
    assert_eq!(tracks.len(), 23, "both pages");
    let albums: Vec<_> = tracks.iter().filter_map(|track| Some(track.album.as_ref()?.title.as_str())).collect();
    assert_eq!(albums[..3], ["Low Tide", "Harbour Lights", "Harbour Hits, Vol. 1"]);
}

#[tokio::test]
async fn known_and_unknown_codes_are_cached() {
    let stage = Stage::new().await;
    let unknown: Isrc = "XTDBL2699999".parse().unwrap();
    let first = stage.tidal.tracks_by_isrc(&[code(12), unknown.clone(), code(13), code(12)]).await.unwrap();
    assert_eq!(first.keys().cloned().collect::<Vec<_>>(), [code(12), code(13)]);
    assert_eq!(stage.tidal.tracks_by_isrc(&[unknown, code(13)]).await.unwrap().len(), 1);
    assert_eq!(stage.double.requests().len(), 1);
    assert_eq!(stage.tidal.tracks_by_isrc(&[code(13), code(14)]).await.unwrap().len(), 2);
    assert!(stage.double.requests()[1].contains("XTDBL2600014"));
    assert!(!stage.double.requests()[1].contains("XTDBL2600013"), "only unknown codes are requested");
}

#[tokio::test]
async fn tracks_that_a_country_lacks_are_left_out() {
    let stage = Stage::new().await;
    // "Map 2" and "Map 5" are not in the US: 10 + 46 + 60 tracks come before them.
    let codes = [code(117), code(118), code(121)];
    let found = stage.tidal.tracks_by_isrc(&codes).await.unwrap();
    assert_eq!(found.keys().cloned().collect::<Vec<_>>(), [code(117)]);
}

#[tokio::test]
async fn a_failing_batch_is_an_error_and_never_a_missing_track() {
    let stage = Stage::new().await;
    stage.double.plan([None, Some(Fault::Status { code: 503 })]);
    let codes: Vec<Isrc> = (11..51).map(code).collect();
    assert!(matches!(stage.tidal.tracks_by_isrc(&codes).await, Err(TidalError::Unavailable(_))));
    assert_eq!(stage.tidal.tracks_by_isrc(&codes).await.unwrap().len(), 40);
    assert_eq!(stage.double.requests().len(), 3, "the successful batch was cached");
}
