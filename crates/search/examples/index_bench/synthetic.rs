//! Generated tracks and queries. Deterministic; the frequencies of words are those of real text.

use music::{AudioFeatures, Isrc, Track};
use search::embed::wordpiece::vocabulary;

pub(crate) struct Library {
    words: Vec<&'static str>,
    n_topics: u64,
}

const WORDS_PER_TOPIC: u64 = 40;
const WORDS_PER_TRACK: u64 = 45;

impl Library {
    pub(crate) fn new(size: usize) -> Self {
        let is_word = |piece: &&str| piece.len() > 3 && piece.bytes().all(|byte| byte.is_ascii_lowercase());
        Self { words: vocabulary().filter(is_word).collect(), n_topics: (size as u64 / 50).max(20) }
    }

    pub(crate) fn isrc(&self, n: usize) -> Isrc {
        let code = format!("ZB{:03}{:07}", n / 10_000_000, n % 10_000_000);
        code.parse().expect("twelve letters and digits")
    }

    pub(crate) fn track(&self, n: usize) -> Track {
        let mut random = Random(n as u64 + 1);
        let topic = random.below(self.n_topics);
        let text: Vec<&str> = (0..WORDS_PER_TRACK).map(|_| self.word(topic, &mut random)).collect();
        let artist = format!("{} {}", self.word(topic, &mut random), random.below(5000));
        Track {
            duration: Some(200.0),
            interpretation: Some(text.join(" ")),
            audio_features: Some(AudioFeatures {
                energy: Some(random.below(100) as f64 / 100.0),
                ..Default::default()
            }),
            ..Track::named(self.isrc(n), text[..2].join(" "), artist, text[2].into())
        }
    }

    /// Two to six words, mostly of one topic.
    pub(crate) fn query(&self, n: usize) -> String {
        let mut random = Random(n as u64 + 0x00c0_ffee);
        let topic = random.below(self.n_topics);
        let n_words = 2 + random.below(5);
        (0..n_words).map(|_| self.word(topic, &mut random)).collect::<Vec<_>>().join(" ")
    }

    /// Every second word belongs to the topic. The others are drawn from all words, common ones far more often.
    fn word(&self, topic: u64, random: &mut Random) -> &'static str {
        let n = self.words.len() as f64;
        let at = if random.below(2) == 0 {
            Random(topic * WORDS_PER_TOPIC + random.below(WORDS_PER_TOPIC)).below(self.words.len() as u64) as usize
        } else {
            (n.powf(random.below(1 << 20) as f64 / (1 << 20) as f64)) as usize - 1
        };
        self.words[at.min(self.words.len() - 1)]
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % n
    }
}
