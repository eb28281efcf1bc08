//! Decodes text of unknown encoding to UTF-8, in small pieces.

use std::{
    io::{self, BufRead, Read},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use encoding_rs::{CoderResult, Decoder, Encoding, UTF_16BE, UTF_16LE, WINDOWS_1252};

const PIECE: usize = 16 * 1024;

/// No entry of any format is nearly as large. The limit protects the memory.
const LARGEST_ENTRY: usize = 32 * 1024 * 1024;

/// Counts the bytes since the last entry. The decoder and the parser that splits the text into entries share it.
#[derive(Clone, Default)]
pub(super) struct SinceLastEntry(Arc<AtomicUsize>);

impl SinceLastEntry {
    pub(super) fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// Reads bytes and returns UTF-8. A byte order mark decides the encoding. Without one, UTF-16 is detected by its zero
/// bytes, and everything else is UTF-8 in which invalid bytes are decoded as Windows-1252. This also works for a
/// Latin-1 file whose first umlaut comes after a hundred megabytes, and for a file with two encodings.
pub(super) struct Text<R> {
    source: R,
    encoding: Option<Decoding>,
    /// Undecoded bytes: the start of an incomplete character.
    pending: Vec<u8>,
    decoded: Vec<u8>,
    at: usize,
    ended: bool,
    since_last_entry: SinceLastEntry,
}

enum Decoding {
    Utf8OrWindows1252,
    Declared(Decoder),
}

impl<R: Read> Text<R> {
    pub(super) fn new(source: R, since_last_entry: SinceLastEntry) -> Self {
        Self { source, encoding: None, pending: vec![], decoded: vec![], at: 0, ended: false, since_last_entry }
    }

    fn decode_a_piece(&mut self) -> io::Result<()> {
        self.decoded.clear();
        self.at = 0;
        while self.decoded.is_empty() && !self.ended {
            self.fill()?;
            let decoding = self.encoding.get_or_insert_with(|| guess(&mut self.pending));
            match decoding {
                Decoding::Utf8OrWindows1252 => utf8_or_windows_1252(&mut self.pending, &mut self.decoded, self.ended),
                Decoding::Declared(decoder) => declared(decoder, &mut self.pending, &mut self.decoded, self.ended),
            }
        }
        Ok(())
    }

    fn fill(&mut self) -> io::Result<()> {
        let start = self.pending.len();
        // The first piece is filled up even if bytes arrive slowly, because the detection needs enough bytes.
        let wanted = if self.encoding.is_none() { 512 } else { 1 };
        self.pending.resize(start + PIECE, 0);
        let mut end = start;
        while end - start < wanted {
            match self.source.read(&mut self.pending[end..]) {
                Ok(0) => {
                    self.ended = true;
                    break;
                }
                Ok(n) => end += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.pending.truncate(end);
        let read = self.since_last_entry.0.fetch_add(end - start, Ordering::Relaxed) + end - start;
        if read > LARGEST_ENTRY {
            return Err(io::Error::other("one entry is larger than 32 MB; this is not a music library"));
        }
        Ok(())
    }
}

impl<R: Read> BufRead for Text<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.decoded.len() {
            self.decode_a_piece()?;
        }
        Ok(&self.decoded[self.at..])
    }

    fn consume(&mut self, n: usize) {
        self.at = (self.at + n).min(self.decoded.len());
    }
}

impl<R: Read> Read for Text<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.fill_buf()?.read(out)?;
        self.consume(n);
        Ok(n)
    }
}

/// Detects the encoding from the first bytes and removes a byte order mark.
fn guess(first: &mut Vec<u8>) -> Decoding {
    if let Some((encoding, mark)) = Encoding::for_bom(first) {
        first.drain(..mark);
        return if encoding == encoding_rs::UTF_8 {
            Decoding::Utf8OrWindows1252
        } else {
            Decoding::Declared(encoding.new_decoder_without_bom_handling())
        };
    }
    match utf16_by_its_zeros(first) {
        Some(encoding) => Decoding::Declared(encoding.new_decoder_without_bom_handling()),
        None => Decoding::Utf8OrWindows1252,
    }
}

/// In UTF-16 text of any European language nearly every second byte is zero; in other encodings none is.
fn utf16_by_its_zeros(first: &[u8]) -> Option<&'static Encoding> {
    let pairs = first[..first.len().min(256)].chunks_exact(2);
    let n_pairs = pairs.len();
    let (mut high, mut low) = (0, 0);
    for pair in pairs {
        high += usize::from(pair[0] == 0 && pair[1] != 0);
        low += usize::from(pair[1] == 0 && pair[0] != 0);
    }
    let most = |n: usize| n > 0 && n * 2 > n_pairs;
    match (most(high), most(low)) {
        (true, false) => Some(UTF_16BE),
        (false, true) => Some(UTF_16LE),
        _ => None,
    }
}

fn utf8_or_windows_1252(pending: &mut Vec<u8>, out: &mut Vec<u8>, ended: bool) {
    let mut rest = pending.as_slice();
    loop {
        let Err(error) = std::str::from_utf8(rest) else {
            out.extend_from_slice(rest);
            rest = &[];
            break;
        };
        let (good, bad) = rest.split_at(error.valid_up_to());
        out.extend_from_slice(good);
        rest = bad;
        let n_bad = match error.error_len() {
            Some(n) => n,
            None if ended => bad.len(),
            None => break,
        };
        let (text, _) = WINDOWS_1252.decode_without_bom_handling(&bad[..n_bad]);
        out.extend_from_slice(text.as_bytes());
        rest = &bad[n_bad..];
    }
    let n_done = pending.len() - rest.len();
    pending.drain(..n_done);
}

fn declared(decoder: &mut Decoder, pending: &mut Vec<u8>, out: &mut Vec<u8>, ended: bool) {
    let mut at = 0;
    loop {
        let start = out.len();
        out.resize(start + PIECE, 0);
        let (result, read, written, _) = decoder.decode_to_utf8(&pending[at..], &mut out[start..], ended);
        out.truncate(start + written);
        at += read;
        if result == CoderResult::InputEmpty {
            break;
        }
    }
    pending.clear();
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns one byte at a time, like a slow upload.
    struct Trickle<'a>(&'a [u8]);

    impl Read for Trickle<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let n = self.0.len().min(out.len()).min(1);
            self.0.read(&mut out[..n])
        }
    }

    fn decoded(source: impl Read) -> String {
        let mut text = String::new();
        Text::new(source, SinceLastEntry::default()).read_to_string(&mut text).unwrap();
        text
    }

    fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn every_common_encoding_gives_the_same_text() {
        let said = "Björn – Café;Ñandú\n".repeat(3000);
        let (latin1, _, _) = WINDOWS_1252.encode(&said);
        let files: [Vec<u8>; 7] = [
            said.clone().into_bytes(),
            format!("\u{feff}{said}").into_bytes(),
            latin1.into_owned(),
            utf16(&format!("\u{feff}{said}"), u16::to_le_bytes),
            utf16(&format!("\u{feff}{said}"), u16::to_be_bytes),
            utf16(&said, u16::to_le_bytes),
            utf16(&said, u16::to_be_bytes),
        ];
        for (n, file) in files.iter().enumerate() {
            assert!(decoded(file.as_slice()) == said, "encoding {n}");
            assert!(decoded(Trickle(file)) == said, "encoding {n}, byte by byte");
        }
    }

    #[test]
    fn an_umlaut_in_latin_1_is_read_even_after_much_utf_8() {
        let mut file = "Ålesund\n".repeat(10_000).into_bytes();
        file.extend_from_slice(b"Bj\xf6rn\n");
        assert!(decoded(file.as_slice()).ends_with("Ålesund\nBjörn\n"));
    }

    #[test]
    fn an_endless_entry_is_rejected_before_it_fills_the_memory() {
        let error = io::copy(&mut Text::new(io::repeat(b'x'), SinceLastEntry::default()), &mut io::sink()).unwrap_err();
        assert!(error.to_string().starts_with("one entry is larger than 32 MB"), "{error}");
    }

    proptest! {
        #[test]
        fn what_is_utf_8_stays_as_it_is(text in "[^\u{feff}\0]{0,200}") {
            prop_assert_eq!(decoded(text.as_bytes()), text);
        }

        #[test]
        fn any_bytes_become_text(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
            prop_assert_eq!(decoded(bytes.as_slice()), decoded(Trickle(&bytes)));
        }
    }
}
