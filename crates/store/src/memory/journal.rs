//! The journal of tool calls in memory.

use std::collections::BTreeMap;

use engine::{Call, CallId, MessageId, Outcome};
use serde_json::Value;

use crate::{JournalRow, Settled, StoreError};

#[derive(Clone, Default)]
pub(crate) struct Calls(BTreeMap<CallId, Row>);

#[derive(Clone)]
struct Row {
    message: Option<MessageId>,
    is_closed: bool,
    settled: Option<Settled>,
}

impl Calls {
    pub(crate) fn begin(&mut self, call: &Call) {
        let row = Row { message: call.message, is_closed: false, settled: None };
        self.0.entry(call.id).or_insert(row);
    }

    pub(crate) fn settle(&mut self, call: CallId, output: Value) -> Result<Value, StoreError> {
        let closed = StoreError::Conflict("this call is already closed");
        let Some(row) = self.0.get_mut(&call) else { return Err(closed) };
        match &row.settled {
            Some(Settled::Effect(first)) => Ok(first.clone()),
            Some(_) => Err(closed),
            None => {
                row.settled = Some(Settled::Effect(output.clone()));
                Ok(output)
            }
        }
    }

    pub(crate) fn finish(&mut self, call: CallId, outcome: Outcome) -> Outcome {
        let Some(row) = self.0.get_mut(&call) else { return outcome };
        let may_close = match &row.settled {
            _ if row.is_closed => false,
            None => true,
            Some(_) => matches!(outcome, Outcome::Done(_)),
        };
        if may_close {
            row.is_closed = true;
            row.settled = Some(Settled::of(&outcome));
            return outcome;
        }
        row.settled.clone().map_or(outcome, Settled::into_outcome)
    }

    pub(crate) fn of(&self, message: MessageId) -> Vec<JournalRow> {
        let rows = self.0.iter().filter(|(_, row)| row.message == Some(message));
        rows.map(|(id, row)| JournalRow { id: *id, settled: row.settled.clone() }).collect()
    }

    /// The messages are gone; what their calls did stays.
    pub(crate) fn detach(&mut self, messages: &[MessageId]) {
        let of_these = |row: &&mut Row| row.message.is_some_and(|message| messages.contains(&message));
        self.0.values_mut().filter(of_these).for_each(|row| row.message = None);
    }
}
