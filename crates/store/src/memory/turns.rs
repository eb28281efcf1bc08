//! Turns, their logs and their leases in memory.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use engine::{ConversationId, MessageId, TurnId, UserId};

use crate::{
    DeadTurn, Ended, FIRST_TOKEN, NewTurn, Save, Saved, Start, StartedTurn, StoreError, TURN_LEASE, Takeover, TurnEnd,
    TurnRow,
    limits::{Counts, MINUTE},
};

#[derive(Clone, Default)]
pub(crate) struct Turns {
    conversations: BTreeMap<ConversationId, Conversation>,
    turns: BTreeMap<TurnId, Turn>,
}

#[derive(Clone)]
struct Conversation {
    owner: String,
    agent: String,
    questions: Vec<MessageId>,
}

#[derive(Clone)]
struct Turn {
    started: StartedTurn,
    owner: String,
    question: String,
    client_message_id: Option<String>,
    holder: String,
    token: i64,
    n_takeovers: i64,
    lease_until: DateTime<Utc>,
    stop_requested: bool,
    created_at: DateTime<Utc>,
    ended_at: Option<DateTime<Utc>>,
    events: BTreeMap<i64, String>,
    n_events: i64,
}

impl Turns {
    /// Checks everything that can reject the turn before it changes anything.
    pub(crate) fn start(&mut self, owner: &UserId, new: &NewTurn<'_>, at: DateTime<Utc>) -> Result<Start, StoreError> {
        if new.may_exist()
            && let Some(existing) = self.of_client_message(owner, new.client_message_id)
        {
            return Ok(Start::Existing(existing));
        }
        if let Some(limited) = new.limits.exceeded_by(&self.counts(owner, at), at) {
            return Ok(Start::Limited(limited));
        }
        let started = StartedTurn {
            turn: TurnId::new(),
            conversation: new.conversation.or(new.new_conversation_id).unwrap_or_else(ConversationId::new),
            message: MessageId::new(),
        };
        self.check_conversation(owner, new, started.conversation)?;
        if let Some(existing) = self.running_with(owner, new.client_message_id) {
            return Ok(Start::Existing(existing));
        }
        if self.turns.values().any(|turn| turn.started.conversation == started.conversation && turn.runs()) {
            return Err(RUNNING);
        }
        self.insert(owner, new, started.clone(), at);
        Ok(Start::New(started))
    }

    fn insert(&mut self, owner: &UserId, new: &NewTurn<'_>, started: StartedTurn, at: DateTime<Utc>) {
        // A repeated question may have the client message id of the first one.
        for turn in self.turns.values_mut().filter(|turn| turn.owner == owner.as_str() && !turn.runs()) {
            turn.client_message_id.take_if(|id| Some(id.as_str()) == new.client_message_id);
        }
        let conversation = self.conversations.entry(started.conversation).or_insert_with(|| Conversation {
            owner: owner.to_string(),
            agent: new.agent.to_owned(),
            questions: vec![],
        });
        conversation.questions.push(MessageId::new());
        let opening = new.opening(&started);
        let turn = Turn {
            started: started.clone(),
            owner: owner.to_string(),
            question: new.text.to_owned(),
            client_message_id: new.client_message_id.map(str::to_owned),
            holder: new.node.to_owned(),
            token: FIRST_TOKEN,
            n_takeovers: 0,
            lease_until: at + TURN_LEASE,
            stop_requested: false,
            created_at: at,
            ended_at: None,
            n_events: i64::from(opening.is_some()),
            events: opening.into_iter().map(|events| (0, events)).collect(),
        };
        self.turns.insert(started.turn, turn);
    }

    fn check_conversation(&self, owner: &UserId, new: &NewTurn<'_>, id: ConversationId) -> Result<(), StoreError> {
        let Some(known) = self.conversations.get(&id) else {
            return if new.conversation.is_some() { Err(StoreError::NotFound) } else { Ok(()) };
        };
        if known.owner != owner.as_str() {
            return Err(StoreError::NotFound);
        }
        if new.conversation.is_none() {
            return Err(RUNNING);
        }
        if new.again.is_some_and(|again| !known.questions.contains(&again.question)) {
            return Err(StoreError::NotFound);
        }
        Ok(())
    }

    /// Whether the turn of an answer runs under this token. An answer without a turn is held by no other node.
    pub(crate) fn is_held(&self, answer: MessageId, token: i64) -> bool {
        let turn = self.turns.values().find(|turn| turn.started.message == answer);
        turn.is_none_or(|turn| turn.runs() && turn.token == token)
    }

    pub(crate) fn question_of(&self, answer: MessageId) -> String {
        let turn = self.turns.values().find(|turn| turn.started.message == answer);
        turn.map(|turn| turn.question.clone()).unwrap_or_default()
    }

    pub(crate) fn of_client_message(&self, owner: &UserId, id: Option<&str>) -> Option<StartedTurn> {
        let id = id?;
        let same = |turn: &&Turn| turn.owner == owner.as_str() && turn.client_message_id.as_deref() == Some(id);
        self.turns.values().find(same).map(|turn| turn.started.clone())
    }

    fn running_with(&self, owner: &UserId, id: Option<&str>) -> Option<StartedTurn> {
        self.of_client_message(owner, id).filter(|started| self.is_running(started.turn))
    }

    fn counts(&self, owner: &UserId, at: DateTime<Utc>) -> Counts {
        let own = || self.turns.values().filter(|turn| turn.owner == owner.as_str());
        let recent = || own().map(|turn| turn.created_at).filter(|created_at| *created_at > at - MINUTE);
        Counts {
            n_running: own().filter(|turn| turn.runs()).count() as i64,
            n_recent: recent().count() as i64,
            oldest_recent: recent().min(),
            // Tokens are counted where models are called, so there are none here.
            tokens_today: None,
        }
    }

    pub(crate) fn row(&self, owner: &UserId, id: TurnId) -> Result<TurnRow, StoreError> {
        let turn = self.turns.get(&id).filter(|turn| turn.owner == owner.as_str()).ok_or(StoreError::NotFound)?;
        Ok(TurnRow {
            id: id.0,
            conversation_id: turn.started.conversation.0,
            message_id: turn.started.message.0,
            status: if turn.runs() { "running" } else { "ended" }.to_owned(),
            ended_at: turn.ended_at,
        })
    }

    pub(crate) fn running_in(&self, owner: &UserId, conversation: ConversationId) -> Option<TurnId> {
        let here = |turn: &&Turn| turn.owner == owner.as_str() && turn.started.conversation == conversation;
        self.turns.values().filter(here).find(|turn| turn.runs()).map(|turn| turn.started.turn)
    }

    pub(crate) fn is_running(&self, turn: TurnId) -> bool {
        self.turns.get(&turn).is_some_and(Turn::runs)
    }

    pub(crate) fn save(&mut self, save: &Save) -> Saved {
        let Some(turn) = self.turns.get_mut(&save.turn).filter(|turn| turn.runs() && turn.token == save.token) else {
            return Saved::Lost;
        };
        if turn.n_events != save.first {
            return Saved::Holds(turn.n_events);
        }
        turn.events.insert(save.first, save.events.clone());
        turn.n_events += save.n_events;
        Saved::Done
    }

    pub(crate) fn events_from(&self, turn: TurnId, position: i64, n_rows: i64) -> Vec<String> {
        let n_rows = usize::try_from(n_rows).unwrap_or(0);
        let events = self.turns.get(&turn).into_iter().flat_map(|turn| turn.events.range(position..));
        events.map(|(_, events)| events.clone()).take(n_rows).collect()
    }

    pub(crate) fn end(&mut self, end: &TurnEnd<'_>, at: DateTime<Utc>) -> Ended {
        let Some(turn) = self.turns.get_mut(&end.started.turn).filter(|turn| turn.token == end.token) else {
            return Ended::Lost;
        };
        if turn.ended_at.is_some() {
            return Ended::Stored;
        }
        if turn.n_events != end.n_saved {
            return Ended::Holds(turn.n_events);
        }
        turn.ended_at = Some(at);
        turn.n_events = end.n_events;
        turn.events.extend(end.events.iter().map(|events| (end.n_saved, events.clone())));
        Ended::Stored
    }

    pub(crate) fn request_stop(&mut self, owner: &UserId, turn: TurnId) -> bool {
        let turn = self.turns.get_mut(&turn).filter(|turn| turn.owner == owner.as_str() && turn.runs());
        turn.map(|turn| turn.stop_requested = true).is_some()
    }

    pub(crate) fn stop_requests(&self, node: &str) -> Vec<TurnId> {
        let asked = |turn: &&Turn| turn.holder == node && turn.runs() && turn.stop_requested;
        self.turns.values().filter(asked).map(|turn| turn.started.turn).collect()
    }

    pub(crate) fn renew(&mut self, held: &[(TurnId, i64)], at: DateTime<Utc>) -> Vec<TurnId> {
        let mut lost = Vec::new();
        for (id, token) in held {
            match self.turns.get_mut(id).filter(|turn| turn.token == *token && turn.runs()) {
                Some(turn) => turn.lease_until = at + TURN_LEASE,
                None => lost.push(*id),
            }
        }
        lost
    }

    pub(crate) fn release(&mut self, id: TurnId, token: i64, at: DateTime<Utc>) {
        if let Some(turn) = self.turns.get_mut(&id).filter(|turn| turn.token == token && turn.runs()) {
            turn.lease_until = at - chrono::TimeDelta::milliseconds(1);
            turn.holder.clear();
        }
    }

    pub(crate) fn release_unbegun(&mut self, id: TurnId, token: i64, at: DateTime<Utc>) {
        if let Some(turn) = self.turns.get_mut(&id).filter(|turn| turn.token == token && turn.n_takeovers > 0) {
            turn.n_takeovers -= 1;
        }
        self.release(id, token, at);
    }

    pub(crate) fn dead(&self, reborn: Option<&str>, at: DateTime<Utc>) -> Vec<DeadTurn> {
        let is_dead = |turn: &&Turn| turn.runs() && (turn.lease_until < at || Some(turn.holder.as_str()) == reborn);
        let rows = self.turns.values().filter(is_dead).filter_map(|turn| {
            let agent = self.conversations.get(&turn.started.conversation)?.agent.clone();
            Some(DeadTurn {
                id: turn.started.turn.0,
                conversation_id: turn.started.conversation.0,
                message_id: turn.started.message.0,
                holder: turn.holder.clone(),
                lease_token: turn.token,
                n_takeovers: turn.n_takeovers,
                n_events: turn.n_events,
                stop_requested: turn.stop_requested,
                created_at: turn.created_at,
                user_id: turn.owner.clone(),
                agent,
            })
        });
        rows.collect()
    }

    pub(crate) fn take_over(&mut self, dead: &DeadTurn, node: &str, what: Takeover, at: DateTime<Utc>) -> Option<i64> {
        let turn = self.turns.get_mut(&TurnId(dead.id))?;
        if !turn.runs() || turn.token != dead.lease_token || (turn.lease_until >= at && turn.holder != node) {
            return None;
        }
        if turn.n_events != dead.n_events {
            return None;
        }
        turn.holder = node.to_owned();
        turn.token += 1;
        turn.n_takeovers += i64::from(what == Takeover::Continue);
        turn.lease_until = at + TURN_LEASE;
        Some(turn.token)
    }
}

impl Turn {
    fn runs(&self) -> bool {
        self.ended_at.is_none()
    }
}

const RUNNING: StoreError = StoreError::Conflict("a turn is already running in this conversation");
