//! Follows a turn through the database: it has ended, or it runs on another node.

use std::{sync::Arc, time::Duration};

use engine::{Event, TurnId};
use futures::Stream;
use store::TurnStore;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::{
    is_after, pause,
    rows::{one_output_each, read_without_outputs, with_outputs},
};

/// The delay before a failed read is repeated.
const ASK_AGAIN_AFTER: Duration = Duration::from_millis(200);
const ROWS_AT_ONCE: i64 = 4;

pub(super) fn follow_saved(
    store: Arc<dyn TurnStore>,
    turn: TurnId,
    mut runs: bool,
    after: u32,
    leaving: CancellationToken,
) -> impl Stream<Item = Vec<Arc<Event>>> + Send {
    async_stream::stream! {
        let mut news = store.news_of(turn);
        let mut position = 0_i64;
        loop {
            // Checked before reading: events that are saved after this check are read in the next round.
            let still_runs = runs && store.is_running(turn).await.unwrap_or(true);
            let (new, is_full) = match read_without_outputs(&*store, turn, position, ROWS_AT_ONCE).await {
                Ok((new, n_rows)) => {
                    let is_full = n_rows as i64 == ROWS_AT_ONCE && !new.is_empty();
                    (new, is_full)
                }
                Err(error) => {
                    warn!(turn.id = %turn, "Events could not be read, trying again: {error}");
                    if !pause(ASK_AGAIN_AFTER, &leaving).await {
                        return;
                    }
                    continue;
                }
            };
            position += new.len() as i64;
            let is_over = new.last().is_some_and(|event| event.kind.is_last());
            let mut rest: Vec<_> = new.into_iter().filter(|event| is_after(event, after)).collect();
            while !rest.is_empty() {
                let n_first = one_output_each(&rest).next().map_or(rest.len(), <[_]>::len);
                let later = rest.split_off(n_first);
                let batch = std::mem::replace(&mut rest, later);
                let complete = loop {
                    match with_outputs(&*store, batch.clone()).await {
                        Ok(complete) => break complete,
                        Err(error) => {
                            warn!(turn.id = %turn, "An output could not be read, trying again: {error}");
                            if !pause(ASK_AGAIN_AFTER, &leaving).await {
                                return;
                            }
                        }
                    }
                };
                // While a reader stalls, only its encoder holds these events.
                drop(batch);
                yield complete;
            }
            if is_over || (!still_runs && !is_full) {
                return;
            }
            runs = still_runs;
            if !is_full {
                tokio::select! {
                    biased;
                    () = news.wait() => {}
                    // The turn continues on another node; its reader resumes there.
                    () = leaving.cancelled() => return,
                }
            }
        }
    }
}
