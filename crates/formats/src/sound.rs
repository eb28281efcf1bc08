//! What does an audio file sound like? Decodes its first two minutes and computes a Chromaprint fingerprint.

use std::{
    fs::File,
    io::{BufReader, Seek},
    path::Path,
    time::{Duration, Instant},
};

use music::Fingerprint;
use rusty_chromaprint::{Configuration, Fingerprinter};
use symphonia::core::{
    codecs::audio::{AudioDecoder, AudioDecoderOptions},
    common::Limit,
    errors::Error,
    formats::{FormatOptions, FormatReader, TrackType, probe::Hint},
    io::MediaSourceStream,
    meta::MetadataOptions,
};

/// Seconds that are decoded, from the beginning.
const HEARD: f64 = 120.0;
/// Sounds and jingles are often the same in different recordings.
const SHORTEST: f64 = 10.0;
/// How many seconds may be missing at the end of a file before it counts as damaged.
const MISSING: f64 = 2.0;
/// A decoder that needs longer than this for a file is stopped.
const LONGEST_WORK: Duration = Duration::from_secs(60);
/// The loudest sample of a silent file: 60 dB below full scale.
const SILENCE: u16 = 32;
/// Text of tags and pictures are not used here, so large ones are skipped.
const LARGEST_TAG: usize = 1 << 20;

/// Why a file has no fingerprint.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum NoFingerprint {
    /// The file may be damaged: its owner should know.
    #[error("{0}")]
    Undecodable(String),
    /// There is no decoder for this format.
    #[error("{0}")]
    Unsupported(&'static str),
    #[error("it is shorter than {SHORTEST} s")]
    Short,
    #[error("it is silent, or a sound that does not change")]
    Silent,
    /// The caller did not want it any more.
    #[error("stopped")]
    Stopped,
}

/// The fingerprint of one file, which is read and decoded packet by packet. `is_wanted` is asked before each packet.
pub fn fingerprint(path: &Path, is_wanted: &dyn Fn() -> bool) -> Result<Fingerprint, NoFingerprint> {
    fingerprint_of(File::open(path).map_err(|error| undecodable(&error))?, path, is_wanted)
}

/// The same for an open file. Its name tells the format.
pub fn fingerprint_of(file: File, name: &Path, is_wanted: &dyn Fn() -> bool) -> Result<Fingerprint, NoFingerprint> {
    let mut sound = Sound::with_length(file, name)?;
    let heard = sound.hear(is_wanted)?;
    if heard.seconds == 0.0 {
        return Err(undecodable(&"there is no audio in it"));
    }
    let length = match sound.length {
        // Also a header with a wrong length: without the end, the file is not that recording.
        Some(told) if heard.seconds + MISSING < told.min(HEARD) => {
            let why = format!("the audio ends after {:.0} s of {told:.0} s", heard.seconds);
            return Err(NoFingerprint::Undecodable(why));
        }
        Some(told) if heard.seconds >= HEARD => told,
        None if heard.seconds >= HEARD => {
            return Err(NoFingerprint::Undecodable("its length is not known".into()));
        }
        _ => heard.seconds,
    };
    if length < SHORTEST {
        return Err(NoFingerprint::Short);
    }
    if heard.loudest <= SILENCE {
        return Err(NoFingerprint::Silent);
    }
    Fingerprint::new(heard.words, length).ok_or(NoFingerprint::Silent)
}

struct Sound {
    format: Box<dyn FormatReader>,
    decoder: Box<dyn AudioDecoder>,
    track: u32,
    /// Seconds, as the file tells.
    length: Option<f64>,
}

struct Heard {
    words: Vec<u32>,
    seconds: f64,
    loudest: u16,
}

impl Sound {
    /// Opens a file whose header may not tell its length.
    fn with_length(file: File, name: &Path) -> Result<Self, NoFingerprint> {
        let again = file.try_clone().map_err(|error| undecodable(&error))?;
        let sound = Self::open(file, name)?;
        if sound.length.is_some() {
            return Ok(sound);
        }
        // Both handles have one position, so the first reader must end before the second begins.
        drop(sound);
        let length = length_in_tags(&again);
        Ok(Self { length, ..Self::open(again, name)? })
    }

    fn open(mut file: File, name: &Path) -> Result<Self, NoFingerprint> {
        file.rewind().map_err(|error| undecodable(&error))?;
        let source = MediaSourceStream::new(Box::new(file), Default::default());
        let mut hint = Hint::new();
        if let Some(extension) = name.extension().and_then(|extension| extension.to_str()) {
            hint.with_extension(extension);
        }
        let tags = MetadataOptions::default()
            .limit_tag_bytes(Limit::Maximum(LARGEST_TAG))
            .limit_visual_bytes(Limit::Maximum(LARGEST_TAG));
        let format = symphonia::default::get_probe().probe(&hint, source, FormatOptions::default(), tags)?;
        let track = format.default_track(TrackType::Audio).ok_or(NoFingerprint::Unsupported("it has no audio"))?;
        let about = track.codec_params.as_ref().and_then(|about| about.audio());
        let about = about.ok_or(NoFingerprint::Unsupported("its encoding is not known"))?;
        let decoder = symphonia::default::get_codecs().make_audio_decoder(about, &AudioDecoderOptions::default())?;
        let of_frames = track.num_frames.zip(about.sample_rate).map(|(n, rate)| n as f64 / f64::from(rate));
        let track = track.id;
        Ok(Self { format, decoder, track, length: of_frames })
    }

    /// Decodes until two minutes are heard or the file ends.
    fn hear(&mut self, is_wanted: &dyn Fn() -> bool) -> Result<Heard, NoFingerprint> {
        let started = Instant::now();
        let mut printer = Fingerprinter::new(&Configuration::default());
        // The rate and the number of channels, once a packet was decoded.
        let mut spec = None;
        let (mut seconds, mut loudest, mut samples) = (0.0, 0, Vec::<i16>::new());
        while seconds < HEARD && self.next(&mut samples, &mut spec)? {
            if !is_wanted() {
                return Err(NoFingerprint::Stopped);
            }
            if started.elapsed() > LONGEST_WORK {
                return Err(NoFingerprint::Undecodable("it takes too long to decode".into()));
            }
            let Some((rate, channels)) = spec else { continue };
            if seconds == 0.0 {
                printer.start(rate, channels).map_err(|error| undecodable(&error))?;
            }
            loudest = samples.iter().map(|sample| sample.unsigned_abs()).max().unwrap_or(0).max(loudest);
            printer.consume(&samples);
            seconds += samples.len() as f64 / f64::from(channels) / f64::from(rate);
        }
        if seconds > 0.0 {
            printer.finish();
        }
        Ok(Heard { words: printer.fingerprint().to_vec(), seconds, loudest })
    }

    /// Decodes one packet. False: the file ends.
    fn next(&mut self, samples: &mut Vec<i16>, spec: &mut Option<(u32, u32)>) -> Result<bool, NoFingerprint> {
        samples.clear();
        let packet = match self.format.next_packet() {
            Ok(Some(packet)) => packet,
            // The end may be missing. How much was heard tells.
            Ok(None) | Err(Error::IoError(_)) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        if packet.track_id != self.track {
            return Ok(true);
        }
        match self.decoder.decode(&packet) {
            Ok(audio) => {
                let now = (audio.spec().rate(), u32::try_from(audio.spec().channels().count()).unwrap_or(0));
                if *spec.get_or_insert(now) != now || now.0 == 0 || now.1 == 0 {
                    return Err(NoFingerprint::Undecodable("its sample rate or its channels change".into()));
                }
                audio.copy_to_vec_interleaved(samples);
                Ok(true)
            }
            // One damaged packet is a click; many are missing seconds.
            Err(Error::DecodeError(_) | Error::IoError(_)) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }
}

impl From<Error> for NoFingerprint {
    fn from(error: Error) -> Self {
        match error {
            Error::Unsupported(what) => NoFingerprint::Unsupported(what),
            other => undecodable(&other),
        }
    }
}

fn undecodable(why: &dyn std::fmt::Display) -> NoFingerprint {
    NoFingerprint::Undecodable(why.to_string().trim().to_owned())
}

/// Seconds, as the tag reader computes them.
fn length_in_tags(mut file: &File) -> Option<f64> {
    use lofty::{file::AudioFile, probe::Probe};
    file.rewind().ok()?;
    let probe = Probe::new(BufReader::new(file)).guess_file_type().ok()?;
    let seconds = probe.read().ok()?.properties().duration().as_secs_f64();
    (seconds > 0.0).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use std::{fs, path::PathBuf};

    use doubles::sound::{Piece, flac, wav, worn};

    use super::*;

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn put(&self, name: &str, bytes: &[u8]) -> PathBuf {
            let path = self.0.path().join(name);
            fs::write(&path, bytes).unwrap();
            path
        }

        fn heard(&self, name: &str, bytes: &[u8]) -> Fingerprint {
            fingerprint(&self.put(name, bytes), &|| true).unwrap()
        }

        fn refused(&self, name: &str, bytes: &[u8]) -> NoFingerprint {
            fingerprint(&self.put(name, bytes), &|| true).unwrap_err()
        }
    }

    fn folder() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    const RATE: u32 = 22_050;

    #[test]
    fn two_encodings_of_one_piece_are_one_recording() {
        let (folder, piece) = (folder(), Piece::new(1, 30));
        let original = folder.heard("a.wav", &wav(&piece.samples(44_100), 44_100, 2));
        let lossless = folder.heard("b.flac", &flac(&piece.samples(44_100), 44_100, &[]));
        let lossy = folder.heard("c.flac", &flac(&worn(&piece.samples(RATE)), RATE, &[("TITLE", "Other")]));
        assert!((original.seconds() - 30.0).abs() < 0.1);
        for other in [&lossless, &lossy] {
            assert!(original.is_same_recording(other) && other.is_same_recording(&original));
            let keys = original.keys();
            let n_shared = other.keys().iter().filter(|key| keys.contains(key)).count();
            assert!(n_shared >= 3, "{n_shared} keys are shared");
        }
    }

    #[test]
    fn another_melody_another_key_and_another_length_are_other_recordings() {
        let folder = folder();
        let heard = |name: &str, piece: Piece| folder.heard(name, &wav(&piece.samples(RATE), RATE, 1));
        let original = heard("original.wav", Piece::new(1, 30));
        for (name, other) in [
            ("melody.wav", Piece::new(2, 30)),
            ("higher.wav", Piece { semitones: 1, ..Piece::new(1, 30) }),
            ("lower.wav", Piece { semitones: -2, ..Piece::new(1, 30) }),
            ("longer.wav", Piece::new(1, 35)),
        ] {
            assert!(!original.is_same_recording(&heard(name, other)), "{name}");
        }
    }

    #[test]
    fn what_says_nothing_about_a_recording_has_no_fingerprint() {
        let folder = folder();
        let tone: Vec<f32> = (0..30 * RATE).map(|i| (i as f32 * 0.1).sin() * 0.5).collect();
        let refused = |samples: &[f32]| folder.refused("x.wav", &wav(samples, RATE, 1));
        assert_eq!(refused(&vec![0.0; 30 * RATE as usize]), NoFingerprint::Silent);
        assert_eq!(refused(&tone), NoFingerprint::Silent, "a test tone");
        assert_eq!(refused(&Piece::new(1, 9).samples(RATE)), NoFingerprint::Short);
    }

    #[test]
    fn a_damaged_file_is_told_apart_from_an_unusual_one() {
        let folder = folder();
        let whole = flac(&Piece::new(1, 30).samples(RATE), RATE, &[]);
        let cut = folder.refused("cut.flac", &whole[..whole.len() / 2]);
        assert!(matches!(&cut, NoFingerprint::Undecodable(why) if why.contains("of 30 s")), "{cut:?}");
        let text = folder.refused("text.mp3", b"no audio at all");
        assert!(matches!(text, NoFingerprint::Undecodable(_) | NoFingerprint::Unsupported(_)), "{text:?}");
        let missing = fingerprint(&folder.0.path().join("missing.mp3"), &|| true).unwrap_err();
        assert!(matches!(missing, NoFingerprint::Undecodable(_)), "{missing:?}");
        assert_eq!(fingerprint(&folder.put("whole.flac", &whole), &|| false), Err(NoFingerprint::Stopped));
    }
}
