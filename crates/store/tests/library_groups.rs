//! Numbers of tracks by artist, album, genre and decade are those of the tracks, whatever happened to them.

use std::collections::BTreeMap;

use engine::UserId;
use music::{Track, TrackRef};
use serde_json::json;
use store::{LibrarySort, LibraryTrack, Listing, Store, StoreError};

fn track(n: usize, artist: &str, album: &str, genre: &str, year: i32) -> Track {
    let json = json!({
        "isrc": format!("ZB{n:010}"), "title": format!("Song {n}"), "artist": artist, "album": album,
        "tags": [genre], "releaseDate": year.to_string(),
    });
    serde_json::from_value(json).expect("a track")
}

fn tracks() -> Vec<Track> {
    let names = |n: usize| ["Nils", "NILS", "Åse", "", "Edvard"][n % 5];
    (0..40)
        .map(|n| track(n, names(n), ["", "First", "second"][n % 3], ["Folk", "folk", "Jazz"][n % 3], 1985 + n as i32))
        .collect()
}

async fn all(store: &Store, owner: &UserId) -> Vec<LibraryTrack> {
    let listing = Listing { limit: 1_000, sort: LibrarySort::Title, ..Listing::default() };
    let (tracks, total) = store.library_tracks(owner, listing).await.expect("the library is listed");
    assert_eq!(total, tracks.len() as i64);
    tracks
}

fn counted<K: Ord>(keys: impl Iterator<Item = K>) -> BTreeMap<K, i64> {
    keys.fold(BTreeMap::new(), |mut counts, key| {
        *counts.entry(key).or_default() += 1;
        counts
    })
}

/// Every number that a list shows is compared with what the tracks themselves say.
async fn check(store: &Store, owner: &UserId) {
    let tracks = all(store, owner).await;
    let lower = |text: &str| text.to_ascii_lowercase();
    let (artists, n_artists) = store.artists(owner, None, (0, 200)).await.expect("artists");
    let shown: BTreeMap<_, _> = artists.iter().map(|line| (lower(&line.name), line.track_count)).collect();
    let named = || tracks.iter().filter(|track| !track.artist.is_empty());
    assert_eq!((shown, n_artists), (counted(named().map(|track| lower(&track.artist))), artists.len() as i64));
    for artist in &artists {
        let own = named().filter(|track| lower(&track.artist) == lower(&artist.name) && !track.album.is_empty());
        assert_eq!(artist.album_count, counted(own.map(|track| lower(&track.album))).len() as i64, "{}", artist.name);
        let listing = Listing { artist: Some(&artist.name), limit: 200, ..Listing::default() };
        assert_eq!(store.library_tracks(owner, listing).await.expect("a page").1, artist.track_count);
    }
    let albums = store.album_views(owner, None, (0, 200)).await.expect("albums");
    let shown: BTreeMap<_, _> =
        albums.iter().map(|line| ((lower(&line.title), lower(&line.artist)), line.track_count)).collect();
    let on_albums = tracks.iter().filter(|track| !track.album.is_empty());
    assert_eq!(shown, counted(on_albums.map(|track| (lower(&track.album), lower(&track.artist)))));
    let genres = store.genres(owner).await.expect("genres");
    let shown: BTreeMap<_, _> = genres.iter().map(|line| (lower(&line.name), line.track_count)).collect();
    assert_eq!(shown, counted(tracks.iter().filter_map(|track| track.genre.as_deref().map(lower))));
    let decades = store.decades(owner).await.expect("decades");
    let shown: BTreeMap<_, _> = decades.into_iter().map(|line| (line.name, line.track_count)).collect();
    let decade = |track: &LibraryTrack| track.year.map(|year| (year / 10 * 10).to_string());
    assert_eq!(shown, counted(tracks.iter().filter_map(decade)));
}

/// A filter finds what it says, alone and with another one, and says how many there are.
async fn check_filters(store: &Store, owner: &UserId) {
    let tracks = all(store, owner).await;
    let is = |text: Option<&str>, wanted: &str| text.is_some_and(|text| text.eq_ignore_ascii_case(wanted));
    let all = Listing { limit: 5, ..Listing::default() };
    type Passes<'a> = Box<dyn Fn(&&LibraryTrack) -> bool + 'a>;
    let filters: Vec<(Listing<'_>, Passes<'_>)> = vec![
        (Listing { genre: Some("FOLK"), ..all }, Box::new(|track| is(track.genre.as_deref(), "folk"))),
        (Listing { year: Some(1990), ..all }, Box::new(|track| track.year == Some(1990))),
        (Listing { decade: Some(1990), ..all }, Box::new(|track| track.year.is_some_and(|year| year / 10 == 199))),
        (Listing { album: Some("FIRST"), ..all }, Box::new(|track| is(Some(&track.album), "first"))),
        (Listing { words: Some("song 1"), ..all }, Box::new(|track| track.title.to_lowercase().contains("song 1"))),
        (
            Listing { genre: Some("jazz"), decade: Some(2000), artist: Some("nils"), ..all },
            Box::new(|track| {
                is(track.genre.as_deref(), "jazz")
                    && is(Some(&track.artist), "nils")
                    && track.year.is_some_and(|year| year / 10 == 200)
            }),
        ),
    ];
    for (listing, passes) in filters {
        let expected = tracks.iter().filter(passes).count();
        let (page, total) = store.library_tracks(owner, listing).await.expect("a page");
        assert!(expected > 0, "{listing:?}");
        assert_eq!((page.len(), total), (expected.min(5), expected as i64), "{listing:?}");
    }
}

async fn live(store: &Store) {
    let (ann, bob) = (UserId::new("ann"), UserId::new("bob"));
    let tracks = tracks();
    check(store, &ann).await;
    store.add_to_library(&ann, &tracks).await.expect("added");
    store.add_to_library(&bob, &tracks[..7]).await.expect("added");
    check(store, &ann).await;
    check(store, &bob).await;
    check_filters(store, &ann).await;
    store.add_to_library(&ann, &tracks).await.expect("the same again");
    check(store, &ann).await;
    for track in &tracks[3..30] {
        store.remove_from_library(&ann, &TrackRef::Id(track.id)).await.expect("removed");
    }
    check(store, &ann).await;
    for track in &tracks[5..20] {
        store.restore_to_library(&ann, &TrackRef::Id(track.id)).await.expect("restored");
    }
    store.add_to_library(&ann, &tracks[20..25]).await.expect("added again");
    check(store, &ann).await;
    check(store, &bob).await;
}

/// Adds, removes and adds again, many times, as fast as the database allows.
async fn change(store: &Store, owner: &UserId, tracks: &[Track]) {
    let names: Vec<TrackRef> = tracks.iter().map(|track| TrackRef::Id(track.id)).collect();
    for _ in 0..5 {
        store.add_to_library(owner, tracks).await.expect("added");
        let removed = store.remove_all_from_library(owner, &names[..30]).await;
        // The other task of the same user may have removed them all.
        assert!(matches!(removed, Ok(_) | Err(StoreError::NotFound)), "{removed:?}");
        store.add_to_library(owner, &tracks[10..20]).await.expect("added again");
    }
}

async fn at_once(store: &Store) {
    let (ann, bob) = (UserId::new("ann"), UserId::new("bob"));
    let tracks = tracks();
    let mut reversed = tracks.clone();
    reversed.reverse();
    tokio::join!(
        change(store, &ann, &tracks),
        change(store, &bob, &reversed),
        change(store, &ann, &reversed),
        change(store, &bob, &tracks),
    );
    for owner in [&ann, &bob] {
        assert!(!all(store, owner).await.is_empty());
        check(store, owner).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn groups_are_those_of_the_tracks_when_users_change_their_libraries_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("sqlite:{}", folder.path().join("groups.db").display());
    at_once(&Store::open(&url, 4).await.expect("the database opens")).await;
    if let Ok(cluster) = std::env::var("SEGUE_TEST_POSTGRES") {
        at_once(&on_postgres(&cluster).await).await;
    }
}

#[tokio::test]
async fn groups_are_those_of_the_tracks() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("sqlite:{}", folder.path().join("groups.db").display());
    live(&Store::open(&url, 2).await.expect("the database opens")).await;
    if let Ok(cluster) = std::env::var("SEGUE_TEST_POSTGRES") {
        live(&on_postgres(&cluster).await).await;
    }
}

async fn on_postgres(cluster: &str) -> Store {
    use sqlx::{Connection, Executor};
    let name = format!("g_{}", uuid::Uuid::new_v4().simple());
    let mut connection = sqlx::PgConnection::connect(cluster).await.expect("the test cluster answers");
    let create = sqlx::AssertSqlSafe(format!("CREATE SCHEMA {name}"));
    connection.execute(create).await.expect("a schema can be made");
    let separator = if cluster.contains('?') { '&' } else { '?' };
    Store::open(&format!("{cluster}{separator}options=-csearch_path%3D{name}"), 4).await.expect("the database opens")
}
