//! The connection of one simulated node to the store: slow, sometimes unavailable, with lost replies.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, Weak},
};

use chrono::{DateTime, TimeDelta, Utc};
use engine::{Call, CallId, ConversationId, Failure, MessageId, Outcome, TurnId, UserId};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use store::{
    DeadTurn, Durability, Ended, JournalRow, MemoryTurnStore, NewTurn, News, Pending, Save, Saved, Start, StartedTurn,
    StoreError, Takeover, TurnEnd, TurnRow, TurnStore,
};
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use super::{node::SimNode, world::World};

pub(super) struct SimStore {
    pub(super) world: Weak<World>,
    pub(super) memory: MemoryTurnStore,
    pub(super) number: usize,
    /// Cancelled when the node has ended: its requests have no effect any more.
    pub(super) dead: CancellationToken,
    /// A paused node sends no request until this time.
    pub(super) wakes_at: Mutex<Option<Instant>>,
    /// The lease tokens under which this node has begun its calls.
    pub(super) tokens: Mutex<HashMap<CallId, i64>>,
    pub(super) node: Mutex<Weak<SimNode>>,
}

impl SimStore {
    fn world(&self) -> Arc<World> {
        self.world.upgrade().expect("the world is dropped after its nodes")
    }

    async fn awake(&self) {
        let wakes_at = *self.wakes_at.lock().unwrap();
        if let Some(at) = wakes_at {
            sleep_until(at).await;
        }
        if self.dead.is_cancelled() {
            std::future::pending::<()>().await;
        }
    }

    async fn crash(&self) {
        if let Some(node) = self.node.lock().unwrap().upgrade() {
            self.world().crash(&node);
        }
        std::future::pending().await
    }

    /// The request: it takes a moment and may be lost.
    async fn before(&self, what: &str) -> Result<(), StoreError> {
        let world = self.world();
        self.awake().await;
        sleep(world.ms(0, if world.one_in(200) { 900 } else { 4 })).await;
        self.awake().await;
        match world.roll(700) {
            0 => self.crash().await,
            1..=5 => {
                world.tell(format_args!("node {}: {what} fails", self.number));
                return Err(away());
            }
            _ => {}
        }
        Ok(())
    }

    /// The reply: the operation is done, but the reply may be lost.
    async fn after(&self, what: &str) -> Result<(), StoreError> {
        let world = self.world();
        world.tell(format_args!("node {}: {what}", self.number));
        match world.roll(700) {
            0 => self.crash().await,
            1..=5 => {
                world.tell(format_args!("node {}: the reply is lost", self.number));
                world.count(|run| run.n_lost_replies += 1);
                return Err(away());
            }
            _ => {}
        }
        Ok(())
    }

    fn ask<'a, T: Send + 'a>(
        &'a self,
        what: &'static str,
        work: impl FnOnce(&'a MemoryTurnStore) -> Pending<'a, T> + Send + 'a,
    ) -> Pending<'a, T> {
        Box::pin(async move {
            self.before(what).await?;
            let result = work(&self.memory).await;
            self.after(what).await?;
            result
        })
    }

    /// Waits as long as a read takes.
    pub(super) async fn look(&self) {
        self.awake().await;
        sleep(self.world().ms(1, 30)).await;
        self.awake().await;
    }

    /// The effect of the simulated tool: it is only counted.
    pub(super) async fn act(&self, call: CallId, mark: &str) -> Result<Value, StoreError> {
        self.before("settle_call").await?;
        let token = self.tokens.lock().unwrap().get(&call).copied().unwrap_or(0);
        let world = self.world();
        let attempt = json!({"mark": mark, "attempt": world.roll(u64::from(u32::MAX))});
        let settled = self.memory.settle_call(call, token, attempt.clone()).await;
        if settled.as_ref().is_ok_and(|output| *output == attempt) {
            *world.effects.lock().unwrap().entry(mark.to_owned()).or_default() += 1;
        }
        self.after("settle_call").await?;
        settled
    }
}

fn away() -> StoreError {
    StoreError::Database(sqlx::Error::PoolTimedOut)
}

impl TurnStore for SimStore {
    fn start_turn<'a>(&'a self, owner: &'a UserId, new: &'a NewTurn<'a>) -> Pending<'a, Start> {
        self.ask("start_turn", move |store| store.start_turn(owner, new))
    }

    fn turn<'a>(&'a self, owner: &'a UserId, id: TurnId) -> Pending<'a, TurnRow> {
        self.ask("turn", move |store| store.turn(owner, id))
    }

    fn running_turn<'a>(&'a self, owner: &'a UserId, conversation: ConversationId) -> Pending<'a, Option<TurnId>> {
        self.ask("running_turn", move |store| store.running_turn(owner, conversation))
    }

    fn is_running(&self, turn: TurnId) -> Pending<'_, bool> {
        self.ask("is_running", move |store| store.is_running(turn))
    }

    fn turn_of_client_message<'a>(
        &'a self,
        owner: &'a UserId,
        id: Option<&'a str>,
    ) -> Pending<'a, Option<StartedTurn>> {
        self.ask("turn_of_client_message", move |store| store.turn_of_client_message(owner, id))
    }

    fn question_of(&self, answer: MessageId) -> Pending<'_, String> {
        self.ask("question_of", move |store| store.question_of(answer))
    }

    fn save_events<'a>(&'a self, saves: &'a [Save], durability: Durability) -> Pending<'a, Vec<Saved>> {
        Box::pin(async move {
            self.before("save_events").await?;
            let saved = self.memory.save_events(saves, durability).await?;
            for (save, _) in saves.iter().zip(&saved).filter(|(_, saved)| **saved == Saved::Done) {
                self.world().notify(self.number, Some(save.turn));
            }
            self.after(&format!("save_events {saved:?}")).await?;
            Ok(saved)
        })
    }

    fn events_from(&self, turn: TurnId, position: i64, n_rows: i64) -> Pending<'_, Vec<String>> {
        self.ask("events_from", move |store| store.events_from(turn, position, n_rows))
    }

    fn end_turn<'a>(&'a self, end: &'a TurnEnd<'a>) -> Pending<'a, Ended> {
        Box::pin(async move {
            self.before("end_turn").await?;
            let ended = self.memory.end_turn(end).await?;
            self.world().notify(self.number, Some(end.started.turn));
            self.after(&format!("end_turn {ended:?}")).await?;
            Ok(ended)
        })
    }

    fn request_stop<'a>(&'a self, owner: &'a UserId, turn: TurnId) -> Pending<'a, bool> {
        Box::pin(async move {
            self.before("request_stop").await?;
            let is_asked = self.memory.request_stop(owner, turn).await?;
            self.world().notify(self.number, None);
            self.after("request_stop").await?;
            Ok(is_asked)
        })
    }

    fn stop_requests<'a>(&'a self, node: &'a str) -> Pending<'a, Vec<TurnId>> {
        self.ask("stop_requests", move |store| store.stop_requests(node))
    }

    fn renew_leases<'a>(&'a self, held: &'a [(TurnId, i64)]) -> Pending<'a, Vec<TurnId>> {
        self.ask("renew_leases", move |store| store.renew_leases(held))
    }

    fn dead_turns<'a>(&'a self, reborn: Option<&'a str>) -> Pending<'a, Vec<DeadTurn>> {
        self.ask("dead_turns", move |store| store.dead_turns(reborn))
    }

    fn take_over<'a>(&'a self, dead: &'a DeadTurn, node: &'a str, what: Takeover) -> Pending<'a, Option<i64>> {
        Box::pin(async move {
            self.before("take_over").await?;
            let token = self.memory.take_over(dead, node, what).await?;
            if token.is_some() && what == Takeover::Continue {
                *self.world().takeovers.lock().unwrap().entry(TurnId(dead.id)).or_default() += 1;
            }
            self.after("take_over").await?;
            Ok(token)
        })
    }

    fn release(&self, turn: TurnId, token: i64) -> Pending<'_, ()> {
        self.ask("release", move |store| store.release(turn, token))
    }

    fn release_unbegun(&self, turn: TurnId, token: i64) -> Pending<'_, ()> {
        Box::pin(async move {
            self.before("release_unbegun").await?;
            self.memory.release_unbegun(turn, token).await?;
            // Unless another node holds it by now.
            let is_free = |dead: &DeadTurn| dead.id == turn.0 && dead.lease_token == token;
            if self.memory.dead_turns(None).await?.iter().any(is_free)
                && let Some(n) = self.world().takeovers.lock().unwrap().get_mut(&turn)
            {
                *n -= 1;
            }
            self.after("release_unbegun").await
        })
    }

    fn begin_call<'a>(&'a self, call: &'a Call, title: &'a str, token: i64) -> Pending<'a, bool> {
        self.tokens.lock().unwrap().insert(call.id, token);
        self.ask("begin_call", move |store| store.begin_call(call, title, token))
    }

    fn begin_call_after<'a>(&'a self, save: &'a Save, call: &'a Call, title: &'a str) -> Pending<'a, Saved> {
        self.tokens.lock().unwrap().insert(call.id, save.token);
        Box::pin(async move {
            self.before("begin_call_after").await?;
            let saved = self.memory.begin_call_after(save, call, title).await?;
            if saved == Saved::Done {
                self.world().notify(self.number, Some(save.turn));
            }
            self.after(&format!("begin_call_after {saved:?}")).await?;
            Ok(saved)
        })
    }

    fn settle_call(&self, call: CallId, token: i64, output: Value) -> Pending<'_, Value> {
        self.ask("settle_call", move |store| store.settle_call(call, token, output))
    }

    fn finish_call(&self, call: CallId, token: i64, outcome: Outcome) -> Pending<'_, Outcome> {
        self.ask("finish_call", move |store| store.finish_call(call, token, outcome))
    }

    fn refuse_call<'a>(&'a self, call: &'a Call, title: &'a str, failure: &'a Failure, token: i64) -> Pending<'a, ()> {
        self.ask("refuse_call", move |store| store.refuse_call(call, title, failure, token))
    }

    fn output_of(&self, call: CallId) -> Pending<'_, Option<Value>> {
        self.ask("output_of", move |store| store.output_of(call))
    }

    fn calls_of(&self, message: MessageId) -> Pending<'_, Vec<JournalRow>> {
        self.ask("calls_of", move |store| store.calls_of(message))
    }

    fn time(&self) -> DateTime<Utc> {
        self.memory.time()
    }

    fn set_clock(&self) -> Pending<'_, ()> {
        self.ask("set_clock", |store| store.set_clock())
    }

    fn lease(&self) -> TimeDelta {
        self.memory.lease()
    }

    fn news_of(&self, turn: TurnId) -> News<'_> {
        self.memory.news_of(turn)
    }

    fn wait_for_stop(&self) -> BoxFuture<'_, ()> {
        self.memory.wait_for_stop()
    }
}
