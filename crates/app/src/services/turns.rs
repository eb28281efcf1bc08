//! Turns as a caller finds them: by conversation, or by the id a client gave its message.
//! Starting one is `App::converse`; following and stopping are in `crate::turns`.

use engine::{ConversationId, TurnId, UserId};
use tracing::instrument;

use crate::{Error, turns::Turns};
pub use store::StartedTurn;

impl Turns {
    /// The turn that runs in a conversation now, if any.
    #[instrument(name = "turns.running_in", skip_all, fields(user.id = %owner, conversation.id = %conversation))]
    pub async fn running_in(&self, owner: &UserId, conversation: ConversationId) -> Result<Option<TurnId>, Error> {
        Ok(self.store.running_turn(owner, conversation).await?)
    }

    /// The turn that a message with this id of the client's began, if it was ever sent.
    #[instrument(name = "turns.of_client_message", skip_all, fields(user.id = %owner))]
    pub async fn of_client_message(&self, owner: &UserId, id: &str) -> Result<Option<StartedTurn>, Error> {
        Ok(self.store.turn_of_client_message(owner, Some(id)).await?)
    }

    #[instrument(name = "turns.is_running", skip_all, fields(user.id = %owner, turn.id = %turn))]
    pub async fn is_running(&self, owner: &UserId, turn: TurnId) -> Result<bool, Error> {
        Ok(self.store.turn(owner, turn).await?.is_running())
    }
}
