//! The journal of tool calls in memory.

use std::collections::BTreeMap;

use engine::{Call, CallId, Failure, MessageId, Outcome, Recorded};
use serde_json::Value;

use crate::{JournalRow, NO_TURN, StoreError, journal::outcome_of_effect};

#[derive(Clone, Default)]
pub(crate) struct Calls(BTreeMap<CallId, Row>);

#[derive(Clone)]
struct Row {
    message: Option<MessageId>,
    token: i64,
    state: State,
}

#[derive(Clone)]
enum State {
    Running,
    Settled(Value),
    Closed(Outcome),
}

impl Calls {
    pub(crate) fn begin(&mut self, call: &Call, token: i64) {
        let row = Row { message: call.message, token, state: State::Running };
        self.0.entry(call.id).or_insert(row);
    }

    pub(crate) fn refuse(&mut self, call: &Call, failure: &Failure) {
        let state = State::Closed(Outcome::Failed(failure.clone()));
        self.0.entry(call.id).or_insert(Row { message: call.message, token: NO_TURN, state });
    }

    pub(crate) fn message_of(&self, call: CallId) -> Option<MessageId> {
        self.0.get(&call)?.message
    }

    /// `is_held`: whether the turn of the call, if it has one, runs under this token.
    pub(crate) fn settle(
        &mut self,
        call: CallId,
        token: i64,
        output: Value,
        is_held: bool,
    ) -> Result<Value, StoreError> {
        let closed = StoreError::Conflict("this call is already closed");
        let Some(row) = self.0.get_mut(&call) else { return Err(closed) };
        match &row.state {
            State::Settled(first) => Ok(first.clone()),
            State::Running if row.token == token && is_held => {
                row.state = State::Settled(output.clone());
                Ok(output)
            }
            State::Running | State::Closed(_) => Err(closed),
        }
    }

    pub(crate) fn finish(&mut self, call: CallId, token: i64, outcome: Outcome) -> Outcome {
        let Some(row) = self.0.get_mut(&call) else { return outcome };
        let is_done = matches!(outcome, Outcome::Done(_));
        match &row.state {
            State::Running | State::Settled(_) if row.token != token => {}
            State::Running => row.state = State::Closed(outcome.clone()),
            State::Settled(_) if is_done => row.state = State::Closed(outcome.clone()),
            State::Settled(output) => row.state = State::Closed(outcome_of_effect(output.clone())),
            State::Closed(_) => {}
        }
        match &row.state {
            State::Running => outcome,
            State::Settled(output) => outcome_of_effect(output.clone()),
            State::Closed(first) => first.clone(),
        }
    }

    pub(crate) fn output(&self, call: CallId) -> Option<Value> {
        match &self.0.get(&call)?.state {
            State::Closed(Outcome::Done(done)) => Some(Value::clone(&done.output)),
            State::Closed(Outcome::Failed(_)) | State::Running | State::Settled(_) => None,
        }
    }

    pub(crate) fn of(&self, message: MessageId) -> Vec<JournalRow> {
        let rows = self.0.iter().filter(|(_, row)| row.message == Some(message));
        let recorded = |row: &Row| match &row.state {
            State::Running => Recorded::Begun,
            State::Settled(output) => Recorded::Effect(outcome_of_effect(output.clone())),
            State::Closed(outcome) => Recorded::Closed(outcome.clone()),
        };
        rows.map(|(id, row)| JournalRow { id: *id, recorded: recorded(row) }).collect()
    }

    pub(crate) fn move_to(&mut self, message: MessageId, token: i64) {
        let open = |row: &&mut Row| row.message == Some(message) && !matches!(row.state, State::Closed(_));
        self.0.values_mut().filter(open).for_each(|row| row.token = token);
    }

    pub(crate) fn close_all(&mut self, message: MessageId) {
        for row in self.0.values_mut().filter(|row| row.message == Some(message)) {
            row.state = match &row.state {
                State::Running => State::Closed(Outcome::Failed(Failure::interrupted())),
                State::Settled(output) => State::Closed(outcome_of_effect(output.clone())),
                State::Closed(outcome) => State::Closed(outcome.clone()),
            };
        }
    }
}
