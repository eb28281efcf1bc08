//! Server-sent events: splits the bytes of a body into the data of each frame.

use std::{borrow::Cow, ops::Range};

/// A longer frame is not a model's answer. The limit keeps a faulty server from filling the memory.
const MAX_FRAME_BYTES: usize = 1 << 20;

/// Collects bytes as they arrive and returns complete frames, independent of where the bytes were split.
#[derive(Default)]
pub(crate) struct Frames {
    buffer: Vec<u8>,
    /// Start of the current frame; everything before it was returned.
    frame_start: usize,
    /// Start of the current line.
    line_start: usize,
    /// How far the search for the end of the line has come.
    scanned: usize,
    /// The data lines of the current frame.
    data: Vec<Range<usize>>,
    /// The last line ended with a carriage return; a line feed that follows belongs to the same line end.
    after_cr: bool,
}

#[derive(Debug, PartialEq, thiserror::Error)]
#[error("it sent a frame of more than 1 MiB")]
pub(crate) struct FrameTooLong;

impl Frames {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.drop_read_bytes();
        self.buffer.extend_from_slice(bytes);
    }

    /// The data of the next complete frame. Event names and ids are ignored: both providers repeat the name in the
    /// data, and frames without data (comments, keep-alives) carry no information.
    pub(crate) fn next(&mut self) -> Result<Option<Cow<'_, [u8]>>, FrameTooLong> {
        while let Some(line) = self.next_line() {
            if !line.is_empty() {
                self.keep_data(line);
                continue;
            }
            self.frame_start = self.line_start;
            if !self.data.is_empty() {
                return Ok(Some(self.take_data()));
            }
        }
        if self.buffer.len() - self.frame_start > MAX_FRAME_BYTES {
            return Err(FrameTooLong);
        }
        Ok(None)
    }

    fn next_line(&mut self) -> Option<Range<usize>> {
        if self.after_cr && self.line_start < self.buffer.len() {
            self.line_start += usize::from(self.buffer[self.line_start] == b'\n');
            self.scanned = self.scanned.max(self.line_start);
            self.after_cr = false;
        }
        let rest = &self.buffer[self.scanned..];
        let Some(n_before_end) = rest.iter().position(|&byte| byte == b'\n' || byte == b'\r') else {
            self.scanned = self.buffer.len();
            return None;
        };
        let end = self.scanned + n_before_end;
        let line = self.line_start..end;
        self.after_cr = self.buffer[end] == b'\r';
        self.line_start = end + 1;
        self.scanned = self.line_start;
        Some(line)
    }

    fn keep_data(&mut self, line: Range<usize>) {
        let Some(value) = self.buffer[line.clone()].strip_prefix(b"data") else { return };
        match value {
            [] => self.data.push(line.end..line.end),
            [b':', b' ', ..] => self.data.push(line.start + 6..line.end),
            [b':', ..] => self.data.push(line.start + 5..line.end),
            _ => {}
        }
    }

    fn take_data(&mut self) -> Cow<'_, [u8]> {
        let mut lines = self.data.drain(..);
        match (lines.next(), lines.len()) {
            (Some(only), 0) => Cow::Borrowed(&self.buffer[only]),
            (first, _) => {
                let lines: Vec<&[u8]> = first.into_iter().chain(lines).map(|line| &self.buffer[line]).collect();
                Cow::Owned(lines.join(&b'\n'))
            }
        }
    }

    fn drop_read_bytes(&mut self) {
        let n_read = self.frame_start;
        self.buffer.drain(..n_read);
        self.frame_start = 0;
        self.line_start -= n_read;
        self.scanned -= n_read;
        for line in &mut self.data {
            *line = line.start - n_read..line.end - n_read;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(chunks: &[&[u8]]) -> Result<Vec<String>, FrameTooLong> {
        let mut frames = Frames::default();
        let mut read = Vec::new();
        for chunk in chunks {
            frames.push(chunk);
            while let Some(data) = frames.next()? {
                read.push(String::from_utf8(data.into_owned()).expect("the test sends UTF-8"));
            }
        }
        Ok(read)
    }

    #[test]
    fn frames_are_read_with_every_kind_of_line_end() {
        let cases: &[(&str, &[&str])] = &[
            ("data: a\n\ndata: b\n\n", &["a", "b"]),
            ("data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]),
            ("data: one\r\ndata: two\r\n\r\n", &["one\ntwo"]),
            ("data: a\r\rdata: b\r\r", &["a", "b"]),
            ("event: x\nid: 7\ndata:a\n\n", &["a"]),
            ("data: one\ndata: two\ndata\ndata: four\n\n", &["one\ntwo\n\nfour"]),
            (": a comment\n\n\n\ndata: a\n\n: another\n\n", &["a"]),
            ("database: no\ndata:  two spaces\n\n", &[" two spaces"]),
            ("data: never finished\n", &[]),
        ];
        for (sent, expected) in cases {
            assert_eq!(read(&[sent.as_bytes()]).expect("short"), *expected, "{sent:?}");
        }
    }

    #[test]
    fn frames_are_the_same_wherever_the_bytes_are_split() {
        let sent = "event: a\r\ndata: grün 🎵\r\n\r\n: ping\n\ndata: one\rdata: zwölf\r\rdata: end\n\n".as_bytes();
        let whole = read(&[sent]).expect("short");
        assert_eq!(whole, ["grün 🎵", "one\nzwölf", "end"]);
        for first in 0..=sent.len() {
            for second in first..=sent.len() {
                let chunks = [&sent[..first], &sent[first..second], &sent[second..]];
                assert_eq!(read(&chunks).expect("short"), whole, "split at {first} and {second}");
            }
        }
    }

    #[test]
    fn a_frame_that_never_ends_is_refused() {
        let chunk = [b'x'; 1 << 16];
        let endless = vec![&chunk[..]; 17];
        assert_eq!(read(&endless), Err(FrameTooLong));
        let many_small = "data: x\n\n".repeat(1 << 18);
        assert_eq!(read(&[many_small.as_bytes()]).expect("each frame is short").len(), 1 << 18);
    }
}
