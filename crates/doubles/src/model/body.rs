//! The text of a reply in pieces, and a body that sends each piece at its time.

use std::{io, time::Duration};

use async_stream::stream;
use axum::body::Body;
use tokio::{
    sync::watch,
    time::{Instant, sleep, sleep_until},
};

use crate::script::{Pieces, Step};

/// From the last frame of a stream that breaks off to its break.
const BREAK_AFTER: Duration = Duration::from_millis(50);

/// The number of letters in a piece of a text without a pace, like a token.
const LETTERS: usize = 4;

/// A part of the response.
pub(super) struct Frame {
    pub(super) data: String,
    /// Whether it is a piece of the text, which waits for the pace.
    pub(super) is_piece: bool,
}

#[derive(Clone, Copy)]
pub(super) struct Timing {
    pace: Duration,
    silence: Duration,
    is_steady: bool,
}

/// The pieces of the text of a step that are still to be sent, and when.
pub(super) struct Text {
    pub(super) pieces: Vec<String>,
    pub(super) timing: Timing,
}

impl Text {
    /// `said` is the part that was sent before, `n` the number of this request, and `pace` is in place of the script's.
    /// `None` if the text does not begin with `said`.
    pub(super) fn of(step: &Step, said: Option<&str>, n: usize, pace: Option<Duration>) -> Option<Self> {
        let rest = step.text.strip_prefix(said.unwrap_or_default())?;
        let way = step.pieces.get(n % step.pieces.len().max(1));
        let scripted = way.and_then(|way| way.pace_ms).unwrap_or(step.pace_ms);
        let pace = pace.unwrap_or(Duration::from_secs_f64(scripted.max(0.0) / 1000.0));
        let silence = if said.is_none_or(str::is_empty) { step.silence_ms } else { 0 };
        let pieces = match way {
            Some(Pieces { letters: Some(letters), .. }) => in_letters(rest, *letters),
            None if pace.is_zero() => in_letters(rest, LETTERS),
            _ => rest.split_inclusive(char::is_whitespace).map(str::to_owned).collect(),
        };
        let timing = Timing { pace, silence: Duration::from_millis(silence), is_steady: step.steady };
        Some(Self { pieces, timing })
    }
}

/// Pieces of a few characters, like tokens.
pub(super) fn in_tokens(text: &str) -> Vec<String> {
    in_letters(text, LETTERS)
}

fn in_letters(text: &str, n: usize) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(n.max(1)).map(|piece| piece.iter().collect()).collect()
}

impl Timing {
    /// Whether everything is sent at once.
    pub(super) fn is_at_once(self) -> bool {
        self.pace.is_zero() && self.silence.is_zero()
    }
}

/// The body of a stream. `open` is dropped when the body is.
pub(super) fn body(frames: Vec<Frame>, timing: Timing, breaks: bool, open: Open) -> Body {
    Body::from_stream(stream! {
        let _open = open;
        if timing.is_at_once() {
            yield Ok(frames.into_iter().map(|frame| frame.data).collect::<String>());
        } else {
            let mut due = Instant::now();
            for frame in frames {
                if frame.is_piece {
                    due = if timing.is_steady { due } else { Instant::now() } + timing.pace;
                    sleep_until(due).await;
                }
                yield Ok(frame.data);
                if frame.is_piece && !timing.silence.is_zero() {
                    sleep(timing.silence).await;
                }
            }
        }
        if breaks {
            // The server sends its frames before it waits. Without the wait, a broken body could drop them.
            sleep(BREAK_AFTER).await;
            yield Err(io::Error::other("the script breaks the stream off"));
        }
    })
}

/// Counts a request as open until its response is dropped.
pub(super) struct Open(watch::Sender<usize>);

impl Open {
    pub(super) fn new(n_open: &watch::Sender<usize>) -> Self {
        n_open.send_modify(|n| *n += 1);
        Self(n_open.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.send_modify(|n| *n -= 1);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn pieces(step: &Step, said: Option<&str>, n: usize) -> (Vec<String>, Duration) {
        let text = Text::of(step, said, n, None).expect("the text begins with what was said");
        (text.pieces, text.timing.pace)
    }

    #[test]
    fn a_text_is_divided_as_the_script_says_in_turn() {
        let plain = Step::says("one two three");
        assert_eq!(pieces(&plain, None, 0).0, ["one ", "two ", "thre", "e"]);
        let paced = Step { pace_ms: 12.0, ..plain };
        assert_eq!(pieces(&paced, None, 7).0, ["one ", "two ", "three"]);
        let by_letters = Pieces { letters: Some(5), pace_ms: Some(4.0) };
        let both = Step { pieces: vec![Pieces::default(), by_letters], ..paced };
        assert_eq!(
            pieces(&both, None, 2),
            (vec!["one ".into(), "two ".into(), "three".into()], Duration::from_millis(12))
        );
        assert_eq!(
            pieces(&both, None, 3),
            (vec!["one t".into(), "wo th".into(), "ree".into()], Duration::from_millis(4))
        );
    }

    #[test]
    fn a_reply_is_continued_after_what_was_said_without_silence() {
        let step = Step { pace_ms: 12.0, silence_ms: 9, ..Step::says("one two three") };
        let rest = Text::of(&step, Some("one t"), 0, None).expect("a beginning");
        assert_eq!((rest.pieces, rest.timing.silence), (vec!["wo ".into(), "three".into()], Duration::ZERO));
        assert_eq!(pieces(&step, Some("one two three"), 0).0, Vec::<String>::new());
        assert!(Text::of(&step, Some("two"), 0, None).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_steady_pace_makes_up_for_lost_time_and_another_does_not() {
        for (is_steady, expected) in [(true, 30), (false, 45)] {
            let timing = Timing { pace: Duration::from_millis(10), silence: Duration::ZERO, is_steady };
            let frames = (0..3).map(|n| Frame { data: n.to_string(), is_piece: true }).collect();
            let began = Instant::now();
            let mut stream = body(frames, timing, false, Open::new(&watch::Sender::new(0))).into_data_stream();
            let mut n = 0;
            while let Some(Ok(_)) = futures::StreamExt::next(&mut stream).await {
                n += 1;
                if n == 1 {
                    // The reader is late.
                    sleep(Duration::from_millis(15)).await;
                }
            }
            assert_eq!((n, began.elapsed()), (3, Duration::from_millis(expected)), "{is_steady}");
        }
    }
}
