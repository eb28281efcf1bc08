//! Audio files: reads their tags, including ISRC and lyrics.

use std::{
    fs,
    io::{BufReader, Read, Seek},
    path::Path,
};

use lofty::{
    config::ParseOptions,
    file::{AudioFile, FileType, TaggedFile, TaggedFileExt},
    picture::PictureType,
    probe::Probe,
    tag::{ItemKey, Tag},
};

use super::{
    mojibake::repaired,
    path_names::PathNames,
    spelling::{clean, clean_lines},
    text::{SinceLastEntry, Text},
    track::{Entry, ImportedTrack, LineError},
};
use music::lrc::plain_lyrics;

/// A longer text file beside an audio file does not contain lyrics.
const LARGEST_LYRICS: u64 = 1 << 20;

/// True if the first bytes are those of an audio file.
pub(super) fn looks_like_audio(first: &[u8]) -> bool {
    first.starts_with(b"ID3") || FileType::from_buffer(first).is_some()
}

/// The track of one file. Its names come from the tags, or else from the file name. `line` is its position in the
/// list.
pub fn file(line: u64, path: &Path) -> Entry {
    file_in(line, path, Path::new(path.file_name().unwrap_or_default()))
}

/// The same for a file of a library. `relative` is its path within the library, which names artist and album if the
/// tags do not.
pub(crate) fn file_in(line: u64, path: &Path, relative: &Path) -> Entry {
    let unreadable = |why: &dyn std::fmt::Display| LineError::unusable(line, format!("{}: {why}", path.display()));
    let source = fs::File::open(path).map_err(|error| unreadable(&error))?;
    let relative = relative.to_string_lossy();
    let tagged = tags(BufReader::new(source)).map_err(|why| unreadable(&why))?;
    let mut track = track_of(line, &tagged, &relative);
    track.ids.location = clean(&path.display().to_string());
    if track.lyrics.is_none() {
        track.lyrics = lyrics_beside(path);
    }
    named(track, &relative)
}

/// Missing names are taken from the path within the library, or from the file name alone.
pub(super) fn named(mut track: ImportedTrack, relative: &str) -> Entry {
    // Tags without an artist are often only a title that a ripper wrote. If title and artist are there, folder names
    // add nothing reliable.
    if track.title.is_empty() || track.artists.is_empty() {
        PathNames::of(relative).fill(&mut track);
    }
    track.finish()
}

/// The tags of one stream; the title may be missing.
pub fn stream(line: u64, source: impl Read + Seek) -> Entry {
    let read = tags(source).map_err(|why| LineError::unusable(line, why))?;
    Ok(track_of(line, &read, ""))
}

/// Reads tags and properties by seeking, without reading the audio itself.
fn tags(mut source: impl Read + Seek) -> Result<TaggedFile, String> {
    tags_and(&mut source, true).or_else(|why| {
        // A picture that cannot be parsed, or is too large, must not hide the other tags.
        source.rewind().map_err(|_| why)?;
        tags_and(&mut source, false)
    })
}

fn tags_and(source: impl Read + Seek, pictures: bool) -> Result<TaggedFile, String> {
    let mut options = ParseOptions::new();
    options.read_cover_art(pictures);
    let probe = Probe::new(source).guess_file_type().map_err(|error| error.to_string())?;
    probe.options(options).read().map_err(|error| format!("the tags cannot be read: {error}"))
}

/// The picture in an audio file: the front cover, or the first one there is.
pub fn picture(path: &Path) -> Option<Vec<u8>> {
    let tagged = tags_and(BufReader::new(fs::File::open(path).ok()?), true).ok()?;
    let pictures = || tagged.tags().iter().flat_map(Tag::pictures);
    let front = pictures().find(|picture| picture.pic_type() == PictureType::CoverFront);
    front.or_else(|| pictures().next()).map(|picture| picture.data().to_vec())
}

fn track_of(line: u64, file: &TaggedFile, path: &str) -> ImportedTrack {
    let mut track = ImportedTrack::at(line);
    let seconds = file.properties().duration().as_secs_f64();
    track.duration = (seconds > 0.0).then_some(seconds);
    // The primary tag first; other tags in the same file fill missing fields.
    for tag in file.primary_tag().into_iter().chain(file.tags()) {
        let fields = Fields { tag, path };
        fields.names(&mut track);
        fields.numbers(&mut track);
        fields.details(&mut track);
    }
    track
}

/// The fields of one tag, decoded with the intended encoding.
struct Fields<'a> {
    tag: &'a Tag,
    /// The path of the file, which helps to detect the encoding of a text.
    path: &'a str,
}

impl Fields<'_> {
    fn all(&self, key: ItemKey) -> impl Iterator<Item = String> {
        self.tag.get_strings(key).filter_map(|text| clean(&repaired(text, self.path)))
    }

    fn first(&self, key: ItemKey) -> Option<String> {
        self.all(key).next()
    }

    /// `4` or `4/12`.
    fn number(&self, key: ItemKey) -> Option<u32> {
        self.first(key)?.split('/').next()?.trim().parse().ok()
    }

    /// `-7.25 dB`, `120.5`.
    fn decimal(&self, key: ItemKey) -> Option<f64> {
        let text = self.first(key)?;
        let number = text.trim_end_matches(|c: char| c.is_alphabetic() || c.is_whitespace());
        number.replace(',', ".").parse().ok().filter(|number: &f64| number.is_finite())
    }

    fn names(&self, track: &mut ImportedTrack) {
        if track.title.is_empty() {
            track.title = self.first(ItemKey::TrackTitle).unwrap_or_default();
        }
        if track.artists.is_empty() {
            let each: Vec<_> = self.all(ItemKey::TrackArtists).collect();
            let joined = || {
                self.all(ItemKey::TrackArtist).flat_map(|names| names.split(';').filter_map(clean).collect::<Vec<_>>())
            };
            track.artists = if each.is_empty() { joined().collect() } else { each };
        }
        if track.artists.is_empty() {
            track.artists = self.first(ItemKey::AlbumArtist).into_iter().collect();
        }
        track.album = track.album.take().or_else(|| self.first(ItemKey::AlbumTitle));
        if track.tags.is_empty() {
            track.tags = self.all(ItemKey::Genre).collect();
        }
        if track.isrcs.is_empty() {
            self.tag.get_strings(ItemKey::Isrc).for_each(|field| track.set_isrcs(field));
        }
        let ids = &mut track.ids;
        ids.music_brainz = ids.music_brainz.take().or_else(|| self.first(ItemKey::MusicBrainzRecordingId));
        // Formats disagree about which of the two keys an ordinary lyrics field has.
        let lyrics = || [ItemKey::UnsyncLyrics, ItemKey::Lyrics].into_iter().find_map(|key| self.tag.get_string(key));
        track.lyrics = track.lyrics.take().or_else(|| lyrics().and_then(|text| words(&repaired(text, self.path))));
    }

    fn numbers(&self, track: &mut ImportedTrack) {
        track.track_number = track.track_number.or_else(|| self.number(ItemKey::TrackNumber));
        let date = || self.first(ItemKey::RecordingDate).or_else(|| self.first(ItemKey::Year));
        track.release_date = track.release_date.take().or_else(date);
        let details = &mut track.details;
        details.disc_number = details.disc_number.or_else(|| self.number(ItemKey::DiscNumber));
        let bpm = || self.decimal(ItemKey::Bpm).or_else(|| self.decimal(ItemKey::IntegerBpm));
        details.bpm = details.bpm.or_else(bpm).filter(|bpm| *bpm > 0.0);
        details.replay_gain_track = details.replay_gain_track.or_else(|| self.decimal(ItemKey::ReplayGainTrackGain));
        details.replay_gain_album = details.replay_gain_album.or_else(|| self.decimal(ItemKey::ReplayGainAlbumGain));
    }

    fn details(&self, track: &mut ImportedTrack) {
        let details = &mut track.details;
        details.album_artist = details.album_artist.take().or_else(|| self.first(ItemKey::AlbumArtist));
        details.composer = details.composer.take().or_else(|| self.first(ItemKey::Composer));
        details.initial_key = details.initial_key.take().or_else(|| self.first(ItemKey::InitialKey));
        details.language = details.language.take().or_else(|| self.first(ItemKey::Language));
        details.compilation |= self.first(ItemKey::FlagCompilation).is_some_and(|flag| flag != "0");
        details.has_artwork |= self.tag.picture_count() > 0;
    }
}

/// `Song.lrc` next to `Song.flac`.
fn lyrics_beside(path: &Path) -> Option<String> {
    // A missing or unreadable lyrics file is the usual case and not an error of the track.
    let file = fs::File::open(path.with_extension("lrc")).ok()?;
    let mut text = String::new();
    Text::new(file.take(LARGEST_LYRICS), SinceLastEntry::default()).read_to_string(&mut text).ok()?;
    words(&text)
}

fn words(lyrics: &str) -> Option<String> {
    clean_lines(&plain_lyrics(lyrics)?)
}
