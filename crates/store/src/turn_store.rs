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

/// The result of an operation of a [`TurnStore`].
pub type Pending<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

pub trait TurnStore: Send + Sync {
    /// Stores a question, an empty answer and the turn that will fill it, leased to `new.node`. The same
    /// `client_message_id` again returns the turn that exists. One turn runs in a conversation at a time.
    fn start_turn<'a>(&'a self, owner: &'a UserId, new: &'a NewTurn<'a>) -> Pending<'a, Start>;
    fn turn<'a>(&'a self, owner: &'a UserId, id: TurnId) -> Pending<'a, TurnRow>;
    /// The running turn of a conversation, if any.
    fn running_turn<'a>(&'a self, owner: &'a UserId, conversation: ConversationId) -> Pending<'a, Option<TurnId>>;
    fn is_running(&self, turn: TurnId) -> Pending<'_, bool>;
    /// The turn of a message with this client message id, if it was ever sent.
    fn turn_of_client_message<'a>(&'a self, owner: &'a UserId, id: Option<&'a str>)
    -> Pending<'a, Option<StartedTurn>>;
    /// The text of the question of an answer.
    fn question_of(&self, answer: MessageId) -> Pending<'_, String>;

    /// Saves the next events of several turns. Each is saved only if its token and its number of events are current.
    fn save_events<'a>(&'a self, saves: &'a [Save], durability: Durability) -> Pending<'a, Vec<Saved>>;
    /// At most `n_rows` saved rows from `position` on, in their order.
    fn events_from(&self, turn: TurnId, position: i64, n_rows: i64) -> Pending<'_, Vec<String>>;
    /// Stores the end of a turn and closes its calls, if its token and its number of events are current. A second
    /// attempt with the same token returns `Stored` and keeps the first end.
    fn end_turn<'a>(&'a self, end: &'a TurnEnd<'a>) -> Pending<'a, Ended>;

    /// Asks the node of a turn to stop it. False if the turn does not run or belongs to another owner.
    fn request_stop<'a>(&'a self, owner: &'a UserId, turn: TurnId) -> Pending<'a, bool>;
    /// The running turns of a node that have a stop request.
    fn stop_requests<'a>(&'a self, node: &'a str) -> Pending<'a, Vec<TurnId>>;

    /// Renews leases by their tokens. Returns the turns whose lease is lost.
    fn renew_leases<'a>(&'a self, held: &'a [(TurnId, i64)]) -> Pending<'a, Vec<TurnId>>;
    /// Running turns whose lease has expired, or that belong to `reborn`: a node that has restarted.
    fn dead_turns<'a>(&'a self, reborn: Option<&'a str>) -> Pending<'a, Vec<DeadTurn>>;
    /// Moves a dead turn and its open calls to `node` under a new token. `None` if another node was faster or the lease
    /// was renewed.
    fn take_over<'a>(&'a self, dead: &'a DeadTurn, node: &'a str, what: Takeover) -> Pending<'a, Option<i64>>;
    /// Releases a turn: any node may take it over at once.
    fn release(&self, turn: TurnId, token: i64) -> Pending<'_, ()>;
    /// The same for a turn that was taken over and could not be started. The takeover is not counted.
    fn release_unbegun(&self, turn: TurnId, token: i64) -> Pending<'_, ()>;

    /// Opens the journal row of a tool call before the tool runs. A second attempt changes nothing. False if the token of
    /// the turn is another one.
    fn begin_call<'a>(&'a self, call: &'a Call, title: &'a str, token: i64) -> Pending<'a, bool>;
    /// Saves the events before a call and opens its row in one commit, or does neither.
    fn begin_call_after<'a>(&'a self, save: &'a Save, call: &'a Call, title: &'a str) -> Pending<'a, Saved>;
    /// Commits the effect of a call. A second attempt changes nothing and returns the output of the first. A call that
    /// is closed, was never begun, or belongs to another lease is a conflict.
    fn settle_call(&self, call: CallId, token: i64, output: Value) -> Pending<'_, Value>;
    /// Closes the row and returns its outcome: a committed effect takes precedence over a failure.
    fn finish_call(&self, call: CallId, token: i64, outcome: Outcome) -> Pending<'_, Outcome>;
    /// Stores a call that was refused before it ran.
    fn refuse_call<'a>(&'a self, call: &'a Call, title: &'a str, failure: &'a Failure, token: i64) -> Pending<'a, ()>;
    fn calls_of(&self, message: MessageId) -> Pending<'_, Vec<JournalRow>>;
    /// The output of a call that is closed and did not fail.
    fn output_of(&self, call: CallId) -> Pending<'_, Option<Value>>;

    /// The time of the store. Lease expiry uses it.
    fn time(&self) -> DateTime<Utc>;
    /// Reads the time from the database.
    fn set_clock(&self) -> Pending<'_, ()>;
    /// The duration of a lease.
    fn lease(&self) -> TimeDelta;
    /// Waits for news of one turn, from this node or another.
    fn news_of(&self, turn: TurnId) -> News<'_>;
    /// Returns when a turn of this node may have a stop request.
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

    fn begin_call<'a>(&'a self, call: &'a Call, title: &'a str, token: i64) -> Pending<'a, bool> {
        Box::pin(self.begin_call(call, title, token))
    }

    fn begin_call_after<'a>(&'a self, save: &'a Save, call: &'a Call, title: &'a str) -> Pending<'a, Saved> {
        Box::pin(self.begin_call_after(save, call, title))
    }

    fn settle_call(&self, call: CallId, token: i64, output: Value) -> Pending<'_, Value> {
        Box::pin(self.settle_call(call, token, output))
    }

    fn finish_call(&self, call: CallId, token: i64, outcome: Outcome) -> Pending<'_, Outcome> {
        Box::pin(self.finish_call(call, token, outcome))
    }

    fn refuse_call<'a>(&'a self, call: &'a Call, title: &'a str, failure: &'a Failure, token: i64) -> Pending<'a, ()> {
        Box::pin(self.refuse_call(call, title, failure, token))
    }

    fn calls_of(&self, message: MessageId) -> Pending<'_, Vec<JournalRow>> {
        Box::pin(self.calls_of(message))
    }

    fn output_of(&self, call: CallId) -> Pending<'_, Option<Value>> {
        Box::pin(self.output_of(call))
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
