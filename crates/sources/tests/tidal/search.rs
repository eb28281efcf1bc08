//! Searching the catalogue by text.

use std::time::Duration;

use doubles::{
    fiction,
    tidal::{Fault, Limits, TidalDouble},
};
use sources::tidal::{SearchFor, TidalError};

use crate::Stage;

#[tokio::test]
async fn pages_are_followed_up_to_the_limit() {
    // "marlow" matches 138 tracks (23 of them one recording) and 4 albums; a page holds 20.
    let cases = [
        (SearchFor::Tracks, "marlow", 1, 1, 0, 1),
        (SearchFor::Tracks, "small hour", 20, 20, 0, 1),
        (SearchFor::Tracks, "small hour", 21, 21, 0, 2),
        (SearchFor::Tracks, "small hour", 100, 60, 0, 3),
        (SearchFor::Tracks, "marlow", 100, 78, 0, 5),
        (SearchFor::Albums, "harbour", 100, 0, 22, 2),
        (SearchFor::Both, "marlow", 40, 18, 4, 2),
        (SearchFor::Both, "nothing like it", 20, 0, 0, 1),
    ];
    for (kind, query, limit, n_tracks, n_albums, n_calls) in cases {
        let stage = Stage::new().await;
        let found = stage.tidal.search(query, kind, limit).await.unwrap();
        let figures = (found.tracks.len(), found.albums.len(), stage.double.requests().len());
        assert_eq!(figures, (n_tracks, n_albums, n_calls), "{kind:?} {query} {limit}");
        assert!(!found.is_cut_short);
    }
}

#[tokio::test]
async fn every_page_brings_artists_albums_and_covers() {
    let stage = Stage::new().await;
    let found = stage.tidal.search("small hour", SearchFor::Both, 60).await.unwrap();
    assert_eq!(found.tracks.len(), 60);
    for (n, track) in found.tracks.iter().enumerate() {
        // The most popular first, independent of the order of `included`.
        assert_eq!(track.title, format!("Small Hour {}", n + 1));
        assert_eq!(track.artist(), "Ivy Marlow");
        let album = track.album.as_ref().unwrap();
        assert_eq!((album.title.as_str(), album.kind.as_deref()), ("Anthology of Small Hours", Some("MIXTAPE")));
        assert_eq!(track.artwork_url.as_deref(), Some("https://resources.tidal.com/images/art-2007/640x640.jpg"));
    }
    let album = &found.albums[0];
    assert_eq!((album.artist().as_str(), album.track_count), ("Ivy Marlow", 60));
    assert_eq!(album.artwork_url, found.tracks[0].artwork_url);
    assert_eq!(album.barcode.as_deref(), Some("5000002007"));
}

#[tokio::test]
async fn a_recording_on_many_releases_is_shown_once() {
    let stage = Stage::new().await;
    let tracks = stage.tidal.search_tracks("harbour lights", 40).await.unwrap();
    assert_eq!(tracks.len(), 1);
    assert_eq!(tracks[0].isrc.as_ref().unwrap().as_str(), fiction::HARBOUR_LIGHTS);
}

#[tokio::test]
async fn special_characters_are_sent_unchanged() {
    let stage = Stage::new().await;
    let cases = [("don't wake", 1), ("salt & rope", 1), ("CAFÉ nord vey", 1), ("погода", 10), ("100%+[x]", 0)];
    for (query, n_tracks) in cases {
        assert_eq!(stage.tidal.search_tracks(query, 20).await.unwrap().len(), n_tracks, "{query}");
    }
    let long = "low tide ".repeat(60);
    stage.tidal.search_tracks(&long, 20).await.expect("500 characters are shortened to what Tidal accepts");
}

#[tokio::test]
async fn a_repeated_search_is_served_from_the_cache() {
    let stage = Stage::new().await;
    let first = stage.tidal.search("marlow", SearchFor::Both, 60).await.unwrap();
    let n_calls = stage.double.requests().len();
    assert_eq!(stage.tidal.search("marlow", SearchFor::Both, 60).await.unwrap(), first);
    assert_eq!(stage.double.requests().len(), n_calls);
    assert!(stage.tidal.search_tracks("vey", 5).await.is_ok());
    assert_eq!(stage.double.requests().len(), n_calls + 1);
}

#[tokio::test]
async fn a_search_that_loses_a_later_page_keeps_what_it_has() {
    let stage = Stage::new().await;
    stage.double.plan([None, Some(Fault::Status { code: 503 })]);
    let found = stage.tidal.search("small hour", SearchFor::Tracks, 60).await.unwrap();
    assert_eq!((found.tracks.len(), found.is_cut_short), (20, true));
    // The failed page was not cached as the end of the list.
    let found = stage.tidal.search("small hour", SearchFor::Tracks, 60).await.unwrap();
    assert_eq!((found.tracks.len(), found.is_cut_short), (60, false));
    assert_eq!(stage.double.requests().len(), 4);
}

#[tokio::test]
async fn under_tidals_real_limit_a_search_ends_in_time_with_partial_results() {
    let stage = Stage::with(TidalDouble::new(fiction::world(), Limits::MEASURED), "US").await;
    let found = stage.tidal.search("small hour", SearchFor::Both, 60).await.unwrap();
    assert_eq!((found.tracks.len(), found.is_cut_short), (40, true), "two quick calls are allowed");
    let later = stage.tidal.within(Duration::from_millis(500)).search_tracks("vey", 5).await;
    assert!(matches!(later, Err(TidalError::Unavailable(_))), "{later:?}");
}

#[tokio::test]
async fn a_caller_with_a_large_budget_waits_for_the_rate_limit() {
    // Two calls at once, then one every 50 ms.
    let limits = Limits { burst: 200.0, per_request: 100.0, per_second: 2000.0 };
    let stage = Stage::with(TidalDouble::new(fiction::world(), limits), "US").await;
    let found = stage.tidal.search("marlow", SearchFor::Tracks, 100).await.unwrap();
    assert!(!found.is_cut_short);
    assert_eq!(stage.double.requests().len(), 5, "no request was rejected or repeated");
}
