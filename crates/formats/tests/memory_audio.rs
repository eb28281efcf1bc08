//! Large audio files, alone and inside an archive, are read in bounded memory. The test has its own process, because
//! memory is measured per process.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use std::{
    fs,
    io::{BufWriter, Seek, Write},
};

use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

/// The peak memory of this process, in kB.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

/// A WAV file of this many seconds, with a hundred thousand samples in each.
fn write_wav(out: &mut impl Write, seconds: u32) {
    let n_bytes = seconds * 100_000;
    out.write_all(b"RIFF").unwrap();
    out.write_all(&(36 + n_bytes).to_le_bytes()).unwrap();
    out.write_all(b"WAVEfmt \x10\0\0\0\x01\0\x01\0").unwrap();
    out.write_all(&100_000_u32.to_le_bytes()).unwrap();
    out.write_all(&100_000_u32.to_le_bytes()).unwrap();
    out.write_all(b"\x01\0\x08\0data").unwrap();
    out.write_all(&n_bytes.to_le_bytes()).unwrap();
    let second = vec![0_u8; 100_000];
    (0..seconds).for_each(|_| out.write_all(&second).unwrap());
}

#[test]
fn large_audio_files_are_not_read_into_memory() {
    let folder = tempfile::tempdir().unwrap();
    let mut zip = ZipWriter::new(tempfile::tempfile_in(folder.path()).unwrap());
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    zip.start_file("Ivy Marlow - Rain.wav", stored).unwrap();
    write_wav(&mut zip, 600);
    let mut archive = zip.finish().unwrap();
    archive.rewind().unwrap();
    let path = folder.path().join("Ivy Marlow - Salt.wav");
    write_wav(&mut BufWriter::new(fs::File::create(&path).unwrap()), 600);

    let before = peak_memory();
    let inside = formats::gather_uploaded(archive, "a.zip", folder.path()).unwrap();
    let upload = formats::gather_uploaded(fs::File::open(&path).unwrap(), "b.wav", folder.path()).unwrap();
    formats::content_hash(fs::File::open(&path).unwrap()).unwrap();
    let lengths = [&inside[0], &upload[0]].map(|file| file.gathered.tracks[0].duration.unwrap().round());
    assert_eq!(lengths, [600.0, 600.0]);
    let grown = peak_memory() - before;
    assert!(grown < 8_000, "reading tags of 60 MB of audio took {grown} kB");
}
