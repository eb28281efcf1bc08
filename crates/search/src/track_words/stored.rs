//! The words of a track as bytes, as an index stores them: reading a text again takes ten times as long as decoding its
//! words. Numbers have seven bits a byte, and places are differences, so that most numbers are one byte.

use super::{Place, Terms, TrackWords};

impl TrackWords {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        number(&mut bytes, self.terms.spans.len() as u32);
        for (start, end) in &self.terms.spans {
            number(&mut bytes, end - start);
        }
        bytes.extend_from_slice(self.terms.text.as_bytes());
        for places in [&self.meaning, &self.lyrics] {
            number(&mut bytes, places.len() as u32);
            let mut last = 0;
            for place in places {
                for n in [place.term, place.start - last, place.end - place.start] {
                    number(&mut bytes, n);
                }
                last = place.start;
            }
        }
        number(&mut bytes, self.tags.len() as u32);
        for list in [&self.labels].into_iter().chain(&self.names).chain(&self.tags) {
            number(&mut bytes, list.len() as u32);
            list.iter().for_each(|n| number(&mut bytes, *n));
        }
        bytes
    }

    /// `None` for bytes that [`TrackWords::encode`] did not write.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut stored = Stored { bytes };
        let terms = stored.terms()?;
        let n_terms = terms.spans.len() as u32;
        let (meaning, lyrics) = (stored.places(n_terms)?, stored.places(n_terms)?);
        let n_tags = stored.number()?;
        let labels = stored.list(n_terms)?;
        let names = [stored.list(n_terms)?, stored.list(n_terms)?, stored.list(n_terms)?];
        let tags = (0..n_tags).map(|_| stored.list(n_terms)).collect::<Option<_>>()?;
        stored.bytes.is_empty().then_some(Self { terms, meaning, lyrics, labels, names, tags })
    }
}

fn number(bytes: &mut Vec<u8>, mut n: u32) {
    while n > 0x7f {
        bytes.push(n as u8 | 0x80);
        n >>= 7;
    }
    bytes.push(n as u8);
}

/// What is not decoded yet.
struct Stored<'b> {
    bytes: &'b [u8],
}

impl Stored<'_> {
    fn number(&mut self) -> Option<u32> {
        let mut n = 0;
        for shift in [0, 7, 14, 21, 28] {
            let (byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            n |= u32::from(byte & 0x7f) << shift;
            if *byte < 0x80 {
                return Some(n);
            }
        }
        None
    }

    fn terms(&mut self) -> Option<Terms> {
        let n_terms = self.number()?;
        let mut end = 0u32;
        let span = |_| {
            let start = end;
            end = end.checked_add(self.number()?)?;
            Some((start, end))
        };
        let spans = (0..n_terms).map(span).collect::<Option<_>>()?;
        let (text, rest) = self.bytes.split_at_checked(end as usize)?;
        self.bytes = rest;
        let terms = Terms { text: std::str::from_utf8(text).ok()?.into(), spans };
        terms.spans.iter().all(|(start, _)| terms.text.is_char_boundary(*start as usize)).then_some(terms)
    }

    fn places(&mut self, n_terms: u32) -> Option<Box<[Place]>> {
        let (n_places, mut last) = (self.number()?, 0u32);
        let place = |_| {
            let term = self.number().filter(|term| *term < n_terms)?;
            let start = last.checked_add(self.number()?)?;
            last = start;
            Some(Place { term, start, end: start.checked_add(self.number()?)? })
        };
        (0..n_places).map(place).collect()
    }

    fn list(&mut self, n_terms: u32) -> Option<Box<[u32]>> {
        let n = self.number()?;
        (0..n).map(|_| self.number().filter(|term| *term < n_terms)).collect()
    }
}

#[cfg(test)]
mod tests {
    use music::Track;

    use super::*;

    fn words() -> TrackWords {
        let mut track =
            Track::named("ZZSEG2600001".parse().unwrap(), "初恋 First".into(), "The The".into(), String::new());
        track.lyrics = Some(format!("{}\n夜の海 Größe über alles {}", "rain ".repeat(90), "x".repeat(300)));
        track.interpretation = Some("A sailor's return, after many years of rain.".into());
        (track.tags, track.genres) = (vec!["first snow".into(), "&".into()], vec!["Chanson".into()]);
        TrackWords::of(&track)
    }

    #[test]
    fn decoded_words_are_the_encoded_ones() {
        let (words, bytes) = (words(), words().encode());
        let decoded = TrackWords::decode(&bytes).unwrap();
        assert_eq!(decoded, words);
        assert!(bytes.len() < words.n_bytes(), "{} of {} bytes", bytes.len(), words.n_bytes());
    }

    #[test]
    fn other_bytes_are_refused() {
        let bytes = words().encode();
        for n in 0..bytes.len() {
            assert!(TrackWords::decode(&bytes[..n]).is_none(), "the first {n} bytes");
            let mut damaged = bytes.clone();
            damaged[n] ^= 0x7f;
            // Some are other words; none may refer to a term that is not there.
            if let Some(words) = TrackWords::decode(&damaged) {
                words.shared(["rain", "the"]).in_lyrics();
            }
        }
        assert!(TrackWords::decode(&[bytes.as_slice(), &[0]].concat()).is_none());
        assert!(TrackWords::decode(&[0xff; 40]).is_none());
    }
}
