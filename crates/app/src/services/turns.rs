//! Finds turns by conversation or by client message id. `App::converse` starts a turn; `crate::turns` follows and stops
//! it.

use engine::{ConversationId, TurnId, UserId};
use tracing::instrument;

use crate::{Error, turns::Turns};
pub use store::StartedTurn;

impl Turns {
    /// The running turn of a conversation, if any.
    #[instrument(name = "turns.running_in", skip_all, fields(user.id = %owner, conversation.id = %conversation))]
    pub async fn running_in(&self, owner: &UserId, conversation: ConversationId) -> Result<Option<TurnId>, Error> {
        Ok(self.store.running_turn(owner, conversation).await?)
    }

    /// The turn of a message with this client message id, if it was ever sent.
    #[instrument(name = "turns.of_client_message", skip_all, fields(user.id = %owner))]
    pub async fn of_client_message(&self, owner: &UserId, id: &str) -> Result<Option<StartedTurn>, Error> {
        Ok(self.store.turn_of_client_message(owner, Some(id)).await?)
    }

    #[instrument(name = "turns.is_running", skip_all, fields(user.id = %owner, turn.id = %turn))]
    pub async fn is_running(&self, owner: &UserId, turn: TurnId) -> Result<bool, Error> {
        Ok(self.store.turn(owner, turn).await?.is_running())
    }
}
