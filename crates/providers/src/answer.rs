//! One answer of a provider: from the first try to the last delta.

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
    http::{Endpoint, Http, is_json, read_up_to},
    quirks::{self, Form, Learned},
    sse::{FrameTooLong, Frames},
};

/// Turns the frames of one vendor into deltas. Pure: it never waits.
pub(crate) trait Reader: Default + Send + 'static {
    /// One frame. Everything it adds goes to the end of `deltas`.
    fn read(&mut self, data: &[u8], deltas: &mut VecDeque<Delta>) -> Result<(), Failure>;

    /// A whole reply in one JSON document.
    fn read_whole(&mut self, body: &[u8], deltas: &mut VecDeque<Delta>) -> Result<(), Failure>;

    /// The body is over. An answer that has not ended by now was cut, unless its server never says that it ends.
    fn close(&mut self, ends_unmarked: bool, deltas: &mut VecDeque<Delta>) -> Result<(), Failure>;

    /// Why the reply has ended.
    fn stop(&self) -> Stop;
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

/// One question to a provider, in every form its server may want.
pub(crate) struct Question {
    pub(crate) http: Http,
    pub(crate) endpoint: Arc<Endpoint>,
    pub(crate) learned: Arc<Learned>,
    /// The body in a form.
    pub(crate) body: Box<dyn Fn(Form) -> Bytes + Send + Sync>,
    /// What the model may call now.
    pub(crate) tools: Arc<[ToolSpec]>,
    pub(crate) n_prompt_chars: usize,
}

/// Asks and gives out the answer as it comes. Dropping the stream closes the connection to the provider.
///
/// Tried again only until something was said: after that someone has seen text, and would see it twice.
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

/// The tools whose calls may come as text, also when none may be made now: a call is never the answer. The vendors' own
/// models call natively, and are asked about such spellings.
pub(crate) fn callable(prompt: &Prompt, is_the_vendor: bool) -> Arc<[ToolSpec]> {
    if is_the_vendor { Arc::default() } else { prompt.tools.clone() }
}

/// Deltas that no one sees.
fn is_sign_of_life(delta: &Delta) -> bool {
    match delta {
        Delta::Text(text) => text.is_empty(),
        Delta::Progress { .. } | Delta::Reasoning(_) => true,
        Delta::ToolCall { .. } | Delta::End { .. } => false,
    }
}

#[derive(Default)]
struct Tries {
    n_tries: u32,
    n_forms: u32,
}

/// More forms than there are rules cannot help.
const MAX_FORMS: u32 = 6;

impl Tries {
    /// How long to wait before asking again, perhaps in another form; or the error that remains.
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
            tracing::info!(?form, "Asking the model in another form: {}", endpoint.redacted(failure.error));
            learned.update(|facts| facts.form = form);
            return Ok(Duration::ZERO);
        }
        let Some(wait) = http.wait_after(self.n_tries, &failure.retry) else {
            return Err(endpoint.redacted(failure.error));
        };
        tracing::info!(self.n_tries, "Asking the model again: {}", endpoint.redacted(failure.error));
        Ok(wait)
    }
}

/// A body read to its end leaves its connection to the next call. Servers close it right after the last frame;
/// one that does not is not worth a person's waiting.
const LAST_BYTES: Duration = Duration::from_millis(20);
/// A reply in one piece that is longer than this is none.
const MAX_WHOLE_BYTES: usize = 4 << 20;

struct Answer<R> {
    /// None once the body was read, or when it came as one document.
    response: Option<Response>,
    frames: Frames,
    reader: R,
    filter: Filter,
    learned: Arc<Learned>,
    /// From the reader, not yet filtered.
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
            let body = read_up_to(response, MAX_WHOLE_BYTES).await;
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
            // Whatever broke, a reply that was complete stays complete.
            Err(error) => self.reader.close(false, &mut self.read).map_err(|_| Failure::network(error)),
        };
        self.filter_what_was_read();
        if let Err(failure) = read {
            // Kept until what was said before it has been given out.
            self.response = None;
            self.filter.break_off(&mut self.ready);
            self.failure = Some(failure);
        } else if is_over {
            self.response = None;
        } else if self.ready.is_empty() {
            // Pings and pieces of a call say nothing, but the provider is alive: an empty text tells the timer that counts
            // the silence.
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

    /// Nothing counts after the end.
    async fn finish(&mut self) {
        self.ready.clear();
        self.failure = None;
        if let Some(mut response) = self.response.take() {
            let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
            // Late or not, the answer is whole.
            let _ = timeout(LAST_BYTES, rest).await;
        }
    }
}
