//! The stores under test, and short forms of what the tests do with them.

use std::sync::Arc;

use chrono::TimeDelta;
use engine::{Block, ConversationId, TurnId, Usage, UserId};
use store::{
    DeadTurn, Durability, Ended, FIRST_TOKEN, MemoryTurnStore, MessageStatus, NewTurn, Save, Saved, Start, StartedTurn,
    Store, TURN_LEASE, Takeover, TurnEnd, TurnLimits, TurnStore,
};

/// Connections of a store under test.
pub(crate) const POOL_SIZE: u32 = 2;

pub(crate) struct Subject {
    pub(crate) name: &'static str,
    pub(crate) store: Arc<dyn TurnStore>,
    /// The same store, for effects that only a database has.
    pub(crate) database: Option<Store>,
    advance: Box<dyn Fn(TimeDelta) + Send + Sync>,
    _folder: Option<tempfile::TempDir>,
}

/// Runs a test on every implementation.
pub(crate) async fn on_every_store(test: impl AsyncFn(&Subject)) {
    for subject in [Some(in_memory()), Some(on_sqlite().await), on_postgres().await].into_iter().flatten() {
        eprintln!("on {}", subject.name);
        test(&subject).await;
    }
}

fn in_memory() -> Subject {
    let store = Arc::new(MemoryTurnStore::default());
    let clock = store.clone();
    let advance = Box::new(move |by| clock.advance_clock(by));
    Subject { name: "memory", store, database: None, advance, _folder: None }
}

async fn on_sqlite() -> Subject {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("sqlite:{}", folder.path().join("turns.db").display());
    Subject { _folder: Some(folder), ..on_database("sqlite", &url).await }
}

/// Runs a test of what only a database has.
pub(crate) async fn on_every_database(test: impl AsyncFn(&Store)) {
    let folder = tempfile::tempdir().expect("a folder");
    let sqlite = format!("sqlite:{}", folder.path().join("work.db").display());
    for url in [Some(sqlite), postgres_url().await].into_iter().flatten() {
        test(&Store::open(&url, POOL_SIZE).await.expect("the database opens")).await;
    }
}

async fn on_postgres() -> Option<Subject> {
    Some(on_database("postgres", &postgres_url().await?).await)
}

/// A schema of its own in the test cluster, if there is one.
async fn postgres_url() -> Option<String> {
    use sqlx::{Connection, Executor};
    let cluster = std::env::var("SEGUE_TEST_POSTGRES").ok()?;
    let name = format!("t_{}", uuid::Uuid::new_v4().simple());
    let mut connection = sqlx::PgConnection::connect(&cluster).await.expect("the test cluster answers");
    let create = sqlx::AssertSqlSafe(format!("CREATE SCHEMA {name}"));
    connection.execute(create).await.expect("a schema can be made");
    let separator = if cluster.contains('?') { '&' } else { '?' };
    Some(format!("{cluster}{separator}options=-csearch_path%3D{name}"))
}

async fn on_database(name: &'static str, url: &str) -> Subject {
    let store = Store::open(url, POOL_SIZE).await.expect("the database opens");
    let clock = store.clone();
    let (database, advance) = (Some(store.clone()), Box::new(move |by| clock.advance_clock(by)));
    Subject { name, store: Arc::new(store), database, advance, _folder: None }
}

/// The length of a lease.
pub(crate) const LEASE: TimeDelta = TURN_LEASE;

pub(crate) fn user(name: &str) -> UserId {
    UserId::new(name)
}

/// A message of a new conversation.
pub(crate) fn message(node: &str) -> NewTurn<'_> {
    NewTurn {
        conversation: None,
        new_conversation_id: None,
        again: None,
        agent: "music",
        text: "Something for a rainy night",
        client_message_id: None,
        model: None,
        decides: None,
        node,
        limits: TurnLimits::default(),
        opening: None,
    }
}

pub(crate) fn message_in(conversation: ConversationId, node: &str) -> NewTurn<'_> {
    NewTurn { conversation: Some(conversation), ..message(node) }
}

impl Subject {
    pub(crate) fn advance(&self, by: TimeDelta) {
        (self.advance)(by);
    }

    /// Starts a turn that must be new.
    pub(crate) async fn start(&self, owner: &UserId, new: NewTurn<'_>) -> StartedTurn {
        match self.store.start_turn(owner, &new).await.expect("the turn starts") {
            Start::New(started) => started,
            Start::Existing(_) => panic!("the turn exists already"),
            Start::Limited(limited) => panic!("{limited}"),
        }
    }

    /// Ends a turn of which nothing is saved.
    pub(crate) async fn end(&self, started: &StartedTurn, token: i64) -> Ended {
        self.end_with(started, token, 0, &[], None).await
    }

    /// `n_saved`: how many events its log holds. `events`: numbers that stand for the last ones.
    pub(crate) async fn end_with(
        &self,
        started: &StartedTurn,
        token: i64,
        n_saved: i64,
        events: &[i64],
        usage: Option<Usage>,
    ) -> Ended {
        let content = [Block::Text { text: "Here you are".into() }];
        let (status, text) = (MessageStatus::Complete, "Here you are");
        let n_events = n_saved + events.len() as i64;
        let end = TurnEnd {
            started,
            token,
            content: &content,
            status,
            usage,
            cost_usd: None,
            error: None,
            text,
            title: None,
            n_saved,
            events: (!events.is_empty()).then(|| as_row(events)),
            n_events,
        };
        self.store.end_turn(&end).await.expect("the store answers")
    }

    /// Saves events, numbers that stand for them, after the `first` that the log holds.
    pub(crate) async fn save(&self, turn: TurnId, token: i64, first: i64, events: &[i64]) -> Saved {
        let save = Save { turn, token, first, n_events: events.len() as i64, events: as_row(events) };
        let saved = self.store.save_events(&[save], Durability::Process).await.expect("the store answers");
        saved[0]
    }

    pub(crate) async fn take_over(&self, dead: &DeadTurn, node: &str) -> Option<i64> {
        self.store.take_over(dead, node, Takeover::Continue).await.expect("the store answers")
    }

    pub(crate) async fn dead(&self, reborn: Option<&str>) -> Vec<DeadTurn> {
        self.store.dead_turns(reborn).await.expect("the store answers")
    }

    pub(crate) async fn log(&self, turn: TurnId) -> Vec<String> {
        self.store.events_from(turn, 0, i64::MAX).await.expect("the store answers")
    }
}

fn as_row(events: &[i64]) -> String {
    serde_json::to_string(events).expect("numbers")
}

/// The token of a turn that was taken over once.
pub(crate) const SECOND_TOKEN: i64 = FIRST_TOKEN + 1;
