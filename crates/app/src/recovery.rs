//! Recovery: renews our leases, and finishes or closes turns whose node died.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use engine::{
    CallId, ConversationId, End, Event, Finished, Kind, MessageId, Progress, Recorded, StopReason, TurnId, UserId,
};
use store::{DeadTurn, StartedTurn, StoreError, Takeover};
use tracing::{info, warn};

use crate::{
    App,
    agents::{AGENTS, agent},
    observe::Sent,
    run_turn::{Job, cut_end, recorded},
    turns::{from_rows, pause},
};

/// Leases are renewed so often in the time one lasts: several renewals may fail before one is lost.
const RENEWALS_PER_LEASE: u32 = 5;
/// Old events, deleted conversations and expired keys are cleared away so often.
const SWEEP_EVERY: Duration = Duration::from_secs(60);
/// A turn that fails its node this often is not tried again.
const MAX_TAKEOVERS: i64 = 2;

/// Whether this node has been in touch with the database for as long as a lease lasts. After an outage every lease has
/// run out: nobody takes a turn before its node had the time to renew it.
struct Touch {
    last_renewed: Instant,
    since: Instant,
}

impl Touch {
    fn new() -> Self {
        Self { last_renewed: Instant::now(), since: Instant::now() }
    }

    /// Leases were renewed by a request sent at `asked`.
    fn renewed(&mut self, asked: Instant, every: Duration) {
        if asked.duration_since(self.last_renewed) > every * 2 || asked.elapsed() > every {
            self.since = Instant::now();
        }
        self.last_renewed = Instant::now();
    }

    fn is_steady(&self, lease: Duration) -> bool {
        self.since.elapsed() >= lease
    }
}

/// What a dead node has left of a turn.
struct Found {
    events: Vec<Arc<Event>>,
    journal: HashMap<CallId, Recorded>,
    question: String,
}

impl App {
    pub(crate) fn lease(&self) -> Duration {
        self.store.lease().to_std().unwrap_or_default()
    }

    /// Renews leases, takes turns over whose lease ran out, and forgets what is old, until the process ends.
    pub(crate) async fn keep_leases(self: Arc<Self>) {
        let every = self.lease() / RENEWALS_PER_LEASE;
        let mut touch = Touch::new();
        let mut swept = Instant::now();
        while pause(every, &self.background).await {
            let asked = Instant::now();
            match self.renew().await {
                Ok(()) => touch.renewed(asked, every),
                Err(error) => {
                    warn!("Leases could not be renewed, trying again: {error}");
                    continue;
                }
            }
            if self.config.takes_turns && touch.is_steady(self.lease()) {
                self.take_dead_turns(None).await;
            }
            if swept.elapsed() >= SWEEP_EVERY {
                swept = Instant::now();
                if let Err(error) = self.sweep().await {
                    warn!("What is old could not be cleared away, trying again: {error}");
                }
            }
        }
    }

    async fn renew(&self) -> Result<(), StoreError> {
        self.store.set_clock().await?;
        for lost in self.store.renew_leases(&self.turns.leases()).await? {
            // Unless it has ended here a moment ago: taken over while this node was paused or cut off.
            if let Some(live) = self.turns.live_turn(lost).filter(|live| !live.is_ending()) {
                warn!(turn.id = %lost, "A turn lost its lease; another node has it");
                live.leave();
            }
        }
        Ok(())
    }

    async fn sweep(&self) -> Result<(), StoreError> {
        self.store.forget_old_events().await?;
        self.store.purge_deleted_conversations().await?;
        self.store.forget_expired_keys().await
    }

    /// Takes over what dead nodes left running; with `reborn`, what an earlier life of this node left. One that cannot be
    /// read or closed does not keep the others from it.
    pub(crate) async fn take_dead_turns(self: &Arc<Self>, reborn: Option<&str>) {
        let dead = match self.store.dead_turns(reborn).await {
            Ok(dead) => dead,
            Err(error) => {
                warn!("Turns of dead nodes could not be looked for, trying again: {error}");
                return;
            }
        };
        for dead in dead.into_iter().filter(|dead| reborn.is_none_or(|name| name == dead.holder)) {
            if let Err(error) = self.take(&dead).await {
                warn!(turn.id = %dead.id, "A turn of a dead node could not be taken over, trying again: {error}");
            }
        }
    }

    async fn take(self: &Arc<Self>, dead: &DeadTurn) -> Result<(), StoreError> {
        let goes_on = self.config.takeover && dead.n_takeovers < MAX_TAKEOVERS && agent(&dead.agent).is_some();
        let Some(_starting) = self.turns.enter() else { return Ok(()) };
        let what = if goes_on { Takeover::Continue } else { Takeover::Close };
        let Some(token) = self.store.take_over(dead, &self.turns.node, what).await? else { return Ok(()) };
        let found = match self.find(dead).await {
            Ok(found) => found,
            Err(error) => {
                // Not held by a node that does nothing about it.
                self.store.release(TurnId(dead.id), token).await?;
                return Err(error);
            }
        };
        self.observer.metrics.turn_recovered();
        let is_whole = found.events.len() as i64 == dead.n_events;
        let job = self.resume(dead, token, found, goes_on);
        let app = self.clone();
        if goes_on && is_whole {
            info!(turn.id = %dead.id, "Goes on with a turn whose server died");
            self.spawned.spawn(async move { app.run(job).await });
        } else {
            info!(turn.id = %dead.id, "Closes a turn whose server died");
            let end = if dead.stop_requested { End::Answered(StopReason::Stopped) } else { cut_end() };
            self.spawned.spawn(async move { app.close(job, end).await });
        }
        Ok(())
    }

    async fn find(&self, dead: &DeadTurn) -> Result<Found, StoreError> {
        let message = MessageId(dead.message_id);
        Ok(Found {
            events: from_rows(&self.store.events_from(TurnId(dead.id), 0, i64::MAX).await?),
            journal: recorded(&self.store, message).await?,
            question: self.store.question_of(message).await?,
        })
    }

    fn resume(&self, dead: &DeadTurn, token: i64, found: Found, goes_on: bool) -> Job {
        let (turn, conversation) = (TurnId(dead.id), ConversationId(dead.conversation_id));
        let message = MessageId(dead.message_id);
        let n_unreadable = usize::try_from(dead.n_events).unwrap_or(0).saturating_sub(found.events.len());
        let live = self.turns.resume(StartedTurn { turn, conversation, message }, token, found.events, n_unreadable);
        if dead.n_events == 0 {
            live.publish(Kind::Started { turn, conversation, message });
        }
        if goes_on {
            let takeover = u32::try_from(dead.n_takeovers + 1).unwrap_or(u32::MAX);
            live.publish(Kind::TakenOver { takeover, node: self.turns.node.clone() });
        }
        if dead.stop_requested {
            live.cancel.cancel();
        }
        Job {
            agent: agent(&dead.agent).unwrap_or(&AGENTS[0]),
            owner: UserId::new(dead.user_id.as_str()),
            question: found.question,
            is_new: false,
            // The call that its user decided on is in the log.
            decided: None,
            progress: Progress::of(live.events().iter().map(AsRef::as_ref), found.journal),
            elapsed: (self.store.time() - dead.created_at).to_std().unwrap_or_default(),
            sent: Sent::default(),
            live,
        }
    }

    async fn close(&self, job: Job, end: End) {
        let finished = Finished::new(job.progress.clone(), end);
        self.finish(job, Some(finished.into())).await;
    }
}
