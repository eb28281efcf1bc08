//! A turn store in memory, for simulations. It passes the contract of `TurnStore` and loses everything when dropped.

mod journal;
mod turns;

use std::sync::{Mutex, PoisonError};

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};
use engine::{Call, CallId, ConversationId, MessageId, Outcome, TurnId, UserId};
use serde_json::Value;

use self::{journal::Calls, turns::Turns};
use crate::{
    DeadTurn, Durability, Ended, JournalRow, NewTurn, Save, Saved, Start, StoreError, Takeover, TurnEnd, TurnRow,
    TurnStore, turn_store::Pending,
};

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
            state.turns.start(owner, new, now)
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

    fn save_events<'a>(&'a self, saves: &'a [Save], _: Durability) -> Pending<'a, Vec<Saved>> {
        self.change(|state| Ok(saves.iter().map(|save| state.turns.save(save)).collect()))
    }

    fn events_from(&self, turn: TurnId, position: i64, n_rows: i64) -> Pending<'_, Vec<String>> {
        self.look(|state| Ok(state.turns.events_from(turn, position, n_rows)))
    }

    fn end_turn<'a>(&'a self, end: &'a TurnEnd<'a>) -> Pending<'a, Ended> {
        self.change(|state| {
            let now = state.now();
            let was_running = state.turns.is_running(end.started.turn);
            let ended = state.turns.end(end, now);
            if was_running && ended == Ended::Stored {
                state.calls.close_all(end.started.message);
            }
            Ok(ended)
        })
    }

    fn request_stop<'a>(&'a self, owner: &'a UserId, turn: TurnId) -> Pending<'a, bool> {
        self.change(|state| Ok(state.turns.request_stop(owner, turn)))
    }

    fn stop_requests<'a>(&'a self, node: &'a str) -> Pending<'a, Vec<TurnId>> {
        self.look(|state| Ok(state.turns.stop_requests(node)))
    }

    fn renew_leases<'a>(&'a self, held: &'a [(TurnId, i64)]) -> Pending<'a, Vec<TurnId>> {
        self.change(|state| {
            let now = state.now();
            Ok(state.turns.renew(held, now))
        })
    }

    fn dead_turns<'a>(&'a self, reborn: Option<&'a str>) -> Pending<'a, Vec<DeadTurn>> {
        self.look(|state| Ok(state.turns.dead(reborn, state.now())))
    }

    fn take_over<'a>(&'a self, dead: &'a DeadTurn, node: &'a str, what: Takeover) -> Pending<'a, Option<i64>> {
        self.change(|state| {
            let now = state.now();
            let token = state.turns.take_over(dead, node, what, now);
            if let Some(token) = token {
                state.calls.move_to(MessageId(dead.message_id), token);
            }
            Ok(token)
        })
    }

    fn release(&self, turn: TurnId, token: i64) -> Pending<'_, ()> {
        self.change(|state| {
            let now = state.now();
            state.turns.release(turn, token, now);
            Ok(())
        })
    }

    fn begin_call<'a>(&'a self, call: &'a Call, _: &'a str, token: i64) -> Pending<'a, ()> {
        self.change(|state| {
            state.calls.begin(call, token);
            Ok(())
        })
    }

    fn settle_call(&self, call: CallId, token: i64, output: Value) -> Pending<'_, Value> {
        self.change(|state| state.calls.settle(call, token, output))
    }

    fn finish_call(&self, call: CallId, token: i64, outcome: Outcome) -> Pending<'_, Outcome> {
        self.change(|state| Ok(state.calls.finish(call, token, outcome)))
    }

    fn calls_of(&self, message: MessageId) -> Pending<'_, Vec<JournalRow>> {
        self.look(|state| Ok(state.calls.of(message)))
    }
}
