//! Albums and their tracks.

use doubles::{
    fiction,
    tidal::{Fault, Limits, TidalDouble},
};
use sources::tidal::TidalError;

use crate::Stage;

#[tokio::test]
async fn an_album_comes_whole_and_in_playing_order() {
    // Album, country: tracks, videos, track count on the album, calls, numbers of the first volume.
    let all = |n: u32| (1..=n).collect::<Vec<_>>();
    let cases = [
        (fiction::LOW_TIDE, "US", 10, 0, 10, 1, all(10)),
        (fiction::LEDGER, "US", 46, 0, 46, 3, all(26)),
        (fiction::ANTHOLOGY, "US", 60, 0, 60, 3, all(20)),
        (fiction::ATLAS, "US", 8, 0, 10, 1, vec![1, 3, 4, 6, 7, 8, 9, 10]),
        (fiction::ATLAS, "no", 10, 0, 10, 1, all(10)),
        (fiction::GLASS, "US", 10, 2, 12, 1, vec![1, 2, 3, 5, 6, 7, 8, 9, 10, 11]),
        (fiction::NORTH, "NO", 1, 0, 1, 1, all(1)),
    ];
    for (id, country, n_tracks, n_videos, track_count, n_calls, numbers) in cases {
        let stage = Stage::with(TidalDouble::new(fiction::world(), Limits::GENEROUS), country).await;
        let found = stage.tidal.album(&id.to_string()).await.unwrap();
        assert_eq!((found.tracks.len(), found.n_videos), (n_tracks, n_videos), "{id}");
        assert_eq!(found.album.track_count, track_count, "{id}");
        assert_eq!(stage.double.requests().len(), n_calls, "{id}");
        let first_volume = found.tracks.iter().filter(|track| track.volume_number == Some(1));
        assert_eq!(first_volume.filter_map(|track| track.track_number).collect::<Vec<_>>(), numbers, "{id}");
        let places: Vec<_> = found.tracks.iter().map(|track| (track.volume_number, track.track_number)).collect();
        assert!(places.is_sorted(), "{id}");
        for track in &found.tracks {
            assert!(!track.artists.is_empty() && track.isrc.is_some() && track.artwork_url.is_some(), "{track:?}");
        }
    }
}

#[tokio::test]
async fn a_track_has_all_its_fields() {
    let stage = Stage::new().await;
    let low_tide = stage.tidal.album("2001").await.unwrap();
    assert_eq!((low_tide.album.title.as_str(), low_tide.album.artist().as_str()), ("Low Tide", "Ivy Marlow"));
    assert_eq!(low_tide.album.release_date.as_deref(), Some("1996-04-13"));
    let got: Vec<_> = low_tide.tracks[5..9]
        .iter()
        .map(|track| (track.full_title(), track.artist(), track.duration, track.explicit))
        .collect();
    let expected = [
        ("Low Tide (Live at the Quay)", "Ivy Marlow", 142.0, false),
        ("Three Minutes Exactly", "Ivy Marlow", 180.0, false),
        ("The Long Way Round", "Ivy Marlow", 3723.0, false),
        ("Café Nord", "Ivy Marlow, Tomas Vey", 253.0, true),
    ];
    assert_eq!(
        got,
        expected.map(|(title, artist, seconds, e)| (title.to_owned(), artist.to_owned(), Some(seconds), e))
    );
}

#[tokio::test]
async fn resources_that_are_not_included_are_fetched_or_replaced() {
    let stage = Stage::new().await;
    let found = stage.tidal.album(&fiction::GHOSTS.to_string()).await.unwrap();
    let got: Vec<_> = found.tracks.iter().map(|track| (track.title.as_str(), track.artist())).collect();
    // The artist of "Cellar" is never included, so the album's artist is used; "Stairwell" needed a second call.
    let vey = || "Tomas Vey".to_owned();
    assert_eq!(got, [("Attic", vey()), ("Cellar", vey()), ("Stairwell", vey())]);
    assert_eq!(stage.paths(), ["/albums/2006", "/tracks"]);

    let cellar = stage.tidal.search_tracks("cellar", 5).await.unwrap();
    assert_eq!(cellar[0].artist(), "Unknown artist");
}

#[tokio::test]
async fn a_missing_album_is_not_found() {
    let stage = Stage::new().await;
    let north = fiction::NORTH.to_string();
    for id in ["1", "nope", "", ".", "..", "../tracks", "2001/relationships/items", "2001?x=", "é"] {
        assert!(matches!(stage.tidal.album(id).await, Err(TidalError::NotFound(_))), "{id}");
    }
    let error = stage.tidal.album(&north).await.unwrap_err();
    assert_eq!(error, TidalError::NotFound("album '2005' in US".into()));
}

#[tokio::test]
async fn an_album_is_complete_or_an_error_and_a_retry_continues_where_it_stopped() {
    let stage = Stage::new().await;
    stage.double.plan([None, None, Some(Fault::Status { code: 503 })]);
    let ledger = fiction::LEDGER.to_string();
    assert!(matches!(stage.tidal.album(&ledger).await, Err(TidalError::Unavailable(_))));
    assert_eq!(stage.tidal.album(&ledger).await.unwrap().tracks.len(), 46);
    assert_eq!(stage.double.requests().len(), 4);
}
