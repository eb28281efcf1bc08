//! A hash of the audio without its tags and its name, so that a retagged or moved file is recognised.

use std::io::{self, Read, Seek, SeekFrom};

use sha2::{Digest, Sha256};

/// How many bytes are hashed at each end of the audio.
const SAMPLE: u64 = 1 << 20;

/// A hash of the length, the first and the last MiB of the audio without its tags, as 64 hex digits.
///
/// Tags are excluded for MP3, AAC and other formats with ID3 and APE tags, FLAC, MP4, WAV and AIFF. Ogg numbers its
/// pages, so new tags may change every page: a retagged Ogg file has another hash.
pub fn content_hash(mut file: impl Read + Seek) -> io::Result<String> {
    let (start, end) = audio_range(&mut file)?;
    let length = end - start;
    let mut hash = Sha256::new();
    hash.update(length.to_le_bytes());
    let mut add = |from: u64, n: u64| -> io::Result<()> {
        file.seek(SeekFrom::Start(from))?;
        let mut piece = vec![];
        file.by_ref().take(n).read_to_end(&mut piece)?;
        hash.update(&piece);
        Ok(())
    };
    if length <= 2 * SAMPLE {
        add(start, length)?;
    } else {
        add(start, SAMPLE)?;
        add(end - SAMPLE, SAMPLE)?;
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Where the audio begins and ends.
fn audio_range(file: &mut (impl Read + Seek)) -> io::Result<(u64, u64)> {
    let end = file.seek(SeekFrom::End(0))?;
    let start = after_id3v2(file, end)?;
    let head: [u8; 12] = bytes_at(file, start)?;
    let inside = match &head {
        [b'f', b'L', b'a', b'C', ..] => after_flac_blocks(file, start + 4, end)?.map(|start| (start, end)),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'A', b'V', b'E'] => chunk(file, start + 12, end, Chunks::WAV)?,
        [b'F', b'O', b'R', b'M', _, _, _, _, b'A', b'I', b'F', b'F' | b'C'] => {
            chunk(file, start + 12, end, Chunks::AIFF)?
        }
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => chunk(file, start, end, Chunks::MP4)?,
        _ => None,
    };
    match inside {
        Some(range) => Ok(range),
        None => Ok((start, before_end_tags(file, start, end)?)),
    }
}

fn bytes_at<const N: usize>(file: &mut (impl Read + Seek), at: u64) -> io::Result<[u8; N]> {
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = vec![];
    file.by_ref().take(N as u64).read_to_end(&mut bytes)?;
    // A shorter file is padded with zeros, which match no signature.
    bytes.resize(N, 0);
    Ok(bytes.try_into().expect("it has just been made this long"))
}

fn after_id3v2(file: &mut (impl Read + Seek), end: u64) -> io::Result<u64> {
    let head: [u8; 10] = bytes_at(file, 0)?;
    if !head.starts_with(b"ID3") {
        return Ok(0);
    }
    // Seven bits of each byte: ID3 sizes never look like an MPEG frame.
    let size = head[6..].iter().fold(0_u64, |size, byte| (size << 7) | u64::from(byte & 0x7f));
    let footer = if head[5] & 0x10 == 0 { 0 } else { 10 };
    Ok((10 + size + footer).min(end))
}

/// FLAC: metadata blocks, the last of which has a flag, then the frames.
fn after_flac_blocks(file: &mut (impl Read + Seek), mut at: u64, end: u64) -> io::Result<Option<u64>> {
    while at + 4 <= end {
        let head: [u8; 4] = bytes_at(file, at)?;
        at += 4 + u64::from(u32::from_be_bytes([0, head[1], head[2], head[3]]));
        if head[0] & 0x80 != 0 {
            // A file without frames is identified by its first block, STREAMINFO.
            return Ok((at < end).then_some(at));
        }
    }
    Ok(None)
}

/// How a container stores its chunks.
struct Chunks {
    /// The chunk with the audio.
    audio: &'static [u8; 4],
    is_big_endian: bool,
    /// The size comes before the name and includes both.
    size_first: bool,
}

impl Chunks {
    const WAV: Self = Self { audio: b"data", is_big_endian: false, size_first: false };
    const AIFF: Self = Self { audio: b"SSND", is_big_endian: true, size_first: false };
    const MP4: Self = Self { audio: b"mdat", is_big_endian: true, size_first: true };
}

fn chunk(file: &mut (impl Read + Seek), mut at: u64, end: u64, chunks: Chunks) -> io::Result<Option<(u64, u64)>> {
    while at + 8 <= end {
        let head: [u8; 16] = bytes_at(file, at)?;
        let (name, size) = if chunks.size_first { (&head[4..8], &head[..4]) } else { (&head[..4], &head[4..8]) };
        let size: [u8; 4] = size.try_into().expect("four bytes");
        let size = u64::from(if chunks.is_big_endian { u32::from_be_bytes(size) } else { u32::from_le_bytes(size) });
        let (from, to) = match (chunks.size_first, size) {
            (false, size) => (at + 8, at + 8 + size),
            // The chunk extends to the end of the file, or its size is in the eight bytes after the name.
            (true, 0) => (at + 8, end),
            (true, 1) => {
                let size: [u8; 8] = head[8..].try_into().expect("eight bytes");
                (at + 16, at.saturating_add(u64::from_be_bytes(size)))
            }
            (true, size) => (at + 8, at + size),
        };
        let to = to.min(end);
        if name == chunks.audio {
            return Ok((from < to).then_some((from, to)));
        }
        // Chunks of odd length are padded, except in MP4. A chunk that does not advance would cause an endless loop.
        let next = if chunks.size_first { to } else { to + to % 2 };
        if next <= at {
            break;
        }
        at = next;
    }
    Ok(None)
}

/// ID3v1 and APE tags follow the audio; ID3v1 is last.
fn before_end_tags(file: &mut (impl Read + Seek), start: u64, mut end: u64) -> io::Result<u64> {
    if end >= start + 128 && bytes_at::<3>(file, end - 128)? == *b"TAG" {
        end -= 128;
    }
    if end >= start + 32 {
        let footer: [u8; 32] = bytes_at(file, end - 32)?;
        if footer.starts_with(b"APETAGEX") {
            let number =
                |at: usize| u64::from(u32::from_le_bytes([footer[at], footer[at + 1], footer[at + 2], footer[at + 3]]));
            // The size includes the footer, but not the header, whose presence is a flag.
            let header = if number(20) & (1 << 31) == 0 { 0 } else { 32 };
            end = end.saturating_sub(number(12) + header).max(start);
        }
    }
    Ok(end)
}
