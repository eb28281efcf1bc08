//! An in-memory turn store for simulations. It passes the contract of `TurnStore` and loses everything when dropped.

mod journal;
mod turns;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};
use engine::{Call, CallId, ConversationId, Failure, MessageId, Outcome, TurnId, UserId};
use futures::future::BoxFuture;
use serde_json::Value;
use tokio::time::Instant;

use self::{journal::Calls, turns::Turns};
use crate::{
    DeadTurn, Durability, Ended, JournalRow, NewTurn, News, Save, Saved, Start, StartedTurn, StoreError, TURN_LEASE,
    Takeover, TurnEnd, TurnRow, TurnStore,
    notices::{Notices, STOP},
    turn_store::Pending,
};

/// The view of one node. The clock does not move until it is advanced, or it follows tokio's clock, so that a
/// simulation decides when leases expire.
#[derive(Default)]
pub struct MemoryTurnStore {
    state: Arc<Mutex<State>>,
    notices: Arc<Notices>,
    /// The difference between this node's clock and the real time.
    skew: TimeDelta,
}

#[derive(Default)]
struct State {
    passed: TimeDelta,
    /// When the clock began to follow tokio's.
    began: Option<Instant>,
    turns: Turns,
    calls: Calls,
}

impl State {
    fn now(&self) -> DateTime<Utc> {
        let gone = self.began.map(|began| began.elapsed()).and_then(|gone| TimeDelta::from_std(gone).ok());
        let passed = self.passed + gone.unwrap_or_default();
        (DateTime::UNIX_EPOCH + TimeDelta::days(20_000) + passed).trunc_subsecs(6)
    }
}

impl MemoryTurnStore {
    pub fn advance_clock(&self, by: TimeDelta) {
        self.lock().passed += by;
    }

    /// A store whose clock follows tokio's, and whose nodes receive notices.
    pub fn running() -> Self {
        let store = Self { notices: Arc::new(Notices::connected()), ..Self::default() };
        store.lock().began = Some(Instant::now());
        store
    }

    /// The same store for another node, with its own notices and clock.
    pub fn of_node(&self, skew: TimeDelta) -> Self {
        Self { state: self.state.clone(), notices: Arc::new(Notices::connected()), skew }
    }

    /// Delivers a notice to this node: news of a turn, or a stop.
    pub fn receive_notice(&self, turn: Option<TurnId>) {
        self.notices.receive(&turn.map_or_else(|| STOP.to_owned(), |turn| turn.to_string()));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a change. A change that fails leaves no partial state, because it checks everything before it writes.
    fn change<'a, T: Send + 'a>(
        &'a self,
        rule: impl FnOnce(&mut State, DateTime<Utc>) -> Result<T, StoreError>,
    ) -> Pending<'a, T> {
        let mut state = self.lock();
        let now = state.now() + self.skew;
        Box::pin(std::future::ready(rule(&mut state, now)))
    }

    fn look<'a, T: Send + 'a>(
        &'a self,
        question: impl FnOnce(&State, DateTime<Utc>) -> Result<T, StoreError>,
    ) -> Pending<'a, T> {
        let state = self.lock();
        let now = state.now() + self.skew;
        Box::pin(std::future::ready(question(&state, now)))
    }
}

impl TurnStore for MemoryTurnStore {
    fn start_turn<'a>(&'a self, owner: &'a UserId, new: &'a NewTurn<'a>) -> Pending<'a, Start> {
        self.change(|state, now| state.turns.start(owner, new, now))
    }

    fn turn<'a>(&'a self, owner: &'a UserId, id: TurnId) -> Pending<'a, TurnRow> {
        self.look(|state, _| state.turns.row(owner, id))
    }

    fn running_turn<'a>(&'a self, owner: &'a UserId, conversation: ConversationId) -> Pending<'a, Option<TurnId>> {
        self.look(|state, _| Ok(state.turns.running_in(owner, conversation)))
    }

    fn is_running(&self, turn: TurnId) -> Pending<'_, bool> {
        self.look(|state, _| Ok(state.turns.is_running(turn)))
    }

    fn save_events<'a>(&'a self, saves: &'a [Save], _: Durability) -> Pending<'a, Vec<Saved>> {
        self.change(|state, _| Ok(saves.iter().map(|save| state.turns.save(save)).collect()))
    }

    fn events_from(&self, turn: TurnId, position: i64, n_rows: i64) -> Pending<'_, Vec<String>> {
        self.look(|state, _| Ok(state.turns.events_from(turn, position, n_rows)))
    }

    fn end_turn<'a>(&'a self, end: &'a TurnEnd<'a>) -> Pending<'a, Ended> {
        self.change(|state, now| {
            let was_running = state.turns.is_running(end.started.turn);
            let ended = state.turns.end(end, now);
            if was_running && ended == Ended::Stored {
                state.calls.close_all(end.started.message);
            }
            Ok(ended)
        })
    }

    fn request_stop<'a>(&'a self, owner: &'a UserId, turn: TurnId) -> Pending<'a, bool> {
        self.change(|state, _| Ok(state.turns.request_stop(owner, turn)))
    }

    fn stop_requests<'a>(&'a self, node: &'a str) -> Pending<'a, Vec<TurnId>> {
        self.look(|state, _| Ok(state.turns.stop_requests(node)))
    }

    fn renew_leases<'a>(&'a self, held: &'a [(TurnId, i64)]) -> Pending<'a, Vec<TurnId>> {
        self.change(|state, now| Ok(state.turns.renew(held, now)))
    }

    fn dead_turns<'a>(&'a self, reborn: Option<&'a str>) -> Pending<'a, Vec<DeadTurn>> {
        self.look(|state, now| Ok(state.turns.dead(reborn, now)))
    }

    fn take_over<'a>(&'a self, dead: &'a DeadTurn, node: &'a str, what: Takeover) -> Pending<'a, Option<i64>> {
        self.change(|state, now| {
            let token = state.turns.take_over(dead, node, what, now);
            if let Some(token) = token {
                state.calls.move_to(MessageId(dead.message_id), token);
            }
            Ok(token)
        })
    }

    fn release(&self, turn: TurnId, token: i64) -> Pending<'_, ()> {
        self.change(|state, now| {
            state.turns.release(turn, token, now);
            Ok(())
        })
    }

    fn release_unbegun(&self, turn: TurnId, token: i64) -> Pending<'_, ()> {
        self.change(|state, now| {
            state.turns.release_unbegun(turn, token, now);
            Ok(())
        })
    }

    fn begin_call<'a>(&'a self, call: &'a Call, _: &'a str, token: i64) -> Pending<'a, bool> {
        self.change(|state, _| {
            let is_held = call.message.is_none_or(|message| state.turns.is_held(message, token));
            if is_held {
                state.calls.begin(call, token);
            }
            Ok(is_held)
        })
    }

    fn begin_call_after<'a>(&'a self, save: &'a Save, call: &'a Call, _: &'a str) -> Pending<'a, Saved> {
        self.change(|state, _| {
            let saved = state.turns.save(save);
            if saved == Saved::Done {
                state.calls.begin(call, save.token);
            }
            Ok(saved)
        })
    }

    fn settle_call(&self, call: CallId, token: i64, output: Value) -> Pending<'_, Value> {
        self.change(|state, _| {
            let is_held = state.calls.message_of(call).is_none_or(|message| state.turns.is_held(message, token));
            state.calls.settle(call, token, output, is_held)
        })
    }

    fn finish_call(&self, call: CallId, token: i64, outcome: Outcome) -> Pending<'_, Outcome> {
        self.change(|state, _| Ok(state.calls.finish(call, token, outcome)))
    }

    fn refuse_call<'a>(&'a self, call: &'a Call, _: &'a str, failure: &'a Failure, token: i64) -> Pending<'a, ()> {
        self.change(|state, _| {
            if call.message.is_none_or(|message| state.turns.is_held(message, token)) {
                state.calls.refuse(call, failure);
            }
            Ok(())
        })
    }

    fn output_of(&self, call: CallId) -> Pending<'_, Option<Value>> {
        self.look(|state, _| Ok(state.calls.output(call)))
    }

    fn calls_of(&self, message: MessageId) -> Pending<'_, Vec<JournalRow>> {
        self.look(|state, _| Ok(state.calls.of(message)))
    }

    fn turn_of_client_message<'a>(
        &'a self,
        owner: &'a UserId,
        id: Option<&'a str>,
    ) -> Pending<'a, Option<StartedTurn>> {
        self.look(|state, _| Ok(state.turns.of_client_message(owner, id)))
    }

    fn question_of(&self, answer: MessageId) -> Pending<'_, String> {
        self.look(|state, _| Ok(state.turns.question_of(answer)))
    }

    fn time(&self) -> DateTime<Utc> {
        self.lock().now() + self.skew
    }

    fn set_clock(&self) -> Pending<'_, ()> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn lease(&self) -> TimeDelta {
        TURN_LEASE
    }

    fn news_of(&self, turn: TurnId) -> News<'_> {
        self.notices.news_of(turn)
    }

    fn wait_for_stop(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.notices.wait_for_stop())
    }
}
