//! A turn store in memory, for simulations. It passes the contract of `TurnStore` and loses everything when dropped.

mod journal;
mod turns;

use std::sync::{Mutex, PoisonError};

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};
use engine::{Call, CallId, ConversationId, MessageId, Outcome, TurnId, UserId};
use serde_json::Value;

use self::{journal::Calls, turns::Turns};
use super::{DeadTurn, JournalRow, NewTurn, Start, StoreError, TurnEnd, TurnRow, TurnStore, turn_store::Pending};

/// Its clock stands still until it is advanced, so that a simulation decides when leases run out.
#[derive(Default)]
pub struct MemoryTurnStore(Mutex<State>);

/// Cloned before every change: a change that fails leaves nothing behind.
#[derive(Clone, Default)]
struct State {
    passed: TimeDelta,
    turns: Turns,
    calls: Calls,
}

impl State {
    fn now(&self) -> DateTime<Utc> {
        (DateTime::UNIX_EPOCH + TimeDelta::days(20_000) + self.passed).trunc_subsecs(6)
    }
}

impl MemoryTurnStore {
    pub fn advance_clock(&self, by: TimeDelta) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).passed += by;
    }

    fn change<'a, T: Send + 'a>(&'a self, rule: impl FnOnce(&mut State) -> Result<T, StoreError>) -> Pending<'a, T> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = state.clone();
        let result = rule(&mut next);
        if result.is_ok() {
            *state = next;
        }
        Box::pin(std::future::ready(result))
    }

    fn look<'a, T: Send + 'a>(&'a self, question: impl FnOnce(&State) -> Result<T, StoreError>) -> Pending<'a, T> {
        let result = question(&self.0.lock().unwrap_or_else(PoisonError::into_inner));
        Box::pin(std::future::ready(result))
    }
}

impl TurnStore for MemoryTurnStore {
    fn start_turn<'a>(&'a self, owner: &'a UserId, new: &'a NewTurn<'a>) -> Pending<'a, Start> {
        self.change(|state| {
            let now = state.now();
            let start = state.turns.start(owner, new, now)?;
            if let Some(question) = start.taken_back {
                state.calls.detach(&question);
            }
            Ok(start.start)
        })
    }

    fn turn<'a>(&'a self, owner: &'a UserId, id: TurnId) -> Pending<'a, TurnRow> {
        self.look(|state| state.turns.row(owner, id))
    }

    fn running_turn<'a>(&'a self, owner: &'a UserId, conversation: ConversationId) -> Pending<'a, Option<TurnId>> {
        self.look(|state| Ok(state.turns.running_in(owner, conversation)))
    }

    fn is_running(&self, turn: TurnId) -> Pending<'_, bool> {
        self.look(|state| Ok(state.turns.is_running(turn)))
    }

    fn save_events<'a>(&'a self, batch: &'a [(TurnId, i64, String)]) -> Pending<'a, ()> {
        self.change(|state| batch.iter().try_for_each(|(turn, at, row)| state.turns.save(*turn, *at, row)))
    }

    fn events_from(&self, turn: TurnId, position: i64, n_rows: i64) -> Pending<'_, Vec<String>> {
        self.look(|state| Ok(state.turns.events_from(turn, position, n_rows)))
    }

    fn end_turn<'a>(&'a self, end: &'a TurnEnd<'a>) -> Pending<'a, bool> {
        self.change(|state| {
            let now = state.now();
            state.turns.end(end, now)
        })
    }

    fn request_stop<'a>(&'a self, owner: &'a UserId, turn: TurnId) -> Pending<'a, bool> {
        self.change(|state| Ok(state.turns.request_stop(owner, turn)))
    }

    fn stop_requests<'a>(&'a self, node: &'a str) -> Pending<'a, Vec<TurnId>> {
        self.look(|state| Ok(state.turns.stop_requests(node)))
    }

    fn renew_leases<'a>(&'a self, node: &'a str, turns: &'a [TurnId]) -> Pending<'a, ()> {
        self.change(|state| {
            let now = state.now();
            state.turns.renew(node, turns, now);
            Ok(())
        })
    }

    fn dead_turns<'a>(&'a self, reborn: Option<&'a str>) -> Pending<'a, Vec<DeadTurn>> {
        self.look(|state| Ok(state.turns.dead(reborn, state.now())))
    }

    fn take_over<'a>(&'a self, dead: &'a DeadTurn, node: &'a str) -> Pending<'a, bool> {
        self.change(|state| {
            let now = state.now();
            Ok(state.turns.take_over(dead, node, now))
        })
    }

    fn begin_call<'a>(&'a self, call: &'a Call) -> Pending<'a, ()> {
        self.change(|state| {
            state.calls.begin(call);
            Ok(())
        })
    }

    fn settle_call(&self, call: CallId, output: Value) -> Pending<'_, Value> {
        self.change(|state| state.calls.settle(call, output))
    }

    fn finish_call(&self, call: CallId, outcome: Outcome) -> Pending<'_, Outcome> {
        self.change(|state| Ok(state.calls.finish(call, outcome)))
    }

    fn calls_of(&self, message: MessageId) -> Pending<'_, Vec<JournalRow>> {
        self.look(|state| Ok(state.calls.of(message)))
    }
}
