//! What a user liked or refused in a conversation: the tracks of answers with feedback, and those that were added to a playlist or removed
//! from one.

use engine::{MessageId, UserId};
use serde_json::Value;

use super::Library;
use crate::Error;
use search::Taste;
use store::{Feedback, JudgedCall};

impl Library {
    /// The taste in the conversation of an answer; none if the user calls a tool directly.
    pub(crate) async fn taste(&self, owner: &UserId, answer: Option<MessageId>) -> Result<Taste, Error> {
        match answer {
            Some(answer) => Ok(taste_of(&self.store.judged_calls(owner, answer).await?)),
            None => Ok(Taste::default()),
        }
    }
}

fn taste_of(calls: &[JudgedCall]) -> Taste {
    let (mut liked, mut refused) = (Vec::new(), Vec::new());
    for call in calls {
        let (tracks, is_liked) = match (call.feedback, call.tool_name.as_str(), call.result["action"].as_str()) {
            (_, "edit_playlist", Some("add")) => ("changed", true),
            (_, "edit_playlist", Some("remove")) => ("changed", false),
            (Some(feedback), ..) => ("tracks", feedback == Feedback::Positive),
            (None, ..) => continue,
        };
        let tracks = call.result[tracks].as_array().into_iter().flatten();
        let artists = tracks.filter_map(|track: &Value| track["artist"].as_str());
        if is_liked { liked.extend(artists) } else { refused.extend(artists) }
    }
    Taste::of(liked, refused)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(tool_name: &str, feedback: Option<Feedback>, result: Value) -> JudgedCall {
        JudgedCall { tool_name: tool_name.into(), feedback, result }
    }

    #[test]
    fn feedback_and_changes_of_playlists_tell_what_was_liked_and_refused() {
        let found = |artist: &str| json!({"tracks": [{"title": "One", "artist": artist}]});
        let changed = |action: &str, artist: &str| json!({"action": action, "changed": [{"artist": artist}]});
        let calls = [
            call("semanticSearch", Some(Feedback::Positive), found("Wren Holloway")),
            call("semanticSearch", Some(Feedback::Negative), found("The Tide")),
            call("edit_playlist", None, changed("add", "Added")),
            call("edit_playlist", Some(Feedback::Positive), changed("remove", "Removed")),
            call("edit_playlist", None, changed("move", "Moved")),
            call("add_task", Some(Feedback::Positive), json!({"title": "Buy milk"})),
        ];
        assert_eq!(taste_of(&calls), Taste::of(["Wren Holloway", "Added"], ["The Tide", "Removed"]));
    }
}
