//! One answer of a provider: from the first try to the last delta.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use async_stream::stream;
use bytes::Bytes;
use engine::{Delta, ModelError};
use futures::{StreamExt, stream::BoxStream};
use reqwest::Response;
use tokio::time::{sleep, timeout};

use super::{
    failure::Failure,
    http::{Endpoint, Http},
    sse::Frames,
};

/// Turns the frames of one vendor into deltas. Pure: it never waits.
pub(crate) trait Reader: Default + Send + 'static {
    /// One frame. Everything it adds goes to the end of `deltas`.
    fn read(&mut self, data: &[u8], deltas: &mut VecDeque<Delta>) -> Result<(), Failure>;

    /// The body is over. An answer that has not ended by now was cut.
    fn close(&mut self, deltas: &mut VecDeque<Delta>) -> Result<(), Failure>;
}

/// Why a reply ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Stop {
    /// The model said what it had to say.
    #[default]
    Complete,
    TooLong,
    Declined,
}

impl Stop {
    /// What a person should read under an answer that ends early; an answer that just stops explains nothing.
    pub(crate) fn remark(self, has_text: bool) -> Option<Delta> {
        let remark = match self {
            Stop::Complete => return None,
            Stop::TooLong => "(The answer ends here: it reached the model's length limit.)",
            Stop::Declined => "(The model declined to answer this.)",
        };
        Some(Delta::Text(if has_text { format!("\n\n{remark}") } else { remark.to_owned() }))
    }
}

/// Asks and gives out the answer as it comes. Dropping the stream closes the connection to the provider.
pub(crate) fn ask<R: Reader>(
    http: Http,
    endpoint: Arc<Endpoint>,
    body: Bytes,
) -> BoxStream<'static, Result<Delta, ModelError>> {
    let deltas = stream! {
        match Answer::<R>::open(&http, &endpoint, body).await {
            Ok((first, mut answer)) => {
                yield Ok(first);
                while let Some(delta) = answer.next().await {
                    yield delta.map_err(|failure| endpoint.redacted(failure.error));
                }
            }
            Err(error) => yield Err(endpoint.redacted(error)),
        }
    };
    deltas.boxed()
}

/// A body read to its end leaves its connection to the next call. Servers close it right after the last frame;
/// one that does not is not worth a person's waiting.
const LAST_BYTES: Duration = Duration::from_millis(20);

struct Answer<R> {
    response: Response,
    frames: Frames,
    reader: R,
    ready: VecDeque<Delta>,
    is_over: bool,
    failure: Option<Failure>,
}

impl<R: Reader> Answer<R> {
    // Tried again only until the first delta: after that someone has seen text, and would see it twice.
    async fn open(http: &Http, endpoint: &Endpoint, body: Bytes) -> Result<(Delta, Self), ModelError> {
        let mut n_tries = 0;
        loop {
            n_tries += 1;
            let failure = match Self::try_to_open(http, endpoint, body.clone()).await {
                Ok(opened) => return Ok(opened),
                Err(failure) => failure,
            };
            let Some(wait) = http.wait_after(n_tries, &failure.retry) else { return Err(failure.error) };
            tracing::info!(n_tries, "Asking the model again: {}", endpoint.redacted(failure.error));
            sleep(wait).await;
        }
    }

    async fn try_to_open(http: &Http, endpoint: &Endpoint, body: Bytes) -> Result<(Delta, Self), Failure> {
        let mut answer = Self {
            response: http.post(endpoint, body).await?,
            frames: Frames::default(),
            reader: R::default(),
            ready: VecDeque::new(),
            is_over: false,
            failure: None,
        };
        match answer.next().await {
            Some(first) => Ok((first?, answer)),
            None => Err(Failure::passing("its stream was empty")),
        }
    }

    async fn next(&mut self) -> Option<Result<Delta, Failure>> {
        while self.ready.is_empty() && !self.is_over {
            self.read_on().await;
        }
        let Some(delta) = self.ready.pop_front() else { return self.failure.take().map(Err) };
        if matches!(delta, Delta::End { .. }) {
            self.finish().await;
        }
        Some(Ok(delta))
    }

    async fn read_on(&mut self) {
        let read = match self.response.chunk().await {
            Ok(Some(bytes)) => self.read(&bytes),
            Ok(None) => {
                self.is_over = true;
                self.reader.close(&mut self.ready)
            }
            // Whatever broke, a reply that was complete stays complete.
            Err(error) => self.reader.close(&mut self.ready).map_err(|_| Failure::network(error)),
        };
        if let Err(failure) = read {
            // Kept until what was said before it has been given out.
            self.is_over = true;
            self.failure = Some(failure);
        } else if self.ready.is_empty() && !self.is_over {
            // Pings, thinking and pieces of a call say nothing, but the provider is alive: an empty text tells
            // whoever counts the silence.
            self.ready.push_back(Delta::Text(String::new()));
        }
    }

    fn read(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.frames.push(bytes);
        while let Some(data) = self.frames.next().map_err(|error| Failure::passing(error.to_string()))? {
            self.reader.read(&data, &mut self.ready)?;
        }
        Ok(())
    }

    /// Nothing counts after the end.
    async fn finish(&mut self) {
        self.ready.clear();
        self.failure = None;
        if !self.is_over {
            self.is_over = true;
            let rest = async { while let Ok(Some(_)) = self.response.chunk().await {} };
            // Late or not, the answer is whole.
            let _ = timeout(LAST_BYTES, rest).await;
        }
    }
}
