//! One reply of a provider, from the first attempt to the last delta.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use async_stream::stream;
use bytes::Bytes;
use engine::{Delta, ModelError, Prompt, ToolSpec};
use futures::{StreamExt, stream::BoxStream};
use reqwest::Response;
use tokio::time::{sleep, timeout};

use super::{
    failure::{Failure, Retry},
    filter::Filter,
    http::{Endpoint, Http, is_json},
    quirks::{self, Form, Learned},
    sse::{FrameTooLong, Frames},
};

/// Turns the frames of one vendor into deltas. Implementations are pure and never wait.
pub(crate) trait Reader: Default + Send + 'static {
    /// Reads one frame and appends its deltas to `deltas`.
    fn read(&mut self, data: &[u8], deltas: &mut VecDeque<Delta>) -> Result<(), Failure>;

    /// Reads a complete reply from one JSON document.
    fn read_whole(&mut self, body: &[u8], deltas: &mut VecDeque<Delta>) -> Result<(), Failure>;

    /// Called at the end of the body. A reply that has not ended by then was cut, except with `ends_unmarked`: such a
    /// server never marks the end.
    fn close(&mut self, ends_unmarked: bool, deltas: &mut VecDeque<Delta>) -> Result<(), Failure>;

    /// Why the reply has ended.
    fn stop(&self) -> Stop;
}

/// Why a reply ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Stop {
    /// The model finished its reply.
    #[default]
    Complete,
    TooLong,
    Declined,
}

impl Stop {
    /// A remark for the user below a reply that ended early, so that the user knows why.
    pub(crate) fn remark(self, has_text: bool) -> Option<Delta> {
        let remark = match self {
            Stop::Complete => return None,
            Stop::TooLong => "(The answer ends here: it reached the model's length limit.)",
            Stop::Declined => "(The model declined to answer this.)",
        };
        Some(Delta::Text(if has_text { format!("\n\n{remark}") } else { remark.to_owned() }))
    }
}

/// One request to a provider, in every form that its server may accept.
pub(crate) struct Question {
    pub(crate) http: Http,
    pub(crate) endpoint: Arc<Endpoint>,
    pub(crate) learned: Arc<Learned>,
    /// The request body in a given form.
    pub(crate) body: Box<dyn Fn(Form) -> Bytes + Send + Sync>,
    /// The tools that the model may call in this reply.
    pub(crate) tools: Arc<[ToolSpec]>,
    pub(crate) n_prompt_chars: usize,
}

/// Sends the request and streams the reply. Dropping the stream closes the connection to the provider.
///
/// Retries stop after the first visible delta, because the user would see the same text twice.
pub(crate) fn ask<R: Reader>(question: Question) -> BoxStream<'static, Result<Delta, ModelError>> {
    let deltas = stream! {
        let mut tries = Tries::default();
        loop {
            let mut has_said = false;
            let failure = match Answer::<R>::open(&question).await {
                Err(failure) => failure,
                Ok(mut answer) => loop {
                    match answer.next().await {
                        Some(Ok(Delta::End { .. })) if answer.filter.is_empty() => {
                            break Failure::new(ModelError::EmptyReply, Retry::Once);
                        }
                        Some(Ok(delta)) => {
                            has_said |= !is_sign_of_life(&delta);
                            let is_end = matches!(delta, Delta::End { .. });
                            yield Ok(delta);
                            if is_end {
                                return;
                            }
                        }
                        Some(Err(failure)) => break failure,
                        None => break Failure::passing("its stream was empty"),
                    }
                }
            };
            match tries.next(&question, failure, has_said) {
                Ok(wait) => sleep(wait).await,
                Err(error) => {
                    yield Err(error);
                    return;
                }
            }
        }
    };
    deltas.boxed()
}

/// The tools whose calls may be written as text. They are included when no call is allowed, because a call must never
/// be shown as the answer. The vendors' own models call tools natively, and users ask them about such spellings, so
/// for these the list is empty.
pub(crate) fn callable(prompt: &Prompt, is_the_vendor: bool) -> Arc<[ToolSpec]> {
    if is_the_vendor { Arc::default() } else { prompt.tools.clone() }
}

/// Deltas that users do not see.
fn is_sign_of_life(delta: &Delta) -> bool {
    match delta {
        Delta::Text(text) => text.is_empty(),
        Delta::Progress { .. } | Delta::Reading { .. } | Delta::Reasoning(_) => true,
        Delta::ToolCall { .. } | Delta::End { .. } => false,
    }
}

#[derive(Default)]
struct Tries {
    n_tries: u32,
    n_forms: u32,
}

/// There are fewer rules than this, so more forms cannot help.
const MAX_FORMS: u32 = 6;

impl Tries {
    /// How long to wait before the next attempt, possibly in another form; or the final error.
    fn next(&mut self, question: &Question, failure: Failure, has_said: bool) -> Result<Duration, ModelError> {
        let Question { http, endpoint, learned, .. } = question;
        self.n_tries += 1;
        if let ModelError::ContextOverflow { limit: Some(limit), .. } = failure.error {
            learned.update(|facts| facts.context_tokens = Some(limit));
        }
        if has_said {
            return Err(endpoint.redacted(failure.error));
        }
        if let Some(form) = quirks::adapted(learned.facts().form, &failure).filter(|_| self.n_forms < MAX_FORMS) {
            self.n_forms += 1;
            self.n_tries -= 1;
            tracing::info!(?form, "Retrying the model request in another form: {}", endpoint.redacted(failure.error));
            learned.update(|facts| facts.form = form);
            return Ok(Duration::ZERO);
        }
        let Some(wait) = http.wait_after(self.n_tries, &failure.retry) else {
            return Err(endpoint.redacted(failure.error));
        };
        tracing::info!(self.n_tries, "Retrying the model request: {}", endpoint.redacted(failure.error));
        Ok(wait)
    }
}

/// The connection can be reused only after the body was read to its end. Servers end the body right after the last
/// frame. The wait is short because the user waits too.
const LAST_BYTES: Duration = Duration::from_millis(20);
/// A JSON document longer than this is not a reply.
const MAX_WHOLE_BYTES: usize = 4 << 20;

struct Answer<R> {
    /// `None` once the body was read, or if it came as one document.
    response: Option<Response>,
    frames: Frames,
    reader: R,
    filter: Filter,
    learned: Arc<Learned>,
    /// Deltas from the reader, not yet filtered.
    read: VecDeque<Delta>,
    ready: VecDeque<Delta>,
    failure: Option<Failure>,
}

impl<R: Reader> Answer<R> {
    async fn open(question: &Question) -> Result<Self, Failure> {
        let Question { http, endpoint, learned, body, tools, n_prompt_chars } = question;
        let response = http.post(endpoint, body(learned.facts().form)).await?;
        let mut answer = Self {
            response: None,
            frames: Frames::default(),
            reader: R::default(),
            filter: Filter::new(tools.clone(), learned.clone(), *n_prompt_chars),
            learned: learned.clone(),
            read: VecDeque::new(),
            ready: VecDeque::new(),
            failure: None,
        };
        if is_json(&response) {
            let body = http_client::read_at_most(response, MAX_WHOLE_BYTES).await.ok().flatten();
            let body = body.ok_or_else(|| Failure::passing("its answer broke off"))?;
            answer.reader.read_whole(&body, &mut answer.read)?;
            learned.update(|facts| facts.answered_whole = true);
            answer.filter_what_was_read();
        } else {
            answer.response = Some(response);
        }
        Ok(answer)
    }

    async fn next(&mut self) -> Option<Result<Delta, Failure>> {
        while self.ready.is_empty() && self.response.is_some() {
            self.read_on().await;
        }
        let Some(delta) = self.ready.pop_front() else { return self.failure.take().map(Err) };
        if matches!(delta, Delta::End { .. }) {
            self.finish().await;
        }
        Some(Ok(delta))
    }

    async fn read_on(&mut self) {
        let Some(response) = &mut self.response else { return };
        let ends_unmarked = self.learned.facts().ends_unmarked;
        let mut is_over = false;
        let read = match response.chunk().await {
            Ok(Some(bytes)) => self.read(&bytes),
            Ok(None) => {
                is_over = true;
                self.reader.close(ends_unmarked, &mut self.read)
            }
            // If the reply was already complete, a broken connection after it is not an error.
            Err(error) => self.reader.close(false, &mut self.read).map_err(|_| Failure::network(error)),
        };
        self.filter_what_was_read();
        if let Err(failure) = read {
            // The failure is reported after the deltas that came before it.
            self.response = None;
            self.filter.break_off(&mut self.ready);
            self.failure = Some(failure);
        } else if is_over {
            self.response = None;
        } else if self.ready.is_empty() {
            // Pings and parts of a call produce no delta. An empty text resets the timeout for silent providers.
            self.ready.push_back(Delta::Text(String::new()));
        }
    }

    fn read(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.frames.push(bytes);
        let too_long = |error: FrameTooLong| Failure::new(ModelError::Unavailable(error.to_string()), Retry::No);
        while let Some(data) = self.frames.next().map_err(too_long)? {
            self.reader.read(&data, &mut self.read)?;
        }
        Ok(())
    }

    fn filter_what_was_read(&mut self) {
        for delta in self.read.drain(..) {
            self.filter.push(delta, self.reader.stop(), &mut self.ready);
        }
    }

    /// Ignores everything after the end of the reply.
    async fn finish(&mut self) {
        self.ready.clear();
        self.failure = None;
        if let Some(mut response) = self.response.take() {
            let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
            // The reply is complete, so a timeout here does not matter.
            let _ = timeout(LAST_BYTES, rest).await;
        }
    }
}
