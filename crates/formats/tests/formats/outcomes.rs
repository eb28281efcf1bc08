//! The result of an import: names of playlists, plays, albums, limits, warnings and refusals.

use std::io::Cursor;

use formats::{EntryKind, FormatKind, Gathered, MOST_TRACKS, recognise};

fn gathered(text: &str, name: &str) -> (FormatKind, Gathered) {
    formats::gather_upload(Cursor::new(text.to_owned()), name).unwrap()
}

#[test]
fn a_playlist_without_a_name_gets_the_name_of_its_file() {
    let files = [
        (
            "title,artist,album,isrc\nRain,Ivy Marlow,Low Tide,QZXYZ1900004\nRain,Ivy Marlow,Low Tide,QZXYZ1900004\n",
            "Late evening.csv",
            "Late evening",
        ),
        (
            "Track URI,Track Name,Artist Name(s)\nspotify:track:0aB,Rain,Ivy Marlow\nspotify:track:0aB,Rain,Ivy Marlow\n",
            "late_evening.csv",
            "late evening",
        ),
        ("Ivy Marlow/Rain.mp3\nIvy Marlow/Rain.mp3\n", "Late.m3u", "Late"),
        ("[playlist]\nFile1=Rain.mp3\nFile2=Rain.mp3\n", "Late.pls", "Late"),
        ("<smil><body><media src=\"Rain.mp3\"/><media src=\"Rain.mp3\"/></body></smil>", "Late.wpl", "Late"),
        ("#EXTM3U\n#PLAYLIST:Dawn\nRain.mp3\nRain.mp3\n", "Late.m3u", "Dawn"),
    ];
    for (text, file, name) in files {
        let (kind, gathered) = gathered(text, file);
        let playlists: Vec<_> =
            gathered.playlists.iter().map(|(name, places)| (name.as_str(), places.as_slice())).collect();
        assert_eq!(playlists, [(name, &[0, 0][..])], "{kind} {file}");
    }
    for (text, file) in [
        ("#EXTM3U\nRain.mp3\n", "upload"),
        ("Ivy Marlow - Rain\n", "notes.txt"),
        ("title,artist\nRain,Ivy\n", "all.csv"),
    ] {
        let (kind, gathered) = gathered(text, file);
        assert!(gathered.playlists.is_empty(), "{kind} {file}");
    }
}

#[test]
fn plays_are_counted_and_the_first_and_the_last_one_are_kept() {
    let rows = "Ivy Marlow,Rain,1704103200\nIvy Marlow,Rain,1577872800\nIvy Marlow,Rain,1640995200\n";
    let (_, history) = gathered(&format!("artist,track,uts\n{rows}"), "x.csv");
    let track = &history.tracks[0];
    let year = |at: Option<chrono::DateTime<chrono::Utc>>| at.unwrap().format("%Y").to_string();
    assert_eq!((track.n_plays, year(track.first_played_at), year(track.played_at)), (3, "2020".into(), "2024".into()));
}

#[test]
fn albums_are_gathered_separately_from_tracks() {
    let text = "Catalog#,Artist,Title,Released,release_id\n1,Ivy Marlow,Low Tide,2019,1\n2,Björn Åle,Nord,1999,2\n";
    let (_, collection) = gathered(text, "discogs.csv");
    assert_eq!(collection.tracks, []);
    let albums: Vec<_> = collection.albums.iter().map(|album| (album.kind, album.title.as_str())).collect();
    assert_eq!(albums, [(EntryKind::Album, "Low Tide"), (EntryKind::Album, "Nord")]);
    assert_eq!(collection.left_out["an album, not a track"], 2);
}

#[test]
fn an_import_without_tracks_is_a_warning_with_the_reason() {
    let warning = |text: &str, name: &str| {
        let (kind, gathered) = gathered(text, name);
        gathered.warning(kind)
    };
    let empty = "<DJ_PLAYLISTS><COLLECTION Entries=\"0\"/></DJ_PLAYLISTS>";
    assert_eq!(
        warning(empty, "x.xml").unwrap(),
        "no entries found: it was read as \"Rekordbox collection\" and contains no track; export it again, or as CSV \
         with the columns Title and Artist"
    );
    let skipped = r#"[{"endTime":"2024-01-05 14:23","artistName":"A","trackName":"B","msPlayed":9}]"#;
    assert_eq!(
        warning(skipped, "x.json").unwrap(),
        "no entries found: 1 of 1 entries were left out: played for less than 30 seconds"
    );
    let unusable = "title,artist,isrc\n,,not a code\n";
    assert!(
        warning(unusable, "x.csv").unwrap().starts_with("no entries found: none of 1 entries can be used; line 2: ")
    );
    assert_eq!(warning("title,artist\nRain,Ivy Marlow\n", "x.csv"), None);
    assert_eq!(warning("Catalog#,Artist,Title,release_id\n1,Ivy,Low Tide,1\n", "x.csv"), None);
}

#[test]
fn a_refusal_names_the_problem_and_what_to_do() {
    let refused = |text: &str| recognise(text.as_bytes(), "x").unwrap_err().to_string();
    let page = "<!doctype html><html><body><div class=\"content-cell mdl-cell\">Watched <a href=\"https://www.youtube.com/watch?v=x\">";
    assert!(refused(page).contains("ask Google Takeout for the history in the JSON format"), "{}", refused(page));
    assert!(refused("<!doctype html><html><title>Sign in").contains("required a sign-in"));
    assert!(refused("Video ID,Playlist Video Creation Timestamp\na_B-c1D2e3F,2023-05-06\n").contains("no titles"));
    assert!(refused("<opml><body/></opml>").contains("Rekordbox, Traktor, XSPF, WPL"));
    assert!(refused("{\"weather\": \"rain\"}").contains("any program's export as CSV"));
    assert!(refused("Dear diary\nit rained").contains("name the columns Title and Artist"));
}

#[test]
fn the_number_of_tracks_of_one_file_is_limited_and_the_rest_is_counted() {
    let entries = |n: usize, playlist: Option<&'static str>| {
        (0..n).map(move |n| {
            let n = if playlist.is_some() { 0 } else { n };
            Ok(formats::ImportedTrack {
                title: format!("Song {n}"),
                playlist: playlist.map(str::to_owned),
                ..Default::default()
            })
        })
    };
    const TOO_MANY: &str = "beyond the limit of 200,000 tracks for one file";
    let many = formats::gather(entries(MOST_TRACKS + 3, None)).unwrap();
    assert_eq!((many.tracks.len(), many.left_out[TOO_MANY]), (MOST_TRACKS, 3));
}

#[test]
fn a_playlist_of_a_file_is_limited_and_what_it_has_no_room_for_is_counted() {
    const TOO_LONG: &str = "not on their playlist, which is at its limit of 10,000 tracks or 4 MB of names";
    const TOO_MANY_LISTS: &str = "not on their playlist, beyond the limit of 1,000 playlists for one file";
    let entry = |n: usize, title: String, playlist: String| {
        let line = n as u64;
        Ok(formats::ImportedTrack { title, line, playlist: Some(playlist), ..Default::default() })
    };
    let long = formats::gather((0..10_003).map(|n| entry(n, format!("Song {n}"), "Long".into()))).unwrap();
    assert_eq!((long.playlists["Long"].len(), long.left_out[TOO_LONG]), (10_000, 3));
    assert_eq!(long.tracks.len(), 10_003, "all of them are tracks");
    let wide = |n| entry(n, format!("{n:0>1000}"), "Wide".into());
    let wide = formats::gather((0..5000).map(wide)).unwrap();
    assert_eq!((wide.playlists["Wide"].len(), wide.left_out[TOO_LONG]), (4194, 806));
    let many = formats::gather((0..1002).map(|n| entry(n, "Song".into(), format!("List {n}")))).unwrap();
    assert_eq!((many.playlists.len(), many.left_out[TOO_MANY_LISTS]), (1000, 2));
}

#[test]
fn lyrics_of_a_track_are_limited_and_the_report_says_so() {
    let track = |lyrics: String| {
        Ok(formats::ImportedTrack { title: lyrics.len().to_string(), lyrics: Some(lyrics), ..Default::default() })
    };
    let lines = "a line of forty letters, more or less\n".repeat(2000);
    let one_line = "ö".repeat(formats::MOST_LYRICS);
    let gathered = formats::gather([track("short".into()), track(lines), track(one_line)].into_iter()).unwrap();
    let lengths: Vec<_> = gathered.tracks.iter().map(|track| track.lyrics.as_ref().unwrap().len()).collect();
    assert_eq!(lengths[0], 5);
    assert!(lengths[1..].iter().all(|length| (32_000..=formats::MOST_LYRICS).contains(length)), "{lengths:?}");
    assert!(gathered.tracks[1].lyrics.as_ref().unwrap().ends_with("less"), "cut after a line");
    assert_eq!(gathered.left_out["with lyrics that were cut at 32 KB"], 2);
}
