//! Consents: whether a user allows a tool of another server to make a call that a model requested. A consent belongs to
//! one call in one conversation; only the user decides.

use engine::{CallId, ConversationId, MessageId, TurnId, UserId};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use sqlx::types::Json;
use uuid::Uuid;

use super::{Store, StoreError, db::Tx};

/// The scope of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConsentScope {
    /// This call, once.
    Once,
    /// Every call of this tool in this conversation.
    Conversation,
}

impl ConsentScope {
    fn as_str(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Conversation => "conversation",
        }
    }

    fn from_text(text: &str) -> Option<Self> {
        [Self::Once, Self::Conversation].into_iter().find(|scope| scope.as_str() == text)
    }
}

/// A call that waits, or waited, for the user's decision.
#[derive(Clone, Debug)]
pub struct Consent {
    pub id: Uuid,
    pub conversation: ConversationId,
    /// The answer in which the call was requested.
    pub answer: MessageId,
    pub tool_name: String,
    pub input: Value,
}

/// The state of a consent.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConsentLine {
    pub id: Uuid,
    pub tool_call_id: CallId,
    pub tool_name: String,
    /// False while the user has not decided.
    pub decided: bool,
    /// The scope of the consent; absent while the user has not decided, and after a refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<ConsentScope>,
}

/// A call that needs a consent.
pub struct NewConsent<'a> {
    pub owner: &'a UserId,
    pub answer: MessageId,
    pub call: CallId,
    pub tool_name: &'a str,
    pub input: &'a Value,
}

type OpenRow = (Uuid, Uuid, Uuid, String, Json<Value>, Option<String>);
type Line = (Uuid, Uuid, String, Option<String>, Option<String>);

const CLOSED: &str = "this question has been answered already";
/// A consent starts a turn whose client message id is this prefix and the consent's id. A node that takes the turn over
/// finds the call by that id.
const CLIENT_ID: &str = "consent:";

impl Consent {
    /// The client message id of the turn that carries out the decision.
    pub fn client_message_id(&self) -> String {
        format!("{CLIENT_ID}{}", self.id)
    }
}

impl Store {
    /// Stores a consent that waits for a decision. The same call gets the same consent. A node that lost the turn of the
    /// call stores none.
    pub async fn ask_consent(&self, new: &NewConsent<'_>) -> Result<Uuid, StoreError> {
        const SQL: &str =
            "INSERT INTO consents (id, conversation_id, message_id, call_id, user_id, tool_name, input, created_at)
             SELECT $1, conversation_id, $2, $3, $4, $5, $6, $7 FROM messages WHERE id = $2
                AND NOT EXISTS (SELECT 1 FROM turns WHERE message_id = $2 AND NOT (lease_token = $8 AND status = 'running'))
             ON CONFLICT (call_id) DO UPDATE SET tool_name = consents.tool_name RETURNING id";
        let row: Option<(Uuid,)> = self
            .write(SQL)
            .bind(Uuid::now_v7())
            .bind(new.answer.0)
            .bind(new.call.0)
            .bind(new.owner.as_str())
            .bind(new.tool_name)
            .bind(Json(new.input))
            .bind(self.clock.now())
            .bind(self.call_leases.of(new.call))
            .fetch_optional()
            .await?;
        row.map(|(id,)| id).ok_or(StoreError::NotFound)
    }

    /// A consent that waits for the user's decision.
    pub async fn open_consent(&self, owner: &UserId, id: Uuid) -> Result<Consent, StoreError> {
        const SQL: &str = "SELECT id, conversation_id, message_id, tool_name, input, decision FROM consents
            WHERE id = $1 AND user_id = $2";
        let row: Option<OpenRow> = self.read(SQL).bind(id).bind(owner.as_str()).fetch_optional().await?;
        let (id, conversation, answer, tool_name, Json(input), decision) = row.ok_or(StoreError::NotFound)?;
        if decision.is_some() {
            return Err(StoreError::Conflict(CLOSED));
        }
        let (conversation, answer) = (ConversationId(conversation), MessageId(answer));
        Ok(Consent { id, conversation, answer, tool_name, input })
    }

    /// Refuses a call, once. A call is allowed together with the start of its turn: see `NewTurn::decides`.
    pub async fn refuse_consent(&self, owner: &UserId, id: Uuid) -> Result<(), StoreError> {
        self.open_consent(owner, id).await?;
        let mut tx = self.begin().await?;
        decide(&mut tx, owner, id, None).await?;
        tx.commit().await
    }

    /// The call with which a turn begins, if a consent has started the turn and is not used up. For a node that takes
    /// over a turn whose log does not contain the call.
    pub async fn decided_call(&self, owner: &UserId, turn: TurnId) -> Result<Option<(String, Value)>, StoreError> {
        const TURN: &str = "SELECT client_message_id FROM turns WHERE id = $1 AND user_id = $2";
        const CALL: &str =
            "SELECT tool_name, input FROM consents WHERE id = $1 AND user_id = $2 AND decision = 'allow'";
        let row: Option<(Option<String>,)> = self.read(TURN).bind(turn.0).bind(owner.as_str()).fetch_optional().await?;
        let name = row.and_then(|(name,)| name).unwrap_or_default();
        let Some(id) = name.strip_prefix(CLIENT_ID).and_then(|id| id.parse::<Uuid>().ok()) else { return Ok(None) };
        let call: Option<(String, Json<Value>)> =
            self.read(CALL).bind(id).bind(owner.as_str()).fetch_optional().await?;
        Ok(call.map(|(tool_name, Json(input))| (tool_name, input)))
    }

    /// The consents of a conversation, oldest first.
    pub async fn consents(&self, owner: &UserId, conversation: ConversationId) -> Result<Vec<ConsentLine>, StoreError> {
        const SQL: &str = "SELECT id, call_id, tool_name, decision, scope FROM consents
            WHERE conversation_id = $1 AND user_id = $2 ORDER BY created_at, id";
        let rows: Vec<Line> = self.read(SQL).bind(conversation.0).bind(owner.as_str()).fetch_all().await?;
        let line = |(id, call, tool_name, decision, scope): Line| ConsentLine {
            id,
            tool_call_id: CallId(call),
            tool_name,
            decided: decision.is_some(),
            scope: scope.as_deref().and_then(ConsentScope::from_text),
        };
        Ok(rows.into_iter().map(line).collect())
    }

    /// Whether a call may be made in its conversation. The call uses up a consent for one call, unless its node has lost
    /// the turn.
    pub async fn use_consent(&self, asked: &NewConsent<'_>) -> Result<bool, StoreError> {
        const FIND: &str = "SELECT c.id, c.scope, c.input FROM consents c
            JOIN messages m ON m.conversation_id = c.conversation_id
            WHERE m.id = $1 AND c.user_id = $2 AND c.tool_name = $3 AND c.decision = 'allow' ORDER BY c.created_at";
        const USE: &str = "UPDATE consents SET decision = 'used' WHERE id = $1 AND decision = 'allow'
            AND NOT EXISTS (SELECT 1 FROM turns WHERE message_id = $2 AND NOT (lease_token = $3 AND status = 'running'))
            RETURNING id";
        let query = self.read(FIND).bind(asked.answer.0).bind(asked.owner.as_str()).bind(asked.tool_name);
        let given: Vec<(Uuid, String, Json<Value>)> = query.fetch_all().await?;
        let mut once = Vec::new();
        for (id, scope, Json(allowed)) in given {
            match scope.as_str() {
                "conversation" => return Ok(true),
                "once" if allowed == *asked.input => once.push(id),
                _ => {}
            }
        }
        for id in once {
            let used: Option<(Uuid,)> = self
                .write(USE)
                .bind(id)
                .bind(asked.answer.0)
                .bind(self.call_leases.of(asked.call))
                .fetch_optional()
                .await?;
            if used.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Stores a decision, once; without a scope the call is refused. Runs in the transaction that starts the turn of the
/// call, so that both are stored or neither.
pub(crate) async fn decide(
    tx: &mut Tx,
    owner: &UserId,
    id: Uuid,
    scope: Option<ConsentScope>,
) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE consents SET decision = $3, scope = $4, decided_at = $5
        WHERE id = $1 AND user_id = $2 AND decision IS NULL RETURNING id";
    let query = tx.query(SQL).bind(id).bind(owner.as_str());
    let query = query.bind(if scope.is_some() { "allow" } else { "refuse" }).bind(scope.map(ConsentScope::as_str));
    let decided: Option<(Uuid,)> = query.bind_now().fetch_optional().await?;
    decided.map(drop).ok_or(StoreError::Conflict(CLOSED))
}
