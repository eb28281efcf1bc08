//! Exports spans in the background, from a bounded queue, each span once. An unavailable collector causes lost spans,
//! but never delays a turn.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::Context;
use reqwest::{Client, StatusCode, header};
use tokio::{
    sync::mpsc,
    time::{Instant, timeout_at},
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use super::{
    EndedCall, EndedTurn, Metrics,
    background_calls::BackgroundCall,
    otlp,
    spans::{self, Span},
};
use crate::{config::TraceConfig, turns::pause};
use http_client::client_builder;

/// Queue length. A queued turn is its event log, which may be shared with readers.
const QUEUE: usize = 512;
/// How many turns and calls are sent in one request.
const BATCH: usize = 64;
/// How long the first item of a batch waits for others.
const LINGER: Duration = Duration::from_millis(500);
const TIMEOUT: Duration = Duration::from_secs(10);
/// Delays before the retries. After the last one, the batch is dropped.
const PAUSES: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(2)];
/// Time to send the rest of the queue when the process ends.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(3);

/// A finished turn, call or other model reply, for every collector.
#[derive(Clone)]
pub(super) enum Ended {
    Turn(Arc<EndedTurn>),
    Call(Arc<EndedCall>),
    BackgroundCall(Arc<BackgroundCall>),
}

pub(super) struct Traces {
    sender: mpsc::Sender<Ended>,
    /// `Some` until the background task starts.
    exporter: Mutex<Option<Exporter>>,
    metrics: Arc<Metrics>,
}

impl Traces {
    pub(super) fn new(settings: &TraceConfig, node: &str, metrics: Arc<Metrics>) -> anyhow::Result<Self> {
        let (sender, queue) = mpsc::channel(QUEUE);
        let exporter = Exporter {
            queue,
            client: client_builder().timeout(TIMEOUT).build()?,
            settings: settings.clone(),
            node: node.to_owned(),
            metrics: metrics.clone(),
        };
        Ok(Self { sender, exporter: Mutex::new(Some(exporter)), metrics })
    }

    /// Never waits: if the queue is full, the item is dropped and counted.
    pub(super) fn offer(&self, ended: Ended) {
        if let Err(mpsc::error::TrySendError::Full(ended) | mpsc::error::TrySendError::Closed(ended)) =
            self.sender.try_send(ended)
        {
            self.metrics.spans_dropped("queue_full", n_spans(&ended));
        }
    }

    pub(super) fn n_waiting(&self) -> usize {
        self.sender.max_capacity() - self.sender.capacity()
    }

    pub(super) fn work(&self, ending: CancellationToken) -> Option<impl Future<Output = ()> + Send + 'static> {
        let exporter = self.exporter.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(exporter.run(ending))
    }
}

fn n_spans(ended: &Ended) -> usize {
    match ended {
        Ended::Turn(turn) => {
            let opens = |event: &&Arc<engine::Event>| {
                matches!(event.kind, engine::Kind::StepStarted { .. } | engine::Kind::ToolStarted { .. })
            };
            1 + turn.events.iter().filter(opens).count() + turn.background_calls.len()
        }
        Ended::Call(call) => 1 + call.background_calls.len(),
        Ended::BackgroundCall(_) => 1,
    }
}

struct Exporter {
    queue: mpsc::Receiver<Ended>,
    client: Client,
    settings: TraceConfig,
    node: String,
    metrics: Arc<Metrics>,
}

impl Exporter {
    async fn run(mut self, ending: CancellationToken) {
        while !ending.is_cancelled() {
            let batch = self.next_batch(&ending).await;
            self.export(batch, &ending).await;
        }
        self.queue.close();
        let deadline = Instant::now() + DRAIN_TIMEOUT;
        loop {
            let mut batch = Vec::new();
            while batch.len() < BATCH
                && let Ok(ended) = self.queue.try_recv()
            {
                batch.push(ended);
            }
            if batch.is_empty() {
                return;
            }
            let n = batch.iter().map(n_spans).sum();
            if timeout_at(deadline, self.export(batch, &ending)).await.is_err() {
                self.metrics.spans_dropped("shutdown", n);
            }
        }
    }

    /// Waits for an item, then a short time for more.
    async fn next_batch(&mut self, ending: &CancellationToken) -> Vec<Ended> {
        let mut batch = Vec::new();
        tokio::select! {
            _ = self.queue.recv_many(&mut batch, BATCH) => {}
            () = ending.cancelled() => return batch,
        }
        let deadline = Instant::now() + LINGER;
        while batch.len() < BATCH {
            tokio::select! {
                more = timeout_at(deadline, self.queue.recv()) => match more {
                    Ok(Some(ended)) => batch.push(ended),
                    Ok(None) | Err(_) => break,
                },
                () = ending.cancelled() => break,
            }
        }
        batch
    }

    async fn export(&self, batch: Vec<Ended>, ending: &CancellationToken) {
        if batch.is_empty() {
            return;
        }
        let content = self.settings.content;
        let spans: Vec<Span> = batch
            .iter()
            .flat_map(|ended| match ended {
                Ended::Turn(turn) => spans::of_turn(turn, content),
                Ended::Call(call) => spans::of_call(call, content),
                Ended::BackgroundCall(background) => vec![spans::of_lone_background_call(background, content)],
            })
            .collect();
        drop(batch);
        let n_spans = spans.len();
        let body = bytes::Bytes::from(otlp::encode(&self.node, spans));
        match self.send_with_retries(&body, ending).await {
            Ok(()) => self.metrics.spans_exported(n_spans),
            Err(why) => {
                warn!("{n_spans} spans were dropped: the collector {why}");
                self.metrics.spans_dropped(why.label(), n_spans);
            }
        }
    }

    async fn send_with_retries(&self, body: &bytes::Bytes, ending: &CancellationToken) -> Result<(), Refusal> {
        let mut sent = send(&self.client, &self.settings, body.clone()).await;
        for time in PAUSES {
            match &sent {
                Err(refusal) if refusal.may_pass() && pause(time, ending).await => {
                    debug!("The collector {refusal}, trying again");
                    sent = send(&self.client, &self.settings, body.clone()).await;
                }
                _ => break,
            }
        }
        sent
    }
}

/// Why the collector did not accept spans.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    /// The request did not reach the collector.
    #[error("cannot be reached: {0}")]
    Away(reqwest::Error),
    /// The collector may have accepted them: a retry could export every span twice.
    #[error("did not answer: {0}")]
    Silent(reqwest::Error),
    #[error("answered {0}")]
    Status(StatusCode),
}

impl Refusal {
    /// The statuses that OTLP lists as retryable. The operator must fix any other error.
    fn may_pass(&self) -> bool {
        match self {
            Self::Away(_) => true,
            Self::Silent(_) => false,
            Self::Status(status) => matches!(status.as_u16(), 429 | 502 | 503 | 504),
        }
    }

    fn label(&self) -> &'static str {
        match self {
            Self::Away(_) => "away",
            Self::Silent(_) => "silent",
            Self::Status(_) => "refused",
        }
    }
}

async fn send(client: &Client, settings: &TraceConfig, body: bytes::Bytes) -> Result<(), Refusal> {
    let mut request = client.post(&settings.url).header(header::CONTENT_TYPE, "application/x-protobuf").body(body);
    for (name, value) in &settings.headers {
        request = request.header(name, value.expose());
    }
    let sent = request.send().await;
    // The URL may contain a user name and a password.
    let response = sent.map_err(|error| {
        let error = error.without_url();
        if error.is_connect() { Refusal::Away(error) } else { Refusal::Silent(error) }
    })?;
    if response.status().is_success() { Ok(()) } else { Err(Refusal::Status(response.status())) }
}

/// Sends an empty request, which every collector accepts.
pub(super) async fn check(settings: &TraceConfig) -> anyhow::Result<()> {
    let client = client_builder().timeout(TIMEOUT).build()?;
    send(&client, settings, bytes::Bytes::new()).await.context("the collector")
}
