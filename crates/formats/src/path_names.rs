//! Names from the path of an audio file: `Artist/Album/01 Title.mp3`, `Artist - Title [video id].m4a` and similar.

use super::{
    file_names::{numbered, stem, without_video_words},
    lines::percent_decoded,
    spelling::clean,
    track::ImportedTrack,
};

/// Names found in a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathNames {
    pub title: String,
    pub artist: Option<String>,
    pub album: Option<String>,
    pub track_number: Option<u32>,
    pub disc_number: Option<u32>,
    /// The file name is `A - B`, and no folder decides which of them is the artist.
    pub either_way: bool,
}

/// Folders that contain libraries. The folders above them say nothing about music.
const ROOTS: &[&str] = &[
    "music",
    "musik",
    "musique",
    "música",
    "musica",
    "muziek",
    "музыка",
    "音楽",
    "my music",
    "itunes",
    "itunes media",
    "media",
    "audio",
    "library",
    "libraries",
    "downloads",
    "download",
    "desktop",
    "documents",
    "songs",
    "tracks",
    "mp3",
    "mp3s",
    "flac",
    "data",
    "mnt",
    "volumes",
    "storage",
    "share",
    "shares",
    "srv",
    "var",
    "opt",
    "tmp",
    "sdcard",
    "playlists",
];

/// The folder below one of these has the name of a user.
const HOMES: &[&str] = &["home", "users", "documents and settings"];

/// Folders at the position of an artist that do not name one.
const NOT_AN_ARTIST: &[&str] =
    &["various artists", "various", "va", "v.a.", "compilations", "compilation", "unknown artist", "soundtracks"];

const NO_ALBUM: &[&str] = &["unknown album", "singles", "unsorted", "misc", "other"];

impl PathNames {
    /// From a path or a URL. Best with a path relative to the folder of the library.
    pub fn of(path: &str) -> Self {
        let (is_local, path) = without_scheme(path);
        let parts: Vec<&str> = path.split(['/', '\\']).filter(|part| !matches!(*part, "" | "." | "..")).collect();
        let Some((name, folders)) = parts.split_last() else { return Self::default() };
        // The folders of a URL belong to a server, not to a library.
        let folders = if is_local { Folders::of(folders) } else { Folders::default() };
        folders.names(name)
    }

    /// Fills the fields that the file or playlist itself lacks.
    pub(crate) fn fill(self, track: &mut ImportedTrack) {
        let same = |a: &str, b: &Option<String>| b.as_ref().is_some_and(|b| a.to_lowercase() == b.to_lowercase());
        let is_its_artist = track.artists.is_empty() || same(&track.artist(), &self.artist);
        if track.title.is_empty() {
            track.title = self.title;
            track.either_way = self.either_way && track.artists.is_empty();
        }
        if track.artists.is_empty() {
            track.artists = self.artist.into_iter().collect();
        }
        if is_its_artist {
            track.album = track.album.take().or(self.album);
        }
        track.track_number = track.track_number.or(self.track_number);
        track.details.disc_number = track.details.disc_number.or(self.disc_number);
    }
}

/// The folders around a file, as far as they name something.
#[derive(Default)]
struct Folders {
    artist: Option<String>,
    album: Option<String>,
    /// The only folder: an artist or an album.
    single: Option<String>,
    disc: Option<u32>,
}

impl Folders {
    fn of(folders: &[&str]) -> Self {
        let is_in = |list: &[&str], name: &str| list.contains(&name.to_lowercase().as_str());
        let is_drive = |name: &str| name.len() == 2 && name.ends_with(':');
        let mut below = folders;
        for (n, name) in folders.iter().enumerate() {
            if is_in(HOMES, name) {
                below = folders.get(n + 2..).unwrap_or_default();
            } else if is_in(ROOTS, name) || is_drive(name) {
                below = &folders[n + 1..];
            }
        }
        let mut disc = None;
        if let Some((last, above)) = below.split_last()
            && let Some(number) = disc_folder(last)
        {
            (disc, below) = (Some(number), above);
        }
        let named = |name: &str, list: &[&str]| clean(name).filter(|name| !is_in(list, name));
        match below {
            [.., artist, album] => Self {
                artist: named(artist, NOT_AN_ARTIST),
                album: named(album_name(album, artist), NO_ALBUM),
                disc,
                single: None,
            },
            [one] => match one.split_once(" - ") {
                Some((artist, album)) => {
                    Self { artist: named(artist, NOT_AN_ARTIST), album: named(album, NO_ALBUM), disc, single: None }
                }
                None => Self {
                    single: named(one, NOT_AN_ARTIST).filter(|name| !is_in(NO_ALBUM, name)),
                    disc,
                    ..Self::default()
                },
            },
            [] => Self::default(),
        }
    }

    fn names(self, file_name: &str) -> PathNames {
        let stem = without_video_words(&stem(file_name));
        let (number, rest) = numbered(&stem);
        let mut names = PathNames {
            track_number: number.map(|(_, track)| track),
            disc_number: number.and_then(|(disc, _)| disc).or(self.disc),
            ..PathNames::default()
        };
        // Files with numbers are in the folder of an album, others in the folder of an artist.
        let (mut artist, mut album) = (self.artist, self.album);
        match number {
            Some(_) => album = album.or(self.single),
            None => artist = artist.or(self.single),
        }
        names.split(rest, artist.as_deref());
        names.artist = names.artist.take().or(artist);
        names.album = names.album.take().or(album);
        names
    }
}

impl PathNames {
    /// `Artist - Title`, `Artist - 03 - Title`, `Artist - Album - 03 - Title`, or only a title.
    fn split(&mut self, stem: &str, folder_artist: Option<&str>) {
        let parts: Vec<&str> = stem.split(" - ").map(str::trim).filter(|part| !part.is_empty()).collect();
        let number_at = parts.iter().position(|part| part.len() <= 3 && part.parse::<u32>().is_ok());
        let is_artist = |name: &str| folder_artist.is_some_and(|artist| artist.to_lowercase() == name.to_lowercase());
        match (parts.as_slice(), number_at) {
            ([artist, between @ .., _, _], Some(n)) if n > 0 && n + 1 < parts.len() && between.len() < 3 => {
                self.artist = clean(artist);
                self.album = (n == 2).then(|| clean(parts[1])).flatten();
                self.track_number = parts[n].parse().ok();
                self.title = clean(&parts[n + 1..].join(" - ")).unwrap_or_default();
            }
            ([title, artist], _) if is_artist(artist) => {
                (self.title, self.artist) = (clean(title).unwrap_or_default(), clean(artist));
            }
            ([artist, rest @ ..], _) if !rest.is_empty() => {
                self.either_way = !is_artist(artist);
                (self.title, self.artist) = (clean(&rest.join(" - ")).unwrap_or_default(), clean(artist));
            }
            _ => self.title = clean(stem).unwrap_or_default(),
        }
    }
}

fn without_scheme(path: &str) -> (bool, String) {
    let Some((scheme, rest)) = path.split_once("://") else { return (true, path.to_owned()) };
    let rest = rest.strip_prefix("localhost/").unwrap_or(rest);
    let is_local = scheme.eq_ignore_ascii_case("file");
    let rest = if is_local { rest } else { rest.split(['?', '#']).next().unwrap_or(rest) };
    (is_local, percent_decoded(rest))
}

/// `CD1`, `Disc 2`: a part of the album in the folder above.
fn disc_folder(name: &str) -> Option<u32> {
    let lower = name.to_lowercase();
    let number = ["cd", "disc", "disk"].iter().find_map(|word| lower.strip_prefix(word))?;
    number.trim_start_matches([' ', '_', '-']).split(' ').next()?.parse().ok()
}

/// `Ivy Marlow - Low Tide (2019)` in the folder of Ivy Marlow means the album `Low Tide`, and so does `2019 - Low
/// Tide`.
fn album_name<'a>(album: &'a str, artist: &str) -> &'a str {
    let is_year = |text: &str| text.len() == 4 && text.bytes().all(|c| c.is_ascii_digit());
    let mut name = album.strip_prefix(artist).and_then(|rest| rest.strip_prefix(" - ")).unwrap_or(album);
    if let Some((first, rest)) = name.split_once(" - ")
        && is_year(first.trim_matches(['(', ')', '[', ']']))
    {
        name = rest;
    }
    match name.rsplit_once(" (") {
        Some((rest, year)) if is_year(year.trim_end_matches(')')) && !rest.is_empty() => rest,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(path: &str) -> String {
        let PathNames { title, artist, album, track_number, disc_number, either_way } = PathNames::of(path);
        let number = |n: Option<u32>| n.map(|n| n.to_string()).unwrap_or_default();
        let (artist, album) = (artist.unwrap_or_default(), album.unwrap_or_default());
        let mark = if either_way { "?" } else { "" };
        format!("{artist}|{album}|{}.{}|{title}{mark}", number(disc_number), number(track_number))
    }

    #[test]
    fn folders_and_file_names_give_artist_album_number_and_title() {
        let paths = [
            ("Ivy Marlow/Low Tide/01 Paper Lanterns.flac", "Ivy Marlow|Low Tide|.1|Paper Lanterns"),
            ("/data/music/Ivy Marlow/2019 - Low Tide/CD2/03 - Rain.mp3", "Ivy Marlow|Low Tide|2.3|Rain"),
            ("C:\\Users\\ann\\Music\\Ivy Marlow\\Low Tide (2019)\\1-03 Rain.wma", "Ivy Marlow|Low Tide|1.3|Rain"),
            ("file:///home/ann/Music/Ivy%20Marlow/Low%20Tide/01.%20Rain.ogg", "Ivy Marlow|Low Tide|.1|Rain"),
            ("Ivy Marlow/Rain.mp3", "Ivy Marlow||.|Rain"),
            ("Low Tide/02 Rain.mp3", "|Low Tide|.2|Rain"),
            ("Ivy Marlow - Low Tide/02 Rain.mp3", "Ivy Marlow|Low Tide|.2|Rain"),
            ("Downloads/Ivy Marlow - Rain.mp3", "Ivy Marlow||.|Rain?"),
            ("Ivy Marlow/Low Tide/Rain - Ivy Marlow.mp3", "Ivy Marlow|Low Tide|.|Rain"),
            ("Ivy Marlow - Low Tide - 03 - Rain.mp3", "Ivy Marlow|Low Tide|.3|Rain"),
            ("Ivy Marlow - 03 - Rain.mp3", "Ivy Marlow||.3|Rain"),
            ("Various Artists/Coast/07 Ivy Marlow - Rain.mp3", "Ivy Marlow|Coast|.7|Rain?"),
            ("Ivy_Marlow_-_Paper_Lanterns.mp3", "Ivy Marlow||.|Paper Lanterns?"),
            ("Ivy Marlow - Rain (Official Video) [sBzrz_1Agkg].opus", "Ivy Marlow||.|Rain?"),
            ("Ivy Marlow - Rain [Lyrics] (HD)-dQ4_w9WgXcQ.m4a", "Ivy Marlow||.|Rain?"),
            ("https://radio.example/a/b/Rain%20(Live).mp3?x=1", "||.|Rain (Live)"),
            ("99 Ferries.mp3", "||.|99 Ferries"),
            ("7 Rivers.mp3", "||.|7 Rivers"),
            ("/home/ann/song.mp3", "||.|song"),
            ("", "||.|"),
        ];
        for (path, names) in paths {
            assert_eq!(shown(path), names, "{path}");
        }
    }
}
