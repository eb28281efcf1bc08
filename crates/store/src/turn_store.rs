//! The turn log, the leases and the journal of tool calls behind one trait.
//!
//! `Store` keeps them in a database; `MemoryTurnStore` (feature `test-util`) keeps them in memory, for simulations. Both
//! pass the contract in `tests/turn_store.rs`.

use chrono::{DateTime, TimeDelta, Utc};
use engine::{Call, CallId, ConversationId, Failure, MessageId, Outcome, TurnId, UserId};
use futures::future::BoxFuture;
use serde_json::Value;

use super::{
    DeadTurn, Durability, Ended, JournalRow, NewTurn, News, Save, Saved, Start, StartedTurn, Store, StoreError,
    Takeover, TurnEnd, TurnRow,
};

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
    /// The turn that a message with this id of the client's began, if it was ever sent.
    fn turn_of_client_message<'a>(&'a self, owner: &'a UserId, id: Option<&'a str>)
    -> Pending<'a, Option<StartedTurn>>;
    /// The words that an answer answers.
    fn question_of(&self, answer: MessageId) -> Pending<'_, String>;

    /// Saves the next events of several turns, each if its token and its number of events are the current ones.
    fn save_events<'a>(&'a self, saves: &'a [Save], durability: Durability) -> Pending<'a, Vec<Saved>>;
    /// The saved rows from `position` on, in their order, at most `n_rows`.
    fn events_from(&self, turn: TurnId, position: i64, n_rows: i64) -> Pending<'_, Vec<String>>;
    /// Stores the end of a turn and closes its calls, if its token and its number of events are the current ones.
    /// Ending twice with one token returns `Stored` twice and stores the first end.
    fn end_turn<'a>(&'a self, end: &'a TurnEnd<'a>) -> Pending<'a, Ended>;

    /// Asks the node that runs a turn to stop it. False when the turn does not run, or is another owner's.
    fn request_stop<'a>(&'a self, owner: &'a UserId, turn: TurnId) -> Pending<'a, bool>;
    /// The running turns of a node that were asked to stop.
    fn stop_requests<'a>(&'a self, node: &'a str) -> Pending<'a, Vec<TurnId>>;

    /// Renews leases by their tokens. Returns the turns whose lease is lost.
    fn renew_leases<'a>(&'a self, held: &'a [(TurnId, i64)]) -> Pending<'a, Vec<TurnId>>;
    /// Running turns whose lease ran out, or that belong to `reborn`: a node that has restarted.
    fn dead_turns<'a>(&'a self, reborn: Option<&'a str>) -> Pending<'a, Vec<DeadTurn>>;
    /// Moves a dead turn and its open calls to `node` under a new token. None when another node was faster or the lease
    /// was renewed.
    fn take_over<'a>(&'a self, dead: &'a DeadTurn, node: &'a str, what: Takeover) -> Pending<'a, Option<i64>>;
    /// Gives a turn up: any node may take it over at once.
    fn release(&self, turn: TurnId, token: i64) -> Pending<'_, ()>;
    /// The same for a turn that was taken over and could not be begun: the takeover is not counted.
    fn release_unbegun(&self, turn: TurnId, token: i64) -> Pending<'_, ()>;

    /// Opens the journal row of a tool call, before the tool runs. Doing it twice changes nothing.
    fn begin_call<'a>(&'a self, call: &'a Call, title: &'a str, token: i64) -> Pending<'a, ()>;
    /// Commits the effect of a call. A second attempt changes nothing and returns the output of the first; a call that
    /// is closed, was never begun, or belongs to another lease is a conflict.
    fn settle_call(&self, call: CallId, token: i64, output: Value) -> Pending<'_, Value>;
    /// Closes the row and returns what it says: an effect that is committed wins over a failure.
    fn finish_call(&self, call: CallId, token: i64, outcome: Outcome) -> Pending<'_, Outcome>;
    /// Writes a call down that was refused before it ran.
    fn refuse_call<'a>(&'a self, call: &'a Call, failure: &'a Failure) -> Pending<'a, ()>;
    fn calls_of(&self, message: MessageId) -> Pending<'_, Vec<JournalRow>>;

    /// The store's time, by which leases run out.
    fn time(&self) -> DateTime<Utc>;
    /// Asks what time it is.
    fn set_clock(&self) -> Pending<'_, ()>;
    /// How long a lease lasts.
    fn lease(&self) -> TimeDelta;
    /// Waits for news of one turn, from this node or another.
    fn news_of(&self, turn: TurnId) -> News<'_>;
    /// Returns when there may be a stop for a turn of this node.
    fn wait_for_stop(&self) -> BoxFuture<'_, ()>;
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

    fn turn_of_client_message<'a>(
        &'a self,
        owner: &'a UserId,
        id: Option<&'a str>,
    ) -> Pending<'a, Option<StartedTurn>> {
        Box::pin(self.turn_of_client_message(owner, id))
    }

    fn question_of(&self, answer: MessageId) -> Pending<'_, String> {
        Box::pin(self.question_of(answer))
    }

    fn save_events<'a>(&'a self, saves: &'a [Save], durability: Durability) -> Pending<'a, Vec<Saved>> {
        Box::pin(self.save_events(saves, durability))
    }

    fn events_from(&self, turn: TurnId, position: i64, n_rows: i64) -> Pending<'_, Vec<String>> {
        Box::pin(self.events_from(turn, position, n_rows))
    }

    fn end_turn<'a>(&'a self, end: &'a TurnEnd<'a>) -> Pending<'a, Ended> {
        Box::pin(self.end_turn(end))
    }

    fn request_stop<'a>(&'a self, owner: &'a UserId, turn: TurnId) -> Pending<'a, bool> {
        Box::pin(self.request_stop(owner, turn))
    }

    fn stop_requests<'a>(&'a self, node: &'a str) -> Pending<'a, Vec<TurnId>> {
        Box::pin(self.stop_requests(node))
    }

    fn renew_leases<'a>(&'a self, held: &'a [(TurnId, i64)]) -> Pending<'a, Vec<TurnId>> {
        Box::pin(self.renew_leases(held))
    }

    fn dead_turns<'a>(&'a self, reborn: Option<&'a str>) -> Pending<'a, Vec<DeadTurn>> {
        Box::pin(self.dead_turns(reborn))
    }

    fn take_over<'a>(&'a self, dead: &'a DeadTurn, node: &'a str, what: Takeover) -> Pending<'a, Option<i64>> {
        Box::pin(self.take_over(dead, node, what))
    }

    fn release(&self, turn: TurnId, token: i64) -> Pending<'_, ()> {
        Box::pin(self.release(turn, token))
    }

    fn release_unbegun(&self, turn: TurnId, token: i64) -> Pending<'_, ()> {
        Box::pin(self.release_unbegun(turn, token))
    }

    fn begin_call<'a>(&'a self, call: &'a Call, title: &'a str, token: i64) -> Pending<'a, ()> {
        Box::pin(self.begin_call(call, title, token))
    }

    fn settle_call(&self, call: CallId, token: i64, output: Value) -> Pending<'_, Value> {
        Box::pin(self.settle_call(call, token, output))
    }

    fn finish_call(&self, call: CallId, token: i64, outcome: Outcome) -> Pending<'_, Outcome> {
        Box::pin(self.finish_call(call, token, outcome))
    }

    fn refuse_call<'a>(&'a self, call: &'a Call, failure: &'a Failure) -> Pending<'a, ()> {
        Box::pin(self.refuse_call(call, failure))
    }

    fn calls_of(&self, message: MessageId) -> Pending<'_, Vec<JournalRow>> {
        Box::pin(self.calls_of(message))
    }

    fn time(&self) -> DateTime<Utc> {
        self.time()
    }

    fn set_clock(&self) -> Pending<'_, ()> {
        Box::pin(self.set_clock())
    }

    fn lease(&self) -> TimeDelta {
        self.lease()
    }

    fn news_of(&self, turn: TurnId) -> News<'_> {
        self.news_of(turn)
    }

    fn wait_for_stop(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.wait_for_stop())
    }
}
