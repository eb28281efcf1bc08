//! Recovery: renews the leases of this node, and finishes or closes turns whose node died.

use std::{collections::HashMap, sync::Arc, time::Duration};

use engine::{
    CallId, ConversationId, End, Event, Finished, Kind, MessageId, Progress, Recorded, StopReason, TurnId, UserId,
    mutants::{Mutant, planted},
};
use store::{DeadTurn, StartedTurn, StoreError, Takeover};
use tokio::time::Instant;
use tracing::{info, warn};

use crate::{
    agents::{AGENTS, agent},
    host::{Host, finish, recorded, run},
    observe::Sent,
    run_turn::{Job, cut_end},
    turns::{pause, read},
};

/// How often a lease is renewed before it expires: several renewals may fail before the lease is lost.
const RENEWALS_PER_LEASE: u32 = 5;
/// The interval for the deletion of old events, deleted conversations and expired keys.
const SWEEP_EVERY: Duration = Duration::from_secs(60);
/// After this many takeovers a turn is closed.
const MAX_TAKEOVERS: i64 = 2;

/// Whether this node has been connected to the database for the duration of a lease. After an outage all leases have
/// expired, so no node takes a turn over before the turn's own node had the time to renew it.
struct Connectivity {
    last_renewed: Instant,
    since: Instant,
}

impl Connectivity {
    fn new() -> Self {
        Self { last_renewed: Instant::now(), since: Instant::now() }
    }

    /// Leases were renewed by a request that was sent at `asked`.
    fn renewed(&mut self, asked: Instant, every: Duration) {
        if asked.duration_since(self.last_renewed) > every * 2 || asked.elapsed() > every {
            self.since = Instant::now();
        }
        self.last_renewed = Instant::now();
    }

    fn is_steady(&self, lease: Duration) -> bool {
        self.since.elapsed() >= lease || planted(Mutant::TakesAtOnceAfterOutage)
    }
}

/// The part of a turn that a dead node has stored.
struct Found {
    events: Vec<Arc<Event>>,
    journal: HashMap<CallId, Recorded>,
    question: String,
}

fn lease_of<H: Host>(host: &H) -> Duration {
    host.turns().store.lease().to_std().unwrap_or_default()
}

/// Renews leases, takes over turns whose lease has expired, and deletes old data, until the process ends.
pub(crate) async fn keep_leases<H: Host>(host: Arc<H>) {
    let every = lease_of(&*host) / RENEWALS_PER_LEASE;
    let mut connectivity = Connectivity::new();
    let mut swept = Instant::now();
    while pause(every, host.background()).await {
        let asked = Instant::now();
        match renew(&*host).await {
            Ok(()) => connectivity.renewed(asked, every),
            Err(error) => {
                warn!("Leases could not be renewed, trying again: {error}");
                continue;
            }
        }
        if host.takes_turns() && connectivity.is_steady(lease_of(&*host)) {
            take_dead_turns(&host, None).await;
        }
        if swept.elapsed() >= SWEEP_EVERY {
            swept = Instant::now();
            if let Err(error) = host.sweep().await {
                warn!("Old data could not be deleted, trying again: {error}");
            }
        }
    }
}

async fn renew<H: Host>(host: &H) -> Result<(), StoreError> {
    host.turns().store.set_clock().await?;
    for lost in host.turns().store.renew_leases(&host.turns().leases()).await? {
        if planted(Mutant::LostLeaseUnnoticed) {
            continue;
        }
        // Unless it has just ended here, it was taken over while this node was paused or disconnected.
        if let Some(live) = host.turns().live_turn(lost).filter(|live| !live.is_ending()) {
            warn!(turn.id = %lost, "A turn lost its lease; another node has it");
            live.leave();
        }
    }
    Ok(())
}

/// Takes over running turns of dead nodes; with `reborn`, those of an earlier process of this node. A turn that cannot
/// be read or closed does not prevent the others.
pub(crate) async fn take_dead_turns<H: Host>(host: &Arc<H>, reborn: Option<&str>) {
    let dead = match host.turns().store.dead_turns(reborn).await {
        Ok(dead) => dead,
        Err(error) => {
            warn!("Turns of dead nodes could not be read, trying again: {error}");
            return;
        }
    };
    for dead in dead.into_iter().filter(|dead| reborn.is_none_or(|name| name == dead.holder)) {
        if let Err(error) = take(host, &dead).await {
            warn!(turn.id = %dead.id, "A turn of a dead node could not be taken over, trying again: {error}");
        }
    }
}

async fn take<H: Host>(host: &Arc<H>, dead: &DeadTurn) -> Result<(), StoreError> {
    let is_tried = dead.n_takeovers < MAX_TAKEOVERS || planted(Mutant::TakeoverCountIgnored);
    let goes_on = host.goes_on() && is_tried && agent(&dead.agent).is_some();
    let Some(_starting) = host.turns().enter() else { return Ok(()) };
    let what = if goes_on { Takeover::Continue } else { Takeover::Close };
    let Some(token) = host.turns().store.take_over(dead, &host.turns().node, what).await? else { return Ok(()) };
    let found = match find(&**host, dead).await {
        Ok(found) => found,
        Err(error) => {
            // The takeover is released and not counted, because the turn could not be started here.
            match what {
                Takeover::Continue => host.turns().store.release_unbegun(TurnId(dead.id), token).await?,
                Takeover::Close => host.turns().store.release(TurnId(dead.id), token).await?,
            }
            return Err(error);
        }
    };
    host.recovered();
    let is_whole = found.events.len() as i64 == dead.n_events;
    host.charge_cut(&UserId::new(dead.user_id.as_str()), n_cut_bytes(&found.events)).await;
    let job = resume(&**host, dead, token, found, goes_on);
    let app = host.clone();
    if goes_on && is_whole {
        info!(turn.id = %dead.id, "Continues a turn whose server died");
        host.spawned().spawn(async move { run(&*app, job).await });
    } else {
        info!(turn.id = %dead.id, "Closes a turn whose server died");
        let end = if dead.stop_requested { End::Answered(StopReason::Stopped) } else { cut_end() };
        host.spawned().spawn(async move { close(&*app, job, end).await });
    }
    Ok(())
}

/// The text of the reply that was under way when the node died. A complete reply has reported its usage, and an earlier
/// takeover has charged what came before it.
fn n_cut_bytes(events: &[Arc<Event>]) -> u64 {
    events.iter().fold(0, |n_bytes, event| match &event.kind {
        Kind::TextDelta { text, .. } | Kind::Reasoned { text } => n_bytes + text.len() as u64,
        Kind::StepStarted { .. } | Kind::Replied { .. } | Kind::TakenOver { .. } => 0,
        _ => n_bytes,
    })
}

async fn find<H: Host>(host: &H, dead: &DeadTurn) -> Result<Found, StoreError> {
    let message = MessageId(dead.message_id);
    Ok(Found {
        events: read(&*host.turns().store, TurnId(dead.id), 0, i64::MAX).await?.0,
        journal: recorded(&*host.turns().store, message).await?,
        question: host.turns().store.question_of(message).await?,
    })
}

fn resume<H: Host>(host: &H, dead: &DeadTurn, token: i64, found: Found, goes_on: bool) -> Job {
    let (turn, conversation) = (TurnId(dead.id), ConversationId(dead.conversation_id));
    let message = MessageId(dead.message_id);
    let n_unreadable = usize::try_from(dead.n_events).unwrap_or(0).saturating_sub(found.events.len());
    let live = host.turns().resume(StartedTurn { turn, conversation, message }, token, found.events, n_unreadable);
    if dead.n_events == 0 {
        live.publish(Kind::Started { turn, conversation, message });
    }
    if goes_on {
        let takeover = u32::try_from(dead.n_takeovers + 1).unwrap_or(u32::MAX);
        live.publish(Kind::TakenOver { takeover, node: host.turns().node.clone() });
    }
    if dead.stop_requested && !planted(Mutant::StopNotCarried) {
        live.cancel.cancel();
    }
    Job {
        agent: agent(&dead.agent).unwrap_or(&AGENTS[0]),
        owner: UserId::new(dead.user_id.as_str()),
        question: found.question,
        is_new: false,
        // If the user has allowed the first call and the log does not contain it, `run_turn` finds it.
        decided: None,
        progress: Progress::of(live.events().iter().map(AsRef::as_ref).filter(is_remembered), found.journal),
        elapsed: (host.turns().store.time() - dead.created_at).to_std().unwrap_or_default(),
        sent: Sent::default(),
        live,
    }
}

async fn close<H: Host>(host: &H, job: Job, end: End) {
    let finished = Finished::new(job.progress.clone(), end);
    finish(host, job, Some(finished.into())).await;
}

fn is_remembered(event: &&Event) -> bool {
    !(planted(Mutant::TakeoverForgetsText) && matches!(event.kind, Kind::TextStarted { .. } | Kind::TextDelta { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_reply_that_was_cut_is_charged_again() {
        let says = |text: &str| Kind::TextDelta { block: 0, text: text.into() };
        let step = |step| Kind::StepStarted { step, model: String::new() };
        let replied = Kind::Replied { step: 1, usage: Default::default(), calls: Vec::new() };
        let taken = Kind::TakenOver { takeover: 1, node: "here".into() };
        let n_bytes = |kinds: Vec<Kind>| {
            let events = kinds.into_iter().map(|kind| Arc::new(Event { seq: 1, at_ms: 1, kind }));
            n_cut_bytes(&events.collect::<Vec<_>>())
        };
        assert_eq!(n_bytes(vec![step(1), says("one "), says("two ")]), 8);
        assert_eq!(n_bytes(vec![step(1), says("one "), replied.clone()]), 0, "it has reported its usage");
        assert_eq!(n_bytes(vec![step(1), says("one "), replied, step(2), says("and")]), 3);
        assert_eq!(n_bytes(vec![step(1), says("one "), taken, says("more")]), 4, "the rest was charged before");
    }
}
