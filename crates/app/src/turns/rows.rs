//! Events as rows of the log.

use std::sync::Arc;

use engine::{Event, Kind};
use store::EventRow;
use tracing::warn;

/// A row is closed at this size, so that a reader of a few rows holds little memory.
const ROW_BYTES: usize = 32 * 1024;

/// The next row: as many events as one row holds, at least one. Returns how many.
pub(crate) fn next_row<'a>(events: impl Iterator<Item = &'a Event>) -> (String, usize) {
    let mut text = String::from("[");
    let mut n_events = 0;
    for event in events {
        if n_events > 0 {
            text.push(',');
        }
        text.push_str(&serde_json::to_string(event).expect("events are plain data"));
        n_events += 1;
        if text.len() >= ROW_BYTES {
            break;
        }
    }
    text.push(']');
    (text, n_events)
}

/// All events, in consecutive rows from `first` on.
pub(crate) fn to_rows(first: usize, events: &[Arc<Event>]) -> Vec<EventRow> {
    let mut rows = Vec::new();
    let mut n_done = 0;
    while n_done < events.len() {
        let (text, n_events) = next_row(events[n_done..].iter().map(AsRef::as_ref));
        rows.push(((first + n_done) as i64, text));
        n_done += n_events;
    }
    rows
}

/// The events of rows. A row that cannot be parsed was written by a newer version; it and all later rows are ignored.
pub(crate) fn from_rows(rows: &[String]) -> Vec<Arc<Event>> {
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
