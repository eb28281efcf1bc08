//! A listing with words has the tracks in which each word of the query begins a word, whatever happened to the library.

use engine::UserId;
use music::{Track, TrackRef};
use serde_json::json;
use store::{LibrarySort, Listing, Store};

/// Title, artist and album.
const NAMES: [[&str; 3]; 8] = [
    ["Jóga", "Björk", "Homogenic"],
    ["Low Tide", "Ivy Marlow", "Harbour Lights"],
    ["Tidewater", "The Quays & Sons", "Low"],
    ["Don't Go", "O'Brien", ""],
    ["丸の内サディスティック", "椎名林檎", "無罪モラトリアム"],
    ["?!", "100%_real", "÷"],
    ["Straße", "Møl", "Łódź"],
    ["A' OR 'b", "\"quoted\" \\ (band)", "AND NOT * :"],
];

fn tracks() -> Vec<Track> {
    let track = |(n, [title, artist, album]): (usize, &[&str; 3])| {
        let json = json!({"isrc": format!("ZB{n:010}"), "title": title, "artist": artist, "album": album});
        serde_json::from_value(json).expect("a track")
    };
    NAMES.iter().enumerate().map(track).collect()
}

/// Titles of the tracks with these words, as a page and as a number, with and without another filter.
async fn found(store: &Store, owner: &UserId, words: &str) -> Vec<String> {
    let listing = Listing { words: Some(words), limit: 50, sort: LibrarySort::Title, ..Listing::default() };
    let (page, total) = store.library_tracks(owner, listing).await.expect("a page");
    assert_eq!(total, page.len() as i64, "{words}");
    page.into_iter().map(|track| track.title).collect()
}

async fn live(store: &Store) {
    // An id of another issuer may have any characters.
    let (ann, bob) = (UserId::new("auth0|o'ann \\ %x*"), UserId::new("auth0|o'ann \\ %x* 2"));
    let tracks = tracks();
    store.add_to_library(&ann, &tracks).await.expect("added");
    store.add_to_library(&bob, &tracks[..1]).await.expect("added");
    for (words, expected) in [
        ("joga", vec!["Jóga"]),
        ("BJÖ jó", vec!["Jóga"]),
        ("low ti", vec!["Low Tide", "Tidewater"]),
        ("tide low", vec!["Low Tide", "Tidewater"]),
        ("tide marlow", vec!["Low Tide"]),
        ("ide", vec![]),
        ("quays and sons", vec!["Tidewater"]),
        ("dont obr", vec!["Don't Go"]),
        ("椎名", vec!["丸の内サディスティック"]),
        ("サディ 林檎", vec!["丸の内サディスティック"]),
        ("?", vec!["?!"]),
        ("100%", vec!["?!"]),
        ("strasse mol", vec!["Straße"]),
        ("lodz", vec!["Straße"]),
        ("not and a or", vec!["A' OR 'b"]),
        ("nothing", vec![]),
    ] {
        assert_eq!(found(store, &ann, words).await, expected, "{words}");
    }
    assert_eq!(found(store, &bob, "low").await, [""; 0], "words of another user");
    let joga = TrackRef::Id(tracks[0].id);
    store.remove_from_library(&ann, &joga).await.expect("removed");
    assert_eq!(found(store, &ann, "björk").await, [""; 0], "a removed track");
    assert_eq!(found(store, &bob, "björk").await, ["Jóga"], "only ann removed it");
    store.restore_to_library(&ann, &joga).await.expect("restored");
    assert_eq!(found(store, &ann, "björk").await, ["Jóga"]);
    let listing = Listing { words: Some("low"), album: Some("low"), limit: 5, ..Listing::default() };
    assert_eq!(store.library_tracks(&ann, listing).await.expect("a page").1, 1, "words and another filter");
}

#[tokio::test]
async fn each_word_of_a_query_begins_a_word_of_the_track() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("sqlite:{}", folder.path().join("words.db").display());
    live(&Store::open(&url, 2).await.expect("the database opens")).await;
    if let Ok(cluster) = std::env::var("SEGUE_TEST_POSTGRES") {
        live(&Store::open(&schema(&cluster).await, 4).await.expect("the database opens")).await;
    }
}

/// The words of an older version are lower-case text.
async fn after_an_upgrade(url: &str) {
    let ann = UserId::new("ann");
    let store = Store::open(url, 2).await.expect("the database opens");
    store.add_to_library(&ann, &tracks()).await.expect("added");
    store.close().await;
    execute(url, "UPDATE library_tracks SET searchable = LOWER(title || ' ' || artist || ' ' || album)").await;
    let store = Store::open(url, 2).await.expect("the database opens again");
    assert_eq!(found(&store, &ann, "jog bjo").await, ["Jóga"]);
    assert_eq!(found(&store, &ann, "林檎").await, ["丸の内サディスティック"]);
    store.close().await;
}

#[tokio::test]
async fn words_of_an_older_version_are_found_after_the_next_start() {
    let folder = tempfile::tempdir().expect("a folder");
    after_an_upgrade(&format!("sqlite:{}", folder.path().join("words.db").display())).await;
    if let Ok(cluster) = std::env::var("SEGUE_TEST_POSTGRES") {
        after_an_upgrade(&schema(&cluster).await).await;
    }
}

async fn execute(url: &str, sql: &str) {
    use sqlx::{Connection, Executor};
    let sql = sqlx::AssertSqlSafe(sql.to_owned());
    if url.starts_with("postgres") {
        let mut connection = sqlx::PgConnection::connect(url).await.expect("the test cluster answers");
        connection.execute(sql).await.expect("it is executed");
    } else {
        let mut connection = sqlx::SqliteConnection::connect(url).await.expect("the file opens");
        connection.execute(sql).await.expect("it is executed");
    }
}

/// The address of a new schema.
async fn schema(cluster: &str) -> String {
    let name = format!("w_{}", uuid::Uuid::new_v4().simple());
    execute(cluster, &format!("CREATE SCHEMA {name}")).await;
    let separator = if cluster.contains('?') { '&' } else { '?' };
    format!("{cluster}{separator}options=-csearch_path%3D{name}")
}
