//! The time limit of a request body: a client that sends nothing, or sends too slowly, is disconnected.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::time::{Instant, Sleep};

/// A body that did not arrive in time.
#[derive(Debug, thiserror::Error)]
#[error("the body did not arrive in time")]
pub(crate) struct TooSlow;

/// The time limit of a body: an initial allowance, and more for the bytes that have arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    pub(crate) grace: Duration,
    pub(crate) bytes_per_second: u32,
}

/// A body whose deadline moves with the received bytes.
pub(crate) struct Paced {
    body: Incoming,
    pace: Pace,
    started: Instant,
    n_bytes: u64,
    deadline: Pin<Box<Sleep>>,
    was_too_slow: Arc<AtomicBool>,
}

impl Paced {
    /// The second value becomes true if the body was cut.
    pub(crate) fn new(body: Incoming, pace: Pace) -> (Self, Arc<AtomicBool>) {
        let (started, was_too_slow) = (Instant::now(), Arc::new(AtomicBool::new(false)));
        let deadline = Box::pin(tokio::time::sleep_until(started + pace.grace));
        (Self { body, pace, started, n_bytes: 0, deadline, was_too_slow: was_too_slow.clone() }, was_too_slow)
    }
}

impl Body for Paced {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        match Pin::new(&mut this.body).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                this.n_bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
                let earned = Duration::from_secs_f64(this.n_bytes as f64 / f64::from(this.pace.bytes_per_second));
                this.deadline.as_mut().reset(this.started + this.pace.grace + earned);
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(ended) => Poll::Ready(ended.map(|frame| frame.map_err(axum::Error::new))),
            Poll::Pending => match this.deadline.as_mut().poll(cx) {
                Poll::Ready(()) => {
                    this.was_too_slow.store(true, Ordering::Relaxed);
                    Poll::Ready(Some(Err(axum::Error::new(TooSlow))))
                }
                Poll::Pending => Poll::Pending,
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
