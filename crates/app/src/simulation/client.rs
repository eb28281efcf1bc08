//! A simulated client: sends its message until a node accepts it, reads its stream from any node, and records all
//! events.

use std::{sync::Arc, time::Duration};

use engine::{Event, Kind, StopReason, TurnId, UserId};
use futures::StreamExt;
use store::StartedTurn;
use tokio::time::{Instant, sleep, timeout};

use super::{
    model::{USAGE, question, script},
    node::SimNode,
    world::World,
};
use crate::turns::read;

/// A node that sends nothing for this long is given up.
const SILENCE: Duration = Duration::from_secs(12);
/// Every turn must end within this time.
const LONGEST: Duration = Duration::from_secs(1200);
const MOST_TAKEOVERS: u32 = 2;

struct Seen {
    mark: String,
    kind: u64,
    started: StartedTurn,
    /// The numbered events.
    events: Vec<Arc<Event>>,
    is_stopped: bool,
}

pub(super) async fn one_turn(world: Arc<World>, n: u64) {
    let (owner, mark, kind) = (UserId::new(format!("user {}", n % 3)), format!("m{n}"), world.roll(4));
    sleep(world.ms(0, 40_000)).await;
    let until = Instant::now() + LONGEST;
    let text = question(kind, &mark);
    let started = loop {
        if let Some(started) = ask(&world, &owner, &text).await {
            break started;
        }
        sleep(Duration::from_millis(300)).await;
    };
    if world.one_in(4) && ask(&world, &owner, &text).await.is_some_and(|again| again.turn != started.turn) {
        world.broken(format!("{mark} was sent twice and started two turns"));
    }
    let mut seen = Seen { mark, kind, started, events: Vec::new(), is_stopped: false };
    while !seen.is_over() {
        if Instant::now() > until {
            world.broken(format!("{} does not end", seen.mark));
            return;
        }
        let node = world.some_node();
        if world.one_in(12)
            && timeout(SILENCE, node.turns.stop(&owner, seen.started.turn)).await.is_ok_and(|r| r.is_ok())
        {
            world.tell(format_args!("{} is stopped", seen.mark));
            seen.is_stopped = true;
        }
        read_on(&world, &node, &owner, &mut seen).await;
    }
    check(&world, &seen).await;
}

/// Runs in its own task, because a client that disconnects must not change the result.
async fn ask(world: &Arc<World>, owner: &UserId, text: &str) -> Option<StartedTurn> {
    let (node, owner, text) = (world.some_node(), owner.clone(), text.to_owned());
    let asking = tokio::spawn(async move { node.ask(&owner, &text).await });
    timeout(world.ms(1, 6_000), asking).await.ok()?.ok()?.ok()
}

async fn read_on(world: &World, node: &SimNode, owner: &UserId, seen: &mut Seen) {
    let after = seen.events.last().map_or(0, |event| event.seq);
    let following = timeout(SILENCE, node.turns.follow(owner, seen.started.turn, after)).await;
    let Ok(Ok(mut stream)) = following else {
        sleep(Duration::from_millis(200)).await;
        return;
    };
    for _ in 0..=world.roll(12) {
        let next = tokio::select! {
            biased;
            () = node.store.dead.cancelled() => break,
            next = timeout(SILENCE, stream.next()) => next,
        };
        let Ok(Some(events)) = next else { break };
        for event in events.into_iter().filter(|event| event.kind.is_numbered()) {
            world.tell(format_args!("{} reads {} {}", seen.mark, event.seq, name(&event.kind)));
            if event.seq as usize != seen.events.len() + 1 {
                world.broken(format!("{} reads {} after {}", seen.mark, event.seq, seen.events.len()));
            }
            seen.events.push(event);
        }
        if seen.is_over() {
            return;
        }
    }
    sleep(world.ms(1, 300)).await;
}

/// Without ids and times, which differ between runs.
fn name(kind: &Kind) -> String {
    match kind {
        Kind::TextDelta { text, .. } => text.clone(),
        Kind::ToolStarted { name, .. } => format!("calls {name}"),
        Kind::ToolDone { name, .. } => format!("{name} is done"),
        Kind::ToolFailed { name, failure, .. } => format!("{name} failed: {}", failure.error),
        Kind::Ended { stop, usage, .. } => format!("ends {stop:?} {}", usage.output_tokens),
        Kind::Failed { code, .. } => format!("fails {code:?}"),
        _ => "starts".into(),
    }
}

impl Seen {
    fn is_over(&self) -> bool {
        self.events.last().is_some_and(|event| event.kind.is_last())
    }
}

async fn stored(world: &World, turn: TurnId) -> Vec<Arc<Event>> {
    read(&world.memory, turn, 0, i64::MAX).await.map_or_else(|_| Vec::new(), |(events, _)| events)
}

/// The serialised form: an event in memory has fields that are not stored, such as the cause of a failure.
fn as_stored(events: &[Arc<Event>]) -> Vec<String> {
    events.iter().map(|event| serde_json::to_string(&**event).expect("an event is plain data")).collect()
}

async fn check(world: &World, seen: &Seen) {
    let mark = &seen.mark;
    let stored = stored(world, seen.started.turn).await;
    let numbered: Vec<_> = stored.iter().filter(|event| event.kind.is_numbered()).cloned().collect();
    if as_stored(&numbered) != as_stored(&seen.events) {
        world.broken(format!("{mark}: the events that were read differ from the stored ones"));
    }
    let n_takeovers = world.takeovers.lock().unwrap().get(&seen.started.turn).copied().unwrap_or(0);
    world.count(|run| {
        run.n_turns += 1;
        run.n_takeovers += u64::from(n_takeovers);
    });
    let said: String = stored.iter().filter_map(|event| text_of(event)).collect();
    let script = script(seen.kind, mark);
    let whole: String = script.iter().map(|(text, _)| text.as_str()).collect();
    match &seen.events.last().expect("it is over").kind {
        Kind::Ended { stop: StopReason::Complete, usage, .. } => {
            if said != whole {
                world.broken(format!("{mark} says '{said}' instead of '{whole}'"));
            }
            let least = USAGE.output_tokens * (script.len() as u64 - 1);
            if usage.output_tokens < least {
                world.broken(format!("{mark} counts {} tokens of {least}", usage.output_tokens));
            }
        }
        Kind::Ended { stop: StopReason::Stopped, .. } if whole.starts_with(&said) => {
            world.count(|run| run.n_stopped += 1);
        }
        Kind::Failed { .. } if n_takeovers == MOST_TAKEOVERS && whole.starts_with(&said) => {
            world.count(|run| run.n_interrupted += 1);
        }
        end => world.broken(format!("{mark} with {n_takeovers} takeovers says '{said}' and {}", name(end))),
    }
    check_acts(world, mark, &stored);
}

fn text_of(event: &Arc<Event>) -> Option<&str> {
    match &event.kind {
        Kind::TextDelta { text, .. } => Some(text),
        _ => None,
    }
}

/// Checks that the log contains the calls that the tool really made.
fn check_acts(world: &World, mark: &str, stored: &[Arc<Event>]) {
    let n_said =
        stored.iter().filter(|event| matches!(&event.kind, Kind::ToolDone { name, .. } if name == "note")).count();
    let n_done = world.effects.lock().unwrap().get(mark).copied().unwrap_or(0);
    if n_said != n_done {
        world.broken(format!("the log of {mark} has {n_said} effects, and the tool had {n_done}"));
    }
}

/// Checks that no effect happened twice or after the end of its turn.
pub(super) fn check_effects(world: &World) {
    let doubled: Vec<_> = world
        .effects
        .lock()
        .unwrap()
        .iter()
        .filter(|(_, n)| **n > 1)
        .map(|(m, n)| format!("{m} had {n} effects"))
        .collect();
    doubled.into_iter().for_each(|what| world.broken(what));
}
