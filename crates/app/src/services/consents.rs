//! Consents: a user decides about a call that waits for them, and the decision is carried out.

use std::sync::Arc;

use engine::UserId;
use schemars::JsonSchema;
use serde::Deserialize;
use store::{Consent, ConsentScope, StartedTurn};
use tracing::instrument;
use uuid::Uuid;

use crate::{App, Ask, Error};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Make this call, once.
    Once,
    /// Make it, and let this tool act in this conversation from now on.
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

impl App {
    /// Answers a question about a call. What is allowed starts a turn that makes exactly this call; a refusal starts none.
    #[instrument(name = "consents.decide", skip_all, fields(user.id = %owner, consent.id = %id))]
    pub async fn decide(
        self: &Arc<Self>,
        owner: &UserId,
        id: Uuid,
        decision: Decision,
    ) -> Result<Option<StartedTurn>, Error> {
        let consent = self.store.decide_consent(owner, id, decision.scope()).await?;
        if decision == Decision::Refuse {
            return Ok(None);
        }
        match self.carry_out(owner, consent, decision).await {
            Ok(started) => Ok(Some(started)),
            Err(error) => {
                self.store.reopen_consent(owner, id).await?;
                Err(error)
            }
        }
    }

    /// On the branch on which the call was asked for.
    async fn carry_out(
        self: &Arc<Self>,
        owner: &UserId,
        consent: Consent,
        decision: Decision,
    ) -> Result<StartedTurn, Error> {
        self.store.choose_branch(owner, consent.conversation, consent.answer).await?;
        let title = self.title_of(&consent.tool_name);
        let said = if decision == Decision::Once { "Allow once" } else { "Allow in this conversation" };
        let ask = Ask { text: format!("{said}: {title}"), conversation: Some(consent.conversation), ..Ask::default() };
        self.converse_about(owner, ask, Some((consent.tool_name, consent.input))).await
    }
}
