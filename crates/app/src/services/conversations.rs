//! Conversations and their messages: list, search, read page by page, choose a branch, rename, pin, export, delete,
//! restore, give feedback.

use engine::{ConversationId, MessageId, UserId, json_bytes};
use futures::Stream;
use schemars::JsonSchema;
use serde::Deserialize;
use tracing::instrument;
use uuid::Uuid;

use super::present;
use crate::{Error, export_conversation, models::Models, text_limit::Text};
use store::Store;
pub use store::{
    Age, ConsentLine, ConsentScope, Conversation, ConversationPage, Feedback, MessagePage, MessageStatus,
    StoredMessage, TurnError,
};

pub type ConversationTitle = Text<1, 200>;

/// The fields to change. An absent field is kept.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConversationChange {
    #[serde(default)]
    pub title: Option<ConversationTitle>,
    #[serde(default)]
    pub pinned: Option<bool>,
    /// A model of the list in the settings, for later messages; `null`: the active one.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Option<String>")]
    pub model: Option<Option<String>>,
}

#[derive(Clone)]
pub struct Conversations {
    store: Store,
    models: Models,
}

impl Conversations {
    pub(crate) fn new(store: Store, models: Models) -> Self {
        Self { store, models }
    }

    /// Pinned conversations first, then the newest. `words` searches titles and texts.
    #[instrument(name = "conversations.list", skip_all, fields(user.id = %owner))]
    pub async fn list(
        &self,
        owner: &UserId,
        words: Option<&str>,
        before: Option<ConversationId>,
        limit: u32,
    ) -> Result<ConversationPage, Error> {
        let words = words.map(str::trim).filter(|words| !words.is_empty());
        Ok(self.store.conversations(owner, words, before, limit).await?)
    }

    /// In the order of their creation.
    #[instrument(name = "conversations.by_age", skip_all, fields(user.id = %owner))]
    pub async fn by_age(
        &self,
        owner: &UserId,
        age: Age,
        after: Option<ConversationId>,
        limit: u32,
    ) -> Result<ConversationPage, Error> {
        Ok(self.store.conversations_by_age(owner, age, after, limit).await?)
    }

    #[instrument(name = "conversations.get", skip_all, fields(user.id = %owner, conversation.id = %id))]
    pub async fn get(&self, owner: &UserId, id: ConversationId) -> Result<Conversation, Error> {
        Ok(self.store.conversation(owner, id).await?)
    }

    /// Whether this conversation belongs to the user. A failure of the database is an error, never "no".
    #[instrument(name = "conversations.exists", skip_all, fields(user.id = %owner, conversation.id = %id))]
    pub async fn exists(&self, owner: &UserId, id: ConversationId) -> Result<bool, Error> {
        match self.get(owner, id).await {
            Ok(_) => Ok(true),
            Err(Error::NotFound) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// At most `limit` messages of the branch that is shown, in the order `age`, starting with `from`. An unknown
    /// conversation has no messages; a message of another conversation cannot start a page.
    #[instrument(name = "conversations.messages", skip_all, fields(user.id = %owner, conversation.id = %id))]
    pub async fn messages(
        &self,
        owner: &UserId,
        id: ConversationId,
        age: Age,
        from: Option<MessageId>,
        limit: u32,
    ) -> Result<MessagePage, Error> {
        let (mut page, mut n_bytes) = (MessagePage { messages: vec![], next: from }, 0);
        loop {
            let n_left = limit.saturating_sub(u32::try_from(page.messages.len()).unwrap_or(u32::MAX));
            let part = self.store.message_page(owner, id, age, page.next, n_left.min(MESSAGES_AT_ONCE)).await?;
            n_bytes += part.messages.iter().map(json_bytes).sum::<usize>();
            page.messages.extend(part.messages);
            page.next = part.next;
            if page.next.is_none() || page.messages.len() >= limit as usize || n_bytes >= MOST_PAGE_BYTES {
                return Ok(page);
            }
        }
    }

    /// One message, if it is in this conversation.
    #[instrument(name = "conversations.message", skip_all, fields(user.id = %owner, conversation.id = %id, message.id = %message))]
    pub async fn message(
        &self,
        owner: &UserId,
        id: ConversationId,
        message: MessageId,
    ) -> Result<Option<StoredMessage>, Error> {
        Ok(self.messages(owner, id, Age::NewestFirst, Some(message), 1).await?.messages.pop())
    }

    /// The answer that contains a tool call.
    #[instrument(name = "conversations.message_of_call", skip_all, fields(user.id = %owner, conversation.id = %id))]
    pub async fn message_of_call(
        &self,
        owner: &UserId,
        id: ConversationId,
        call: Uuid,
    ) -> Result<Option<MessageId>, Error> {
        Ok(self.store.message_of_call(owner, id, call).await?)
    }

    /// The question with this id or with this answer. Without an id, the newest question of the branch that is shown.
    #[instrument(name = "conversations.question", skip_all, fields(user.id = %owner, conversation.id = %id))]
    pub async fn question(
        &self,
        owner: &UserId,
        id: ConversationId,
        message: Option<MessageId>,
    ) -> Result<(MessageId, String), Error> {
        Ok(self.store.question(owner, id, message).await?)
    }

    #[instrument(name = "conversations.rename", skip_all, fields(user.id = %owner, conversation.id = %id))]
    pub async fn rename(
        &self,
        owner: &UserId,
        id: ConversationId,
        title: ConversationTitle,
    ) -> Result<Conversation, Error> {
        self.change(owner, id, ConversationChange { title: Some(title), ..ConversationChange::default() }).await
    }

    /// Sets the title, the pin and the model of later turns. `None` keeps a field.
    #[instrument(name = "conversations.change", skip_all, fields(user.id = %owner, conversation.id = %id))]
    pub async fn change(
        &self,
        owner: &UserId,
        id: ConversationId,
        change: ConversationChange,
    ) -> Result<Conversation, Error> {
        if change.title.is_none() && change.pinned.is_none() && change.model.is_none() {
            return Err(Error::Incomplete("Nothing to change: give a title, pinned or model."));
        }
        let title = change.title.map(|title| title.checked("title")).transpose()?;
        if let Some(Some(name)) = &change.model {
            self.models.checked_name(name)?;
        }
        let change = store::ConversationChange {
            title: title.as_deref(),
            pinned: change.pinned,
            model: change.model.as_ref().map(|name| name.as_deref()),
        };
        Ok(self.store.change_conversation(owner, id, change).await?)
    }

    /// Shows the branch of a message, for every client. Returns a conflict while a turn runs.
    #[instrument(name = "conversations.choose_branch", skip_all, fields(user.id = %owner, conversation.id = %id))]
    pub async fn choose_branch(&self, owner: &UserId, id: ConversationId, message: MessageId) -> Result<(), Error> {
        Ok(self.store.choose_branch(owner, id, message).await?)
    }

    /// The calls of this conversation that waited for consent, or still do.
    #[instrument(name = "conversations.consents", skip_all, fields(user.id = %owner, conversation.id = %id))]
    pub async fn consents(&self, owner: &UserId, id: ConversationId) -> Result<Vec<ConsentLine>, Error> {
        Ok(self.store.consents(owner, id).await?)
    }

    /// As JSON with every branch, in pieces.
    pub fn json(
        &self,
        owner: &UserId,
        conversation: Conversation,
    ) -> impl Stream<Item = Result<String, Error>> + Send + 'static {
        export_conversation::json_pieces(self.store.clone(), owner.clone(), conversation)
    }

    /// As Markdown of the branch that is shown, in pieces.
    pub fn markdown(
        &self,
        owner: &UserId,
        conversation: Conversation,
    ) -> impl Stream<Item = Result<String, Error>> + Send + 'static {
        export_conversation::markdown_pieces(self.store.clone(), owner.clone(), conversation)
    }

    /// Returns a conflict while a turn runs, because its answer could not be stored.
    #[instrument(name = "conversations.delete", skip_all, fields(user.id = %owner, conversation.id = %id))]
    pub async fn delete(&self, owner: &UserId, id: ConversationId) -> Result<(), Error> {
        Ok(self.store.delete_conversation(owner, id).await?)
    }

    #[instrument(name = "conversations.restore", skip_all, fields(user.id = %owner, conversation.id = %id))]
    pub async fn restore(&self, owner: &UserId, id: ConversationId) -> Result<Conversation, Error> {
        Ok(self.store.restore_conversation(owner, id).await?)
    }

    /// Stores feedback on each of `items` and replaces earlier feedback. The protocol checks that the items exist.
    #[instrument(name = "conversations.give_feedback", skip_all, fields(user.id = %owner, conversation.id = %id))]
    pub async fn give_feedback(
        &self,
        owner: &UserId,
        id: ConversationId,
        items: &[String],
        feedback: Feedback,
    ) -> Result<(), Error> {
        Ok(self.store.give_feedback(owner, id, items, feedback).await?)
    }
}

/// How many messages are read before their bytes are counted.
const MESSAGES_AT_ONCE: u32 = 20;
/// A page of messages ends when it has this many bytes: the results of tools make some messages long.
const MOST_PAGE_BYTES: usize = 4 << 20;
