//! Import parsers do not panic on any file, and the result does not depend on the size of the chunks.
#![no_main]

use std::io::{Cursor, Read, Seek, SeekFrom};

use formats::gather_upload;
use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 12] = [
    "a.csv", "a.json", "a.xml", "a.m3u8", "a.xspf", "a.jspf", "a.txt", "a.mp3", "a.flac", "a.cue", "a.pls", "a.nml",
];

/// A file that arrives a few bytes at a time.
struct Trickle(Cursor<Vec<u8>>, usize);

impl Read for Trickle {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let most = self.1.min(buffer.len());
        self.0.read(&mut buffer[..most])
    }
}

impl Seek for Trickle {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.0.seek(to)
    }
}

fuzz_target!(|data: (u8, u8, Vec<u8>)| {
    let (name, size, bytes) = data;
    let name = NAMES[usize::from(name) % NAMES.len()];
    let whole = gather_upload(Cursor::new(bytes.clone()), name);
    let pieces = gather_upload(Trickle(Cursor::new(bytes), usize::from(size).max(1)), name);
    match (whole, pieces) {
        (Ok((kind, whole)), Ok((same_kind, pieces))) => {
            assert_eq!(kind, same_kind);
            assert_eq!(whole.tracks, pieces.tracks);
        }
        (Err(whole), Err(pieces)) => assert_eq!(whole.to_string(), pieces.to_string()),
        (whole, pieces) => panic!("{:?} but {:?}", whole.map(|(kind, _)| kind), pieces.map(|(kind, _)| kind)),
    }
});
