//! The model of the fault tests. It calls the tool that the user's message names first, then says that it is done.

use std::time::Duration;

use doubles::model::Scenario;
use serde_json::json;

use crate::support::{Upstream, words_and_call};

const N_WORDS: usize = 8;

/// "find rain" searches the collection, "tidal rain" the catalogue; any other message becomes a task.
pub(crate) async fn start() -> Upstream {
    let search = json!({"query": "$rest", "searchType": "tracks"});
    let upstream = Upstream::playing([
        Scenario::begins("find", words_and_call(N_WORDS, "semanticSearch", json!({"query": "$rest"}))),
        Scenario::begins("tidal", words_and_call(N_WORDS, "tidalSearch", search)),
        Scenario::always(words_and_call(N_WORDS, "add_task", json!({"title": "$message"}))),
    ]);
    let upstream = upstream.await;
    upstream.set_pace(Duration::from_millis(2));
    upstream
}
