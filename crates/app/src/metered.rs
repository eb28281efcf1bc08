//! A model whose calls are charged to a user. Tokens are reserved before the call, and the used tokens are charged
//! even if the reply was stopped, cut or timed out, or if its node died.

use std::sync::Arc;

use async_stream::stream;
use engine::{Block, Delta, Model, ModelError, Prompt, Usage, UserId, json_bytes};
use futures::{StreamExt, stream::BoxStream};
use store::{Purpose, Reservation, Store, TokenLimits};
use tokio_util::task::TaskTracker;
use tracing::error;

use crate::observe::BackgroundCalls;

/// Average bytes per token. Used only for replies that do not report their usage.
const BYTES_PER_TOKEN: u64 = 4;

/// Where tokens are counted.
#[derive(Clone)]
pub(crate) struct Meter {
    pub(crate) store: Store,
    pub(crate) limits: TokenLimits,
    /// Pending charges of dropped replies.
    pub(crate) spawned: TaskTracker,
    /// Receives replies that are not part of an answer.
    pub(crate) background_calls: BackgroundCalls,
}

impl Meter {
    pub(crate) fn new(
        store: &Store,
        limits: TokenLimits,
        spawned: &TaskTracker,
        background_calls: &BackgroundCalls,
    ) -> Self {
        Self { store: store.clone(), limits, spawned: spawned.clone(), background_calls: background_calls.clone() }
    }

    /// Runs database work in a separate task. A caller may have several replies in progress and not poll them while
    /// it writes; SQLite's only writer must not wait inside one of them.
    pub(crate) async fn apart<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, ModelError> {
        let done = self.spawned.spawn(work).await;
        done.map_err(|error| ModelError::Unavailable(format!("its tokens could not be counted: {error}")))
    }

    /// Charges the part of a reply that was received before its node died. The input of that reply stays reserved.
    pub(crate) async fn charge_cut(&self, owner: &UserId, n_bytes: u64) {
        if n_bytes == 0 || !self.limits.count(Purpose::Answer) {
            return;
        }
        let charged = self.store.reserve_tokens(owner, Purpose::Answer, n_bytes / BYTES_PER_TOKEN, self.limits).await;
        if let Err(error) = charged {
            error!("The tokens of a reply that was cut could not be charged: {error}");
        }
    }

    /// The model with charges to this user.
    pub(crate) fn model(&self, model: &Arc<dyn Model>, owner: &UserId, purpose: Purpose) -> Metered {
        Metered { model: model.clone(), meter: self.clone(), owner: owner.clone(), purpose }
    }
}

pub(crate) struct Metered {
    model: Arc<dyn Model>,
    meter: Meter,
    owner: UserId,
    purpose: Purpose,
}

impl Model for Metered {
    fn id(&self) -> &str {
        self.model.id()
    }

    fn inner(&self) -> Option<&dyn Model> {
        Some(&*self.model)
    }

    fn reply(&self, prompt: &Prompt) -> BoxStream<'static, Result<Delta, ModelError>> {
        if !self.meter.limits.count(self.purpose) {
            return self.model.reply(prompt);
        }
        let (model, meter, prompt) = (self.model.clone(), self.meter.clone(), prompt.clone());
        let (owner, purpose) = (self.owner.clone(), self.purpose);
        stream! {
            let mut charge = match Charge::reserve(meter, &owner, purpose, n_bytes(&prompt) / BYTES_PER_TOKEN).await {
                Ok(charge) => charge,
                Err(error) => {
                    yield Err(error);
                    return;
                }
            };
            let mut deltas = model.reply(&prompt);
            while let Some(delta) = deltas.next().await {
                if let Ok(delta) = &delta {
                    charge.see(delta).await;
                }
                yield delta;
            }
        }
        .boxed()
    }
}

/// The charge of one call. If it is dropped before the usage is known, it charges an estimate of the received part.
struct Charge {
    meter: Meter,
    /// `None` once it is settled.
    reservation: Option<Reservation>,
    /// The usage that the reply has reported so far.
    reported: Option<Usage>,
    n_input: u64,
    n_output_bytes: u64,
}

impl Charge {
    async fn reserve(meter: Meter, owner: &UserId, purpose: Purpose, n_input: u64) -> Result<Self, ModelError> {
        let (store, limits, owner) = (meter.store.clone(), meter.limits, owner.clone());
        let reserved = async move { store.reserve_tokens(&owner, purpose, n_input, limits).await };
        match meter.apart(reserved).await? {
            Ok(Ok(reservation)) => {
                Ok(Self { meter, reservation: Some(reservation), reported: None, n_input, n_output_bytes: 0 })
            }
            Ok(Err(limited)) => Err(ModelError::OverBudget(limited.message)),
            // Without a count the limit cannot be checked, so the call fails.
            Err(error) => {
                error!("The tokens of a user could not be counted: {error}");
                Err(ModelError::Unavailable("the tokens could not be counted".into()))
            }
        }
    }

    async fn see(&mut self, delta: &Delta) {
        match delta {
            Delta::Text(text) | Delta::Reasoning(text) => self.n_output_bytes += text.len() as u64,
            Delta::Reading { .. } => {}
            Delta::Progress { usage } => self.reported = Some(*usage),
            Delta::ToolCall { input, .. } => self.n_output_bytes += input.len() as u64,
            Delta::End { usage } => {
                if let Some(reservation) = self.reservation.take() {
                    let (store, n_used) = (self.meter.store.clone(), usage.input_tokens + usage.output_tokens);
                    // A panic of the task is already logged. A charge that was not settled stays reserved.
                    let _ = self.meter.apart(async move { settle(&store, &reservation, n_used).await }).await;
                }
            }
        }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        let Some(reservation) = self.reservation.take() else { return };
        // Providers report the input tokens at the start and the output tokens at the end, so the received output is
        // estimated.
        let reported = self.reported.unwrap_or_default();
        let n_seen = self.n_output_bytes.div_ceil(BYTES_PER_TOKEN);
        let n_input = if reported.input_tokens > 0 { reported.input_tokens } else { self.n_input };
        let n_used = n_input + reported.output_tokens.max(n_seen);
        let store = self.meter.store.clone();
        self.meter.spawned.spawn(async move { settle(&store, &reservation, n_used).await });
    }
}

/// A charge that cannot be settled stays reserved: the user pays the estimate.
async fn settle(store: &Store, reservation: &Reservation, n_used: u64) {
    if let Err(error) = store.settle_tokens(reservation, n_used).await {
        error!("The tokens of a reply could not be charged: {error}");
    }
}

fn n_bytes(prompt: &Prompt) -> u64 {
    let blocks = prompt.messages.iter().flat_map(|message| &message.content);
    let tools = prompt.tools.iter().map(|tool| tool.description.len() + json_bytes(&tool.input_schema));
    (prompt.system.len() + blocks.map(Block::n_bytes).sum::<usize>() + tools.sum::<usize>()) as u64
}
