//! Music that can be decoded: synthesised notes in real WAV and FLAC files, so that tests of the sound need no recordings.

/// A piece of music. The same numbers always give the same sound, at every sample rate.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// Chooses the notes.
    pub melody: u32,
    /// Transposes all of them.
    pub semitones: i32,
    pub seconds: u32,
}

impl Piece {
    pub const fn new(melody: u32, seconds: u32) -> Self {
        Self { melody, semitones: 0, seconds }
    }

    /// One channel, from -1 to 1.
    pub fn samples(self, rate: u32) -> Vec<f32> {
        let mut dice = Dice(self.melody.wrapping_mul(2_654_435_761) | 1);
        let mut sound = vec![0.0; (self.seconds * rate) as usize];
        let mut at = 0.0;
        while at < f64::from(self.seconds) {
            let length = 0.2 + f64::from(dice.roll(5)) * 0.1;
            for _ in 0..=dice.roll(3) {
                let note = 48 + dice.roll(36);
                let hertz = 440.0 * 2_f64.powf((f64::from(note) + f64::from(self.semitones) - 69.0) / 12.0);
                add_note(&mut sound, rate, at, length * 1.5, hertz);
            }
            at += length;
        }
        sound
    }
}

/// Three harmonics that fade.
fn add_note(sound: &mut [f32], rate: u32, at: f64, length: f64, hertz: f64) {
    let start = (at * f64::from(rate)) as usize;
    let n = (length * f64::from(rate)) as usize;
    for (i, sample) in sound.iter_mut().skip(start).take(n).enumerate() {
        let t = i as f64 / f64::from(rate);
        let wave: f64 = (1..=3).map(|k| (std::f64::consts::TAU * hertz * f64::from(k) * t).sin() / f64::from(k)).sum();
        *sample += (0.12 * wave * (1.0 - t / length)) as f32;
    }
}

/// A small generator of numbers (xorshift).
struct Dice(u32);

impl Dice {
    fn roll(&mut self, sides: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        (self.0 >> 8) % sides
    }
}

/// What a lossy encoder does to a sound, roughly: fewer high tones, and noise.
pub fn worn(samples: &[f32]) -> Vec<f32> {
    let (mut low, mut dice) = (0.0, Dice(7));
    let wear = |sample: &f32| {
        low += 0.6 * (sample - low);
        let noise = dice.roll(2000) as f32 / 1000.0 - 1.0;
        ((low + noise * 0.003) * 255.0).round() / 255.0
    };
    samples.iter().map(wear).collect()
}

fn as_i16(sample: f32) -> i16 {
    (sample.clamp(-1.0, 1.0) * f32::from(i16::MAX)) as i16
}

/// A WAV file without tags: the same samples in each channel.
pub fn wav(samples: &[f32], rate: u32, channels: u16) -> Vec<u8> {
    let n_bytes = samples.len() as u32 * u32::from(channels) * 2;
    let mut file = [b"RIFF", &(36 + n_bytes).to_le_bytes()[..], b"WAVEfmt \x10\0\0\0\x01\0"].concat();
    file.extend(channels.to_le_bytes());
    file.extend(rate.to_le_bytes());
    file.extend((rate * u32::from(channels) * 2).to_le_bytes());
    file.extend((channels * 2).to_le_bytes());
    file.extend([16, 0]);
    file.extend([b"data", &n_bytes.to_le_bytes()[..]].concat());
    for sample in samples {
        let bytes = as_i16(*sample).to_le_bytes();
        (0..channels).for_each(|_| file.extend(bytes));
    }
    file
}

/// Samples of a FLAC frame.
const BLOCK: usize = 4096;

/// A FLAC file of one channel with these Vorbis comments. Its frames are stored and not compressed.
pub fn flac(samples: &[f32], rate: u32, tags: &[(&str, &str)]) -> Vec<u8> {
    let text = |text: &str| [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat();
    let mut comments = text("doubles");
    comments.extend((tags.len() as u32).to_le_bytes());
    tags.iter().for_each(|(name, value)| comments.extend(text(&format!("{name}={value}"))));
    let mut file = b"fLaC\0\0\0\x22\x10\0\x10\0\0\0\0\0\0\0".to_vec();
    // 20 bits of rate, 3 of channels, 5 of depth and 36 of samples.
    file.extend(((u64::from(rate) << 44) | (15 << 36) | samples.len() as u64).to_be_bytes());
    file.extend([0; 16]);
    file.push(0x84);
    file.extend(&(comments.len() as u32).to_be_bytes()[1..]);
    file.extend(comments);
    for (number, block) in samples.chunks(BLOCK).enumerate() {
        file.extend(flac_frame(number, block));
    }
    file
}

fn flac_frame(number: usize, block: &[f32]) -> Vec<u8> {
    // The length of the block follows the number of the frame; one channel, 16 bits.
    let mut frame = vec![0xff, 0xf8, 0x70, 0x08];
    let number = char::from_u32(number as u32).unwrap_or('\0');
    frame.extend(number.encode_utf8(&mut [0; 4]).as_bytes());
    frame.extend((block.len() as u16 - 1).to_be_bytes());
    frame.push(crc(&frame, 8, 0x07) as u8);
    // A subframe that is stored as it is.
    frame.push(0x02);
    block.iter().for_each(|sample| frame.extend(as_i16(*sample).to_be_bytes()));
    let sum = crc(&frame, 16, 0x8005) as u16;
    frame.extend(sum.to_be_bytes());
    frame
}

fn crc(bytes: &[u8], bits: u32, polynomial: u32) -> u32 {
    let (top, mask) = (1 << (bits - 1), (1_u32 << bits) - 1);
    bytes.iter().fold(0, |sum, byte| {
        let start = sum ^ (u32::from(*byte) << (bits - 8));
        (0..8).fold(start, |sum, _| if sum & top > 0 { ((sum << 1) ^ polynomial) & mask } else { (sum << 1) & mask })
    })
}
