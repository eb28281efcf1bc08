//! The sources that enrich a track, each against its double over loopback.

use std::{io::Cursor, time::Duration};

use app::import::{MatchOutcome, add_codes, match_all};
use doubles::{
    Running,
    deezer::DeezerDouble,
    fiction,
    lrclib::{LrclibDouble, Words},
    musicbrainz::MusicBrainzDouble,
    reccobeats::{Known, ReccoBeatsDouble},
    serve,
    state::ServiceState,
    tidal::Fault,
    world::{Piece, World},
};
use formats::FormatKind;
use http_client::service::{Rate, SourceError};
use music::Isrc;
use sources::{
    deezer::Deezer,
    lrclib::{Lrclib, Lyrics, Song},
    musicbrainz::MusicBrainz,
    reccobeats::ReccoBeats,
};

/// Only tracks whose names and lengths no other track shares.
fn pieces(world: &World) -> Vec<&Piece> {
    let numbered = |piece: &&Piece| piece.title.starts_with("Page") || piece.title.starts_with("Small Hour");
    world.pieces.values().filter(numbered).collect()
}

fn isrc(text: &str) -> Isrc {
    text.parse().unwrap()
}

fn url(running: &Running) -> String {
    format!("http://{}/", running.addr)
}

fn busy(retry_after: &str) -> Option<Fault> {
    Some(Fault::TooMany { retry_after: Some(retry_after.into()), empty_body: true })
}

struct LyricsStage {
    world: World,
    state: ServiceState,
    lrclib: Lrclib,
    _running: Running,
}

impl LyricsStage {
    async fn new() -> Self {
        let (world, double) = (fiction::world(), LrclibDouble::new(fiction::world()));
        let running = serve(double.router()).await.unwrap();
        Self {
            world,
            state: double.0,
            lrclib: Lrclib::new(&url(&running), Rate::UNLIMITED).unwrap(),
            _running: running,
        }
    }

    /// A track that shows this.
    fn piece(&self, words: Words) -> &Piece {
        pieces(&self.world).into_iter().find(|piece| Words::of(&piece.isrc) == words).unwrap()
    }
}

fn song<'a>(piece: &'a Piece, album: &'a str) -> Song<'a> {
    Song { title: &piece.title, artist: "Ivy Marlow", album: Some(album), duration: Some(f64::from(piece.seconds)) }
}

#[tokio::test]
async fn lyrics_are_words_or_the_knowledge_that_there_are_none() {
    let stage = LyricsStage::new().await;
    for words in [Words::Plain, Words::SyncedOnly, Words::Instrumental, Words::Empty, Words::Unknown] {
        let piece = stage.piece(words);
        let found = stage.lrclib.lyrics(song(piece, "No Such Album")).await.unwrap();
        match words {
            Words::Plain | Words::SyncedOnly => {
                let Some(Lyrics::Words(text)) = found else { panic!("{words:?}: {found:?}") };
                assert!(text.starts_with(&format!("{} is all I know\nthe harbour", piece.title)), "{words:?}: {text}");
            }
            Words::Instrumental => assert_eq!(found, Some(Lyrics::Instrumental)),
            Words::Empty | Words::Unknown => assert_eq!(found, None, "{words:?}"),
        }
    }
}

#[tokio::test]
async fn lyrics_are_asked_for_ever_more_loosely() {
    let stage = LyricsStage::new().await;
    let piece = stage.piece(Words::Plain);
    let seconds = f64::from(piece.seconds);
    let with_guest = format!("{} (feat. Tom Vey)", piece.title);
    let plain = song(piece, "Elsewhere");
    let cases = [
        (Song { title: &with_guest, artist: "Ivy Marlow, Tom Vey", ..plain }, 3, true),
        (plain, 2, true),
        (Song { album: None, ..plain }, 1, true),
        (Song { album: None, duration: None, ..plain }, 1, true),
        (Song { album: None, duration: Some(seconds + 2.0), ..plain }, 1, true),
        (Song { album: None, duration: Some(seconds + 3.0), ..plain }, 2, false),
        (Song { album: None, duration: Some(7200.0), ..plain }, 1, true),
        (Song { album: None, artist: "Tom Vey", ..plain }, 2, false),
    ];
    for (song, n_calls, is_found) in cases {
        let before = stage.state.requests().len();
        let found = stage.lrclib.lyrics(song).await.unwrap();
        assert_eq!(found.is_some(), is_found, "{song:?}");
        assert_eq!(stage.state.requests().len() - before, n_calls, "{song:?}: {:?}", stage.state.requests());
    }
}

#[tokio::test]
async fn a_live_version_does_not_get_the_words_of_another_recording() {
    let stage = LyricsStage::new().await;
    let piece = stage.piece(Words::Plain);
    let live = format!("{} (Live)", piece.title);
    let asked = Song { title: &live, duration: None, ..song(piece, "x") };
    assert_eq!(stage.lrclib.lyrics(asked).await, Ok(None));
}

async fn reccobeats() -> (Running, ServiceState, ReccoBeats) {
    let double = ReccoBeatsDouble::new(fiction::world());
    let running = serve(double.router()).await.unwrap();
    let client = ReccoBeats::new(&url(&running), Rate::UNLIMITED).unwrap();
    (running, double.0, client)
}

#[tokio::test]
async fn features_find_their_track_whatever_order_they_come_in() {
    let (world, (_running, state, reccobeats)) = (fiction::world(), reccobeats().await);
    let codes: Vec<Isrc> = pieces(&world).iter().map(|piece| isrc(&piece.isrc)).collect();
    let found = reccobeats.features(&codes).await.unwrap();
    let expected: Vec<&Isrc> = codes.iter().filter(|code| Known::of(code.as_str()) != Known::Not).collect();
    assert_eq!(found.keys().collect::<Vec<_>>(), expected, "106 codes, some of them unknown");
    for (code, features) in &found {
        let figure = |name: &str| Some(ReccoBeatsDouble::figure(code.as_str(), name));
        assert_eq!((features.valence, features.energy), (figure("valence"), figure("energy")), "{code}");
        if Known::of(code.as_str()) == Known::OffTheScale {
            assert_eq!((features.key, features.loudness, features.tempo), (None, Some(0.0), Some(250.0)), "{code}");
        }
    }
    let batches = state.requests().iter().filter(|request| request.contains("/audio-features")).count();
    assert_eq!(batches, codes.len().div_ceil(40));
}

#[tokio::test]
async fn a_spotify_history_gets_its_codes_from_its_ids() {
    let (world, (_running, _desk, reccobeats)) = (fiction::world(), reccobeats().await);
    let known = pieces(&world).into_iter().find(|piece| Known::of(&piece.isrc) == Known::Once).unwrap();
    let unknown = pieces(&world).into_iter().find(|piece| Known::of(&piece.isrc) == Known::Not).unwrap();
    let row = |piece: &Piece| {
        let id = ReccoBeatsDouble::spotify_id(&piece.isrc);
        format!(r#"{{"artist":"Ivy Marlow","album":"x","track":"{}","uri":"spotify:track:{id}"}}"#, piece.title)
    };
    let file = format!(r#"{{"tracks":[{},{}]}}"#, row(known), row(unknown));
    let mut gathered =
        formats::gather(formats::read(FormatKind::with_id("spotifyLibrary").unwrap(), Cursor::new(file))).unwrap();
    assert_eq!(add_codes(&mut gathered, &reccobeats).await, Ok(1));
    assert_eq!(gathered.tracks[0].isrcs, [isrc(&known.isrc)]);
    assert_eq!(gathered.tracks[1].isrcs, []);
}

async fn musicbrainz(double: MusicBrainzDouble, rate: Rate) -> (Running, ServiceState, MusicBrainz) {
    let running = serve(double.router()).await.unwrap();
    let client = MusicBrainz::new(&url(&running), rate).unwrap();
    (running, double.0, client)
}

#[tokio::test]
async fn a_recording_is_found_by_its_code() {
    let world = fiction::world();
    let (_running, _desk, musicbrainz) =
        musicbrainz(MusicBrainzDouble::generous(fiction::world()), Rate::UNLIMITED).await;
    let all = pieces(&world);
    let piece = all.iter().find(|piece| MusicBrainzDouble::knows(&piece.isrc)).unwrap();
    let recording = &musicbrainz.by_isrc(&isrc(&piece.isrc)).await.unwrap()[0];
    assert_eq!((recording.title.as_str(), recording.artist.as_str()), (piece.title.as_str(), "Ivy Marlow"));
    assert_eq!(recording.tags, ["folk", "harbour"], "most agreed first, and what people voted down is gone");

    let unknown = all.iter().find(|piece| !MusicBrainzDouble::knows(&piece.isrc)).unwrap();
    assert_eq!(musicbrainz.by_isrc(&isrc(&unknown.isrc)).await.unwrap(), []);
}

#[tokio::test]
async fn musicbrainz_is_asked_at_most_once_a_second() {
    let (_running, _desk, paced) =
        musicbrainz(MusicBrainzDouble::strict(fiction::world()), sources::musicbrainz::RATE).await;
    for code in ["XTDBL2600011", "XTDBL2600012"] {
        paced.by_isrc(&isrc(code)).await.unwrap();
    }
    let (_running, _desk, hasty) = musicbrainz(MusicBrainzDouble::strict(fiction::world()), Rate::UNLIMITED).await;
    hasty.by_isrc(&isrc("XTDBL2600011")).await.unwrap();
    let error = hasty.by_isrc(&isrc("XTDBL2600012")).await.unwrap_err();
    assert!(error.is_transient() && error.to_string().contains("503"), "{error}");
}

async fn deezer(double: DeezerDouble) -> (Running, ServiceState, Deezer) {
    let running = serve(double.router()).await.unwrap();
    let client = Deezer::new(&url(&running), Rate::UNLIMITED).unwrap();
    (running, double.0, client)
}

#[tokio::test]
async fn deezer_says_no_in_a_success_and_is_understood() {
    let (_running, _desk, deezer) = deezer(DeezerDouble::strict(fiction::world())).await;
    let track = deezer.by_isrc(&isrc("XTDBL2600006")).await.unwrap().unwrap();
    assert_eq!((track.title.as_str(), track.version.as_deref()), ("Low Tide", Some("Live at the Quay")));
    assert_eq!((track.artist.as_str(), track.album.as_deref()), ("Ivy Marlow", Some("Low Tide")));
    assert_eq!(deezer.by_isrc(&isrc("XTDBL2699999")).await, Ok(None));

    let mut refused = None;
    for _ in 0..60 {
        refused = deezer.by_isrc(&isrc("XTDBL2600006")).await.err();
        if refused.is_some() {
            break;
        }
    }
    let error = refused.expect("fifty calls in five seconds are the quota");
    assert_eq!(error.retry_after(), Some(Duration::from_secs(5)), "{error}");
    let closed = deezer.by_isrc(&isrc("XTDBL2600006")).await.unwrap_err();
    assert!(closed.to_string().contains("paused"), "{closed}");
}

#[tokio::test]
async fn a_catalogue_elsewhere_tells_a_live_take_from_the_plain_one() {
    let (_running, _desk, deezer) = deezer(DeezerDouble::generous(fiction::world())).await;
    let text = "title,artist\nPaper Lanterns,Ivy Marlow\nLow Tide (Live at the Quay),Ivy Marlow\nLow Tide (Karaoke),Ivy Marlow\n";
    let gathered = formats::gather(formats::read(FormatKind::with_id("table").unwrap(), Cursor::new(text))).unwrap();
    let matches = match_all(&gathered, &[&deezer]).await.matches;
    let found: Vec<_> = matches.iter().map(|found| (found.outcome, found.isrc.as_ref().map(Isrc::as_str))).collect();
    assert_eq!(
        found,
        [
            (MatchOutcome::Matched, Some("XTDBL2600002")),
            (MatchOutcome::Matched, Some("XTDBL2600006")),
            (MatchOutcome::Unmatched, None),
        ]
    );
}

/// One question to each service, with its answer thrown away.
async fn ask_each(url: &str) -> Vec<Result<(), SourceError>> {
    let code = isrc("XTDBL2600011");
    let song = Song { title: "Page 1", artist: "Ivy Marlow", album: None, duration: None };
    vec![
        Lrclib::new(url, Rate::UNLIMITED).unwrap().lyrics(song).await.map(drop),
        ReccoBeats::new(url, Rate::UNLIMITED).unwrap().features(std::slice::from_ref(&code)).await.map(drop),
        MusicBrainz::new(url, Rate::UNLIMITED).unwrap().by_isrc(&code).await.map(drop),
        Deezer::new(url, Rate::UNLIMITED).unwrap().by_isrc(&code).await.map(drop),
    ]
}

#[tokio::test]
async fn what_can_be_mended_by_waiting_is_told_from_what_cannot() {
    let cases = [
        (Fault::TooMany { retry_after: Some("7".into()), empty_body: true }, true, Some(7)),
        (Fault::TooMany { retry_after: None, empty_body: false }, true, None),
        (Fault::Status { code: 503 }, true, None),
        (Fault::Status { code: 500 }, true, None),
        (Fault::Status { code: 403 }, false, None),
        (Fault::Garbage, false, None),
        (Fault::EmptyBody, false, None),
    ];
    for (fault, is_transient, seconds) in cases {
        let double = DeezerDouble::generous(fiction::world());
        let running = serve(double.router()).await.unwrap();
        double.0.plan(std::iter::repeat_n(Some(fault.clone()), 4));
        for answer in ask_each(&url(&running)).await {
            let error = answer.unwrap_err();
            assert_eq!(error.is_transient(), is_transient, "{fault:?}: {error}");
            assert_eq!(error.retry_after(), seconds.map(Duration::from_secs), "{fault:?}: {error}");
        }
    }
    for answer in ask_each("http://127.0.0.1:9").await {
        assert!(answer.unwrap_err().is_transient());
    }
}

#[tokio::test]
async fn a_service_that_asks_to_wait_is_not_asked_again() {
    let (_running, state, reccobeats) = reccobeats().await;
    state.plan([busy("60")]);
    let codes = [isrc("XTDBL2600011")];
    for _ in 0..3 {
        let error = reccobeats.features(&codes).await.unwrap_err();
        assert!(error.retry_after().is_some_and(|wait| wait > Duration::from_secs(55)), "{error}");
    }
    assert_eq!(state.requests().len(), 1);
}

#[tokio::test]
async fn we_come_under_our_own_name() {
    let double = DeezerDouble::generous(fiction::world());
    let running = serve(double.router()).await.unwrap();
    for answer in ask_each(&url(&running)).await {
        // Whether Deezer's words mean anything to the others does not matter here.
        let _ = answer;
    }
    let names = double.0.user_agents();
    assert!(names.len() >= 4);
    assert!(names.iter().all(|name| name == concat!("segue/", env!("CARGO_PKG_VERSION"))), "{names:?}");
}
