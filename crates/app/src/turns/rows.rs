//! Events as rows of the log.

use std::{borrow::Cow, sync::Arc};

use engine::{Done, Event, Kind, TurnId};
use store::{StartedTurn, StoreError, TurnStore};
use tracing::warn;

/// A row is closed at this size, so that a reader of a few rows holds little memory.
const ROW_BYTES: usize = 32 * 1024;

/// The next row: as many events as one row holds, at least one. Returns how many.
pub(crate) fn next_row<'a>(events: impl Iterator<Item = &'a Event>) -> (String, usize) {
    let mut row = vec![b'['];
    let mut n_events = 0;
    for event in events {
        if n_events > 0 {
            row.push(b',');
        }
        serde_json::to_writer(&mut row, &as_stored(event)).expect("events are plain data");
        n_events += 1;
        if row.len() >= ROW_BYTES {
            break;
        }
    }
    row.push(b']');
    (String::from_utf8(row).expect("JSON is UTF-8"), n_events)
}

/// The first event of a turn.
pub(crate) fn first_event(started: &StartedTurn, at_ms: i64) -> Event {
    let StartedTurn { turn, conversation, message } = *started;
    Event { seq: 1, at_ms, kind: Kind::Started { turn, conversation, message } }
}

/// The first row of its log.
pub(crate) fn first_row(started: &StartedTurn, at_ms: i64) -> String {
    next_row(std::iter::once(&first_event(started, at_ms))).0
}

/// All events in one row: the last one of a turn, which is stored together with its end.
pub(crate) fn last_row(events: &[Arc<Event>]) -> String {
    let stored: Vec<_> = events.iter().map(|event| as_stored(event)).collect();
    serde_json::to_string(&stored).expect("events are plain data")
}

/// The form of an event in the log. The output of a call may be large, and the journal contains it before this event exists.
fn as_stored(event: &Event) -> Cow<'_, Event> {
    match &event.kind {
        Kind::ToolDone { done, .. } => Cow::Owned(with_output(event, done, Arc::default())),
        _ => Cow::Borrowed(event),
    }
}

fn with_output(event: &Event, done: &Done, output: Arc<serde_json::Value>) -> Event {
    let mut event = event.clone();
    if let Kind::ToolDone { done: of_event, .. } = &mut event.kind {
        *of_event = Arc::new(Done { output, ..done.clone() });
    }
    event
}

/// At most `n_rows` rows of a log from `position` on, complete. Returns how many rows.
pub(crate) async fn read(
    store: &dyn TurnStore,
    turn: TurnId,
    position: i64,
    n_rows: i64,
) -> Result<(Vec<Arc<Event>>, usize), StoreError> {
    let (events, n_rows) = read_without_outputs(store, turn, position, n_rows).await?;
    Ok((with_outputs(store, events).await?, n_rows))
}

pub(super) async fn read_without_outputs(
    store: &dyn TurnStore,
    turn: TurnId,
    position: i64,
    n_rows: i64,
) -> Result<(Vec<Arc<Event>>, usize), StoreError> {
    let rows = store.events_from(turn, position, n_rows).await?;
    Ok((from_rows(&rows), rows.len()))
}

/// The events in batches with one output each at most: an output has up to 1 MiB, and a reader that stalls holds a batch.
pub(super) fn one_output_each(events: &[Arc<Event>]) -> impl Iterator<Item = &[Arc<Event>]> {
    events.split_inclusive(|event| has_output(event))
}

fn has_output(event: &Event) -> bool {
    matches!(event.kind, Kind::ToolDone { .. })
}

/// Events with the outputs of their calls.
pub(super) async fn with_outputs(
    store: &dyn TurnStore,
    mut events: Vec<Arc<Event>>,
) -> Result<Vec<Arc<Event>>, StoreError> {
    for event in &mut events {
        // Logs of earlier versions contain the outputs.
        if let Kind::ToolDone { call, done, .. } = &event.kind
            && done.output.is_null()
            && let Some(output) = store.output_of(*call).await?
        {
            *event = Arc::new(with_output(event, done, Arc::new(output)));
        }
    }
    Ok(events)
}

/// The events of rows, without the outputs of calls. A row that cannot be parsed was written by a newer version; it and all later rows are ignored.
fn from_rows(rows: &[String]) -> Vec<Arc<Event>> {
    let mut events = Vec::new();
    for row in rows {
        match serde_json::from_str::<Vec<Event>>(row) {
            Ok(new) => events.extend(new.into_iter().map(Arc::new)),
            Err(error) => {
                warn!("A row of the turn log cannot be read: {error}");
                break;
            }
        }
    }
    events
}

/// Whether a power cut may lose the event: text can be generated again, but calls, outcomes and ends cannot.
pub(crate) fn is_only_text(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Started { .. }
            | Kind::StepStarted { .. }
            | Kind::TextStarted { .. }
            | Kind::TextDelta { .. }
            | Kind::TextDone { .. }
            | Kind::Reasoned { .. }
            | Kind::Reading { .. }
    )
}
