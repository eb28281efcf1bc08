//! Which recording an entry means: by code, by name, or left for the listener to choose.

use std::{collections::BTreeMap, io::Cursor, sync::Mutex};

use app::import::{
    Candidate, CannotAsk, Catalogue, ImportAnswer, ImportReport, Imported, Kept, MatchOutcome, Matches, judge,
    match_all,
};
use expect_test::expect;
use formats::{FormatKind, Gathered, ImportedTrack};
use futures::future::BoxFuture;
use music::Isrc;

fn entry(title: &str, artist: &str, duration: f64) -> ImportedTrack {
    ImportedTrack {
        line: 7,
        title: title.into(),
        artists: artist.split(';').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        duration: (duration > 0.0).then_some(duration),
        ..ImportedTrack::default()
    }
}

fn known(isrc: &str, title: &str, artist: &str, duration: f64) -> Candidate {
    Candidate {
        isrc: isrc.parse().unwrap(),
        title: title.into(),
        version: None,
        artist: artist.into(),
        album: None,
        duration: (duration > 0.0).then_some(duration),
        source: "library".into(),
    }
}

fn with_code(mut track: ImportedTrack, isrc: &str) -> ImportedTrack {
    track.isrcs = vec![isrc.parse().unwrap()];
    track
}

const ONE: &str = "QZXYZ1900001";
const TWO: &str = "QZXYZ1900002";

#[test]
fn an_entry_finds_its_recording_by_name() {
    use MatchOutcome::{Ambiguous, Matched, Unmatched};
    let song = |duration| known(ONE, "Low Tide", "Ivy Marlow", duration);
    let cases = [
        (entry("low tide", "IVY MARLOW", 200.0), vec![song(201.5)], Matched, "title, version, artist and length agree"),
        (entry("Low Tide", "Ivy Marlow", 0.0), vec![song(200.0)], Matched, "no length to compare"),
        (entry("Low Tide (feat. Tom Vey)", "Ivy Marlow;Tom Vey", 200.0), vec![song(200.0)], Matched, "agree"),
        (entry("Low Tide", "Tom Vey;Ivy Marlow", 200.0), vec![song(200.0)], Matched, "agree"),
        (entry("Low Tide", "Ivy Marlow", 205.0), vec![song(200.0)], Ambiguous, "the lengths differ by 5 s"),
        (
            entry("Low Tide", "Ivy Marlow", 300.0),
            vec![song(200.0)],
            Unmatched,
            "another take: the lengths differ by 100 s",
        ),
        (entry("Low Tyde", "Ivy Marlow", 200.0), vec![song(200.0)], Ambiguous, "the title is only similar"),
        (entry("Low Tide", "Ivy Marlowe", 200.0), vec![song(200.0)], Ambiguous, "the artist is only similar"),
        (entry("Low Tide", "", 200.0), vec![song(200.0)], Ambiguous, "the file names no artist"),
        (
            entry("Low Tide", "Tom Vey", 200.0),
            vec![song(200.0)],
            Unmatched,
            "no catalogue has this title by this artist",
        ),
        (
            entry("Low Tide (Live)", "Ivy Marlow", 200.0),
            vec![song(200.0)],
            Unmatched,
            "another version: live here, plain there",
        ),
        (
            entry("Low Tide", "Ivy Marlow", 200.0),
            vec![known(ONE, "Low Tide (Karaoke Version)", "Ivy Marlow", 200.0)],
            Unmatched,
            "another version",
        ),
        (
            entry("Low Tide - 2011 Remaster", "Ivy Marlow", 200.0),
            vec![known(ONE, "Low Tide - 2009 Remaster", "Ivy Marlow", 200.0)],
            Unmatched,
            "another version",
        ),
        (entry("Low Tide (Official Video)", "Ivy Marlow", 0.0), vec![song(200.0)], Matched, "agree"),
        (entry("Anything", "Anyone", 0.0), vec![], Unmatched, "no catalogue has this title by this artist"),
    ];
    for (track, candidates, outcome, reason) in cases {
        let found = judge(&track, &candidates);
        assert_eq!(found.outcome, outcome, "{} by {:?}: {}", track.title, track.artists, found.reason);
        assert!(found.reason.contains(reason), "{} by {:?}: {}", track.title, track.artists, found.reason);
        assert_eq!(found.isrc.is_some(), outcome == Matched);
        assert_eq!(found.confidence >= 0.85, outcome == Matched);
    }
}

#[test]
fn a_code_decides_unless_it_leads_to_something_else() {
    let song = known(ONE, "Low Tide", "Ivy Marlow", 200.0);
    let cases = [
        (with_code(entry("Low Tide", "Ivy Marlow", 200.0), ONE), vec![song.clone()], Some(ONE), "ISRC"),
        (with_code(entry("", "", 0.0), ONE), vec![song.clone()], Some(ONE), "ISRC"),
        (with_code(entry("Marea baja", "Ivy Marlow", 200.0), ONE), vec![song.clone()], Some(ONE), "ISRC"),
        (
            with_code(entry("Low Tide", "Ivy Marlow", 250.0), ONE),
            vec![song.clone()],
            Some(ONE),
            "ISRC, though the lengths differ by 50 s",
        ),
        (
            with_code(entry("Brass Hymn", "Otto Quist", 0.0), ONE),
            vec![song.clone()],
            None,
            "the code QZXYZ1900001 is \"Low Tide\" by Ivy Marlow at library",
        ),
        (with_code(entry("Low Tide", "Ivy Marlow", 0.0), TWO), vec![], Some(TWO), "ISRC in the file"),
        (
            with_code(entry("Low Tide", "Ivy Marlow", 0.0), "QZXYZ190000I"),
            vec![song.clone()],
            Some(ONE),
            "ISRC, read as QZXYZ1900001",
        ),
        (with_code(entry("", "", 0.0), TWO), vec![song.clone()], None, "no catalogue knows QZXYZ1900002"),
    ];
    for (track, candidates, isrc, reason) in cases {
        let found = judge(&track, &candidates);
        assert_eq!(found.isrc.as_ref().map(Isrc::as_str), isrc, "{track:?}: {}", found.reason);
        assert_eq!(found.reason, reason);
    }
}

#[test]
fn one_recording_with_two_codes_is_a_match_and_two_recordings_are_a_question() {
    let track = entry("Low Tide", "Ivy Marlow", 0.0);
    let twice = [known(ONE, "Low Tide", "Ivy Marlow", 200.0), known(TWO, "Low Tide", "Ivy Marlow", 201.0)];
    let found = judge(&track, &twice);
    assert_eq!((found.outcome, found.isrc.unwrap().as_str()), (MatchOutcome::Matched, ONE));

    let two_takes = [known(ONE, "Low Tide", "Ivy Marlow", 200.0), known(TWO, "Low Tide", "Ivy Marlow", 260.0)];
    let found = judge(&track, &two_takes);
    assert_eq!((found.outcome, found.candidates.len()), (MatchOutcome::Ambiguous, 2));
}

#[test]
fn typed_lines_are_understood_whichever_side_the_artist_is_on() {
    let mut track = entry("Ivy Marlow", "Low Tide", 0.0);
    track.either_way = true;
    let found = judge(&track, &[known(ONE, "Low Tide", "Ivy Marlow", 200.0)]);
    assert_eq!(found.outcome, MatchOutcome::Matched, "{}", found.reason);
}

/// A catalogue in memory that remembers what it was asked.
struct FixedCatalogue {
    name: &'static str,
    songs: Vec<Candidate>,
    is_silent: bool,
    asked: Mutex<Vec<String>>,
}

impl FixedCatalogue {
    fn new(name: &'static str, songs: Vec<Candidate>) -> Self {
        Self { name, songs, is_silent: false, asked: Mutex::default() }
    }

    fn answer<'a>(
        &'a self,
        asked: String,
        fits: impl Fn(&Candidate) -> bool + Send + 'a,
    ) -> BoxFuture<'a, Result<Vec<Candidate>, CannotAsk>> {
        self.asked.lock().unwrap().push(asked);
        Box::pin(async move {
            if self.is_silent {
                return Err(CannotAsk::Anything("no answer in time".into()));
            }
            Ok(self.songs.iter().filter(|song| fits(song)).cloned().collect())
        })
    }
}

impl Catalogue for FixedCatalogue {
    fn name(&self) -> &'static str {
        self.name
    }

    fn by_isrc<'a>(&'a self, isrcs: &'a [Isrc]) -> BoxFuture<'a, Result<Vec<Candidate>, CannotAsk>> {
        self.answer(format!("{} codes", isrcs.len()), |song| isrcs.contains(&song.isrc))
    }

    fn by_name<'a>(&'a self, title: &'a str, artist: &'a str) -> BoxFuture<'a, Result<Vec<Candidate>, CannotAsk>> {
        self.answer(format!("{title} by {artist}"), move |song| song.artist == artist)
    }
}

fn gathered(csv: &'static str) -> Gathered {
    formats::gather(formats::read(FormatKind::with_id("table").unwrap(), Cursor::new(csv))).unwrap()
}

const MIXED: &str = "\
title,artist,isrc,duration
Low Tide,Ivy Marlow,QZXYZ1900001,200
High Tide,Ivy Marlow,,180
Neap,Ivy Marlow,,
Nowhere,Nobody,,
,,QZXYZ19,
";

#[tokio::test]
async fn each_further_catalogue_is_asked_only_about_what_is_open() {
    let library = FixedCatalogue::new("library", vec![known(TWO, "High Tide", "Ivy Marlow", 180.0)]);
    let deezer = FixedCatalogue::new("Deezer", vec![known("QZXYZ1900003", "Neap", "Ivy Marlow", 90.0)]);
    let matches = match_all(&gathered(MIXED), &[&library, &deezer]).await;
    let codes: Vec<_> = matches.matches.iter().map(|found| found.isrc.as_ref().map_or("-", Isrc::as_str)).collect();
    assert_eq!(codes, [ONE, TWO, "QZXYZ1900003", "-"]);
    assert_eq!(library.asked.into_inner().unwrap().len(), 4);
    assert_eq!(deezer.asked.into_inner().unwrap(), ["Neap by Ivy Marlow", "Nowhere by Nobody"]);
}

#[tokio::test]
async fn a_catalogue_that_cannot_be_asked_is_named_and_left_in_peace() {
    let library = FixedCatalogue::new("library", vec![]);
    let deezer = FixedCatalogue { is_silent: true, ..FixedCatalogue::new("Deezer", vec![]) };
    let matches = match_all(&gathered(MIXED), &[&library, &deezer]).await;
    assert_eq!(matches.matches.len(), 4);
    assert_eq!(matches.silent, BTreeMap::from([("Deezer", "no answer in time".to_owned())]));
    assert_eq!(deezer.asked.into_inner().unwrap().len(), 1);
}

#[tokio::test]
async fn the_report_says_what_became_of_every_entry() {
    let songs = vec![
        known(TWO, "High Tide", "Ivy Marlow", 180.0),
        known("QZXYZ1900003", "Neap", "Ivy Marlow", 90.0),
        known("QZXYZ1900004", "Neap", "Ivy Marlow", 140.0),
    ];
    let (library, gathered) = (FixedCatalogue::new("library", songs), gathered(MIXED));
    let deezer = FixedCatalogue { is_silent: true, ..FixedCatalogue::new("Deezer", vec![]) };
    let matches = match_all(&gathered, &[&library, &deezer]).await;
    let report = ImportReport::new("mixed.csv", FormatKind::with_id("table").unwrap(), &gathered, matches);
    expect![[r#"
        mixed.csv: table
                5  entries
                4  different tracks
                2  matched
                1  ambiguous
                1  unmatched
                1  unusable

        Deezer could not be asked: no answer in time. What is unmatched will be tried again.

        Ambiguous: choose one of the candidates
               4  Ivy Marlow - Neap                             several recordings have this title and artist; the length or album would tell
                  QZXYZ1900003 Ivy Marlow - Neap                            1:30 88%
                  QZXYZ1900004 Ivy Marlow - Neap                            2:20 88%

        Unmatched: kept, and tried again later
               5  Nobody - Nowhere                              no catalogue could be asked; it is tried again

        Unusable: correct these lines in the file
               6  QZXYZ19: has 7 letters and digits; an ISRC has 12
    "#]].assert_eq(&report.to_string());
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["nMatched"], 2);
    assert_eq!(json["rows"][2]["outcome"], "ambiguous");
    assert_eq!(json["rows"][2]["candidates"][0]["isrc"], "QZXYZ1900003");
}

#[tokio::test]
async fn an_import_of_nothing_is_told_in_the_report_and_in_the_answer() {
    let gathered = gathered("title,artist,isrc\n");
    let report = ImportReport::new("empty.csv", FormatKind::with_id("table").unwrap(), &gathered, Matches::default());
    assert!(report.to_string().contains("\nWarning: no entries found: it was read as \"table\""), "{report}");
    let imported = Imported { report, kept: Kept::default(), open: vec![], ids: vec![] };
    let failures = ImportAnswer::of(&[imported]).failures;
    assert_eq!((failures[0].file.as_str(), failures[0].line), ("empty.csv", 0));
    assert!(failures[0].reason.starts_with("no entries found"), "{}", failures[0].reason);
}

#[tokio::test]
async fn what_is_kept_has_each_recording_once_and_says_where_it_comes_from() {
    let text = "\
title,artist,isrc,playlist,energy
Low Tide,Ivy Marlow,QZXYZ1900001,Evening,0.5
,,QZXYZ1900002,Evening,
Low Tide (Remix),Ivy Marlow,,Evening,
Low  Tide,Ivy Marlow,QZXYZ1900001,Morning,
Nowhere,Nobody,,Morning,
";
    let gathered = gathered(text);
    let library = FixedCatalogue::new("library", vec![known(TWO, "High Tide", "Ivy Marlow", 180.0)]);
    let matches = match_all(&gathered, &[&library]).await;
    let import = app::import::Import::new(
        &engine::UserId::new("ann"),
        "mixed.csv",
        FormatKind::with_id("table").unwrap(),
        &gathered,
        &matches,
        app::import::OwnTracks::default(),
    );

    let names: Vec<_> =
        import.tracks.iter().map(|new| (new.track.isrc_text().to_owned(), new.track.title.as_str())).collect();
    let expected = [(ONE, "Low Tide"), (TWO, "High Tide"), ("", "Low Tide (Remix)"), ("", "Nowhere")];
    assert_eq!(names, expected.map(|(isrc, title)| (isrc.to_owned(), title)));
    assert_eq!(import.tracks[0].track.provenance["audioFeatures"], "table, imported");
    assert_eq!(import.tracks[1].track.provenance["title"], "library");
    let titles: std::collections::HashMap<_, _> =
        import.tracks.iter().map(|new| (new.track.id, new.track.title.as_str())).collect();
    let playlist = |name: &str| import.playlists[name].iter().map(|id| titles[id]).collect::<Vec<_>>();
    assert_eq!(playlist("Evening"), ["Low Tide", "High Tide", "Low Tide (Remix)"]);
    assert_eq!(playlist("Morning"), ["Low Tide", "Nowhere"]);
    let open: Vec<_> = import.open.iter().map(|open| (open.entry.title.as_str(), &open.playlists)).collect();
    assert_eq!(open.len(), 2);
    assert!(open[0].0 == "Low Tide (Remix)" && open[0].1.iter().eq(["Evening"]));
    assert!(open[1].0 == "Nowhere" && open[1].1.iter().eq(["Morning"]));
}
