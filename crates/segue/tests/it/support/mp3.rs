//! Audio files for tests: tags, lyrics, and one second of unique audio.

/// The same file with a front cover.
pub(crate) fn mp3_with_picture(tags: &[(&str, &str)], picture: &[u8], sound: u32) -> Vec<u8> {
    let body = [&b"\0image/png\0\x03\0"[..], picture].concat();
    let frame = [b"APIC", &size(body.len())[..], &[0, 0], &body].concat();
    file(tags, &frame, sound)
}

/// An MP3 file with these text frames. Files with different `sound` have different audio.
pub(crate) fn mp3(tags: &[(&str, &str)], lyrics: &str, sound: u32) -> Vec<u8> {
    let mut words = vec![];
    if !lyrics.is_empty() {
        words = [b"USLT", &size(lyrics.len() + 5)[..], &[0, 0, 0], b"eng\0", lyrics.as_bytes()].concat();
    }
    file(tags, &words, sound)
}

fn file(tags: &[(&str, &str)], further: &[u8], sound: u32) -> Vec<u8> {
    let text =
        |(id, value): &(&str, &str)| [id.as_bytes(), &size(value.len() + 1), &[0, 0, 3], value.as_bytes()].concat();
    let mut frames: Vec<u8> = tags.iter().flat_map(text).collect();
    frames.extend(further);
    let length = u32::try_from(frames.len()).unwrap();
    let synchsafe = [length >> 21 & 127, length >> 14 & 127, length >> 7 & 127, length & 127].map(|n| n as u8);
    let mut file = [b"ID3\x03\0\0", &synchsafe[..], &frames].concat();
    for _ in 0..40 {
        file.extend([0xff, 0xfb, 0x90, 0x64]);
        file.extend(sound.to_be_bytes());
        file.extend([0; 409]);
    }
    file
}

fn size(n: usize) -> [u8; 4] {
    u32::try_from(n).unwrap().to_be_bytes()
}
