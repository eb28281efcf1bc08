//! A generated home library: audio files with and without tags, a few with an ISRC, copies, names in other scripts, and
//! broken files.
//!
//! Deterministic: the same number of files always gives the same library, so that measurements can be compared.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// One file, and the texts that find it.
#[derive(Clone, Debug)]
pub struct HomeFile {
    pub path: PathBuf,
    pub title: String,
    pub artist: String,
    pub album: String,
    /// A line of its lyrics, if it has lyrics.
    pub line: Option<String>,
    pub kind: FileKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    Tagged,
    /// Tagged with an ISRC.
    Coded,
    /// Without tags; its path has the names.
    Untagged,
    /// The same audio and tags as another file.
    Copy,
    /// Not audio, although it has the extension of an audio file.
    Broken,
}

const TRACKS_OF_ARTIST: usize = 20;
const TRACKS_OF_ALBUM: usize = 10;

/// Writes `n` files below `folder`: 10 % with an ISRC, 15 % without tags, 3 % copies, 1 % broken, a tenth of the artists in
/// other scripts, a quarter FLAC.
pub fn write(folder: &Path, n: usize) -> io::Result<Vec<HomeFile>> {
    let mut files: Vec<HomeFile> = Vec::with_capacity(n);
    for number in 0..n {
        let kind = kind_of(number);
        // A copy of a file without tags would take its names from its own path.
        let first = files.get(number / 2).filter(|first| matches!(first.kind, FileKind::Tagged | FileKind::Coded));
        let file = match (kind, first) {
            (FileKind::Copy, Some(first)) => copy_of(folder, number, first)?,
            (FileKind::Copy, None) => one(folder, number, FileKind::Tagged)?,
            (kind, _) => one(folder, number, kind)?,
        };
        files.push(file);
    }
    Ok(files)
}

fn kind_of(number: usize) -> FileKind {
    match number % 100 {
        50 => FileKind::Broken,
        20 | 41 | 82 => FileKind::Copy,
        rest if rest % 20 == 3 || rest % 20 == 7 || rest % 20 == 11 => FileKind::Untagged,
        rest if rest % 10 == 5 => FileKind::Coded,
        _ => FileKind::Tagged,
    }
}

/// A copy in another folder, without the lyrics file of the original.
fn copy_of(folder: &Path, number: usize, first: &HomeFile) -> io::Result<HomeFile> {
    let path =
        folder.join(format!("Backup {}", number / 1000)).join(format!("copy {number}.{}", extension(&first.path)));
    make_parent(&path)?;
    fs::copy(&first.path, &path)?;
    Ok(HomeFile { path, kind: FileKind::Copy, ..first.clone() })
}

fn one(folder: &Path, number: usize, kind: FileKind) -> io::Result<HomeFile> {
    let names = Names::of(number);
    let is_flac = number % 4 == 1;
    let has_words = kind != FileKind::Untagged && number.is_multiple_of(2);
    let line = has_words.then(|| line_of(number));
    let path = folder.join(&names.artist).join(&names.album).join(format!(
        "{:02} {}.{}",
        names.place,
        names.title,
        if is_flac { "flac" } else { "mp3" }
    ));
    make_parent(&path)?;
    // Of the files with lyrics, every eighth has them in a separate file.
    let beside = line.as_ref().filter(|_| number.is_multiple_of(16));
    if let Some(line) = beside {
        fs::write(path.with_extension("lrc"), format!("[00:01.00]Oh\n[00:12.34]{line}\n"))?;
    }
    let within = line.as_deref().filter(|_| beside.is_none());
    let bytes = match kind {
        FileKind::Broken => format!("no audio in file {number}").into_bytes(),
        FileKind::Untagged => audio(is_flac, &[], number),
        FileKind::Tagged | FileKind::Coded | FileKind::Copy => {
            audio(is_flac, &names.tags(number, within, kind == FileKind::Coded), number)
        }
    };
    fs::write(&path, bytes)?;
    let Names { title, artist, album, .. } = names;
    Ok(HomeFile { path, title, artist, album, line, kind })
}

fn make_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

fn extension(path: &Path) -> &str {
    path.extension().and_then(|extension| extension.to_str()).unwrap_or("mp3")
}

struct Names {
    title: String,
    artist: String,
    album: String,
    /// Position on the album.
    place: usize,
}

impl Names {
    fn of(number: usize) -> Self {
        let (artist, album) = (number / TRACKS_OF_ARTIST, number / TRACKS_OF_ALBUM);
        Self {
            title: format!(
                "{} {} {}",
                pick(FIRST, number),
                pick(SECOND, number / 40 + number),
                pick(THIRD, number / 1600)
            ),
            artist: artist_name(artist),
            album: format!("{} {} {}", pick(THIRD, album), pick(SECOND, album / 40), pick(FIRST, album / 7)),
            place: number % TRACKS_OF_ALBUM + 1,
        }
    }

    fn tags(&self, number: usize, line: Option<&str>, coded: bool) -> Vec<(&'static str, &'static str, String)> {
        let mut tags = vec![
            ("TIT2", "TITLE", self.title.clone()),
            ("TPE1", "ARTIST", self.artist.clone()),
            ("TALB", "ALBUM", self.album.clone()),
            ("TRCK", "TRACKNUMBER", self.place.to_string()),
            ("TDRC", "DATE", (1960 + number % 60).to_string()),
            ("TCON", "GENRE", pick(GENRES, number / TRACKS_OF_ARTIST).to_owned()),
        ];
        if coded {
            tags.push(("TSRC", "ISRC", format!("QZHOM{:02}{:05}", number / 100_000 % 100, number % 100_000)));
        }
        tags.extend(line.map(|line| ("USLT", "LYRICS", format!("Oh\n{line}\nOh"))));
        tags
    }
}

fn artist_name(artist: usize) -> String {
    let name = format!("{} {}", pick(GIVEN, artist), pick(FAMILY, artist / 40 + artist));
    match artist % 10 {
        9 => format!("{} {name}", pick(OTHER_SCRIPTS, artist / 10)),
        _ => name,
    }
}

fn line_of(number: usize) -> String {
    let (a, b) = (pick(SECOND, number), pick(THIRD, number / 40 + number));
    format!("we carried the {a} over the {b} to {} {}", pick(GIVEN, number / 1600), pick(FIRST, number / 3))
}

fn pick(words: &'static [&'static str], n: usize) -> &'static str {
    words[n % words.len()]
}

/// One second of audio data that is unique to this file.
fn audio(is_flac: bool, tags: &[(&'static str, &'static str, String)], number: usize) -> Vec<u8> {
    if is_flac { flac(tags, number) } else { mp3(tags, number) }
}

/// ID3v2.4 in UTF-8, then frames of MPEG 1 layer 3.
fn mp3(tags: &[(&'static str, &'static str, String)], number: usize) -> Vec<u8> {
    let mut frames = vec![];
    for (id, _, value) in tags {
        let language: &[u8] = if *id == "USLT" { b"eng\0" } else { b"" };
        let body = [&[3], language, value.as_bytes()].concat();
        frames.extend([id.as_bytes(), &synchsafe(body.len()), &[0, 0], &body].concat());
    }
    let mut file = vec![];
    if !frames.is_empty() {
        file.extend([&b"ID3\x04\0\0"[..], &synchsafe(frames.len()), &frames].concat());
    }
    for _ in 0..8 {
        file.extend([0xff, 0xfb, 0x90, 0x64]);
        file.extend((number as u64).to_be_bytes());
        file.extend([0; 405]);
    }
    file
}

fn synchsafe(n: usize) -> [u8; 4] {
    [21, 14, 7, 0].map(|shift| (n >> shift & 0x7f) as u8)
}

/// STREAMINFO for one second of sound, Vorbis comments, and arbitrary bytes in place of frames.
fn flac(tags: &[(&'static str, &'static str, String)], number: usize) -> Vec<u8> {
    let mut comments = text(b"doubles");
    comments.extend((tags.len() as u32).to_le_bytes());
    for (_, name, value) in tags {
        comments.extend(text(format!("{name}={value}").as_bytes()));
    }
    let mut file = b"fLaC\0\0\0\x22\x10\0\x10\0\0\0\0\0\0\0".to_vec();
    // 20 bits of rate, 3 of channels, 5 of depth and 36 of samples.
    file.extend(((44_100_u64 << 44) | (1 << 41) | (15 << 36) | 44_100).to_be_bytes());
    file.extend([0; 16]);
    file.push(0x84);
    file.extend(&(comments.len() as u32).to_be_bytes()[1..]);
    file.extend(comments);
    file.extend([0xff, 0xf8]);
    file.extend((number as u64).to_be_bytes());
    file.extend([0; 400]);
    file
}

fn text(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_le_bytes()[..], bytes].concat()
}

const GENRES: &[&str] = &["Folk", "Jazz", "Electronic", "Hip-Hop", "Classical", "Metal", "Soul", "Country"];

const FIRST: &[&str] = &[
    "Amber",
    "Borrowed",
    "Copper",
    "Distant",
    "Empty",
    "Folded",
    "Gilded",
    "Hollow",
    "Iron",
    "Jagged",
    "Knotted",
    "Linen",
    "Marble",
    "Narrow",
    "Oaken",
    "Painted",
    "Quarter",
    "Rusted",
    "Salted",
    "Timber",
    "Umber",
    "Velvet",
    "Woven",
    "Yonder",
    "Zinc",
    "Ashen",
    "Braided",
    "Crooked",
    "Dusty",
    "Earthen",
    "Feathered",
    "Granite",
    "Hidden",
    "Ivory",
    "Juniper",
    "Kindled",
    "Lacquered",
    "Mossy",
    "Nimble",
    "Ochre",
];

const SECOND: &[&str] = &[
    "Anchor", "Bridge", "Cellar", "Ditch", "Engine", "Ferry", "Gate", "Hammer", "Island", "Jetty", "Kettle", "Ladder",
    "Meadow", "Needle", "Orchard", "Pillar", "Quarry", "Ribbon", "Saddle", "Tunnel", "Umbrella", "Valley", "Window",
    "Yard", "Zipper", "Attic", "Barrel", "Candle", "Drawer", "Envelope", "Furnace", "Garden", "Hinge", "Inkwell",
    "Jar", "Keyhole", "Lantern", "Mirror", "Notebook", "Oven",
];

const THIRD: &[&str] = &[
    "Almanac",
    "Ballad",
    "Chronicle",
    "Dialogue",
    "Errand",
    "Fable",
    "Greeting",
    "Harvest",
    "Inventory",
    "Journal",
    "Keepsake",
    "Ledger",
    "Memoir",
    "Notice",
    "Omen",
    "Promise",
    "Question",
    "Riddle",
    "Souvenir",
    "Telegram",
    "Undertow",
    "Verdict",
    "Wager",
    "Yearbook",
    "Zodiac",
    "Apology",
    "Bargain",
    "Census",
    "Detour",
    "Epilogue",
    "Forecast",
    "Gossip",
    "Headline",
    "Invoice",
    "Jest",
    "Knock",
    "Letter",
    "Milestone",
    "Nickname",
    "Oath",
];

const GIVEN: &[&str] = &[
    "Aleida", "Bertil", "Corvin", "Dagny", "Elspeth", "Fenna", "Gudrun", "Hjalmar", "Isolde", "Jorun", "Kerstin",
    "Ludmila", "Maarten", "Nerys", "Oisin", "Perpetua", "Quillan", "Ragnhild", "Signe", "Thekla", "Ulrike", "Valdis",
    "Wilmot", "Xanthe", "Yseult", "Zdenka", "Anselm", "Brannoc", "Ceridwen", "Dorotea", "Emrys", "Fintan", "Grainne",
    "Hedvig", "Ingeborg", "Jasper", "Kaspian", "Leocadia", "Mirela", "Nadezhda",
];

const FAMILY: &[&str] = &[
    "Abernathy",
    "Brackenridge",
    "Cavendish",
    "Drummond",
    "Eskildsen",
    "Fairweather",
    "Gallagher",
    "Hawthorne",
    "Ivarsson",
    "Jespersen",
    "Kowalczyk",
    "Lindqvist",
    "Mansfield",
    "Nakamura",
    "Okonkwo",
    "Pemberton",
    "Quesada",
    "Ravenscroft",
    "Sorensen",
    "Thackeray",
    "Underwood",
    "Vandermeer",
    "Whitlock",
    "Yamamoto",
    "Zielinski",
    "Ashdown",
    "Birkeland",
    "Castellanos",
    "Delacroix",
    "Ellingsen",
    "Featherstone",
    "Grimsby",
    "Hollingworth",
    "Ibarra",
    "Jankowski",
    "Kirkpatrick",
    "Lovelace",
    "Mulligan",
    "Northcott",
    "Oyelaran",
];

const OTHER_SCRIPTS: &[&str] = &[
    "Аквариум",
    "Городъ",
    "東京",
    "ネコ",
    "Μουσική",
    "שירים",
    "أغاني",
    "서울",
    "Đường",
    "Żółć",
    "Ísland",
    "Æther",
    "Çağrı",
    "कथा",
    "เพลง",
    "Straße",
];
