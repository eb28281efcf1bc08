//! The turn log, the leases and the journal of tool calls behind one trait.
//!
//! `Store` keeps them in a database; `MemoryTurnStore` (feature `test-util`) keeps them in memory, for simulations. Both
//! pass the contract in `tests/turn_store.rs`.

use engine::{Call, CallId, ConversationId, MessageId, Outcome, TurnId, UserId};
use futures::future::BoxFuture;
use serde_json::Value;

use super::{DeadTurn, JournalRow, NewTurn, Start, Store, StoreError, TurnEnd, TurnRow};

/// What an operation of a [`TurnStore`] returns.
pub type Pending<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

pub trait TurnStore: Send + Sync {
    /// Stores a question, an empty answer and the turn that will fill it, leased to `new.node`. The same
    /// `client_message_id` again returns the turn that exists. One turn runs in a conversation at a time.
    fn start_turn<'a>(&'a self, owner: &'a UserId, new: &'a NewTurn<'a>) -> Pending<'a, Start>;
    fn turn<'a>(&'a self, owner: &'a UserId, id: TurnId) -> Pending<'a, TurnRow>;
    /// The turn that runs in a conversation now, if any.
    fn running_turn<'a>(&'a self, owner: &'a UserId, conversation: ConversationId) -> Pending<'a, Option<TurnId>>;
    fn is_running(&self, turn: TurnId) -> Pending<'_, bool>;

    /// Saves rows of the logs of several turns, all or none. A position is saved once.
    fn save_events<'a>(&'a self, batch: &'a [(TurnId, i64, String)]) -> Pending<'a, ()>;
    /// The saved rows from `position` on, in their order, at most `n_rows`.
    fn events_from(&self, turn: TurnId, position: i64, n_rows: i64) -> Pending<'_, Vec<String>>;
    /// Stores the end of a turn. False when `end.node` does not hold its lease. Ending twice on one node returns true
    /// twice and stores the first end.
    fn end_turn<'a>(&'a self, end: &'a TurnEnd<'a>) -> Pending<'a, bool>;

    /// Asks the node that runs a turn to stop it. False when the turn does not run, or is another owner's.
    fn request_stop<'a>(&'a self, owner: &'a UserId, turn: TurnId) -> Pending<'a, bool>;
    /// The running turns of a node that were asked to stop.
    fn stop_requests<'a>(&'a self, node: &'a str) -> Pending<'a, Vec<TurnId>>;

    /// Renews the leases of those of these turns that run on `node`.
    fn renew_leases<'a>(&'a self, node: &'a str, turns: &'a [TurnId]) -> Pending<'a, ()>;
    /// Running turns whose lease ran out, or that belong to `reborn`: a node that has restarted.
    fn dead_turns<'a>(&'a self, reborn: Option<&'a str>) -> Pending<'a, Vec<DeadTurn>>;
    /// Moves a dead turn to `node`. False when another node was faster or the lease was renewed.
    fn take_over<'a>(&'a self, dead: &'a DeadTurn, node: &'a str) -> Pending<'a, bool>;

    /// Opens the journal row of a tool call, before the tool runs. Doing it twice changes nothing.
    fn begin_call<'a>(&'a self, call: &'a Call) -> Pending<'a, ()>;
    /// Commits the effect of a call. A second attempt changes nothing and returns the output of the first; a call that
    /// is closed, or was never begun, is a conflict.
    fn settle_call(&self, call: CallId, output: Value) -> Pending<'_, Value>;
    /// Closes the row and returns what it says: an effect that is committed wins over a failure.
    fn finish_call(&self, call: CallId, outcome: Outcome) -> Pending<'_, Outcome>;
    fn calls_of(&self, message: MessageId) -> Pending<'_, Vec<JournalRow>>;
}

impl TurnStore for Store {
    fn start_turn<'a>(&'a self, owner: &'a UserId, new: &'a NewTurn<'a>) -> Pending<'a, Start> {
        Box::pin(self.start_turn(owner, new))
    }

    fn turn<'a>(&'a self, owner: &'a UserId, id: TurnId) -> Pending<'a, TurnRow> {
        Box::pin(self.turn(owner, id))
    }

    fn running_turn<'a>(&'a self, owner: &'a UserId, conversation: ConversationId) -> Pending<'a, Option<TurnId>> {
        Box::pin(self.running_turn(owner, conversation))
    }

    fn is_running(&self, turn: TurnId) -> Pending<'_, bool> {
        Box::pin(self.is_running(turn))
    }

    fn save_events<'a>(&'a self, batch: &'a [(TurnId, i64, String)]) -> Pending<'a, ()> {
        Box::pin(self.save_events(batch))
    }

    fn events_from(&self, turn: TurnId, position: i64, n_rows: i64) -> Pending<'_, Vec<String>> {
        Box::pin(self.events_from(turn, position, n_rows))
    }

    fn end_turn<'a>(&'a self, end: &'a TurnEnd<'a>) -> Pending<'a, bool> {
        Box::pin(self.end_turn(end))
    }

    fn request_stop<'a>(&'a self, owner: &'a UserId, turn: TurnId) -> Pending<'a, bool> {
        Box::pin(self.request_stop(owner, turn))
    }

    fn stop_requests<'a>(&'a self, node: &'a str) -> Pending<'a, Vec<TurnId>> {
        Box::pin(self.stop_requests(node))
    }

    fn renew_leases<'a>(&'a self, node: &'a str, turns: &'a [TurnId]) -> Pending<'a, ()> {
        Box::pin(self.renew_leases(node, turns))
    }

    fn dead_turns<'a>(&'a self, reborn: Option<&'a str>) -> Pending<'a, Vec<DeadTurn>> {
        Box::pin(self.dead_turns(reborn))
    }

    fn take_over<'a>(&'a self, dead: &'a DeadTurn, node: &'a str) -> Pending<'a, bool> {
        Box::pin(self.take_over(dead, node))
    }

    fn begin_call<'a>(&'a self, call: &'a Call) -> Pending<'a, ()> {
        Box::pin(self.begin_call(call))
    }

    fn settle_call(&self, call: CallId, output: Value) -> Pending<'_, Value> {
        Box::pin(self.settle_call(call, output))
    }

    fn finish_call(&self, call: CallId, outcome: Outcome) -> Pending<'_, Outcome> {
        Box::pin(self.finish_call(call, outcome))
    }

    fn calls_of(&self, message: MessageId) -> Pending<'_, Vec<JournalRow>> {
        Box::pin(self.calls_of(message))
    }
}
