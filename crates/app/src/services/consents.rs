//! Consents: a user decides about a call, and Segue carries the decision out.

use std::sync::Arc;

use engine::UserId;
use schemars::JsonSchema;
use serde::Deserialize;
use store::{ConsentScope, StartedTurn};
use tracing::instrument;
use uuid::Uuid;

use crate::{App, Ask, Error, converse::Decided};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Allow this call, once.
    Once,
    /// Allow it, and all later calls of this tool in this conversation.
    Conversation,
    Refuse,
}

impl Decision {
    fn scope(self) -> Option<ConsentScope> {
        match self {
            Self::Once => Some(ConsentScope::Once),
            Self::Conversation => Some(ConsentScope::Conversation),
            Self::Refuse => None,
        }
    }
}

/// The consents of users. An allowed call starts a turn, which needs every service.
pub struct Consents<'a>(pub(crate) &'a Arc<App>);

impl Consents<'_> {
    /// Stores the decision about a call. An allowed call starts a turn that makes exactly this call; a refusal starts
    /// none.
    #[instrument(name = "consents.decide", skip_all, fields(user.id = %owner, consent.id = %id))]
    pub async fn decide(&self, owner: &UserId, id: Uuid, decision: Decision) -> Result<Option<StartedTurn>, Error> {
        match decision.scope() {
            None => {
                self.0.store.refuse_consent(owner, id).await?;
                Ok(None)
            }
            Some(scope) => Ok(Some(self.carry_out(owner, id, scope).await?)),
        }
    }

    /// Starts the turn on the branch on which the call was requested. The decision and the start of the turn commit
    /// together.
    async fn carry_out(&self, owner: &UserId, id: Uuid, scope: ConsentScope) -> Result<StartedTurn, Error> {
        let consent = self.0.store.open_consent(owner, id).await?;
        self.0.store.choose_branch(owner, consent.conversation, consent.answer).await?;
        let said = match scope {
            ConsentScope::Once => "Allow once",
            ConsentScope::Conversation => "Allow in this conversation",
        };
        let ask = Ask {
            // The name of the tool, not its title: the other server wrote the title, and this is the user's message.
            text: format!("{said}: {}", consent.tool_name),
            conversation: Some(consent.conversation),
            client_message_id: Some(consent.client_message_id()),
            ..Ask::default()
        };
        let call = (consent.tool_name, consent.input);
        self.0.converse_about(owner, ask, Some(Decided { consent: id, scope, call })).await
    }
}
