//! CUE sheets: the tracks of an album, which often is one large file. <https://en.wikipedia.org/wiki/Cue_sheet_(computing)>

use std::io::BufRead;

use crate::{
    beginning::Shape,
    format::{Format, Holds},
    lines::numbered,
    spelling::clean,
    track::{ImportedTrack, LineError},
};

pub(super) const FORMAT: Format = Format {
    id: "cue",
    name: "CUE sheet",
    holds: Holds::Tracks,
    recognise: |beginning| {
        let has = |command: &str| beginning.start().lines().any(|line| line.trim_start().starts_with(command));
        beginning.shape == Shape::Text && has("FILE ") && has("TRACK ")
    },
    entries: |source| match Sheet::read(source) {
        Ok(sheet) => Box::new(sheet.tracks.into_iter().map(ImportedTrack::finish)),
        Err(error) => Box::new(std::iter::once(Err(error))),
    },
};

/// A whole sheet. A sheet has at most 99 tracks.
#[derive(Default)]
pub(crate) struct Sheet {
    pub(crate) tracks: Vec<ImportedTrack>,
    pub(crate) n_files: usize,
    album: ImportedTrack,
    file: Option<String>,
}

const MOST_TRACKS: usize = 999;

impl Sheet {
    pub(crate) fn read(source: impl BufRead) -> Result<Self, LineError> {
        let mut sheet = Self::default();
        for line in numbered(source) {
            let (line, text) = line?;
            let (command, value) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
            sheet.command(line, command, value.trim());
            if sheet.tracks.len() > MOST_TRACKS {
                return Err(LineError::broken(line, "a CUE sheet has at most 99 tracks"));
            }
        }
        sheet.fill();
        Ok(sheet)
    }

    fn command(&mut self, line: u64, command: &str, value: &str) {
        if command == "FILE" {
            self.n_files += 1;
            let path =
                if value.starts_with('"') { quoted(value) } else { value.rsplit_once(' ').map_or(value, |it| it.0) };
            self.file = clean(path);
            return;
        }
        if command == "TRACK" {
            let mut track = ImportedTrack::at(line);
            track.track_number = value.split(' ').next().and_then(|number| number.parse().ok());
            track.ids.location.clone_from(&self.file);
            self.tracks.push(track);
            return;
        }
        let track = self.tracks.last_mut().unwrap_or(&mut self.album);
        match command {
            "TITLE" => track.set_title(quoted(value)),
            "PERFORMER" => track.artists = clean(quoted(value)).into_iter().collect(),
            "SONGWRITER" => track.details.composer = clean(quoted(value)),
            "ISRC" => track.set_isrcs(quoted(value)),
            "INDEX" => {
                if let Some(start) = value.strip_prefix("01 ").and_then(frames) {
                    track.details.start = Some(start);
                }
            }
            "REM" => remark(track, value),
            _ => {}
        }
    }

    /// Album fields apply to all tracks; a track ends where the next one in the same file begins.
    fn fill(&mut self) {
        let next: Vec<_> =
            self.tracks.iter().skip(1).map(|track| (track.ids.location.clone(), track.details.start)).collect();
        for (n, track) in self.tracks.iter_mut().enumerate() {
            track.album = clean(&self.album.title);
            track.details.album_artist = self.album.artists.first().cloned();
            if track.artists.is_empty() {
                track.artists.clone_from(&self.album.artists);
            }
            track.tags.clone_from(&self.album.tags);
            track.release_date.clone_from(&self.album.release_date);
            track.details.disc_number = self.album.details.disc_number;
            if let (Some(start), Some((file, Some(end)))) = (track.details.start, next.get(n))
                && *file == track.ids.location
                && *end > start
            {
                track.duration = Some(end - start);
            }
        }
    }

    /// The last track of a file ends with the file.
    pub(crate) fn end_at(&mut self, seconds: f64) {
        if let Some(last) = self.tracks.last_mut()
            && let Some(start) = last.details.start
            && seconds > start
        {
            last.duration = Some(seconds - start);
        }
    }
}

fn remark(track: &mut ImportedTrack, value: &str) {
    let (name, value) = value.split_once(' ').unwrap_or((value, ""));
    match name {
        "GENRE" => track.tags = clean(quoted(value)).into_iter().collect(),
        "DATE" => track.release_date = clean(quoted(value)),
        "DISCNUMBER" => track.details.disc_number = quoted(value).parse().ok(),
        _ => {}
    }
}

fn quoted(value: &str) -> &str {
    value.strip_prefix('"').and_then(|value| value.split('"').next()).unwrap_or(value)
}

/// `mm:ss:ff`, with 75 frames in a second.
fn frames(text: &str) -> Option<f64> {
    let mut parts = text.trim().split(':').map(|part| part.parse::<u32>().ok());
    let (minutes, seconds, frames) = (parts.next()??, parts.next()??, parts.next()??);
    Some(f64::from(minutes) * 60.0 + f64::from(seconds) + f64::from(frames) / 75.0)
}
