//! The files of a user with ten thousand tracks: five kinds of files, with some unknown and some invalid entries.

use std::{fmt::Write, fs, path::Path};

use doubles::{
    reccobeats::ReccoBeatsDouble,
    world::{Piece, World},
};
use serde_json::json;

/// Plays of each track in the history.
const PLAYS: usize = 5;

/// Writes the files and returns their names, in the order in which to import them.
pub(crate) fn write(music: &World, folder: &Path) -> anyhow::Result<Vec<String>> {
    let pieces: Vec<&Piece> = music.pieces.values().collect();
    let share = |from: usize, to: usize| &pieces[pieces.len() * from / 100..pieces.len() * to / 100];
    let files = [
        ("soundiiz.csv", table(music, share(0, 40))),
        ("Streaming_History_Audio_2025.json", history(music, share(40, 70))?),
        ("evening.m3u8", playlist(music, share(70, 80))),
        ("night.jspf", jspf(music, share(80, 90))?),
        ("codes.txt", share(90, 100).iter().map(|piece| format!("{}\n", piece.isrc)).collect()),
    ];
    let mut names = vec![];
    for (name, text) in files {
        fs::write(folder.join(name), text)?;
        names.push(folder.join(name).display().to_string());
    }
    Ok(names)
}

fn artist<'a>(music: &'a World, piece: &Piece) -> &'a str {
    piece.artists.first().and_then(|id| music.artists.get(id)).map_or("", |artist| artist.name.as_str())
}

fn album<'a>(music: &'a World, piece: &Piece) -> &'a str {
    music.albums.get(&piece.album).map_or("", |album| album.title.as_str())
}

fn table(music: &World, pieces: &[&Piece]) -> String {
    let mut text = "title;artist;album;duration;isrc\n".to_owned();
    for (n, piece) in pieces.iter().enumerate() {
        let (title, artist, album) = (&piece.title, artist(music, piece), album(music, piece));
        let _ = writeln!(text, "{title};{artist};{album};{};{}", piece.seconds, piece.isrc);
        if n % 100 == 7 {
            let _ = writeln!(text, ";;;;not a code");
        }
        if n % 100 == 8 {
            let _ = writeln!(text, "Nobody Knows {n};The Unheard;;200;");
        }
    }
    text
}

fn history(music: &World, pieces: &[&Piece]) -> anyhow::Result<String> {
    let mut plays = vec![];
    for play in 0..PLAYS {
        plays.extend(pieces.iter().map(|piece| {
            json!({
                "ts": format!("2025-0{}-11T20:00:00Z", play + 1), "ms_played": piece.seconds * 1000,
                "master_metadata_track_name": piece.title, "master_metadata_album_artist_name": artist(music, piece),
                "master_metadata_album_album_name": album(music, piece),
                "spotify_track_uri": format!("spotify:track:{}", ReccoBeatsDouble::spotify_id(&piece.isrc)),
                "skipped": false, "incognito_mode": false, "platform": "linux", "conn_country": "NO",
            })
        }));
    }
    Ok(serde_json::to_string(&plays)?)
}

fn playlist(music: &World, pieces: &[&Piece]) -> String {
    let mut text = "#EXTM3U\n#PLAYLIST:Evening\n".to_owned();
    for piece in pieces {
        let (title, artist) = (&piece.title, artist(music, piece));
        let _ = writeln!(text, "#EXTINF:{},{artist} - {title}\n../Music/{artist}/{title}.flac", piece.seconds);
    }
    text
}

fn jspf(music: &World, pieces: &[&Piece]) -> anyhow::Result<String> {
    let tracks: Vec<_> = pieces
        .iter()
        .map(|piece| json!({"title": piece.title, "creator": artist(music, piece), "duration": piece.seconds * 1000}))
        .collect();
    Ok(serde_json::to_string(&json!({"playlist": {"title": "Night", "track": tracks}}))?)
}
